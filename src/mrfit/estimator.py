"""The scikit-learn face."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, DensityMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from mrfit.choices import Source, method_from, structure_from
from mrfit.data.batch import checked_sample_weight
from mrfit.data.columns import kinds
from mrfit.data.dataset import Dataset
from mrfit.data.frames import column_values
from mrfit.data.unique_rows import UniqueRows
from mrfit.learning import Settings, learn
from mrfit.structure.nodewise import StructureSettings
from mrfit.tying.settings import TyingSettings
from mrfit.workers import resolve_jobs

Floats = NDArray[np.float64]

_FRAMES = {"pandas.DataFrame", "polars.DataFrame", "pyarrow.Table"}


class MarkovNetworkLearner(DensityMixin, BaseEstimator):
    """Learn a discrete Markov network from a table of categorical columns.

    Columns with another value in nearly every row, as numbers of persons and measurements have, are refused: drop or
    bin them, or declare their states (``states``, or a pandas category) to keep them.

    Parameters
    ----------
    structure : str, Structure or networkx.Graph, default="complete"
        ``complete`` (all pairs), ``independent``, ``tree`` (most mutual information), ``l1`` (learned, see below),
        ``order:R`` (all scopes of up to R variables), ``order:all`` or ``edges:FILE`` (an edge list,
        GraphML or JSON).
    max_degree, bound, rule, select : int and str
        How ``structure="l1"`` is learned; explained at `mrfit.structure.nodewise`.
    penalty : str, default="l2"
        ``l2`` shrinks all parameters, ``l1`` makes many of them exactly zero, ``group`` all of a scope at once,
        ``hierarchical`` a scope and all that contain it, ``flat-l1`` and ``flat-l2`` treat all orders alike,
        ``pseudo-counts`` adds ``strength`` rows of every joint state, ``none`` is maximum likelihood, ``tied`` draws
        parameters to a few learned values, ``hard`` makes them equal there, ``ltr`` learns with l2, clusters, and
        relearns as equal.
    parameterization : str, default="canonical"
        The coordinates: ``canonical``, ``spectral``, ``full``, ``ising`` or ``generalized-ising``.
    reference : str, default="first"
        For canonical coordinates the silent state of each variable: ``first``, ``last``, ``random`` or
        ``NAME=STATE,...``.
    search : {"exact", "hierarchical"}, default="exact"
        The optimum over all scopes at once, or only of those that enter after all their subsets.
    n_groups : int, default=10
        Groups of tied parameters, in each class of them.
    tie : {"all", "apart", "orders"}, default="all"
        Which parameters may share a group: all, single variables apart from interactions, or each order.
    pin_zero : bool, default=False
        Whether one group of each class has its center at zero.
    objective : {"pseudo-likelihood", "likelihood"}, default="pseudo-likelihood"
        The second is exact over all joint states, for about 24 binary variables at most; scores are then
        log-likelihoods.
    strength : float, default=1.0
        The papers' lambda; it stands against the sum over rows.
    free_orders : sequence of int or None, default=None
        Scope sizes the penalty leaves alone, for instance ``(1,)`` for single variables. None means single variables
        for ``l1`` and none for the others.
    solver : {"newton", "lbfgs", "owlqn", "proximal-newton", "fista"} or None, default=None
        None takes the one that suits the penalty.
    tolerance : float, default=1e-6
        Largest entry of the subgradient of the mean objective at the solution.
    max_iterations : int, default=1000
    missing : {"error", "drop", "state"}, default="error"
        What a missing value does at `fit`: stop, drop its row, or be a state of its own.
    states : dict of str to list, default=None
        States of some columns, in order; the others are found in the data. Declare them where a fold of a
        cross-validation may lack a rare one. Columns of arrays are called v0, v1, ...
    n_jobs : int or None, default=None
        Threads; None and -1 mean all processors. The result does not depend on it.

    Attributes
    ----------
    model_ : MarkovNetwork
    solution_ : Solution
        The optimum with its certificate: violation, status, trace.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Only when the columns of the table have string names.
    """

    def __init__(
        self,
        structure: Any = "complete",
        *,
        max_degree: int = 15,
        bound: str = "gain",
        rule: str = "or",
        select: str = "degree",
        penalty: str = "l2",
        strength: float = 1.0,
        n_groups: int = 10,
        tie: str = "all",
        pin_zero: bool = False,
        objective: str = "pseudo-likelihood",
        parameterization: str = "canonical",
        reference: str = "first",
        search: str = "exact",
        free_orders: Sequence[int] | None = None,
        solver: str | None = None,
        tolerance: float = 1e-6,
        max_iterations: int = 1000,
        missing: str = "error",
        states: Mapping[str, Sequence[Any]] | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.structure = structure
        self.max_degree = max_degree
        self.bound = bound
        self.rule = rule
        self.select = select
        self.penalty = penalty
        self.strength = strength
        self.n_groups = n_groups
        self.tie = tie
        self.pin_zero = pin_zero
        self.objective = objective
        self.parameterization = parameterization
        self.reference = reference
        self.search = search
        self.free_orders = free_orders
        self.solver = solver
        self.tolerance = tolerance
        self.max_iterations = max_iterations
        self.missing = missing
        self.states = states
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> MarkovNetworkLearner:
        """Learn from a frame, an array or a sparse matrix; ``y`` is ignored."""
        settings = Settings(
            strengths=None if self.penalty == "none" else (self.strength,),
            penalty=self.penalty,
            tying=TyingSettings((self.n_groups,), tie=self.tie, pin_zero=self.pin_zero),
            objective=self.objective,
            parameterization=self.parameterization,
            reference=self.reference,
            search=self.search,
            free_orders=self.free_orders,
            method=method_from(self.solver),
            tolerance=self.tolerance,
            max_iterations=self.max_iterations,
            jobs=resolve_jobs(self.n_jobs),
        )
        table = self._checked(X, reset=True)
        rows = UniqueRows.from_dataset(
            Dataset.from_table(table, sample_weight=sample_weight, states=self.states, missing=self.missing)
        )
        learning = StructureSettings(
            max_degree=self.max_degree, bound=self.bound, rule=self.rule, select=self.select, jobs=settings.jobs
        )
        fit = learn(rows, structure_from(self.structure, Source(rows, learning)), settings).best
        self.model_, self.solution_ = fit.model, fit.solution
        if not fit.solution.converged:
            warnings.warn(f"The solver {fit.solution.status.value}.", ConvergenceWarning, stacklevel=2)
        return self

    def score_samples(self, X: Any) -> Floats:
        """Log-likelihood of every row, in nats, or pseudo-log-likelihood: what was maximised."""
        check_is_fitted(self)
        table = self._checked(X, reset=False)
        return self.model_.ll_rows(table) if self.objective == "likelihood" else self.model_.pll_rows(table)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Mean of `score_samples`; larger is better."""
        scores = self.score_samples(X)
        weight = None if sample_weight is None else checked_sample_weight(sample_weight, len(scores))
        return float(np.average(scores, weights=weight))

    def _checked(self, X: Any, *, reset: bool) -> Any:
        """Names and number of columns as scikit-learn keeps them; frames keep their types, arrays are checked."""
        frame = _named_columns(X) if isinstance(X, Mapping) else X
        if not _FRAMES.isdisjoint(kinds(frame)):
            validate_data(self, frame, reset=reset, skip_check_array=True)
            if reset or getattr(self, "feature_names_in_", None) is not None:
                return X
            # Fitted without names, as scikit-learn has just warned: columns are matched by position.
            return dict(zip(self.model_.domain.names, column_values(X), strict=True))
        # Missing values pass: the data room names the column and the row.
        return validate_data(self, X, reset=reset, dtype=None, accept_sparse=True, ensure_all_finite="allow-nan")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.sparse = True
        return tags


def _named_columns(table: Mapping[Any, Any]) -> Any:
    """scikit-learn does not know dicts of columns; an Arrow table without rows shows it their names."""
    import pyarrow as pa

    return pa.table({str(name): pa.array([], pa.int8()) for name in table})
