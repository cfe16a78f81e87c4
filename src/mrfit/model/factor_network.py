"""A network of tables: a domain with names, and a product of tables and wide conjunctions over it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mrfit import _renamed
from mrfit._typing import Floats, Scope
from mrfit.core.domain import Domain, Variable
from mrfit.core.errors import InputError, listed
from mrfit.core.factors import Factors, check_scopes
from mrfit.core.threads import resolve_jobs
from mrfit.data.encoding import has_all_cells
from mrfit.inference.engine_selection import exactly_planned
from mrfit.model.queries.missing_cells import observed_ll, observed_pll
from mrfit.model.queries.questions import Queryable
from mrfit.objectives.row_scores import check_exact_score, conditional_potentials, log_z_at_states, pll_of_potentials

Condition = tuple[int, tuple[int, ...]]  # a variable, and the states that satisfy the condition

_SWITCH = ("no", "yes")


@dataclass(frozen=True)
class Conjunction:
    """Term of log p that holds where all of its conditions do.

    A table would need a cell for every joint state of its variables; a conjunction may have many variables.

    Parameters
    ----------
    weight : float
        Value added to log p, in nats; minus infinity makes these states impossible.
    conditions : tuple of (int, tuple of int)
        Positions of variables, each with the codes of the states that satisfy its condition.
    """

    weight: float
    conditions: tuple[Condition, ...]

    def holds(self, codes: NDArray[Any]) -> NDArray[np.bool_]:
        """Return the mask of rows of codes in which all conditions hold, shape (rows,)."""
        out = np.ones(len(codes), bool)
        for i, states in self.conditions:
            out &= np.isin(codes[:, i], states)
        return out


@_renamed.settings(covariates="covariate_indices")
@dataclass(frozen=True)
class FactorNetwork(Queryable):
    """Distribution of named variables as a product of tables, the form in which model files are read.

    log p(x) = sum of all tables and conjunctions at x, minus log Z. It answers the same queries as `MarkovNetwork`, but
    has no parameters.

    Parameters
    ----------
    domain : Domain
        Names of variables and states.
    tables : Factors
        Log-potentials over the variables of the domain, in its order.
    conjunctions : tuple of conjunctions, default ()
        Terms over so many variables that no table should be made of them; mostly none. Each has a ``weight`` and
        ``conditions``, pairs of a variable and its states.
    covariate_indices : tuple of int, default ()
        Positions of variables that have no distribution: log p is that of all others given these.

    Raises
    ------
    MrfitError
        If tables or conjunctions do not fit the domain.

    See Also
    --------
    read_network : Read one from a file.
    write_network : Write one for other programs.
    MarkovNetwork : A fitted model, with parameters.

    Examples
    --------
    >>> import mrfit
    >>> domain = mrfit.Domain.from_states({"rain": ["no", "yes"], "wet": ["no", "yes"]})
    >>> log_potentials = [((0,), [1.0, 0.0]), ((0, 1), [2.0, 0.0, 0.0, 2.0])]
    >>> tables = mrfit.Factors.from_tables((2, 2), log_potentials)
    >>> network = mrfit.FactorNetwork(domain, tables)
    >>> round(network.conditional("rain", {"wet": "yes"})["yes"], 3)
    0.731
    """

    domain: Domain
    tables: Factors
    conjunctions: tuple[Conjunction, ...] = ()
    covariate_indices: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if self.domain.shape != self.tables.shape:
            raise InputError(
                f"The tables are over {len(self.tables.shape)} variables and the domain has {len(self.domain)}, or "
                "their numbers of states differ; pass the domain that belongs to the tables."
            )
        object.__setattr__(self, "conjunctions", tuple(self.conjunctions))
        for each in self.conjunctions:
            _check(each, self.domain.shape)

    @cached_property
    def _links(self) -> dict[tuple[int, Condition], int]:
        """Hidden variables by meaning: the hidden variable before it (none: -1) is "yes", and a condition holds.

        Conjunctions with the same first conditions share them. The conjunctions of a decision tree thus need no more
        hidden variables than the tree has branches.
        """
        links: dict[tuple[int, Condition], int] = {}
        for each in self.conjunctions:
            self._last_link(each, links)
        return links

    @staticmethod
    def _last_link(each: Conjunction, links: dict[tuple[int, Condition], int]) -> int:
        """Return the hidden variable of all conditions but the last; add it if it does not exist."""
        before = -1
        for condition in each.conditions[:-1]:
            before = links.setdefault((before, condition), len(links))
        return before

    @property
    def n_hidden(self) -> int:
        """Number of variables of `factors` after those of the domain."""
        return len(self._links)

    @cached_property
    def factors(self) -> Factors:
        """Tables that define the distribution, without conjunctions.

        A conjunction of k conditions becomes k tables of at most 4 c cells, connected by k - 1 hidden variables that
        follow all others. The j-th of them is "yes" exactly where the first j conditions hold. Hidden variables
        therefore change neither log Z nor any marginal of the domain's variables. They do matter to samplers that
        change one variable at a time: with all others fixed, a hidden variable has no choice.
        """
        if not self.conjunctions:
            return self.tables
        shape = self.domain.shape + (2,) * self.n_hidden
        pairs = list(zip(self.tables.scopes, self.tables.tables, strict=True))
        for (before, condition), hidden in self._links.items():
            scope, holds = self._with_condition(before, condition)
            agrees = holds[:, None] == np.array([False, True])
            pairs.append(((*scope, len(self.domain) + hidden), np.where(agrees, 0.0, -np.inf).ravel()))
        for each in self.conjunctions:
            scope, holds = (), np.array([True])
            if each.conditions:
                scope, holds = self._with_condition(self._last_link(each, self._links), each.conditions[-1])
            pairs.append((scope, np.where(holds, each.weight, 0.0)))
        return Factors.from_tables(shape, pairs)

    def _with_condition(self, before: int, condition: Condition) -> tuple[Scope, NDArray[np.bool_]]:
        """Return a scope of a hidden variable (none: -1) and another, and where it is "yes" and the condition holds."""
        i, states = condition
        here = np.isin(np.arange(self.domain.shape[i]), states)
        if before < 0:
            return (i,), here
        return (len(self.domain) + before, i), np.concatenate([np.zeros_like(here), here])

    def check_unconditional(self) -> None:
        """Refuse to export a conditional model, whose tables other programs would take for a joint distribution."""
        if self.covariate_indices:
            raise InputError(
                f"The model is conditional on {listed(self.covariates)}, so its tables are not a distribution of "
                "all variables, and other programs would misread them. Keep the .mrf file."
            )

    def with_hidden_named(self) -> FactorNetwork:
        """Return the distribution as tables only, with names for hidden variables, for formats without conjunctions.

        Returns
        -------
        FactorNetwork
        """
        if not self.conjunctions:
            return self
        prefix = "hidden"
        while any(name.startswith(prefix) for name in self.domain.names):
            prefix = f"_{prefix}"
        hidden = (Variable(f"{prefix}{number}", _SWITCH) for number in range(self.n_hidden))
        return FactorNetwork(Domain((*self.domain.variables, *hidden)), self.factors)

    def pll(self, data: Any, *, jobs: int | None = None) -> float:
        """Return the mean pseudo-log-likelihood per row, in nats.

        Parameters
        ----------
        data : table
            Rows to score, whose weights count. In rows read with ``missing="keep"`` each observed value is scored given
            the other observed values.
        jobs : int, default None
            Number of threads for rows with missing values; None uses all processors.

        Returns
        -------
        float

        Examples
        --------
        >>> import mrfit
        >>> domain = mrfit.Domain.from_states({"rain": ["no", "yes"], "wet": ["no", "yes"]})
        >>> tables = mrfit.Factors.from_tables((2, 2), [((0, 1), [2.0, 0.0, 0.0, 2.0])])
        >>> network = mrfit.FactorNetwork(domain, tables)
        >>> round(network.pll({"rain": ["no", "yes"], "wet": ["no", "no"]}), 3)
        -2.254
        """
        return self._mean("pll", data, jobs)

    def ll(self, data: Any, *, jobs: int | None = None) -> float:
        """Return the mean log-likelihood per row, in nats; exact, or refused.

        Parameters
        ----------
        data : table
            Rows to score, whose weights count. Rows read with ``missing="keep"`` score the log-probability of what is
            observed.
        jobs : int, default None
            Number of threads that sum out missing values; None uses all processors.

        Returns
        -------
        float

        Raises
        ------
        MrfitError
            If no exact engine fits, so that log Z is unknown.

        Examples
        --------
        >>> import mrfit
        >>> domain = mrfit.Domain.from_states({"rain": ["no", "yes"], "wet": ["no", "yes"]})
        >>> tables = mrfit.Factors.from_tables((2, 2), [((0, 1), [2.0, 0.0, 0.0, 2.0])])
        >>> network = mrfit.FactorNetwork(domain, tables)
        >>> round(network.ll({"rain": ["no", "yes"], "wet": ["no", "no"]}), 3)
        -1.82
        """
        return self._mean("ll", data, jobs)

    def pll_rows(self, data: Any, *, jobs: int | None = None) -> Floats:
        """Return the pseudo-log-likelihood of every row, in nats and in the order of the data.

        Parameters
        ----------
        data : table
            Rows to score, as in `pll`.
        jobs : int, default None
            Number of threads, as in `pll`.

        Returns
        -------
        array of shape (n_rows,)
        """
        return self.scores_of_codes("pll", self._dataset(data).codes, jobs=resolve_jobs(jobs))

    def ll_rows(self, data: Any, *, jobs: int | None = None) -> Floats:
        """Return the log-likelihood of every row, in nats and in the order of the data; exact, or refused.

        Parameters
        ----------
        data : table
            Rows to score, as in `ll`.
        jobs : int, default None
            Number of threads, as in `ll`.

        Returns
        -------
        array of shape (n_rows,)
        """
        return self.scores_of_codes("ll", self._dataset(data).codes, jobs=resolve_jobs(jobs))

    def _mean(self, metric: str, data: Any, jobs: int | None) -> float:
        rows = self.coded_rows(data)
        scores = rows.scored(lambda codes: self.scores_of_codes(metric, codes, jobs=resolve_jobs(jobs)))
        return float(rows.sample_weight @ scores) / rows.total_weight

    def scores_of_codes(
        self, metric: str, codes: NDArray[np.uint8], *, log_z: float | None = None, jobs: int = 1
    ) -> Floats:
        """Internal: return the scores of rows of codes; impossible rows have minus infinity.

        Parameters
        ----------
        metric : {"pll", "ll"}
            Pseudo-log-likelihood or log-likelihood.
        codes : array of shape (n_rows, n_variables)
            States of the domain's variables as positions; 255 marks a missing value.
        log_z : float, default None
            Value of log Z in nats; otherwise an exact engine computes it for ``ll``.
        jobs : int, default 1
            Number of threads for rows with missing values.

        Returns
        -------
        array of shape (n_rows,)
        """
        complete = has_all_cells(codes)
        if self.covariate_indices and not complete:
            raise InputError(
                "A model with covariates cannot score rows with missing values. Leave these rows out, or impute them."
            )
        with np.errstate(over="ignore", invalid="ignore"):
            if metric == "pll":
                scores = (
                    self._pll(codes)
                    if complete
                    else observed_pll(self.factors, codes, names=self.display_names, jobs=jobs)
                )
            else:
                scores = self._ll(codes, log_z, complete=complete, jobs=jobs)
        if np.isnan(scores).any() or np.isposinf(scores).any():
            raise InputError("The tables are so large that their sums overflow; subtract a constant from each.")
        return scores

    def _pll(self, codes: NDArray[np.uint8]) -> Floats:
        possible = self.log_potential(codes) > -np.inf
        return pll_of_potentials(
            self._conditional_potentials(codes), possible, codes, covariates=self.covariate_indices
        )

    def _conditional_potentials(self, codes: NDArray[np.uint8]) -> Iterator[Floats]:
        """Yield for each variable the sums of tables and conjunctions at each of its states, (rows, states)."""
        of: list[list[Conjunction]] = [[] for _ in self.domain.shape]
        for each in self.conjunctions:
            for i, _ in each.conditions:
                of[i].append(each)
        for i, log_potentials in enumerate(conditional_potentials(self.tables, codes)):
            for each in of[i]:
                others = replace(each, conditions=tuple(pair for pair in each.conditions if pair[0] != i))
                rows, states = np.flatnonzero(others.holds(codes)), dict(each.conditions)[i]
                log_potentials[np.ix_(rows, np.array(states))] += each.weight
            yield log_potentials

    def _ll(self, codes: NDArray[np.uint8], log_z: float | None, *, complete: bool, jobs: int) -> Floats:
        if self.covariate_indices:
            states, number = np.unique(codes[:, list(self.covariate_indices)], axis=0, return_inverse=True)
            each = log_z_at_states(self.factors, self.covariate_indices, states, names=self.display_names)
            return self.log_potential(codes) - each[number.ravel()]
        if log_z is None:
            engine, plan = exactly_planned(self.factors, order=self.stored_order)
            check_exact_score(plan, self.display_names)
            log_z = engine.run(plan, self.factors).log_z
        if complete:
            return self.log_potential(codes) - log_z
        return observed_ll(self.factors, codes, log_z, names=self.display_names, jobs=jobs)

    def log_potential(self, codes: NDArray[Any]) -> Floats:
        """Return the sum of tables and conjunctions at rows of codes: log p plus log Z, in nats.

        Parameters
        ----------
        codes : int array of shape (n_rows, n_variables)
            States of the domain's variables, as positions.

        Returns
        -------
        array of shape (n_rows,)
        """
        out = self.tables.log_potential(codes)
        for each in self.conjunctions:
            out[each.holds(codes)] += each.weight
        return out

    def __repr__(self) -> str:
        wide = f", {len(self.conjunctions):,} conjunctions" if self.conjunctions else ""
        return f"<Network: {len(self.domain):,} variables, {len(self.tables.scopes):,} tables{wide}>"


def _check(each: Conjunction, shape: tuple[int, ...]) -> None:
    check_scopes(shape, (tuple(i for i, _ in each.conditions),))
    for i, states in each.conditions:
        if not states or not set(states) <= set(range(shape[i])):
            raise InputError(
                f"A conjunction lets variable {i} be in states {states}; expected one or more of 0 to {shape[i] - 1}."
            )
    if not each.weight < np.inf:
        raise InputError(f"A conjunction has the weight {each.weight}; expected a finite number or minus infinity.")
