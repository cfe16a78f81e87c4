"""Queries whose answers are rows: most probable states, samples, and imputed rows."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mrfit._typing import Floats
from mrfit.core.domain import Domain
from mrfit.core.errors import ApproximationWarning, ImpossibleError, InputError
from mrfit.core.seeds import generator
from mrfit.core.threads import resolve_jobs
from mrfit.data.dataset import Dataset
from mrfit.data.encoding import MAX_STATES
from mrfit.inference.engine import AUTO
from mrfit.inference.map.best_state import Best, best_state
from mrfit.inference.row_draws import draw_rows
from mrfit.model.queries.answer import BestState
from mrfit.model.queries.evidence import Evidence, States, takes_evidence
from mrfit.model.queries.missing_cells import Completed, completed, predicted
from mrfit.model.queries.queryable import Asked, How

_MOST_CELLS = 2**32  # of drawn rows
_MOST_REMARKS = 2  # on rows that are imputed approximately


class RowQuestions(Asked):
    """Queries for most probable states, samples, and missing cells of rows."""

    @takes_evidence
    def map(self, *, evidence: States = None, engine: str = AUTO, seed: int = 0, rows: Any = None) -> BestState:
        """Return a most probable joint state, given the evidence (maximum a posteriori, MAP).

        Parameters
        ----------
        evidence : mapping, default None
            Observed states, which the answer keeps; soft evidence weighs states.
        engine : {"auto", "tree", "toulbar2", "search", "max-product"}, default "auto"
            ``tree`` is exact. ``toulbar2`` (the extra ``map``) proves its answer if it finishes in time. ``search`` is
            local and has a bound. ``max-product`` is exact on forests. ``auto`` takes the first of the first three that
            can answer.
        seed : int, default 0
            Random seed of a local search.
        rows : table, default None
            Complete rows from which a local search starts too.

        Returns
        -------
        BestState
            Record with ``states`` by variable, ``log_potential`` (log p plus log Z), ``exact``, and, where it is not
            exact, a ``bound`` on any state's log-potential and the ``gap`` to it in nats.

        Raises
        ------
        MrfitError
            If the evidence has probability zero, or the engine that you name cannot answer.

        Examples
        --------
        >>> import mrfit
        >>> table = {"rain": ["no", "yes"] * 3, "wet": ["no", "yes", "no", "yes", "yes", "no"]}
        >>> best = mrfit.learn(table).model.map(evidence={"rain": "no"})
        >>> best.states, best.exact, best.gap
        ({'rain': 'no', 'wet': 'no'}, True, 0.0)
        """
        observed = self._evidence(evidence)
        best, full = self._best(observed, engine, seed, rows)
        states = {variable.name: variable.states[code] for variable, code in zip(self.domain, full, strict=True)}
        return BestState(
            engine=best.engine,
            why=best.why,
            exact=best.exact,
            remarks=best.remarks,
            given=observed.describe(self.domain),
            states=states,
            log_potential=best.log_potential,
            bound=best.bound,
        )

    def _best(self, evidence: Evidence, engine: str, seed: int, rows: Any = None) -> tuple[Best, list[int]]:
        """Return a most probable joint state, and its codes of the domain's variables, with the evidence filled in."""
        factors, tree = self._planned_tree(evidence, seed=seed)
        starts = None if rows is None else self._starts(rows, evidence)
        try:
            best = best_state(factors, engine=engine, names=self.display_names, tree=tree, seed=seed, rows=starts)
        except ImpossibleError as error:
            raise self._impossible(evidence) from error
        return best, [evidence.known.get(i, int(best.codes[i])) for i in range(len(self.domain))]

    def _starts(self, rows: Any, evidence: Evidence) -> NDArray[np.int64]:
        """Return rows as joint states of `factors` given the evidence, where observed variables have the code 0."""
        codes = self.coded_rows(rows, "a search").codes.astype(np.int64)
        codes[:, list(evidence.known)] = 0
        hidden = np.zeros((len(codes), self.factors.n_variables - len(self.domain)), np.int64)
        return np.concatenate([codes, hidden], axis=1)

    @takes_evidence
    def sample(
        self, n_rows: int, *, evidence: States = None, engine: str = AUTO, seed: int = 0, jobs: int | None = None
    ) -> Dataset:
        """Draw rows from the distribution, given the evidence.

        Parameters
        ----------
        n_rows : int
            Number of rows, 1 or more.
        evidence : mapping, default None
            States that all rows have; soft evidence weighs states.
        engine : {"auto", "tree", "gibbs"}, default "auto"
            ``tree`` draws independent, exact rows. ``gibbs`` draws from Gibbs chains, close to the distribution and not
            quite independent. ``auto`` takes ``tree`` where it fits.
        seed : int, default 0
            Random seed of the rows.
        jobs : int, default None
            Number of threads that draw; None uses all processors. The rows do not depend on it.

        Returns
        -------
        Dataset
            Rows of codes; ``notes`` warn if they come from chains.

        Raises
        ------
        MrfitError
            If the evidence has probability zero, or the rows would take too much memory.

        Examples
        --------
        >>> import mrfit
        >>> table = {"rain": ["no", "yes"] * 3, "wet": ["no", "yes", "no", "yes", "yes", "no"]}
        >>> rows = mrfit.learn(table).model.sample(1000, evidence={"rain": "yes"}, seed=1)
        >>> rows.n_rows, rows.domain.names
        (1000, ('rain', 'wet'))
        """
        _check_number_of_rows(n_rows, self.domain)
        codes, notes = self._drawn(self._evidence(evidence), n_rows, engine, seed, resolve_jobs(jobs))
        return Dataset(self.domain, codes, notes=notes)

    def _drawn(
        self, evidence: Evidence, n_rows: int, engine: str, seed: int, jobs: int
    ) -> tuple[NDArray[np.uint8], tuple[str, ...]]:
        """Draw rows of codes, with the evidence filled in; return them, and remarks if they are not exact."""
        factors, tree = self._planned_tree(evidence, seed=seed, merge=False)
        try:
            codes, notes = draw_rows(
                factors, n_rows, len(self.domain), engine=engine, seed=seed, jobs=jobs, names=self.display_names,
                tree=tree,
            )  # fmt: skip
        except ImpossibleError as error:
            raise self._impossible(evidence) from error
        for i, state in evidence.known.items():
            codes[:, i] = state
        return codes, notes

    def impute(
        self,
        data: Any,
        *,
        how: str = "map",
        seed: int | tuple[int, ...] = 0,
        jobs: int | None = None,
        callback: Callable[[int], None] | None = None,
    ) -> Dataset:
        """Return rows with missing cells filled in.

        Parameters
        ----------
        data : table
            Rows with missing values. A column that is absent is missing in every row.
        how : {"map", "draw"}, default "map"
            Fill in the most probable joint state of a row's missing cells, or draw one from their conditional
            distribution. For multiple imputation, draw several times with different seeds.
        seed : int or tuple of int, default 0
            Random seed of the draws.
        jobs : int, default None
            Number of threads that complete rows; None uses all processors.
        callback : callable, default None
            Called with the number of rows finished since its last call.

        Returns
        -------
        Dataset
            Complete rows, with the weights of ``data``; ``notes`` name rows that are filled in approximately.

        Raises
        ------
        MrfitError
            If a covariate is missing, or if the observed values of a row are impossible.

        Examples
        --------
        >>> import mrfit
        >>> table = {"rain": ["no", "yes"] * 3, "wet": ["no", "yes", "no", "yes", "yes", "no"]}
        >>> model = mrfit.learn(table).model
        >>> model.impute({"rain": ["yes", None], "wet": [None, "no"]}).codes
        array([[1, 1],
               [0, 0]], dtype=uint8)
        """
        if how not in ("map", "draw"):
            raise InputError(f"There is no method of imputation {how!r}; choose 'map' or 'draw'.")
        rows, threads = self._incomplete(data), resolve_jobs(jobs)
        self._check_covariates_known(rows.codes)
        rng = generator(seed)
        fill_in = partial(self._best_rows if how == "map" else self._drawn_rows, rng=rng, jobs=threads)
        found = completed(
            self.factors,
            rows.codes,
            how=how,
            rng=rng,
            otherwise=None if self._has_hidden else fill_in,
            names=self.display_names,
            jobs=threads,
            callback=callback,
        )
        return Dataset(self.domain, found.codes, rows.sample_weight, notes=_notes_on_rows(found, len(rows.codes)))

    def _best_rows(
        self, known: Mapping[int, int], n_rows: int, *, rng: np.random.Generator, jobs: int
    ) -> tuple[NDArray[np.uint8], tuple[str, ...]]:
        best, codes = self._best(Evidence(known), AUTO, 0)
        about = (
            () if best.exact else (best.remarks or (f"They are by {best.engine}: there may be more probable ones.",))
        )
        return np.tile(np.array(codes, np.uint8), (n_rows, 1)), about

    def _drawn_rows(
        self, known: Mapping[int, int], n_rows: int, *, rng: np.random.Generator, jobs: int
    ) -> tuple[NDArray[np.uint8], tuple[str, ...]]:
        return self._drawn(Evidence(known), n_rows, AUTO, int(rng.integers(2**31)), jobs)

    def predict_proba(
        self,
        variable: str,
        data: Any,
        *,
        return_error: bool = False,
        seed: int = 0,
        samples: int | None = None,
        precision: float | None = None,
        jobs: int | None = None,
    ) -> Floats | tuple[Floats, Floats]:
        """Return p(variable | other values of the row) for every row.

        Parameters
        ----------
        variable : str
            Variable to predict. Its own cells are ignored, and its column may be absent.
        data : table
            Rows to predict from. Cells of other columns may be missing in some rows, or altogether.
        return_error : bool, default False
            Whether to return standard errors too, instead of a warning if there are any.
        seed : int, default 0
            Random seed for rows with too many missing cells for an exact answer.
        samples : int, default None
            Number of chains for such rows.
        precision : float, default None
            Largest acceptable standard error for such rows.
        jobs : int, default None
            Number of threads; None uses all processors.

        Returns
        -------
        p : array of shape (n_rows, n_states)
            Probabilities, in the order of the variable's states.
        error : array of shape (n_rows, n_states)
            Standard errors, zero where a row is exact; only with ``return_error``.

        Warns
        -----
        ApproximationWarning
            If some rows are approximate and ``return_error`` is false; it reports the largest standard error.

        Examples
        --------
        >>> import mrfit
        >>> table = {"rain": ["no", "yes"] * 3, "wet": ["no", "yes", "no", "yes", "yes", "no"]}
        >>> mrfit.learn(table).model.predict_proba("wet", {"rain": ["yes", "no"]}).round(3)
        array([[0.415, 0.585],
               [0.536, 0.464]])
        """
        p, error = self.predicted(variable, data, How(AUTO, seed, samples, precision), jobs=jobs)
        if return_error:
            return p, error
        warn_of_errors(error)
        return p

    def predicted(self, variable: str, data: Any, how: How, *, jobs: int | None = None) -> tuple[Floats, Floats]:
        """Internal: return p(variable | other values of the row), and its standard errors.

        Parameters
        ----------
        variable : str
            Variable to predict, whose own cells are ignored.
        data : table
            Rows to predict from, as in `predict_proba`.
        how : record
            Engine, seed, number of chains and precision for rows with too many missing cells.
        jobs : int, default None
            Number of threads that predict; None uses all processors.

        Returns
        -------
        p, error : array of shape (n_rows, n_states)
        """
        rows, i = self._incomplete(data), self.domain.index(variable)
        self._check_asked((i,))
        self._check_covariates_known(rows.codes)

        def otherwise(known: Mapping[int, int]) -> tuple[Floats, Floats]:
            posterior, _ = self._asked(Evidence(known), (), how, of=(i,))
            error = posterior.marginal_error((i,))
            assert error is not None  # every engine that auto chooses knows its errors
            return posterior.marginal((i,)), error

        return predicted(
            self.factors,
            i,
            rows.codes,
            otherwise=None if self._has_hidden else otherwise,
            names=self.display_names,
            jobs=resolve_jobs(jobs),
        )


def _notes_on_rows(found: Completed, n_rows: int) -> tuple[str, ...]:
    if not found.n_approximate:
        return ()
    some, more = found.remarks[:_MOST_REMARKS], len(found.remarks) - _MOST_REMARKS
    return (
        f"{found.n_approximate:,} of {n_rows:,} rows have too many missing values for an exact answer, so theirs are "
        "filled in approximately.",
        *some,
        *((f"Another {more:,} remarks are like these.",) if more > 0 else ()),
    )


def warn_of_errors(error: Floats) -> None:
    """Warn of approximate predictions, to the caller of a public method that calls this."""
    rows = np.flatnonzero(error.any(axis=1))
    if len(rows):
        warnings.warn(
            f"{len(rows):,} of {len(error):,} rows have too many missing values for an exact answer: their "
            f"probabilities have standard errors of up to {error.max():.1g}. return_error=True returns these.",
            ApproximationWarning,
            stacklevel=3,
        )


def _check_number_of_rows(n_rows: int, domain: Domain) -> None:
    if not isinstance(n_rows, int | np.integer) or isinstance(n_rows, bool) or n_rows < 1:
        raise InputError(f"The number of rows to draw is {n_rows!r}; expected a whole number, 1 or larger.")
    if n_rows * len(domain) > _MOST_CELLS:
        raise InputError(
            f"{n_rows:,} rows of {len(domain):,} variables take {n_rows * len(domain):.2g} bytes; the limit is "
            f"{_MOST_CELLS:.2g}. Draw fewer at a time, with another seed for each."
        )
    if max(domain.shape) > MAX_STATES:
        name = domain.names[int(np.argmax(domain.shape))]
        raise InputError(f"Variable {name!r} has {max(domain.shape):,} states; rows hold at most {MAX_STATES}.")
