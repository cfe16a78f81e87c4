"""A fit problem: rows, a structure and a learner's settings."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from mrfit._typing import Floats
from mrfit.core.errors import InputError
from mrfit.data.folds import folds_of
from mrfit.data.unique_rows import UniqueRows
from mrfit.learning.backend import HELD_AT, Backend
from mrfit.learning.chain_backend import ChainCoordinates
from mrfit.learning.chains.chain_fit import ChainProblem
from mrfit.learning.checkpoint import NoCheckpoint
from mrfit.learning.early_stopping import EarlyStopping
from mrfit.learning.parameter_layout import ParameterLayout
from mrfit.learning.partitioned_rows import PartedRows, Rows, together
from mrfit.learning.serialization import kind_of
from mrfit.learning.versions import versions
from mrfit.objectives.cached import CachedObjective
from mrfit.objectives.chow_liu_closed_form import forest_parameters
from mrfit.objectives.objective import Objective
from mrfit.parameterizations.canonical import Canonical
from mrfit.parameterizations.ordered import Ordered, numbered_scores, ordered_variables
from mrfit.parameterizations.parameterization import Parameterization
from mrfit.parameterizations.reference_states import reference_from
from mrfit.penalties.penalty import Penalty, Trait
from mrfit.solvers.method import Method
from mrfit.solvers.minimize import minimize
from mrfit.solvers.solution import Record, Solution
from mrfit.structures.structure import Structure

if TYPE_CHECKING:
    from mrfit.learning.learner import Learner


@dataclass(frozen=True, eq=False)
class FitProblem:
    """Everything a grid of fits needs, computed once.

    Parameters
    ----------
    limit
        Structure up to which a search may grow, if there is one. It may be too large for a list of its parameters.
    rough_tolerance
        Tolerance that replaces the learner's.
    checkpoint
        File that stores what fits find.
    early_stopping
        Rule that abandons fits which validation rows will not choose.
    """

    rows: Rows
    structure: Structure
    learner: Learner
    jobs: int = 1
    limit: Structure | None = None
    rough_tolerance: float | None = None
    checkpoint: NoCheckpoint = field(default_factory=NoCheckpoint)
    early_stopping: EarlyStopping | None = None
    _parts: dict[int, list[Objective]] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.rows, PartedRows):
            self.learner.objective.check_finite(self.rows, self.coordinates, self.layout.penalized)

    @classmethod
    def within(cls, rows: Rows, limit: Structure, learner: Learner, *, jobs: int = 1) -> FitProblem:
        """Return the problem whose fits begin with the learner's first scopes within a limit."""
        first = learner.penalty.first_scopes(limit)
        return cls(rows, first, learner, jobs, None if first is limit else limit)

    def on(self, structure: Structure) -> FitProblem:
        """Return the problem with other scopes."""
        return replace(self, structure=structure)

    def with_tolerance(self, tolerance: float | None) -> FitProblem:
        """Return the problem with another tolerance, None for the learner's; both share counts of the same rows."""
        if tolerance == self.rough_tolerance:
            return self
        _ = self.objective  # counted before the copy, which then shares it
        return self._sharing(rough_tolerance=tolerance)

    def with_checkpoint(self, checkpoint: NoCheckpoint) -> FitProblem:
        """Return the problem with a checkpoint for its fits."""
        return self._sharing(checkpoint=checkpoint)

    def with_early_stopping(self, early_stopping: EarlyStopping | None) -> FitProblem:
        """Return the problem with early stopping of its fits."""
        return self._sharing(early_stopping=early_stopping)

    def _sharing(self, **settings: Any) -> FitProblem:
        """Return a copy with other settings that shares all that was computed before."""
        # `replace` would call __init__ and lose the cached properties: counts of the rows, the start, the layout. They
        # depend on rows, structure and learner alone, which never change here.
        other = copy(self)
        for name, value in settings.items():
            object.__setattr__(other, name, value)
        return other

    @property
    def rows_in_memory(self) -> UniqueRows:
        """Return all rows; refuse a table in parts."""
        return together(self.rows)

    # --- what is minimised

    @cached_property
    def parameters(self) -> Parameterization:
        """Parameterization named by the learner, with its reference states and scores resolved."""
        learner = self.learner
        covariates = tuple(self.rows.domain.index(name) for name in learner.covariates)
        parameters = learner.parameterization_kind(self.rows.domain, self.structure, covariate_indices=covariates)
        if isinstance(parameters, Canonical):
            rng = np.random.default_rng(learner.seed)
            return replace(parameters, reference=reference_from(learner.reference, self.rows.domain, rng))
        if isinstance(parameters, Ordered):
            domain = self.rows.domain
            own = dict(learner.scores)
            ordered = ordered_variables(learner.ordered, domain, covariates=learner.covariates, scored=own)
            return replace(parameters, ordered=ordered, scores=numbered_scores(own, domain))
        return parameters

    @cached_property
    def coordinates(self) -> Backend:
        """Backend of the learner's parameters, or of fewer that lead to the same model."""
        learner, penalty, parameters = self.learner, self.learner.penalty, self.parameters
        if (
            learner.objective.is_joint
            and penalty.uses_group_norms
            and self.free_orders == (1,)
            and not learner.covariates
        ):
            # A full table under a norm gives its main effects to free single variables at the optimum. They may be left
            # out of the table from the start: fewer parameters, the same optimum.
            parameters = parameters.for_lengths()
        return learner.objective.coordinates(
            parameters, listed=penalty.needs_scope_order(), keep_zeros=penalty.is_tied, jobs=self.jobs
        )

    @cached_property
    def objective(self) -> CachedObjective:
        return CachedObjective(self.coordinates.objective(self.rows))

    @cached_property
    def chain_problem(self) -> ChainProblem | None:
        """The problem for persistent chains; None where an exact engine fits."""
        if not isinstance(self.coordinates, ChainCoordinates):
            return None
        return ChainProblem(self.coordinates.canonical, self.rows_in_memory, seed=self.learner.seed, jobs=self.jobs)

    def batches(self, batch_rows: int) -> list[Objective]:
        """Return the objective on random batches of about so many rows."""
        if batch_rows not in self._parts:
            rows, rng = self.rows_in_memory, np.random.default_rng(self.learner.seed)
            folds = folds_of(rows, max(1, round(rows.n_rows / batch_rows)), rng)
            self._parts[batch_rows] = [self.coordinates.objective(fold.held_out) for fold in folds]
        return self._parts[batch_rows]

    @cached_property
    def free_orders(self) -> tuple[int, ...]:
        return self.learner.penalty.free_orders_in(self.limit or self.structure, self.learner.objective)

    @cached_property
    def layout(self) -> ParameterLayout:
        orders = self.coordinates.orders
        penalized = ~np.isin(orders, self.free_orders)
        return ParameterLayout(self.structure, orders, self.coordinates.scopes, penalized, self._tree)

    def _tree(self) -> Floats:
        w = forest_parameters(self.coordinates.parameters, self.rows_in_memory)
        if w is None:
            raise InputError(
                "Parameters can be shrunk towards a tree only in coordinates that express one: canonical or "
                "spectral, with all single variables and some pairs. Use other coordinates or another structure, "
                "or shrink towards zero."
            )
        return w

    @property
    def n_parameters(self) -> int:
        """The number of parameters of all candidate scopes."""
        if self.limit is None and self.coordinates.parameters is self.parameters:
            return self.coordinates.n_parameters
        return self.parameters.on(self.limit or self.structure).n_parameters

    @property
    def total_weight(self) -> float:
        return self.rows.total_weight

    # --- where and how

    @property
    def start(self) -> Floats:
        """Start of the first fit."""
        return self._start_and_bound[0]

    @cached_property
    def warm_start(self) -> Floats:
        """Better start of a fit whose penalty shrinks parameters without making any zero."""
        interactions = self.coordinates.orders > 1
        # The maximum likelihood forest within the structure, which has a closed form.
        near = self.coordinates.near_optimum(self.rows) if self.layout.penalized[interactions].all() else None
        held = np.abs(self.start) >= self.bound
        return self.start if near is None else np.where(held, self.start, near)

    @property
    def bound(self) -> Floats:
        """Largest absolute value of every parameter."""
        return self._start_and_bound[1]

    @cached_property
    def _start_and_bound(self) -> tuple[Floats, Floats]:
        penalized = self.layout.penalized
        function = self.learner.penalty.function
        smooth = function is not None and Trait.DIFFERENTIABLE in function.traits
        w, bound = self.coordinates.start_and_bound(self.rows, penalized, smooth=smooth)
        parameters = self.coordinates.parameters
        sizes = parameters.order_of_parameter if parameters.covariate_indices else self.coordinates.orders
        free = ~penalized & (sizes > 1)
        if free.any() and isinstance(parameters, Canonical) and parameters.reference is None:
            # A feature that never occurs has its optimum at minus infinity. It starts at the bound, where solvers hold
            # it.
            # Where all states but the reference vanish, the gradient is minus the weight of every feature.
            gradient = self.objective.value_and_gradient(np.full(len(w), -1e4))[1]
            w[free & (gradient >= 0.0)] = -HELD_AT  # features of several variables that never occur
        return w, bound

    @cached_property
    def solver(self) -> Method[Any]:
        """Solver of the learner, or by default the one that suits penalty and backend."""
        return self.learner.solver or self.learner.penalty.solver(self.coordinates)

    @property
    def tolerance(self) -> float:
        return self.rough_tolerance or self.learner.tolerance

    def minimum(
        self,
        penalty: Penalty,
        w: Floats,
        *,
        solver: Method[Any] | None = None,
        callback: Callable[[Record], bool | None] | None = None,
    ) -> Solution:
        """Minimize the objective with a penalty from ``w``, or from the latest point of the checkpoint."""
        # Strengths belong to sums over rows, objectives and tolerances to means: `added_to` divides by the weight.
        smooth, nonsmooth = penalty.added_to(self.objective, total_weight=self.rows.total_weight)
        return minimize(
            smooth,
            solver or self.solver,
            self.checkpoint.start(w),
            penalty=nonsmooth,
            bound=self.bound,
            tolerance=self.tolerance,
            gap_tolerance=self.coordinates.gap_tolerance_factor * self.tolerance,
            max_iterations=self.learner.max_iterations,
            callback=callback,
            watch=self.checkpoint.watch,
        )

    # --- what comes out

    @property
    def selects_by_objective(self) -> bool:
        """Whether held-out rows choose by what is maximised."""
        objective = self.learner.objective
        return objective.is_score and self.learner.judge in (None, objective.measure)

    def score(self, w: Floats) -> float:
        """Return the mean of what is maximised over the rows; cheap where the solver ended on this point."""
        return -self.objective.value_and_gradient(w)[0]

    @cached_property
    def provenance(self) -> dict[str, Any]:
        """Provenance that the models of all fits share: rows, solver, learner and versions."""
        return {
            "data": {"rows": self.rows.n_rows, "weight": self.rows.total_weight, "sha256": self.rows.sha256},
            "solver": {"name": kind_of(type(self.solver))},
            "learner": self.learner.to_dict(),
            "versions": dict(versions()),
        }
