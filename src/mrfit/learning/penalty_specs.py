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
    """Base class of penalties that are a convex function of the parameters at every strength.

    Fits go from the strongest penalty to the weakest, each from the last. A subclass needs a ``word``, the class of its
    ``function`` and `build`.

    Parameters
    ----------
    strength : float, sequence of float or None, default=None
        Penalty strength, above 0, added to the summed (not averaged) log-likelihood.
    free_orders : sequence of int or None, default=None
        Sizes of scopes that the penalty leaves alone; None for none of them.

    See Also
    --------
    SparsePenaltySpec : Base class of penalties that make parameters zero.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from mrfit.penalties import ConvexPenaltySpec, Ridge
    >>> @dataclass(frozen=True)
    ... class Halved(ConvexPenaltySpec):
    ...     word = "halved"
    ...     function = Ridge
    ...
    ...     def build(self, strength, layout):
    ...         return Ridge(strength / 2, layout.penalized)
    >>> Halved(strength=3).describe()
    'halved, strength 3'
    """

    is_smooth: ClassVar[bool] = True  # shrinks parameters without making any zero

    @abstractmethod
    def build(self, strength: float, layout: ParameterLayout) -> Penalty:
        """Return the function of the parameters.

        Parameters
        ----------
        strength : float
            The penalty strength.
        layout : ParameterLayout
            Which scope each parameter belongs to, and which parameters are penalised.
        """

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
        """Yield the optima from the strongest penalty to the weakest, each started at the last.

        Parameters
        ----------
        problem : FitProblem
            Rows, structure and learner together.
        strengths : iterable of float
            Penalty strengths, in any order.
        solver : Method or None, default=None
            None takes the method of the problem.
        callback : callable or None, default=None
            Called with the strength and each record of the solver; it may return True to stop that fit.
        """
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
        """Return the optimum at one strength.

        Parameters
        ----------
        problem : FitProblem
            Rows, structure and learner together.
        strength : float
            The penalty strength.
        w : ndarray
            Parameters to start at.
        solver : Method or None, default=None
            None takes the method of the problem.
        callback : callable or None, default=None
            Called with the strength and each record of the solver; it may return True to stop the fit.
        """
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
    """L2 (ridge) penalty: half the sum of squares, which shrinks all parameters.

    It is that of Chou et al. (2018, eq. 2). It makes no parameter zero. It is the default of every learner.

    Parameters
    ----------
    strength : float, sequence of float or None, default=None
        Penalty strength, the papers' lambda, above 0. The penalty is added to the summed (not averaged) log-likelihood,
        so the same value weighs less with more rows. Several values are a grid: held-out rows choose among them;
        without held-out rows the weakest is chosen. None means 1.
    free_orders : sequence of int or None, default=None
        Sizes of scopes that the penalty leaves alone: 1 for single variables, 2 for pairs. None means no size for the
        pseudo-likelihood and 1 for the likelihood, where shrinking single variables would cost fit without making other
        parameters better known.
    toward : {"zero", "tree"}, default="zero"
        Values towards which parameters shrink: zero, or those of the smoothed Chow-Liu tree within the structure.
        Choose ``tree`` if variables nearly determine each other: shrinking towards zero loses such associations.

    See Also
    --------
    SumOfSquares : The sum of squares without the factor 1/2.
    L1 : Makes many parameters exactly zero.

    Notes
    -----
    A Gaussian prior with standard deviation s on each parameter is an L2 penalty of strength 1 / s^2. Standard errors
    are available after ``toward="zero"`` alone.

    Examples
    --------
    >>> from mrfit import L2, learn
    >>> table = {"smokes": ["yes", "yes", "no", "no"] * 25, "coughs": ["yes", "no", "no", "no"] * 25}
    >>> learn(table, penalty=L2(strength=0.5)).best.strength
    0.5

    Choose among strengths by cross-validation:

    >>> learn(table, penalty=L2(strength=(0.1, 1, 10)), folds=5).best.strength in (0.1, 1, 10)
    True
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
    """Sum of squares without the factor 1/2, on all parameters alike.

    It is that of Buchman et al. (2012, eq. 11). Strength s is the same as `L2` of strength 2 s without free orders. Its
    word is ``flat-l2``.

    Parameters
    ----------
    strength : float, sequence of float or None, default=None
        Penalty strength, the papers' lambda, above 0. The penalty is added to the summed (not averaged) log-likelihood,
        so the same value weighs less with more rows. Several values are a grid: held-out rows choose among them;
        without held-out rows the weakest is chosen. None means 1, or with held-out rows a path of 40 strengths, each 1
        / sqrt(2) of the last, from one that leaves little of the data.
    free_orders : sequence of int or None, default=None
        Sizes of scopes that the penalty leaves alone: 1 for single variables, 2 for pairs. None means that all sizes
        are penalised.

    See Also
    --------
    L2 : The usual form, with the factor 1/2.

    Notes
    -----
    For all interactions (``order:all``) in spectral coordinates the optimum over the joint table has a closed form.

    Examples
    --------
    >>> from mrfit import L2, SumOfSquares, learn
    >>> table = {"smokes": ["yes", "yes", "no", "no"] * 25, "coughs": ["yes", "no", "no", "no"] * 25}
    >>> flat, usual = learn(table, penalty=SumOfSquares(1.0)).model, learn(table, penalty=L2(2.0)).model
    >>> bool(abs(flat.w - usual.w).max() < 1e-5)
    True
    """

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
    """No penalty: the maximum of the likelihood or pseudo-likelihood itself.

    Some parameters may have no finite optimum, for instance if two states never occur together. ``model.unbounded``
    names them with their limits.

    Parameters
    ----------
    strength : None, default=None
        Any number is refused.
    free_orders : sequence of int or None, default=None
        Without effect: no scope is penalised.

    See Also
    --------
    PseudoCounts : Smoothing, which keeps parameters finite.

    Examples
    --------
    >>> from mrfit import NoPenalty, learn
    >>> table = {"smokes": ["yes", "yes", "no", "no"] * 25, "coughs": ["yes", "no", "no", "no"] * 25}
    >>> learn(table, penalty=NoPenalty()).model.unbounded
    {'coughs=yes': '-inf', 'smokes=yes & coughs=yes': '+inf'}
    """

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
    """Base class of penalties that make parameters exactly zero, all of them from some strength on.

    A subclass needs a ``word``, the class of its ``function``, a `NonsmoothPenalty`, and `build`.

    Parameters
    ----------
    strength : float, sequence of float or None, default=None
        Penalty strength, above 0, added to the summed (not averaged) log-likelihood. None means 1, or with held-out
        rows a path from the weakest strength at which all penalised parameters are zero, down to where held-out scores
        stop rising.
    free_orders : sequence of int or None, default=None
        Sizes of scopes that the penalty leaves alone; None for single variables.
    search : {"exact", "hierarchical"}, default="exact"
        ``exact`` finds one optimum over all scopes of the structure. ``hierarchical`` lets a scope of three or more
        variables enter only when all its subsets are in (Schmidt and Murphy 2010): faster with higher orders, but not
        an optimum over all scopes.

    See Also
    --------
    L1 : The plainest of them.
    ConvexPenaltySpec : Base class of penalties that make no zeros.

    Examples
    --------
    >>> from mrfit import L1, L2
    >>> from mrfit.penalties import SparsePenaltySpec
    >>> isinstance(L1(), SparsePenaltySpec), isinstance(L2(), SparsePenaltySpec)
    (True, False)
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
        """Return the smallest strength at which all penalised parameters are zero."""
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
    """L1 (lasso) penalty: the sum of absolute values, which makes many parameters exactly zero.

    Parameters of a scope of r variables have the weight 2^(r - 2): 1 for pairs, and twice as much for each further
    variable (Buchman et al. 2012, eq. 8).

    Parameters
    ----------
    strength : float, sequence of float or None, default=None
        Penalty strength, the papers' lambda, above 0. The penalty is added to the summed (not averaged) log-likelihood,
        so the same value weighs less with more rows. Several values are a grid: held-out rows choose among them;
        without held-out rows the weakest is chosen. None means 1, or with held-out rows a path from the weakest
        strength at which all penalised parameters are zero, down to where held-out scores stop rising.
    free_orders : sequence of int or None, default=None
        Sizes of scopes that the penalty leaves alone: 1 for single variables, 2 for pairs. None means single variables,
        (1,).
    search : {"exact", "hierarchical"}, default="exact"
        ``exact`` finds one optimum over all scopes of the structure. ``hierarchical`` lets a scope of three or more
        variables enter only when all its subsets are in (Schmidt and Murphy 2010): faster with higher orders, but not
        an optimum over all scopes.

    See Also
    --------
    GroupLasso : Keeps or removes all parameters of a scope together.
    UniformL1 : The same weight for all scopes, single variables included.
    L1Path : Learns a structure by one l1 regression for each variable.

    Notes
    -----
    The nonzero parameters are shrunk. For a network to interpret, learn the structure and fit it again with `L2`, or
    see the page on structure learning. Standard errors are not available after selection.

    Examples
    --------
    >>> from mrfit import L1, learn
    >>> table = {"smokes": ["yes", "yes", "no", "no"] * 25, "coughs": ["yes", "no", "no", "no"] * 25}
    >>> [learn(table, penalty=L1(strength)).model.n_edges for strength in (1, 50)]
    [1, 0]
    """

    word: ClassVar[str] = "l1"
    function: ClassVar[type[Penalty]] = WeightedL1
    pseudo_solver: ClassVar[type[Method[Any]]] = OWLQN

    def build(self, strength: float, layout: ParameterLayout) -> NonsmoothPenalty:
        return WeightedL1(strength, layout.weight)


@dataclass(frozen=True)
class UniformL1(L1):
    """Sum of absolute values with the same weight for all scopes, single variables included.

    Its word is ``flat-l1``.

    Parameters
    ----------
    strength : float, sequence of float or None, default=None
        Penalty strength, the papers' lambda, above 0. The penalty is added to the summed (not averaged) log-likelihood,
        so the same value weighs less with more rows. Several values are a grid: held-out rows choose among them;
        without held-out rows the weakest is chosen. None means 1, or with held-out rows a path from the weakest
        strength at which all penalised parameters are zero, down to where held-out scores stop rising.
    free_orders : sequence of int or None, default=None
        Sizes of scopes that the penalty leaves alone: 1 for single variables, 2 for pairs. None means that all sizes
        are penalised.
    search : {"exact", "hierarchical"}, default="exact"
        ``exact`` finds the optimum over all scopes. ``hierarchical`` lets a scope of three or more variables enter only
        when all its subsets are in (Schmidt and Murphy 2010): faster with higher orders, but not an optimum over all
        scopes.

    See Also
    --------
    L1 : Weights by the size of the scope; single variables are free.

    Examples
    --------
    >>> from mrfit import UniformL1, learn
    >>> table = {"smokes": ["yes", "yes", "no", "no"] * 25, "coughs": ["yes", "no", "no", "no"] * 25}
    >>> [learn(table, penalty=UniformL1(strength)).model.n_edges for strength in (1, 50)]
    [1, 0]
    """

    word: ClassVar[str] = "flat-l1"
    default_free_orders: ClassVar[tuple[int, ...] | None] = ()

    def build(self, strength: float, layout: ParameterLayout) -> NonsmoothPenalty:
        return WeightedL1(strength, layout.penalized.astype(np.float64))


@dataclass(frozen=True)
class GroupLasso(SparsePenaltySpec):
    """Group lasso: Euclidean norms of all parameters of a scope, so that whole scopes are zero or not.

    Scopes of r variables have the weight 2^(r - 2) (Buchman et al. 2012, eq. 9). For binary variables in
    canonical coordinates it is `L1`; choose it for variables with more states.

    Parameters
    ----------
    strength : float, sequence of float or None, default=None
        Penalty strength, the papers' lambda, above 0. The penalty is added to the summed (not averaged) log-likelihood,
        so the same value weighs less with more rows. Several values are a grid: held-out rows choose among them;
        without held-out rows the weakest is chosen. None means 1, or with held-out rows a path from the weakest
        strength at which all penalised parameters are zero, down to where held-out scores stop rising.
    free_orders : sequence of int or None, default=None
        Sizes of scopes that the penalty leaves alone: 1 for single variables, 2 for pairs. None means single variables,
        (1,).
    search : {"exact", "hierarchical"}, default="exact"
        ``exact`` finds an optimum that no other choice of scopes improves. ``hierarchical`` lets a scope of three or
        more variables enter only when all its subsets are in (Schmidt and Murphy 2010): faster with higher orders, but
        not an optimum over all scopes.

    See Also
    --------
    L1 : Single parameters of a scope may be zero.
    HierarchicalLasso : Scopes enter after their subsets.

    Examples
    --------
    >>> from mrfit import GroupLasso, learn
    >>> table = {"smokes": ["yes", "yes", "no", "no"] * 25, "coughs": ["yes", "no", "no", "no"] * 25}
    >>> [learn(table, penalty=GroupLasso(strength)).model.n_edges for strength in (1, 50)]
    [1, 0]
    """

    word: ClassVar[str] = "group"
    function: ClassVar[type[Penalty]] = GroupL1
    uses_group_norms: ClassVar[bool] = True

    def build(self, strength: float, layout: ParameterLayout) -> NonsmoothPenalty:
        return GroupL1(strength, layout.scopes(), layout.of_scopes(layout.weight))


@dataclass(frozen=True)
class HierarchicalLasso(SparsePenaltySpec):
    """Hierarchical group lasso: removing a scope removes every scope that contains it.

    The sum over scopes of the norm of a scope together with all that contain it (Buchman et al. 2012, eq. 10; Schmidt
    and Murphy 2010). Choose it for structures with interactions of three and more variables, such as ``order:3``.

    Parameters
    ----------
    strength : float, sequence of float or None, default=None
        Penalty strength, the papers' lambda, above 0. The penalty is added to the summed (not averaged) log-likelihood,
        so the same value weighs less with more rows. Several values are a grid: held-out rows choose among them;
        without held-out rows the weakest is chosen. None means 1, or with held-out rows a path from the weakest
        strength at which all penalised parameters are zero, down to where held-out scores stop rising.
    free_orders : sequence of int or None, default=None
        Sizes of scopes that the penalty leaves alone: 1 for single variables, 2 for pairs. None means single variables,
        (1,).
    search : {"exact", "hierarchical"}, default="exact"
        ``exact`` finds one optimum over every scope. ``hierarchical`` lets a scope of three or more variables enter
        only when all its subsets are in (Schmidt and Murphy 2010): faster with higher orders, but not an optimum over
        all scopes.

    See Also
    --------
    GroupLasso : The same norms without the hierarchy.
    AllInteractions : The structure of all scopes up to a size.

    Examples
    --------
    >>> from mrfit import HierarchicalLasso, learn
    >>> table = {"smokes": ["yes", "yes", "no", "no"] * 25, "coughs": ["yes", "no", "no", "no"] * 25}
    >>> [learn(table, penalty=HierarchicalLasso(strength)).model.n_edges for strength in (1, 50)]
    [1, 0]
    """

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
