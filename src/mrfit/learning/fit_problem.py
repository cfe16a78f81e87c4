"""Rows, a structure and a learner's settings, as one thing to be fitted."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from mrfit._typing import Floats
from mrfit.core.errors import InputError
from mrfit.data.folds import folds_of
from mrfit.data.unique_rows import UniqueRows
from mrfit.learning.backend import Backend
from mrfit.learning.chain_backend import ChainCoordinates
from mrfit.learning.chains.chain_fit import ChainProblem
from mrfit.learning.checkpoint import NoCheckpoint
from mrfit.learning.early_stopping import EarlyStopping
from mrfit.learning.grid import Optimum
from mrfit.learning.initialization import hold_parameters_without_data, start_and_bound
from mrfit.learning.objective_specs import JUDGES
from mrfit.learning.parameter_layout import ParameterLayout
from mrfit.learning.partitioned_rows import PartedRows, Rows, together
from mrfit.learning.serialization import kind_of
from mrfit.learning.versions import versions
from mrfit.model.markov_network import MarkovNetwork
from mrfit.objectives.cached import CachedObjective
from mrfit.objectives.chow_liu_closed_form import forest_parameters
from mrfit.objectives.objective import Objective
from mrfit.parameterizations.canonical import Canonical
from mrfit.parameterizations.ordered import Ordered, numbered_scores, ordered_variables
from mrfit.parameterizations.parameterization import Parameterization
from mrfit.parameterizations.reference_states import reference_from
from mrfit.penalties.penalty import Trait
from mrfit.solvers.method import Method
from mrfit.solvers.solution import Solution
from mrfit.structures.structure import Structure

if TYPE_CHECKING:
    from mrfit.learning.learner import Learner


@dataclass(frozen=True, eq=False)
class FitProblem:
    """Everything a grid of fits needs, worked out once.

    ``limit`` is what a search may let the structure grow to, if there is one. It may be too large to be written down
    as parameters. ``rough_tolerance`` is in the place of the learner's, where it is given. What is found is ``kept``.
    Fits that will not be chosen are left where a ``race`` says so.
    """

    rows: Rows
    structure: Structure
    learner: Learner
    jobs: int = 1
    limit: Structure | None = None
    rough_tolerance: float | None = None
    kept: NoCheckpoint = field(default_factory=NoCheckpoint)
    race: EarlyStopping | None = None
    _parts: dict[int, list[Objective]] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.rows, PartedRows):
            self.learner.objective.check_finite(self.rows, self.coordinates, self.layout.penalized)

    @classmethod
    def within(cls, rows: Rows, limit: Structure, learner: Learner, *, jobs: int = 1) -> FitProblem:
        """With the scopes that the learner's fits begin with."""
        first = learner.penalty.first_scopes(limit)
        return cls(rows, first, learner, jobs, None if first is limit else limit)

    def on(self, structure: Structure) -> FitProblem:
        """The same with other scopes."""
        return replace(self, structure=structure)

    def with_tolerance(self, tolerance: float | None) -> FitProblem:
        """The same to another tolerance, or None for the learner's; both have the same counts of the same rows."""
        if tolerance == self.rough_tolerance:
            return self
        _ = self.objective  # counted before the copy, which then shares it
        return self._sharing(rough_tolerance=tolerance)

    def with_checkpoint(self, kept: NoCheckpoint) -> FitProblem:
        """The same, whose optima are kept."""
        return self._sharing(kept=kept)

    def with_early_stopping(self, race: EarlyStopping | None) -> FitProblem:
        """The same, whose fits may be left."""
        return self._sharing(race=race)

    def _sharing(self, **settings: Any) -> FitProblem:
        """With other settings, and all that was worked out before."""
        other = copy(self)
        for name, value in settings.items():
            object.__setattr__(other, name, value)
        return other

    @property
    def rows_in_memory(self) -> UniqueRows:
        """For what needs more of them than a table in parts can tell."""
        return together(self.rows)

    # --- what is minimised

    @cached_property
    def parameters(self) -> Parameterization:
        """As the learner has them."""
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
        """Of the learner's parameters, or of fewer that lead to the same model."""
        learner, penalty, parameters = self.learner, self.learner.penalty, self.parameters
        if (
            learner.objective.is_joint
            and penalty.uses_group_norms
            and self.free_orders == (1,)
            and not learner.covariates
        ):
            parameters = parameters.for_lengths()
        return learner.objective.coordinates(
            parameters, listed=penalty.needs_scope_order(), keep_zeros=penalty.is_tied, jobs=self.jobs
        )

    @cached_property
    def objective(self) -> CachedObjective:
        return CachedObjective(self.coordinates.objective(self.rows))

    @cached_property
    def by_chains(self) -> ChainProblem | None:
        """The same as chains see it, where they are what there is."""
        if not isinstance(self.coordinates, ChainCoordinates):
            return None
        return ChainProblem(self.coordinates.canonical, self.rows_in_memory, seed=self.seed, jobs=self.jobs)

    def batches(self, batch_rows: int) -> list[Objective]:
        """The objective on parts of about so many rows, dealt at random."""
        if batch_rows not in self._parts:
            rows, rng = self.rows_in_memory, np.random.default_rng(self.seed)
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
                "A penalty draws parameters towards the tree where they can say what a tree says: in canonical or "
                "spectral coordinates, with all single variables and some pairs. Use other coordinates or another "
                "structure, or draw towards zero."
            )
        return w

    @property
    def n_parameters(self) -> int:
        """Of all scopes there may be."""
        if self.limit is None and self.coordinates.parameters is self.parameters:
            return self.coordinates.n_parameters
        return self.parameters.on(self.limit or self.structure).n_parameters

    @property
    def total_weight(self) -> float:
        return self.rows.total_weight

    # --- where and how

    @property
    def start(self) -> Floats:
        """Where the first fit begins."""
        return self._start_and_bound[0]

    @cached_property
    def warm_start(self) -> Floats:
        """Where a first fit that shrinks what it penalises, but makes nothing zero, does better to begin."""
        interactions = self.coordinates.orders > 1
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
        w, bound = start_and_bound(self.coordinates, self.rows, penalized, smooth=smooth)
        parameters = self.coordinates.parameters
        sizes = parameters.order_of_parameter if parameters.covariate_indices else self.coordinates.orders
        free = ~penalized & (sizes > 1)
        if free.any() and isinstance(parameters, Canonical) and parameters.reference is None:
            hold_parameters_without_data(w, self.objective.value_and_gradient(np.full(len(w), -1e4))[1], free)
        return w, bound

    @property
    def solver(self) -> Method[Any]:
        """The learner's, or by default the one that suits penalty and coordinates."""
        return self.learner.solver or self.learner.penalty.solver(self.coordinates)

    @property
    def tolerance(self) -> float:
        return self.rough_tolerance or self.learner.tolerance

    @property
    def gap_tolerance(self) -> float:
        return self.coordinates.gap_tolerance_factor * self.tolerance

    @property
    def max_iterations(self) -> int:
        return self.learner.max_iterations

    @property
    def seed(self) -> int:
        return self.learner.seed

    # --- what comes out

    def coordinates_of(self, optimum: Optimum) -> Backend:
        """A search may end in other coordinates than it began with."""
        return optimum.coordinates or self.coordinates

    @property
    def selects_by_objective(self) -> bool:
        """Whether held-out rows choose by what is maximised."""
        objective = self.learner.objective
        return objective.is_score and self.learner.judge in (None, objective.measure)

    def score(self, w: Floats) -> float:
        """The mean of what is maximised over the own rows, a row; for nothing where the solver ended on this point."""
        return -self.objective.value_and_gradient(w)[0]

    def mean_score(self, optimum: Optimum, rows: Rows) -> float:
        """Of what held-out rows choose by, a row."""
        judge = self.learner.judge
        if isinstance(rows, PartedRows):
            return self.coordinates_of(optimum).mean_pll(optimum.solution.w, rows)
        if judge is None or self.selects_by_objective:
            scores = self.coordinates_of(optimum).row_scores(optimum.solution.w, rows)
        else:
            scores = JUDGES[judge].row_scores(self.model(optimum)[0], rows, self.jobs)
        return float(rows.sample_weight @ scores) / rows.total_weight

    def model(self, optimum: Optimum, *, chosen_on: str | None = None) -> tuple[MarkovNetwork, Solution]:
        """The model, and its certificate in the parameters of the model.

        ``chosen_on`` goes into its provenance: ``valid`` or ``folds`` where such rows choose among the fits.
        """
        solution = optimum.solution
        kept, numbers = self.coordinates_of(optimum).to_model(solution.w)
        at_bound = np.flatnonzero(np.isin(numbers, solution.at_bound))
        parameters, w = kept, solution.w[numbers]
        if type(kept) is not type(self.parameters):
            parameters = self.parameters.on(kept.structure)
            w = parameters.from_lengths(w)
            held = kept.scope_of_parameter[at_bound]  # scopes of both have the same numbers
            at_bound = np.flatnonzero(np.isin(parameters.scope_of_parameter, held))
        own = replace(solution, w=w, at_bound=at_bound)
        return MarkovNetwork(parameters, w, self._provenance(optimum, chosen_on), optimum.groups), own

    def _log_z(self, optimum: Optimum) -> dict[str, Any]:
        """What chains know of it goes with the model: to find it out again may take longer than to learn."""
        coordinates = self.coordinates_of(optimum)
        if not isinstance(coordinates, ChainCoordinates) or np.isnan(coordinates.log_z):
            return {}
        errors = {"error": optimum.log_z_error, "learning_error": optimum.learning_error}
        return {"log_z": {"value": coordinates.log_z, **errors}}

    def _provenance(self, optimum: Optimum, chosen_on: str | None) -> dict[str, Any]:
        """What a reader of the model file wants to know."""
        learner, solution = self.learner, optimum.solution
        engine = self.coordinates_of(optimum).engine
        gap = {} if engine is None else {"gap": solution.gap}
        return {
            "objective": learner.objective.word,
            **({} if engine is None else {"engine": engine}),
            **self._log_z(optimum),
            "penalty": learner.penalty.described(optimum, self.free_orders),
            "chosen_on": chosen_on,
            "data": {"rows": self.rows.n_rows, "weight": self.rows.total_weight, "sha256": self.rows.sha256},
            "solver": {
                "name": kind_of(type(self.solver)),
                "status": solution.status.value,
                "violation": solution.violation,
                **gap,
            },
            "learner": learner.to_dict(),
            "versions": dict(versions()),
        }
