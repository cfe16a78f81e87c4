"""The fitted, immutable Markov network."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from mrfit import _renamed
from mrfit._typing import Floats
from mrfit.core.domain import Domain
from mrfit.core.errors import InputError, listed
from mrfit.core.factors import Factors
from mrfit.core.html_table import html_table
from mrfit.core.threads import resolve_jobs
from mrfit.data.encoding import has_all_cells
from mrfit.data.unique_rows import UniqueRows
from mrfit.inference.exact.tree_plan import TreePlan
from mrfit.inference.plan import Plan
from mrfit.model.pair_weights import WEIGHT, PairWeights
from mrfit.model.queries.answer import FloatWithError
from mrfit.model.queries.missing_cells import observed_ll, observed_pll
from mrfit.model.queries.questions import Queryable
from mrfit.model.standard_error_estimates import StandardErrors
from mrfit.model.wald import WaldTest, wald_tests
from mrfit.objectives.row_scores import row_ll, row_pll
from mrfit.parameterizations.canonical import Canonical
from mrfit.parameterizations.edge_tables import edge_weights, scores_of
from mrfit.parameterizations.groups import Groups
from mrfit.parameterizations.joint import converted
from mrfit.parameterizations.parameterization import Parameterization
from mrfit.parameterizations.reference_states import reference_from
from mrfit.registry import PARAMETERIZATIONS
from mrfit.structures.edge_weights import EdgeWeights, Scores, default_scores
from mrfit.structures.structure import Structure

if TYPE_CHECKING:
    import networkx

    from mrfit.analysis.goodness.goodness import Goodness, ModelCells
    from mrfit.analysis.nodes.node_measures import Groups as GroupsOfVariables
    from mrfit.analysis.nodes.node_measures import NodeMeasures


_MOST_IN_NOTEBOOKS = 200  # variables of models that notebooks show as a page, of about 100 kB


@dataclass(frozen=True, eq=False)
class MarkovNetwork(Queryable):
    """Fitted Markov network: a distribution over discrete variables, with named parameters.

    log p(x) = sum over parameters k of w[k] * feature_k(x), minus log Z. Learning returns one (`FitResult.model`);
    build one yourself to work with a distribution that you know. A model never changes.

    Parameters
    ----------
    parameters : Parameterization
        Coordinates of the model: domain, structure, and the feature of each parameter.
    w : array of shape (n_parameters,)
        Values of the parameters in the order of ``parameters.names()``: finite, or minus infinity in full coordinates,
        where it makes states impossible.
    provenance : mapping, optional
        Record of how the model was learned, such as objective, penalty and versions; anything JSON can hold.
    groups : record, default None
        Which parameters are tied, softly or hard, and the value of each group. None if no parameters are tied.
    errors : StandardErrors, default None
        Standard errors of the parameters. None unless the learner was asked for them.

    Raises
    ------
    MrfitError
        If ``w``, ``groups`` or ``errors`` do not have one entry for each parameter, or if a value is not finite.

    See Also
    --------
    learn : Learn a model from a table.
    FactorNetwork : A distribution of tables, as model files of other programs have it.
    read_network : Read a model from a file.

    Notes
    -----
    Every query takes ``evidence``, also under its alias ``given``, and most take an ``engine``. The default ``auto`` is
    exact where a junction tree or enumeration fits. Otherwise it is an approximation by chains, whose numbers have
    standard errors and say ``exact=False``.

    Examples
    --------
    >>> import mrfit
    >>> table = {"rain": ["no", "yes"] * 3, "wet": ["no", "yes", "no", "yes", "yes", "no"]}
    >>> model = mrfit.learn(table).model
    >>> model.n_edges, model.n_parameters
    (1, 3)
    >>> round(model.conditional("wet", {"rain": "yes"})["yes"], 3)
    0.585

    A model of known parameters:

    >>> from mrfit.parameterizations import Ising
    >>> domain = mrfit.Domain.from_states({"a": ["no", "yes"], "b": ["no", "yes"]})
    >>> parameters = Ising(domain, mrfit.Structure.complete(2))
    >>> pair = mrfit.MarkovNetwork(parameters, [0.0, 0.0, 0.5])
    >>> round(pair.conditional("a", {"b": "yes"})["yes"], 3)
    0.622
    """

    parameters: Parameterization
    w: Floats
    provenance: Mapping[str, Any] = field(default_factory=dict)
    groups: Groups | None = None
    errors: StandardErrors | None = None

    def __post_init__(self) -> None:
        w = np.array(self.w, np.float64)
        if w.shape != (self.parameters.n_parameters,):
            raise InputError(
                f"This structure has {self.parameters.n_parameters} parameters; got an array of shape {w.shape}."
            )
        allowed = np.isfinite(w) | (np.isneginf(w) & self.parameters.may_be_impossible)
        if not allowed.all():
            raise InputError(
                f"Parameters must be finite numbers; got {w[~allowed][0]}. Only full ones may be minus infinity, for "
                "states that are impossible."
            )
        if self.groups is not None and len(self.groups.assignment) != len(w):
            raise InputError(f"The groups tie {len(self.groups.assignment)} parameters; the model has {len(w)}.")
        if self.errors is not None and len(self.errors.covariance) != len(w):
            raise InputError(f"The errors are of {len(self.errors.covariance)} parameters; the model has {len(w)}.")
        w.flags.writeable = False
        object.__setattr__(self, "w", w)
        object.__setattr__(self, "provenance", dict(self.provenance))

    @property
    def domain(self) -> Domain:  # type: ignore[override]
        """Variables and their states, in the order of all arrays of the model."""
        return self.parameters.domain

    @property
    def structure(self) -> Structure:
        """Interactions that have parameters, including those whose parameters are all zero."""
        return self.parameters.structure

    @cached_property
    def _present(self) -> Structure:
        """The structure without interactions whose parameters are all zero."""
        return self.parameters.pruned(self.w)[0].structure

    @property
    def edges(self) -> NDArray[np.int64]:
        """Pairs of variables that share an interaction with a parameter that is not zero, shape (n_edges, 2).

        Examples
        --------
        >>> import mrfit
        >>> table = {"rain": ["no", "yes"] * 3, "wet": ["no", "yes", "no", "yes", "yes", "no"]}
        >>> mrfit.learn(table).model.edges
        array([[0, 1]])
        """
        return self._present.edges

    @property
    def n_edges(self) -> int:
        """Number of `edges`."""
        return len(self.edges)

    @property
    def n_parameters(self) -> int:
        """Number of parameters that are not exactly zero; a penalty removes the others from the model."""
        return int(np.count_nonzero(self.w))

    @property
    def n_scopes(self) -> int:
        """Number of single variables and interactions that have a parameter that is not zero."""
        return len(np.unique(self.parameters.scope_of_parameter[self.w != 0]))

    @property
    def n_distinct(self) -> int:
        """Number of different values among the parameters that are not zero; softly tied parameters differ."""
        return len(np.unique(self.w[self.w != 0]))

    @property
    def n_groups(self) -> int | None:
        """Number of groups of tied parameters; None if no parameters are tied."""
        return None if self.groups is None else self.groups.n_groups

    @property
    def covariate_indices(self) -> tuple[int, ...]:
        """Positions of the covariates in the domain."""
        return self.parameters.covariate_indices

    given = _renamed.attribute("given", "covariates")

    def check_no_covariates(self, what: str) -> None:
        """Refuse what needs a distribution of all variables; ``what`` begins the sentence: "Tables are drawn from"."""
        if self.covariates:
            raise InputError(
                f"{what} a distribution of all variables; this model is conditional on {listed(self.covariates)}. Use "
                "a model without covariates."
            )

    @cached_property
    def factors(self) -> Factors:
        """Tables whose product is the distribution, as `Factors`; with covariates, the distribution given their states.

        Examples
        --------
        >>> import mrfit
        >>> table = {"rain": ["no", "yes"] * 3, "wet": ["no", "yes", "no", "yes", "yes", "no"]}
        >>> mrfit.learn(table).model.factors
        Factors(2 variables, 3 tables, 8 cells)
        """
        return self.parameters.to_factors(self.w)

    def with_plan(self, plan: Plan) -> MarkovNetwork:
        """Return the same model with the elimination order of a junction tree's plan, which is saved with it.

        Queries use that order instead of searching for one. That helps where the search takes long.

        Parameters
        ----------
        plan : Plan
            Plan of a ``JunctionTree`` for all variables of this model, without evidence.

        Returns
        -------
        MarkovNetwork

        Raises
        ------
        MrfitError
            If the plan is by another engine or for other variables.

        Examples
        --------
        >>> import mrfit
        >>> from mrfit.inference import JunctionTree
        >>> table = {"rain": ["no", "yes"] * 3, "wet": ["no", "yes", "no", "yes", "yes", "no"]}
        >>> model = mrfit.learn(table).model
        >>> planned = model.with_plan(JunctionTree(effort=100).plan(model.factors))
        >>> planned.stored_order
        (0, 1)
        """
        if not isinstance(plan, TreePlan) or plan.shape != self.domain.shape:
            raise InputError("Only a plan of a junction tree for all variables of this model can be stored with it.")
        order = [self.domain.names[i] for i in plan.order]
        return replace(self, provenance={**self.provenance, "plan": {"order": order}})

    @property
    def stored_order(self) -> tuple[int, ...] | None:
        """Elimination order stored by `with_plan`, as positions of variables; None without one."""
        stored = self.provenance.get("plan")
        if not isinstance(stored, dict) or not isinstance(stored.get("order"), list):
            return None
        return tuple(self.domain.index(str(name)) for name in stored["order"])

    @property
    def has_impossible_states(self) -> bool:
        """Whether some states have probability zero; rows with them score minus infinity."""
        return bool(np.isneginf(self.w).any())

    @property
    def is_hard_tied(self) -> bool:
        """Whether every parameter of a group equals the value of its group."""
        return self.groups is not None and np.array_equal(self.groups.tied(self.w), self.w)

    @property
    def fitted_by(self) -> str | None:
        """Internal: the objective that the model was fitted to; None if it is unknown."""
        objective = self.provenance.get("objective")
        return objective if isinstance(objective, str) else None

    def fitted_cells(self, rows: UniqueRows) -> Callable[[], ModelCells] | None:
        """Internal: return a function that lists all joint states, or None for many states or other rows."""
        from mrfit.analysis.goodness.goodness import ModelCells, has_few_cells

        if self.covariates or not self._was_learned_from(rows) or not has_few_cells(self.parameters):
            return None
        return lambda: ModelCells.of(self.parameters, self.factors)

    def _was_learned_from(self, rows: UniqueRows) -> bool:
        learned_from = self.provenance.get("data")
        return isinstance(learned_from, dict) and learned_from.get("sha256") == rows.sha256

    @property
    def unbounded(self) -> Mapping[str, str]:
        """Parameters without a finite estimate, by name, and where each goes.

        That is ``+inf``, ``-inf`` or ``undetermined``.

        The data never contradict them and no penalty bounds them, so `w` has the value at which the solver stopped. For
        undetermined ones the data determine only sums with others.
        """
        found = self.provenance.get("unbounded", {})
        return dict(found) if isinstance(found, Mapping) else {}

    def describe(self) -> str:
        """Return sizes and penalty in one line.

        Returns
        -------
        str
            Numbers of variables, edges and parameters that are not zero; name and strength of the penalty.
        """
        sizes = f"{len(self.domain):,} variables, {self.n_edges:,} edges, {self.n_parameters:,} parameters"
        penalty = self.provenance.get("penalty")
        if not isinstance(penalty, dict) or not isinstance(penalty.get("strength"), int | float):
            return sizes
        if penalty["strength"] == 0:
            return f"{sizes}; no penalty"
        return f"{sizes}; {penalty.get('name')}, strength {penalty['strength']:g}"

    def __repr__(self) -> str:
        return f"<MarkovNetwork: {self.describe()}>"

    def _repr_html_(self) -> str:
        order = min(2, self.structure.order)
        strongest = [(name, f"{value:+.4f}") for name, value in self.strongest(10, order=order)]
        facts = {"model": self.describe(), "coordinates": self.parameters.word, "strongest": "value"}
        return html_table("MarkovNetwork", facts, strongest) + self.explorer_frame()

    def explorer_frame(self) -> str:
        """Internal: return the explorer in a frame for notebooks, or "" if the model is conditional or too large."""
        from mrfit.explorer.document import Document
        from mrfit.explorer.html_page import notebook_frame

        if self.covariates or len(self.domain) > _MOST_IN_NOTEBOOKS:
            return ""
        return notebook_frame(Document.of(self, title="model"))

    def to_frame(self) -> Any:
        """Return all parameters as a pandas frame, in the order of ``w``.

        Returns
        -------
        pandas.DataFrame
            Columns ``name``, ``order`` (number of variables), ``variables`` and ``states`` (tuples; no states where a
            parameter compares them rather than names one), ``value``, ``error`` (standard error, missing where it is
            unknown) and ``group`` (missing where nothing is tied).

        Raises
        ------
        MrfitError
            If pandas is not installed.

        Examples
        --------
        >>> import mrfit
        >>> table = {"rain": ["no", "yes"] * 3, "wet": ["no", "yes", "no", "yes", "yes", "no"]}
        >>> mrfit.learn(table).model.to_frame()[["name", "order", "value"]].round(3)
                         name  order  value
        0            rain=yes      1 -0.146
        1             wet=yes      1 -0.146
        2  rain=yes & wet=yes      2  0.490
        """
        try:
            import pandas
        except ImportError as error:
            raise InputError(
                "A frame of parameters needs pandas, which is not installed; run `pip install pandas`, or use "
                "model.parameters.names() and model.w."
            ) from error
        parameters, domain = self.parameters, self.domain
        numbers = range(len(self.w))
        group = [None] * len(self.w) if self.groups is None else [None if g < 0 else g for g in self.groups.assignment]
        return pandas.DataFrame(
            {
                "name": list(parameters.names()),
                "order": parameters.order_of_parameter,
                "variables": [tuple(domain.names[i] for i in parameters.scope(k)) for k in numbers],
                "states": [tuple(domain[i].states[s] for i, s in parameters.states(k)) for k in numbers],
                "value": self.w,
                "error": np.full(len(self.w), np.nan) if self.errors is None else self.errors.standard_errors,
                "group": pandas.array(group, dtype="Int64"),
            }
        )

    @property
    def graph(self) -> networkx.Graph[Any]:
        """New networkx graph of variables by name, joined if they share a scope, with ``weight`` their edge weight.

        Examples
        --------
        >>> import mrfit
        >>> table = {"rain": ["no", "yes"] * 3, "wet": ["no", "yes", "no", "yes", "yes", "no"]}
        >>> graph = mrfit.learn(table).model.graph
        >>> round(graph.edges["rain", "wet"]["weight"], 3)
        0.49
        """
        graph, names = self._present.to_graph(self.domain), self.domain.names
        for (a, b), weight in zip(self.edges.tolist(), self.weighted_edges.values.tolist(), strict=True):
            graph.edges[names[a], names[b]]["weight"] = weight
        return graph

    @property
    def edge_weights(self) -> Floats:
        """Edge weight of every edge of the structure, the same in all coordinates.

        `weighted_edges` names the unit, and leaves out edges whose parameters are all zero.
        """
        return self._weighted_structure.values

    @property
    def edge_signs(self) -> NDArray[np.int64]:
        """Sign of every edge weight, -1 or 1, or 0 where a weight is zero or has no sign (categories)."""
        return self._weighted_structure.signs

    @cached_property
    def _weighted_structure(self) -> EdgeWeights:
        """Weights of all edges of the structure, zero where a penalty has set all parameters of a pair to zero."""
        return edge_weights(self.parameters, self.w, self.state_scores)

    @cached_property
    def weighted_edges(self) -> EdgeWeights:
        """Record of the `edges` with their weights (``values``), ``signs`` and ``unit``.

        The edge weight of two binary variables is their log odds ratio, given the others. For ordered variables it is
        the log odds ratio per step of their scores. For categories it is the Frobenius norm of the centered table,
        without a sign. ``rows(names)`` yields a dict for each edge, the largest weight first.

        Examples
        --------
        >>> import mrfit
        >>> table = {"rain": ["no", "yes"] * 3, "wet": ["no", "yes", "no", "yes", "yes", "no"]}
        >>> edges = mrfit.learn(table).model.weighted_edges
        >>> edges.values.round(3), edges.unit
        (array([0.49]), 'log odds ratio')
        """
        return self._weighted_structure.among(self.edges)

    @property
    def state_scores(self) -> Scores:
        """Scores of each variable's states by which edge weights are computed, as arrays; None for categories.

        A model converted to another parameterization keeps the scores of its ordered variables.
        """
        stored = self.provenance.get("scores")
        if not isinstance(stored, dict):
            return scores_of(self.parameters)
        found = list(default_scores(self.domain.shape))
        for i, variable in enumerate(self.domain):
            own = stored.get(variable.name)
            if isinstance(own, list) and len(own) == variable.n_states > 2:
                found[i] = np.array(own, np.float64)
        return tuple(found)

    def pll(self, data: Any, *, jobs: int | None = None) -> float:
        """Return the mean pseudo-log-likelihood per row, in nats.

        The pseudo-log-likelihood of a row is the sum over variables of log p(its state | the other states of the row).
        It never needs log Z.

        Parameters
        ----------
        data : table
            Rows to score: a frame, a dict of columns, a `Dataset` or `UniqueRows`, whose weights count. Columns are
            matched by name. Rows with missing values need a `Dataset` read with ``missing="keep"``; see Notes.
        jobs : int, default None
            Number of threads that score rows; None uses all processors. It does not change the result.

        Returns
        -------
        float

        Notes
        -----
        In a row with missing values, an observed variable is conditional on the other observed values alone.

        Examples
        --------
        >>> import mrfit
        >>> table = {"rain": ["no", "yes"] * 3, "wet": ["no", "yes", "no", "yes", "yes", "no"]}
        >>> round(mrfit.learn(table).model.pll(table), 3)
        -1.322
        """
        rows = self.coded_rows(data)
        pll, threads = self.row_scores("pll"), resolve_jobs(jobs)
        scores = rows.scored(lambda codes: finite_scores(pll, self, codes, jobs=threads))
        return float(rows.sample_weight @ scores) / rows.total_weight

    def pll_rows(self, data: Any, *, jobs: int | None = None) -> Floats:
        """Return the pseudo-log-likelihood of every row, in nats and in the order of the data.

        Parameters
        ----------
        data : table
            Rows to score, as in `pll`.
        jobs : int, default None
            Number of threads; None uses all processors.

        Returns
        -------
        array of shape (n_rows,)
        """
        return finite_scores(self.row_scores("pll"), self, self._dataset(data).codes, jobs=resolve_jobs(jobs))

    def ll(self, data: Any, *, jobs: int | None = None) -> float:
        """Return the mean log-likelihood per row, in nats.

        Parameters
        ----------
        data : table
            Rows to score: a frame, a dict of columns, a `Dataset` or `UniqueRows`, whose weights count. A row with
            missing values, read with ``missing="keep"``, scores the log-probability of its observed values.
        jobs : int, default None
            Number of threads that score rows or sum out missing values; None uses all processors.

        Returns
        -------
        float
            A model learned by chains returns a float with a standard ``error``, that of its estimate of log Z.

        Raises
        ------
        MrfitError
            If log Z can be neither computed exactly nor taken from learning (`known_log_z`).

        Notes
        -----
        With covariates this is the conditional log-likelihood of the other variables.

        Examples
        --------
        >>> import mrfit
        >>> table = {"rain": ["no", "yes"] * 3, "wet": ["no", "yes", "no", "yes", "yes", "no"]}
        >>> round(mrfit.learn(table).model.ll(table), 3)
        -1.356
        """
        rows = self.coded_rows(data)
        scores = finite_scores(self.row_scores("ll"), self, rows.codes, jobs=resolve_jobs(jobs))
        mean = float(rows.sample_weight @ scores) / rows.total_weight
        return self.mean_ll(mean)

    def mean_ll(self, mean: float) -> float:
        """Internal: return a mean log-likelihood, with the standard error of the stored log Z, if any."""
        is_exact = self.known_log_z is None
        return mean if is_exact else FloatWithError(mean, self.known_log_z_error, exact=False)

    def ll_rows(self, data: Any, *, jobs: int | None = None) -> Floats:
        """Return the log-likelihood of every row, in nats and in the order of the data.

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
        return finite_scores(self.row_scores("ll"), self, self._dataset(data).codes, jobs=resolve_jobs(jobs))

    @property
    def known_log_z(self) -> float | None:
        """Estimate of log Z by annealing after learning by chains, independent of the draws that learning used.

        None for other models, whose log Z is computed when needed.
        """
        known = self.provenance.get("log_z")
        return None if known is None else float(known["value"])

    @property
    def known_log_z_error(self) -> float:
        """Standard error of `known_log_z`; zero for models without one."""
        known = self.provenance.get("log_z")
        return 0.0 if known is None else float(known.get("error") or 0.0)

    def row_scores(self, metric: str, *, log_z: float | None = None) -> ScoreRows:
        """Internal: return the function that scores rows of codes.

        Parameters
        ----------
        metric : {"pll", "ll"}
            Pseudo-log-likelihood or log-likelihood.
        log_z : float, default None
            Value of log Z in nats, if it is known; otherwise it is computed.

        Returns
        -------
        callable
        """
        return _ByPseudoLikelihood() if metric == "pll" else _ByLikelihood(self.known_log_z if log_z is None else log_z)

    def scores_of_codes(
        self, metric: str, codes: NDArray[np.uint8], *, log_z: float | None = None, jobs: int = 1
    ) -> Floats:
        """Internal: return the scores of rows of codes.

        Parameters
        ----------
        metric : {"pll", "ll"}
            Pseudo-log-likelihood or log-likelihood.
        codes : array of shape (n_rows, n_variables)
            States as positions; 255 marks a missing value.
        log_z : float, default None
            Value of log Z in nats, if it is known; otherwise ``ll`` computes it.
        jobs : int, default 1
            Number of threads that score.

        Returns
        -------
        array of shape (n_rows,)
        """
        return finite_scores(self.row_scores(metric, log_z=log_z), self, codes, jobs=jobs)

    def strongest(self, count: int, *, order: int) -> list[tuple[str, float]]:
        """Return names and values of the largest parameters, in absolute value, of interactions of one order.

        Parameters that are exactly zero are left out.

        Parameters
        ----------
        count : int
            Largest number of parameters to return.
        order : int
            Number of variables of the interactions: 1 for single variables, 2 for pairs.

        Returns
        -------
        list of (str, float)
            The largest first.

        Examples
        --------
        >>> import mrfit
        >>> table = {"rain": ["no", "yes"] * 3, "wet": ["no", "yes", "no", "yes", "yes", "no"]}
        >>> ((name, value),) = mrfit.learn(table).model.strongest(5, order=2)
        >>> name, round(value, 3)
        ('rain=yes & wet=yes', 0.49)
        """
        chosen = np.flatnonzero((self.parameters.order_of_parameter == order) & (self.w != 0))
        top = chosen[np.argsort(-np.abs(self.w[chosen]), kind="stable")[:count]]
        return [(self.parameters.name(int(k)), float(self.w[k])) for k in top]

    def nodes(
        self,
        data: Any = None,
        *,
        groups: GroupsOfVariables | None = None,
        coding: str | None = None,
        paths: bool = False,
        seed: int = 0,
        jobs: int | None = None,
    ) -> NodeMeasures:
        """Return each variable's centralities, its community, and how well the other variables predict it.

        Parameters
        ----------
        data : table, default None
            Rows in which to measure predictability: accuracy, explained deviance and Brier score. Use held-out rows.
            None leaves predictability out.
        groups : mapping of str to list of str, default None
            Groups of variables, ``{"mood": ["sad", "tired"], ...}``, for bridge centralities.
        coding : {"weight", "01", "signs", "tables"}, default None
            Weights of the pairs that centralities are sums of: edge weights (None or ``weight``), or those of another
            coding as in `pair_weights`.
        paths : bool, default False
            Whether to add closeness and betweenness.
        seed : int, default 0
            Random seed of the search for communities (Louvain).
        jobs : int, default None
            Number of threads for rows with missing values; None uses all processors.

        Returns
        -------
        NodeMeasures
            Record with ``measures`` by name, ``community``, ``modularity`` and ``predictability``; ``to_frame()`` gives
            a pandas frame with a row for each variable.

        Raises
        ------
        MrfitError
            If the model has covariates or impossible states, or if groups do not fit the variables.

        See Also
        --------
        node_stability : Bootstrap intervals of these numbers.

        Examples
        --------
        >>> import mrfit
        >>> table = {"rain": ["no", "yes"] * 3, "wet": ["no", "yes", "no", "yes", "yes", "no"]}
        >>> nodes = mrfit.learn(table).model.nodes()
        >>> nodes.names, nodes.community
        (('rain', 'wet'), array([0, 0]))
        >>> nodes.measures["strength"].round(3)
        array([0.49, 0.49])
        """
        from mrfit.analysis.nodes.node_measures import NodeMeasures
        from mrfit.analysis.nodes.predictability import Predictability

        self.check_no_covariates("Measures of variables are those of")
        known = None
        if data is not None:
            known = Predictability.of(self.factors, self.coded_rows(data), jobs=resolve_jobs(jobs))
        return NodeMeasures.of(self.pair_weights(coding), predictability=known, groups=groups, paths=paths, seed=seed)

    def pair_weights(self, coding: str | None = None) -> PairWeights:
        """Return the weights of all pairs of variables, as one symmetric matrix.

        Parameters
        ----------
        coding : {"weight", "01", "signs", "tables"}, default None
            ``weight`` (or None): edge weights. ``01`` and ``signs``: log odds ratios, or quarters of them, of binary
            variables. ``tables``: norms of centered tables, for any variables.

        Returns
        -------
        PairWeights
            Record with ``names``, ``coding``, ``matrix``, ``has_sign`` and ``unit``.

        Raises
        ------
        MrfitError
            If the coding needs binary variables and one has more states, or if some states are impossible.

        Examples
        --------
        >>> import mrfit
        >>> table = {"rain": ["no", "yes"] * 3, "wet": ["no", "yes", "no", "yes", "yes", "no"]}
        >>> mrfit.learn(table).model.pair_weights("tables").matrix.round(3)
        array([[0.   , 0.245],
               [0.245, 0.   ]])
        """
        if coding in (None, WEIGHT):
            return PairWeights.of_edges(self.domain.names, self.weighted_edges, self.state_scores)
        return PairWeights.of(self.factors, self.domain, coding)

    def goodness(self, data: Any) -> Goodness:
        """Test the fit to all joint states at once: G-squared, and residuals of pairs and triples.

        Parameters
        ----------
        data : table
            Complete rows. If the model was learned from these rows, which it recognises, degrees of freedom allow for
            the parameters.

        Returns
        -------
        Goodness
            Record with ``statistic``, ``degrees``, ``p``, ``sparse`` (share of cells in which fewer than 5 rows are
            expected) and the residuals ``pairs`` and ``triples``, the largest first.

        Raises
        ------
        MrfitError
            If there are more than 2^16 joint states, or the model has covariates.

        See Also
        --------
        bootstrap_goodness : A p value where cells are sparse and chi-square does not hold.

        Examples
        --------
        >>> import mrfit
        >>> table = {"rain": ["no", "yes"] * 10, "wet": ["no", "yes", "no", "no"] * 5}
        >>> independent = mrfit.learn(table, "independent").model
        >>> found = independent.goodness(table)
        >>> round(found.statistic, 2), found.degrees
        (8.82, 1)
        """
        from mrfit.analysis.goodness.goodness import ModelCells, goodness

        self.check_no_covariates("G-squared is that of")
        rows = self.coded_rows(data, "G-squared")
        return goodness(ModelCells.of(self.parameters, self.factors), rows, is_fitted=self._was_learned_from(rows))

    def intervals(self, level: float = 0.95) -> Floats:
        """Return Wald confidence intervals of the parameters, in the order of ``w``.

        Parameters
        ----------
        level : float, default 0.95
            Coverage of each interval, between 0 and 1.

        Returns
        -------
        array of shape (n_parameters, 2)
            NaN for parameters without a finite optimum.

        Raises
        ------
        MrfitError
            If the model was learned without standard errors.

        Examples
        --------
        >>> import mrfit
        >>> table = {"rain": ["no", "yes"] * 3, "wet": ["no", "yes", "no", "yes", "yes", "no"]}
        >>> model = mrfit.learn(table, penalty="none", errors="sandwich").model
        >>> model.intervals()[2].round(2)
        array([-2.01,  4.78])
        """
        return self._known_errors.intervals(self.w, level)

    def wald_tests(self) -> tuple[WaldTest, ...]:
        """Test for every interaction whether all its parameters are zero.

        Returns
        -------
        tuple of WaldTest
            One for each scope of two or more variables, the smallest p value first: ``variables``, ``degrees``,
            ``statistic``, ``p``, and ``adjusted``, the false discovery rate (Benjamini and Hochberg 1995).

        Raises
        ------
        MrfitError
            If the model was learned without standard errors.

        Examples
        --------
        >>> import mrfit
        >>> table = {"rain": ["no", "yes"] * 3, "wet": ["no", "yes", "no", "yes", "yes", "no"]}
        >>> (test,) = mrfit.learn(table, penalty="none", errors="sandwich").model.wald_tests()
        >>> test.variables, round(test.p, 3)
        (('rain', 'wet'), 0.423)
        """
        tests = wald_tests(self.w, self._known_errors.covariance, self.interaction_sets())
        return tuple(sorted(tests, key=lambda test: (np.isnan(test.p), test.p, -test.statistic)))

    def interaction_sets(self) -> list[tuple[tuple[str, ...], NDArray[np.int64]]]:
        """Internal: return every scope of two or more variables by names, with the numbers of its parameters."""
        parameters, names = self.parameters, self.domain.names
        scopes = parameters.scope_of_parameter
        first = np.flatnonzero((np.diff(scopes, prepend=-1) != 0) & (parameters.order_of_parameter > 1))
        return [(tuple(names[i] for i in parameters.scope(int(k))), np.flatnonzero(scopes == scopes[k])) for k in first]

    @property
    def _known_errors(self) -> StandardErrors:
        if self.errors is None:
            raise InputError(
                "This model has no standard errors; learn it with errors='sandwich' (at the command line, "
                "mrfit fit --errors sandwich)."
            )
        return self.errors

    def to_parameterization(self, word: str | type[Parameterization], *, reference: str = "first") -> MarkovNetwork:
        """Return the same distribution in other coordinates.

        All subsets of each scope are added, because other coordinates spread the same function over them. Standard
        errors are dropped.

        Parameters
        ----------
        word : str or Parameterization class
            ``canonical``, ``spectral``, ``full``, ``ising``, ``generalized-ising`` or ``ordered``.
        reference : str, default "first"
            Reference states of canonical coordinates: ``first``, ``last``, ``random``, or ``NAME=STATE,...``, with the
            first state for variables that are not named. Other coordinates ignore it.

        Returns
        -------
        MarkovNetwork

        Raises
        ------
        MrfitError
            If the other coordinates cannot represent this distribution.

        Examples
        --------
        >>> import mrfit
        >>> table = {"rain": ["no", "yes"] * 3, "wet": ["no", "yes", "no", "yes", "yes", "no"]}
        >>> spectral = mrfit.learn(table).model.to_parameterization("spectral")
        >>> [(name, round(value, 3)) for name, value in spectral.strongest(1, order=2)]
        [('rain × wet', 0.122)]
        """
        kind = PARAMETERIZATIONS.called(word)
        if self.has_impossible_states:
            raise InputError("Some states of this model are impossible, which only full parameters can express.")
        target = kind(self.domain, self.structure.closure(), covariate_indices=self.covariate_indices)
        if isinstance(target, Canonical):
            codes = reference_from(reference, self.domain, np.random.default_rng(0))
            target = replace(target, reference=codes)
        w = converted(self.parameters, self.w, target)
        provenance = {key: entry for key, entry in self.provenance.items() if key != "unbounded"}  # of these names
        if ordered := self.ordered_scores:
            provenance["scores"] = ordered
        return MarkovNetwork(target, w, {**provenance, **self._log_z_in(target, w)})

    @property
    def ordered_scores(self) -> dict[str, list[float]]:
        """Internal: scores of ordered variables with more than two states, which other coordinates do not store."""
        named = zip(self.domain.names, self.state_scores, strict=True)
        return {name: own.tolist() for name, own in named if own is not None and len(own) > 2}

    def _log_z_in(self, target: Parameterization, w: Floats) -> dict[str, Any]:
        """Return the known log Z, shifted by the constant in which the coordinates differ."""
        known = self.provenance.get("log_z")
        if known is None:
            return {}
        somewhere = np.zeros((1, len(self.domain)), np.int64)
        before, after = (
            p.to_factors(v).log_potential(somewhere)[0] for p, v in ((self.parameters, self.w), (target, w))
        )
        return {"log_z": {**known, "value": float(known["value"]) + float(after - before)}}

    def save(self, path: str | Path) -> None:
        """Write the model to one ``.mrf`` file, whole or not at all.

        Parameters
        ----------
        path : str or Path
            File to write; an existing one is replaced.

        See Also
        --------
        MarkovNetwork.load : Read it back, bit for bit.
        write_network : Write the formats of other programs.

        Examples
        --------
        >>> import mrfit, tempfile
        >>> table = {"rain": ["no", "yes"] * 3, "wet": ["no", "yes", "no", "yes", "yes", "no"]}
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     mrfit.learn(table).model.save(f"{folder}/weather.mrf")
        ...     again = mrfit.MarkovNetwork.load(f"{folder}/weather.mrf")
        >>> again.w.round(3)
        array([-0.146, -0.146,  0.49 ])
        """
        from mrfit.formats.mrf import save

        save(self, path)

    @classmethod
    def load(cls, path: str | Path) -> MarkovNetwork:
        """Read a model written by `save`, bit for bit the same.

        Parameters
        ----------
        path : str or Path
            ``.mrf`` file; files of other programs are read by `read_network`.

        Returns
        -------
        MarkovNetwork

        Raises
        ------
        MrfitError
            If the file is not a model that `save` wrote, or is damaged.
        """
        from mrfit.formats.mrf import load

        return load(path)


class ScoreRows(Protocol):
    """`row_pll` or `row_ll`."""

    def __call__(
        self, parameters: Parameterization, w: Floats, codes: NDArray[np.uint8], /, *, jobs: int
    ) -> Floats: ...


@dataclass(frozen=True)
class _ByPseudoLikelihood:
    def __call__(self, parameters: Parameterization, w: Floats, codes: NDArray[np.uint8], /, *, jobs: int) -> Floats:
        if not has_all_cells(codes):
            _check_no_covariates(parameters)
            return observed_pll(parameters.to_factors(w), codes, names=parameters.domain.names, jobs=jobs)
        return row_pll(parameters, w, codes, jobs=jobs)


@dataclass(frozen=True)
class _ByLikelihood:
    log_z: float | None

    def __call__(self, parameters: Parameterization, w: Floats, codes: NDArray[np.uint8], /, *, jobs: int) -> Floats:
        if has_all_cells(codes):
            return row_ll(parameters, w, codes, jobs=jobs, log_z=self.log_z)
        _check_no_covariates(parameters)
        first = np.zeros((1, codes.shape[1]), np.uint8)  # any complete row gives log Z: log potential minus log p
        factors = parameters.to_factors(w)
        log_p = float(row_ll(parameters, w, first, jobs=jobs, log_z=self.log_z)[0])
        log_z = float(factors.log_potential(first.astype(np.int64))[0]) - log_p
        return observed_ll(factors, codes, log_z, names=parameters.domain.names, jobs=jobs)


def _check_no_covariates(parameters: Parameterization) -> None:
    if parameters.covariate_indices:
        raise InputError(
            "A model with covariates cannot score rows with missing values. Leave these rows out, or impute them."
        )


def finite_scores(score_rows: ScoreRows, model: MarkovNetwork, codes: NDArray[np.uint8], *, jobs: int) -> Floats:
    """Return the scores of rows by `row_pll` or `row_ll`; refuse parameters so large that their sums overflow.

    Minus infinity is the true score of impossible rows, and of no others.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        scores = score_rows(model.parameters, model.w, codes, jobs=jobs)
    wrong = np.flatnonzero(~(np.isfinite(scores) | (np.isneginf(scores) & model.has_impossible_states)))
    if wrong.size:
        raise InputError(
            f"The model gives {wrong.size} of {len(scores)} rows a score that is not a finite number: its parameters "
            f"are as large as {np.abs(model.w[np.isfinite(model.w)]).max():.2g}. Fit it again with a stronger penalty."
        )
    return scores
