"""Descent methods, the problems they solve, and the line search they share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from mrfit._typing import Floats
from mrfit.objectives.objective import Expansion, Objective
from mrfit.penalties.penalty import NonsmoothPenalty, Trait


@dataclass(frozen=True)
class CompositeProblem:
    """Objective plus penalty within bounds, with counters of evaluations and products; the problem that a method sees.

    Values are those of the sum, derivatives those of the smooth objective alone.

    Parameters
    ----------
    objective : Objective
        Smooth part.
    penalty : NonsmoothPenalty
        Part with kinks, scaled as the objective.
    bound : array of shape (n_parameters,)
        Largest absolute value of each parameter, or infinity.
    calls : dict
        Counters ``evaluations`` and ``products``, which the problem raises.

    See Also
    --------
    minimize : Makes a problem and runs a method on it.
    Method : Takes a problem.

    Examples
    --------
    >>> import mrfit, numpy as np
    >>> from mrfit.objectives import Likelihood
    >>> from mrfit.parameterizations import Canonical
    >>> from mrfit.penalties import ZeroPenalty
    >>> from mrfit.solvers import CompositeProblem
    >>> table = {"rain": ["no", "yes"] * 3, "wet": ["no", "yes", "no", "yes", "yes", "no"]}
    >>> rows = mrfit.UniqueRows.of(table)
    >>> objective = Likelihood(Canonical(rows.domain, mrfit.Structure.complete(2)), rows)
    >>> calls = {"evaluations": 0, "products": 0}
    >>> problem = CompositeProblem(objective, ZeroPenalty(), np.full(3, np.inf), calls)
    >>> value, gradient = problem.value_and_gradient(np.zeros(3))
    >>> round(problem.violation(np.zeros(3), gradient), 3), problem.calls["evaluations"]
    (0.083, 1)
    """

    objective: Objective
    penalty: NonsmoothPenalty
    bound: Floats  # largest absolute value of each parameter, or infinity
    calls: dict[str, int]
    _latest: list[Slope] = field(default_factory=list, init=False, repr=False)

    def value_and_gradient(self, w: Floats) -> tuple[float, Floats]:
        """Return the value of objective plus penalty, and the gradient of the objective alone."""
        value, gradient = self.smooth_value_and_gradient(w)
        return value + self.penalty.value(w), gradient

    def smooth_value_and_gradient(self, w: Floats) -> tuple[float, Floats]:
        """Return value and gradient of the objective alone."""
        self.calls["evaluations"] += 1
        return self.objective.value_and_gradient(w)

    def expand(self, w: Floats) -> Expansion:
        """Return the expansion of the objective, with the value of objective plus penalty."""
        self.calls["evaluations"] += 1
        expansion = self.objective.expand(w)

        def product(v: Floats) -> Floats:
            self.calls["products"] += 1
            return expansion.product(v)

        return replace(expansion, value=expansion.value + self.penalty.value(w), product=product)

    def clip(self, w: Floats) -> Floats:
        """Return w clipped to the bounds: a new vector if anything changed."""
        at, bound = self.bounded, self.bound[self.bounded]
        if (np.abs(w[at]) <= bound).all():
            return w
        out = np.array(w, np.float64)
        out[at] = np.clip(out[at], -bound, bound)
        return out

    def slope(self, w: Floats, gradient: Floats) -> Slope:
        """Return the least subgradient at a point. The last one is cached, because driver and method need the same.

        Parameters
        ----------
        w : array of shape (n_parameters,)
            Point within the bounds.
        gradient : array of shape (n_parameters,)
            Gradient of the objective there.

        Returns
        -------
        record
            ``subgradient``, zero for parameters held at a bound; ``held``, the numbers of these; ``size``, its largest
            entry.
        """
        if not (self._latest and self._latest[0].w is w and self._latest[0].gradient is gradient):
            self._latest.clear()  # release memory before the next one is computed
            self._latest.append(Slope.at(self, w, gradient))
        return self._latest[0]

    def held(self, w: Floats, subgradient: Floats) -> NDArray[np.bool_]:
        """Return the mask of parameters at a bound that the subgradient pushes further out.

        Parameters
        ----------
        w : array of shape (n_parameters,)
            Point within the bounds.
        subgradient : array of shape (n_parameters,)
            Subgradient of the sum at this point.

        Returns
        -------
        bool array of shape (n_parameters,)
        """
        mask = np.zeros(len(w), bool)
        mask[self.active_bounds_at(w, subgradient)] = True
        return mask

    def active_bounds_at(self, w: Floats, subgradient: Floats) -> NDArray[np.int64]:
        """Return the numbers of parameters at a bound that the subgradient pushes further out.

        Parameters
        ----------
        w : array of shape (n_parameters,)
            Point to compare with the bounds.
        subgradient : array of shape (n_parameters,)
            Subgradient of the sum, whose signs decide.

        Returns
        -------
        int array
        """
        at = self.bounded
        return at[(np.abs(w[at]) >= self.bound[at]) & (subgradient[at] * np.sign(w[at]) <= 0)]

    def leaving(self, w: Floats, direction: Floats) -> NDArray[np.bool_]:
        """Return the mask of parameters at a bound that a direction pushes further out.

        Parameters
        ----------
        w : array of shape (n_parameters,)
            Point from which the direction leads.
        direction : array of shape (n_parameters,)
            Direction of a step.

        Returns
        -------
        bool array of shape (n_parameters,)
        """
        leaving: NDArray[np.bool_] = self.held(w, -direction) & (direction != 0)
        return leaving

    def violation(self, w: Floats, gradient: Floats) -> float:
        """Return the largest entry of the least subgradient (max. gradient), leaving out parameters held at a bound.

        Parameters
        ----------
        w : array of shape (n_parameters,)
            Point within the bounds.
        gradient : array of shape (n_parameters,)
            Gradient of the objective at ``w``.

        Returns
        -------
        float
            Zero at an optimum.
        """
        return self.slope(w, gradient).size

    def gap(self, state: State) -> float | None:
        """Return an upper bound on the distance of the value from the optimum, by duality; None if none is known.

        A gap needs a dual, and a convex objective and penalty. A free parameter cannot leave its bounds: moving it
        gains at most its gradient times the bound.
        """
        if state.dual is None or not self.is_convex:
            return None
        t = self.penalty.dual_scale(state.gradient, at=state.w)
        if t is None:
            return None
        # Weak duality with the dual point t * gradient, which the penalty admits by the choice of t. It also has to
        # vanish for free parameters, where it need not: each falls short by at most t * |gradient| * bound. Entries
        # without a gradient are left out, since zero times an infinite bound is not a number.
        pull = np.abs(state.gradient[self.free])
        loose = float(pull[pull > 0] @ self.bound[self.free][pull > 0])
        return float(state.value - state.dual(t) + t * loose)

    @property
    def is_convex(self) -> bool:
        """Whether objective and penalty are convex."""
        return self.objective.is_convex and self.penalty.is_convex

    @cached_property
    def bounded(self) -> NDArray[np.int64]:
        """Parameters with a bound."""
        return np.flatnonzero(self.bound < np.inf)

    @cached_property
    def free(self) -> NDArray[np.int64]:
        """Parameters that the penalty does not affect."""
        return np.flatnonzero(self.penalty.is_free(self.objective.n_parameters))


@dataclass(frozen=True)
class Slope:
    """The least subgradient at a point, zero for parameters held at a bound, and its largest entry."""

    w: Floats
    gradient: Floats
    subgradient: Floats
    held: NDArray[np.int64]
    size: float

    @classmethod
    def at(cls, problem: CompositeProblem, w: Floats, gradient: Floats) -> Slope:
        subgradient = problem.penalty.min_norm_subgradient(w, gradient)
        held = problem.active_bounds_at(w, subgradient)
        if len(held):
            subgradient = subgradient.copy() if subgradient is gradient else subgradient
            subgradient[held] = 0.0
        size = float(max(subgradient.max(initial=0.0), -subgradient.min(initial=0.0)))
        return cls(w, gradient, subgradient, held, size)


@dataclass(frozen=True)
class State:
    """Iterate of a method; methods add what their next step needs.

    Parameters
    ----------
    w : array of shape (n_parameters,)
        Current point.
    value : float
        Objective plus penalty there.
    gradient : array of shape (n_parameters,)
        Gradient of the objective alone.
    step : float, default 1.0
        Length of the step that led here, relative to the method's full step.
    dual : callable, default None
        Dual function of the objective at ``w``, if it has one; see `Expansion`.

    See Also
    --------
    Method : Makes and improves states.

    Examples
    --------
    >>> import numpy as np
    >>> from mrfit.solvers import State
    >>> State(np.zeros(2), 1.5, np.ones(2)).step
    1.0
    """

    w: Floats
    value: float
    gradient: Floats
    step: float = field(default=1.0, kw_only=True)
    dual: Callable[[float], float] | None = field(default=None, kw_only=True)  # of the objective at w, if it has one


AnyState = TypeVar("AnyState", bound=State)


class Method(ABC, Generic[AnyState]):
    """Descent method, as two functions: make a state, and improve a state; base class of all solvers.

    A subclass defines ``word`` (the name by which users choose it) and ``needs`` (the `Trait` that the penalty must
    have). Its fields are its settings; it holds no state.

    See Also
    --------
    minimize : Runs a method.
    mrfit.testing.check_method : Check one of your own.

    Examples
    --------
    >>> from dataclasses import replace
    >>> import numpy as np
    >>> from mrfit.penalties import Trait
    >>> from mrfit.solvers import Method, State
    >>> class Steepest(Method[State]):
    ...     word, needs = "steepest", Trait.DIFFERENTIABLE
    ...     def start(self, problem, w):
    ...         return State(w, *problem.value_and_gradient(w))
    ...     def advance(self, problem, state):
    ...         return self.start(problem, problem.clip(state.w - state.gradient))
    >>> Steepest().needs.value
    'differentiable'
    """

    word: ClassVar[str]  # the name by which users choose it
    needs: ClassVar[Trait]  # the trait that the penalty must have

    @abstractmethod
    def start(self, problem: CompositeProblem, w: Floats) -> AnyState:
        """Return the state at a starting point.

        Parameters
        ----------
        problem : CompositeProblem
            Objective, penalty and bounds.
        w : array of shape (n_parameters,)
            Starting point, within the bounds.

        Returns
        -------
        State
        """

    @abstractmethod
    def advance(self, problem: CompositeProblem, state: AnyState) -> AnyState | None:
        """Return the next state, or None if no step along the direction decreases the value.

        Parameters
        ----------
        problem : CompositeProblem
            Objective, penalty and bounds.
        state : State
            State that this method returned last.

        Returns
        -------
        State or None
        """


def line_search(
    project: Callable[[Floats], Floats],
    state: State,
    direction: Floats,
    evaluate: Callable[[Floats], tuple[float, Floats]],
    *,
    max_halvings: int = 40,
) -> tuple[Floats, float, Floats, float] | None:
    """Find the largest step 1, 1/2, 1/4, ... with sufficient decrease along the projected direction (Armijo).

    Values within rounding of each other are compared by slope instead (Hager and Zhang 2005): near the optimum a
    decrease of 1e-16 is invisible in the value but visible in the gradient. A decrease of 1e-32 is invisible in both.
    There the search gives up, or it would follow a gradient that is only rounding for ever.
    """
    step = 1.0
    slope0 = float(state.gradient @ direction)
    eps = np.finfo(float).eps
    noise = 4.0 * eps * abs(state.value)
    if abs(slope0) <= eps * eps * abs(state.value):
        return None
    for _ in range(max_halvings):
        w = project(state.w + step * direction)
        move = w - state.w
        if not move.any():
            return None
        value, gradient = evaluate(w)
        # Decrease is expected of the projected move, not of step * direction: bounds may have cut it short.
        expected = float(state.gradient @ move)
        if value <= state.value + 1e-4 * expected:
            return w, value, gradient, step
        if value <= state.value + noise and abs(float(gradient @ move)) <= 0.9 * abs(step * slope0):
            return w, value, gradient, step
        step *= 0.5
    return None
