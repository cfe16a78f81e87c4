"""Specification of a penalty: its strength, the parameters it leaves free, and how models under it are fitted."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar

from mrfit.core.errors import InputError
from mrfit.learning.tying.soft_tying import TyingRecord
from mrfit.parameterizations.parameterization import Parameterization
from mrfit.penalties.penalty import Penalty
from mrfit.penalties.penalty_strength import checked_strength
from mrfit.solvers.method import Method
from mrfit.solvers.newton import TruncatedNewton
from mrfit.solvers.solution import Record
from mrfit.solvers.suitability import check_suitable
from mrfit.structures.structure import Structure

if TYPE_CHECKING:
    from mrfit.learning.backend import Backend
    from mrfit.learning.fit_problem import FitProblem
    from mrfit.learning.fit_result import Optimum
    from mrfit.learning.objective_specs import ObjectiveSpec


# What a converged fit is where objective or penalty is not convex.
STATIONARY_POINT = "a stationary point: what was minimised is not convex, and other points may be better"

# Called with the strength and every step of a fit; may return True to stop that fit.
Callback = Callable[[float, Record | TyingRecord], bool | None]

_MOST_SHOWN = 6  # of several strengths or numbers of groups


@dataclass(frozen=True)
class Grid:
    """The points at which models are fitted: every strength, with every number of groups where parameters are tied.

    All rows decide it once, and every fold fits the same points. A grid that ``is_path`` leads from the strongest
    penalty that matters down, and may end early where held-out scores rise no more.
    """

    strengths: tuple[float, ...]
    groups: tuple[int, ...] = ()
    is_path: bool = False

    def __len__(self) -> int:
        return len(self.strengths) * max(1, len(self.groups))


@dataclass(frozen=True)
class PenaltySpec(ABC):
    """A penalty as users choose it; the function of the parameters is built when their layout is known.

    Derive from `ConvexPenaltySpec` or `SparsePenaltySpec` to add a penalty; the page on plug-ins has a complete one.

    Parameters
    ----------
    strength : float, sequence of float or None, default=None
        Penalty strength, the papers' lambda, above 0. It is added to the summed (not averaged) log-likelihood. Several
        strengths are a grid, whose fits start at each other. None leaves the grid to the penalty.
    free_orders : sequence of int or None, default=None
        Sizes of scopes that the penalty leaves alone. None takes the default of the penalty.

    Attributes
    ----------
    word : str
        Class variable: the name at the command line, in JSON and in saved models.
    function : type of Penalty or None
        Class variable: the function of the parameters that solvers minimise; None if no solver meets it.
    results_version : int
        Class variable: raise it when the same rows lead to other parameters.

    See Also
    --------
    mrfit.penalties.Penalty : The function of the parameters.
    mrfit.register : Make a penalty known by its word.

    Examples
    --------
    >>> from mrfit import L1
    >>> from mrfit.penalties import PenaltySpec
    >>> isinstance(L1(), PenaltySpec), L1(strength=3).describe()
    (True, 'l1, strength 3')
    """

    strength: float | Sequence[float] | None = None
    free_orders: Sequence[int] | None = None

    word: ClassVar[str]
    function: ClassVar[type[Penalty] | None] = None  # None where no solver meets it
    default_free_orders: ClassVar[tuple[int, ...] | None] = ()  # None for all
    default_strengths: ClassVar[tuple[float, ...]] = (1.0,)
    is_tied: ClassVar[bool] = False
    uses_group_norms: ClassVar[bool] = False  # whether it depends on scopes by their lengths alone
    results_version: ClassVar[int] = 1  # raise it when the same rows lead to other parameters, or to another choice

    def __post_init__(self) -> None:
        # Plain numbers, whatever came in: they go into the model file.
        given: Any = self.strength
        if given is not None:
            several = isinstance(given, Iterable) and not isinstance(given, str)
            object.__setattr__(self, "strength", tuple(map(_plain, given)) if several else _plain(given))
        if self.strength == ():
            raise InputError("At least one strength is needed.")
        if self.free_orders is not None:
            object.__setattr__(self, "free_orders", tuple(int(order) for order in self.free_orders))

    @property
    def strengths(self) -> tuple[float, ...] | None:
        """Strengths that were named, as a tuple; None for the default."""
        if self.strength is None or isinstance(self.strength, tuple):
            return self.strength
        return (float(self.strength),)  # type: ignore[arg-type]

    def grid(self, problem: FitProblem, *, selecting: bool) -> Grid:
        """Return the points to fit.

        Parameters
        ----------
        problem : FitProblem
            Rows, structure and learner together.
        selecting : bool
            Whether held-out rows choose among the points.
        """
        return Grid(self.strengths or self.default_strengths)

    @abstractmethod
    def fits(self, problem: FitProblem, grid: Grid, callback: Callback | None) -> Iterator[Optimum]:
        """Yield the optima of the grid, in the order in which each is a good start for the next.

        Parameters
        ----------
        problem : FitProblem
            Rows, structure and learner together.
        grid : Grid
            The points to fit, from `grid`.
        callback : callable or None
            Called with the strength and each record of the solver; it may return True to stop that fit.
        """

    def solver(self, coordinates: Backend) -> Method[Any]:
        """Return the method that suits this penalty best."""
        return TruncatedNewton()

    def check(
        self, objective: ObjectiveSpec, parameterization: type[Parameterization], solver: Method[Any] | None
    ) -> None:
        """Refuse an objective, a parameterization or a solver that does not go with this penalty.

        Parameters
        ----------
        objective : ObjectiveSpec
            What is maximised.
        parameterization : type of Parameterization
            The coordinates.
        solver : Method or None
            The method of the learner; None for the one that suits.
        """
        if self.function is not None and solver is not None:
            check_suitable(type(solver), self.function)

    def default_free_orders_with(self, objective: ObjectiveSpec) -> tuple[int, ...] | None:
        """Return the sizes of scopes that it leaves alone by default; None for all."""
        return self.default_free_orders

    def free_orders_in(self, structure: Structure, objective: ObjectiveSpec) -> tuple[int, ...]:
        """Return the sizes of scopes of a structure that are not penalised.

        Parameters
        ----------
        structure : Structure
            The scopes of the model.
        objective : ObjectiveSpec
            What is maximised; the default of L2 depends on it.
        """
        orders = tuple(structure.blocks)
        chosen = self.default_free_orders_with(objective) if self.free_orders is None else self.free_orders
        return orders if chosen is None else tuple(order for order in chosen if order in orders)

    def check_free_orders(self, structure: Structure) -> None:
        """Refuse free orders that a structure does not have."""
        absent = sorted(set(self.free_orders or ()) - set(structure.blocks))
        if absent:
            raise InputError(
                f"Order {absent[0]} cannot be left free: the structure has orders {list(structure.blocks)}."
            )

    def first_scopes(self, structure: Structure) -> Structure:
        """Return the part of a structure that fits begin with; a search adds more of it."""
        return structure

    @property
    def searches(self) -> bool:
        """Whether larger scopes enter only after smaller ones."""
        return False

    def needs_scope_order(self) -> bool:
        """Whether parameters must be stored scope by scope, even if all sets of variables have a more compact form."""
        return False

    def stiffness(self, strength: float) -> float:
        """Return the second derivative in every parameter that it penalises.

        Standard errors need it. Penalties after which standard errors are unknown raise `InputError`.
        """
        raise InputError(
            f"No standard errors are known for parameters under the penalty {self.word!r}. Use l2 or none, or leave "
            "the errors out."
        )

    @property
    def is_convex(self) -> bool:
        """Whether the function of the parameters is convex, so that a converged fit is an optimum."""
        return self.function is None or self.function.is_convex

    def guarantee(self) -> str:
        """Describe the scopes over which a converged fit is an optimum."""
        return "an optimum over all scopes of the structure" if self.is_convex else STATIONARY_POINT

    def describe(self) -> str:
        """Describe the penalty for a person: "l1, strength 3"."""
        if self.strengths is None:
            return self.word
        several = "s" if len(self.strengths) > 1 else ""
        return f"{self.word}, strength{several} {several_in_words(self.strengths)}"

    def described(self, optimum: Optimum, free_orders: tuple[int, ...]) -> dict[str, Any]:
        """Return the penalty for the provenance of a model, ready for JSON.

        Parameters
        ----------
        optimum : Optimum
            The fit, which knows its strength.
        free_orders : tuple of int
            Sizes of scopes that were not penalised.
        """
        return {"name": self.word, "strength": optimum.strength, "free_orders": list(free_orders)}


def several_in_words(numbers: Sequence[float]) -> str:
    """A list for a person, the middle of a long one left out."""
    shown = [f"{number:g}" for number in numbers]
    return ", ".join(shown if len(shown) <= _MOST_SHOWN else [*shown[:2], "...", shown[-1]])


def _plain(strength: Any) -> float:
    if not isinstance(strength, Real):
        raise InputError(f"A strength must be a number; got {strength!r}.")
    return checked_strength(float(strength))
