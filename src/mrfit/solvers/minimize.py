"""The driver: one loop around any method for smooth objectives with optional bounds."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from mrfit.objectives.objective import Expansion, Objective
from mrfit.solvers.solution import Record, Solution, Status

Floats = NDArray[np.float64]
Callback = Callable[[Record], bool | None]


@dataclass(frozen=True)
class Problem:
    """An objective, limits on its parameters, and a count of what was asked of it."""

    objective: Objective
    bound: Floats  # largest absolute value of each parameter; infinite where there is none
    calls: dict[str, int]

    def value_and_gradient(self, w: Floats) -> tuple[float, Floats]:
        self.calls["evaluations"] += 1
        return self.objective.value_and_gradient(w)

    def expand(self, w: Floats) -> Expansion:
        self.calls["evaluations"] += 1
        expansion = self.objective.expand(w)

        def product(v: Floats) -> Floats:
            self.calls["products"] += 1
            return expansion.product(v)

        return replace(expansion, product=product)

    def clip(self, w: Floats) -> Floats:
        return np.clip(w, -self.bound, self.bound)

    def held(self, w: Floats, gradient: Floats) -> NDArray[np.bool_]:
        """Parameters at a bound that the gradient pushes further out."""
        return (np.abs(w) >= self.bound) & (gradient * np.sign(w) <= 0)

    def violation(self, w: Floats, gradient: Floats) -> float:
        return float(np.max(np.abs(gradient), where=~self.held(w, gradient), initial=0.0))


@dataclass(frozen=True)
class State:
    """Where a method stands; methods add what their next step needs."""

    w: Floats
    value: float
    gradient: Floats
    step: float = 1.0


AnyState = TypeVar("AnyState", bound=State)


class Method(ABC, Generic[AnyState]):
    """A descent method as two functions: make a state, improve a state."""

    @abstractmethod
    def start(self, problem: Problem, w: Floats) -> AnyState: ...

    @abstractmethod
    def advance(self, problem: Problem, state: AnyState) -> AnyState | None:
        """The next state, or None when no step along the direction decreases the value."""


def minimize(
    objective: Objective,
    method: Method[AnyState],
    w: Floats | None = None,
    *,
    bound: Floats | None = None,
    tolerance: float = 1e-6,
    max_iterations: int = 1000,
    callback: Callback | None = None,
) -> Solution:
    """Minimise ``objective`` from ``w`` (zero by default) until the violation is at most ``tolerance``.

    ``callback`` sees every record and may return True to stop.
    """
    n = objective.n_parameters
    problem = Problem(objective, np.full(n, np.inf) if bound is None else bound, {"evaluations": 0, "products": 0})
    state = method.start(problem, problem.clip(np.zeros(n) if w is None else np.asarray(w, np.float64)))
    trace: list[Record] = []
    for iteration in range(max_iterations + 1):
        violation = problem.violation(state.w, state.gradient)
        trace.append(Record(iteration, state.value, violation, **problem.calls, step=state.step))
        if violation <= tolerance:
            status = Status.CONVERGED
        elif callback is not None and callback(trace[-1]):
            status = Status.INTERRUPTED
        elif iteration == max_iterations:
            status = Status.ITERATION_LIMIT
        elif (following := method.advance(problem, state)) is None:
            status = Status.NO_DECREASE
        else:
            state = following
            continue
        break
    at_bound = np.flatnonzero(np.abs(state.w) >= problem.bound)
    return Solution(state.w, state.value, violation, status, tuple(trace), at_bound)


def line_search(
    problem: Problem,
    state: State,
    direction: Floats,
    evaluate: Callable[[Floats], tuple[float, Floats]],
    *,
    max_halvings: int = 40,
) -> tuple[Floats, float, Floats, float] | None:
    """Largest step 1, 1/2, 1/4, ... with sufficient decrease along the projected direction (Armijo).

    Values within rounding of each other are compared by slope instead (Hager and Zhang 2005): close to the optimum
    a decrease of 1e-16 cannot be seen in the value but can in the gradient.
    """
    step = 1.0
    slope0 = float(state.gradient @ direction)
    noise = 4.0 * np.finfo(float).eps * abs(state.value)
    for _ in range(max_halvings):
        w = problem.clip(state.w + step * direction)
        move = w - state.w
        value, gradient = evaluate(w)
        expected = float(state.gradient @ move)
        if value <= state.value + 1e-4 * expected:
            return w, value, gradient, step
        if value <= state.value + noise and abs(float(gradient @ move)) <= 0.9 * abs(step * slope0):
            return w, value, gradient, step
        step *= 0.5
    return None
