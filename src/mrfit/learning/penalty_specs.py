"""Penalties that are a function added to the objective: L2 and the l1 family."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from mrfit._typing import Floats
from mrfit.core.errors import InputError
from mrfit.learning.backend import Backend
from mrfit.learning.chain_backend import fit_by_chains
from mrfit.learning.closed_forms import closed_form_path, flat_l2, has_squares_form
from mrfit.learning.fit_problem import FitProblem
from mrfit.learning.fit_result import Optimum
from mrfit.learning.hierarchical_search import first_scopes, growing_path
from mrfit.learning.objective_specs import ObjectiveSpec
from mrfit.learning.parameter_layout import ParameterLayout
from mrfit.learning.penalty_spec import Callback, Grid, PenaltySpec
from mrfit.penalties.group_l1 import GroupL1
from mrfit.penalties.hierarchical_l1 import HierarchicalL1
from mrfit.penalties.l1 import WeightedL1
from mrfit.penalties.l2 import Ridge
from mrfit.penalties.penalty import NonsmoothPenalty, Penalty, ZeroPenalty
from mrfit.solvers.fista import Fista
from mrfit.solvers.method import Method
from mrfit.solvers.newton import TruncatedNewton
from mrfit.solvers.owlqn import OWLQN
from mrfit.structures.structure import Structure

ZERO, TREE = "zero", "tree"  # towards which L2 draws
_MOST_STRENGTHS = 40  # of a path, each 1 / sqrt(2) of the last


@dataclass(frozen=True)
class ConvexPenaltySpec(PenaltySpec):
    """A function of the parameters, minimised together with the objective from the strongest to the weakest."""

    is_smooth: ClassVar[bool] = True  # shrinks parameters without making any zero

    @abstractmethod
    def build(self, strength: float, layout: ParameterLayout) -> Penalty:
        """The function itself."""

    def solver(self, coordinates: Backend) -> Method[Any]:
        return coordinates.smooth_solver

    def fits(self, problem: FitProblem, grid: Grid, callback: Callback | None) -> Iterator[Optimum]:
        return self.solve_path(problem, grid.strengths, callback=callback)

    def solve_path(
        self,
        problem: FitProblem,
        strengths: Iterable[float],
        *,
        solver: Method[Any] | None = None,
        callback: Callback | None = None,
    ) -> Iterator[Optimum]:
        """The optima from the strongest penalty to the weakest, each from the last."""
        w = problem.warm_start if self.is_smooth else problem.start
        for strength in sorted(strengths, reverse=True):
            optimum = self.fit(problem, strength, w, solver=solver, callback=callback)
            w = optimum.solution.w
            yield optimum

    def fit(
        self,
        problem: FitProblem,
        strength: float,
        w: Floats,
        *,
        solver: Method[Any] | None = None,
        callback: Callback | None = None,
    ) -> Optimum:
        """The optimum at one strength, from ``w``."""
        function = self.build(strength, problem.layout)
        if problem.chain_problem is not None:
            return fit_by_chains(problem.chain_problem, function, strength, None if w is problem.start else w)

        def solved() -> Optimum:
            begun, before = time.perf_counter(), problem.objective.passes
            each_step = None if callback is None else partial(callback, strength)
            solution = problem.minimum(function, w, solver=solver, callback=each_step)
            passes, seconds = problem.objective.passes - before, time.perf_counter() - begun
            return Optimum(strength, solution, problem.score(solution.w), passes, seconds)

        return problem.checkpoint.result(solved)


@dataclass(frozen=True)
class L2(ConvexPenaltySpec):
    """Half the sum of squares: all parameters shrink (Chou et al. 2018, eq. 2).

    Parameters
    ----------
    toward
        Where they are drawn: ``zero``, or ``tree``, the smoothed tree of most mutual information within the structure.
        Where variables nearly determine each other, what is drawn towards zero loses that.
    """

    toward: str = ZERO

    word: ClassVar[str] = "l2"
    function: ClassVar[type[Penalty]] = Ridge

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.toward not in (ZERO, TREE):
            raise InputError(f"L2 shrinks parameters towards {ZERO!r} or the {TREE!r}; got {self.toward!r}.")

    def build(self, strength: float, layout: ParameterLayout) -> Penalty:
        return Ridge(strength, layout.penalized, layout.tree() if self.toward == TREE else None)

    def needs_scope_order(self) -> bool:
        return self.toward == TREE  # whose parameters are those of listed scopes

    def describe(self) -> str:
        return super().describe() if self.toward == ZERO else f"{super().describe()}, towards the tree"

    def described(self, optimum: Optimum, free_orders: tuple[int, ...]) -> dict[str, Any]:
        toward = {} if self.toward == ZERO else {"toward": self.toward}
        return {**super().described(optimum, free_orders), **toward}

    def stiffness(self, strength: float) -> float:
        if self.toward != ZERO:
            raise InputError(
                "Parameters shrunk towards a tree of the same rows have no valid standard errors. Shrink "
                "them towards zero, or use no penalty."
            )
        return strength

    def default_free_orders_with(self, objective: ObjectiveSpec) -> tuple[int, ...] | None:
        # What single variables say costs no certainty about the others; shrinking it moves all of the likelihood.
        return (1,) if objective.is_joint else ()


@dataclass(frozen=True)
class SumOfSquares(ConvexPenaltySpec):
    """The sum of squares, without a factor 1/2 (Buchman et al. 2012, eq. 11)."""

    word: ClassVar[str] = "flat-l2"
    function: ClassVar[type[Penalty]] = Ridge

    def build(self, strength: float, layout: ParameterLayout) -> Penalty:
        return Ridge(2.0 * strength, layout.penalized)

    def stiffness(self, strength: float) -> float:
        return 2.0 * strength

    def grid(self, problem: FitProblem, *, selecting: bool) -> Grid:
        if self.strengths is None and selecting:
            return path_down(4.0 * problem.total_weight)  # which leaves little of the rows
        return super().grid(problem, selecting=selecting)

    def fits(self, problem: FitProblem, grid: Grid, callback: Callback | None) -> Iterator[Optimum]:
        if not problem.free_orders and has_squares_form(problem.coordinates):
            return closed_form_path(problem, grid.strengths, flat_l2, squares=True)
        return super().fits(problem, grid, callback)


@dataclass(frozen=True)
class NoPenalty(ConvexPenaltySpec):
    """Maximum (pseudo-)likelihood."""

    word: ClassVar[str] = "none"
    function: ClassVar[type[Penalty]] = ZeroPenalty
    default_free_orders: ClassVar[tuple[int, ...] | None] = None
    default_strengths: ClassVar[tuple[float, ...]] = (0.0,)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.strength is not None:
            raise InputError("A strength needs a penalty; choose one, or leave the strength out.")

    def build(self, strength: float, layout: ParameterLayout) -> Penalty:
        return ZeroPenalty()

    def stiffness(self, strength: float) -> float:
        return 0.0

    def solver(self, coordinates: Backend) -> Method[Any]:
        return TruncatedNewton()  # which knows the duality gap at every step

    def described(self, optimum: Optimum, free_orders: tuple[int, ...]) -> dict[str, Any]:
        return {**super().described(optimum, free_orders), "free_orders": None}


@dataclass(frozen=True)
class SparsePenaltySpec(ConvexPenaltySpec):
    """Penalties that make parameters exactly zero, all of them from some strength on.

    Parameters
    ----------
    search
        ``exact``: one optimum over all scopes of the structure. ``hierarchical``: a scope of three or more variables
        enters only when all its subsets are in (Schmidt and Murphy 2010); not an optimum over all of them.
    """

    search: str = "exact"

    is_smooth: ClassVar[bool] = False
    default_free_orders: ClassVar[tuple[int, ...] | None] = (1,)
    pseudo_solver: ClassVar[type[Method[Any]]] = Fista

    @abstractmethod
    def build(self, strength: float, layout: ParameterLayout) -> NonsmoothPenalty: ...

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.search not in ("exact", "hierarchical"):
            raise InputError(f"There is no search {self.search!r}; choose 'exact' or 'hierarchical'.")

    def solver(self, coordinates: Backend) -> Method[Any]:
        return coordinates.sparse_solver or self.pseudo_solver()

    @property
    def searches(self) -> bool:
        return self.search == "hierarchical"

    def first_scopes(self, structure: Structure) -> Structure:
        return first_scopes(structure) if self.searches else structure

    def grid(self, problem: FitProblem, *, selecting: bool) -> Grid:
        if self.strengths is not None or not selecting:
            return super().grid(problem, selecting=selecting)
        critical = self.critical_strength(problem)
        if critical <= 1e-9 * problem.total_weight:  # rounding, where it should be zero
            raise InputError(
                "At every strength all penalised parameters are zero: in these rows no variables depend on each other, "
                "or the structure has no interactions. There is no path to walk; give one strength."
            )
        return path_down(critical)

    def critical_strength(self, problem: FitProblem) -> float:
        """The smallest strength at which all penalised parameters are zero."""
        _, gradient = problem.objective.value_and_gradient(self._without_penalized(problem))
        return self.build(1.0, problem.layout).critical_strength(problem.total_weight * gradient)

    def _without_penalized(self, problem: FitProblem) -> Floats:
        """The optimum with all of them zero; where only single variables are free, fits begin there."""
        if problem.layout.penalized[problem.layout.orders > 1].all():
            return problem.start
        return self.fit(problem, 1e9 * problem.total_weight, problem.start).solution.w

    def fits(self, problem: FitProblem, grid: Grid, callback: Callback | None) -> Iterator[Optimum]:
        if self.searches:
            return growing_path(problem, grid.strengths, partial(self.fit, callback=callback))
        return super().fits(problem, grid, callback)

    def stiffness(self, strength: float) -> float:
        raise InputError(
            f"The penalty {self.word!r} selects parameters, after which standard errors are not valid. Select "
            "them on one half of the rows, and fit these with the penalty none to the "
            "other half."
        )

    def guarantee(self) -> str:
        if self.searches and self.is_convex:
            return "an optimum over the scopes that entered the search, not over all"
        return super().guarantee()


@dataclass(frozen=True)
class L1(SparsePenaltySpec):
    """The sum of absolute values, those of scopes of r variables weighed 2^(r-2) (Buchman et al. 2012, eq. 8)."""

    word: ClassVar[str] = "l1"
    function: ClassVar[type[Penalty]] = WeightedL1
    pseudo_solver: ClassVar[type[Method[Any]]] = OWLQN

    def build(self, strength: float, layout: ParameterLayout) -> NonsmoothPenalty:
        return WeightedL1(strength, layout.weight)


@dataclass(frozen=True)
class UniformL1(L1):
    """The sum of absolute values, all orders alike, none free."""

    word: ClassVar[str] = "flat-l1"
    default_free_orders: ClassVar[tuple[int, ...] | None] = ()

    def build(self, strength: float, layout: ParameterLayout) -> NonsmoothPenalty:
        return WeightedL1(strength, layout.penalized.astype(np.float64))


@dataclass(frozen=True)
class GroupLasso(SparsePenaltySpec):
    """Norms of all parameters of a scope at once (Buchman et al. 2012, eq. 9)."""

    word: ClassVar[str] = "group"
    function: ClassVar[type[Penalty]] = GroupL1
    uses_group_norms: ClassVar[bool] = True

    def build(self, strength: float, layout: ParameterLayout) -> NonsmoothPenalty:
        return GroupL1(strength, layout.scopes(), layout.of_scopes(layout.weight))


@dataclass(frozen=True)
class HierarchicalLasso(SparsePenaltySpec):
    """Norms of a scope together with all that contain it (Buchman et al. 2012, eq. 10)."""

    word: ClassVar[str] = "hierarchical"
    function: ClassVar[type[Penalty]] = HierarchicalL1
    uses_group_norms: ClassVar[bool] = True

    def build(self, strength: float, layout: ParameterLayout) -> NonsmoothPenalty:
        start, members = layout.supersets
        return HierarchicalL1(strength, layout.scopes(), layout.of_scopes(layout.weight), start, members)

    def needs_scope_order(self) -> bool:
        return True  # its groups are those of listed scopes


def path_down(strongest: float) -> Grid:
    """Powers of sqrt(2) from the strongest that matters down."""
    top = int(np.ceil(2.0 * np.log2(strongest) - 1e-9))
    return Grid(tuple(float(2.0 ** (k / 2)) for k in range(top, top - _MOST_STRENGTHS, -1)), is_path=True)


def l2_path(problem: FitProblem, strengths: tuple[float, ...]) -> Iterator[Optimum]:
    """Yield L2 fits: starts of tying, and its baseline. The solver is Newton's, not that of the problem."""
    return L2().solve_path(problem, strengths, solver=TruncatedNewton())
