"""Truncated Newton: conjugate gradients on the Hessian, stopped early far from the optimum."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mrfit.linear_systems import conjugate_gradients
from mrfit.objectives.objective import Expansion
from mrfit.penalties.penalty import Trait
from mrfit.solvers.method import Method, Problem, State, line_search

Floats = NDArray[np.float64]


_FLAT = 1e-12  # curvature of a direction that may as well be flat


@dataclass(frozen=True)
class NewtonState(State):
    expansion: Expansion


@dataclass(frozen=True)
class TruncatedNewton(Method[NewtonState]):
    """Newton steps solved by preconditioned conjugate gradients (Dembo and Steihaug 1983).

    Parameters
    ----------
    max_products
        Hessian products in one step at most.
    """

    max_products: int = 200

    needs = Trait.DIFFERENTIABLE

    def start(self, problem: Problem, w: Floats) -> NewtonState:
        return _state(w, problem.expand(w), 1.0)

    def advance(self, problem: Problem, state: NewtonState) -> NewtonState | None:
        # 1. The Newton direction of the parameters that may move. One at a bound that the others push out holds still.
        free = ~problem.held(state.w, state.gradient)
        direction = self._solve(state, free)
        while (pushed := problem.leaving(state.w, direction)).any():
            free &= ~pushed
            direction = self._solve(state, free)
        latest: list[Expansion] = []

        def evaluate(w: Floats) -> tuple[float, Floats]:
            latest[:] = [problem.expand(w)]
            return latest[0].value, latest[0].gradient

        # 2. A step along it, bent at the bounds. Close to one of them that may lead nowhere; the slope alone, each
        #    parameter in its own scale, leads down along any bend (Bertsekas 1982).
        found = line_search(problem.clip, state, direction, evaluate)
        if found is None and len(problem.bounded):
            free = ~problem.held(state.w, state.gradient)
            scaled = np.where(free, -state.gradient / np.maximum(state.expansion.diagonal(), _FLAT), 0.0)
            found = line_search(problem.clip, state, scaled, evaluate)
        if found is None:
            return None
        w, _, _, step = found
        return _state(w, latest[0], step)

    def _solve(self, state: NewtonState, free: NDArray[np.bool_]) -> Floats:
        """Hessian^-1 (-gradient) on the free parameters, to a residual that shrinks with the gradient."""
        expansion = state.expansion
        downhill = np.where(free, -state.gradient, 0.0)

        def precondition(r: Floats) -> Floats:
            return np.where(free, expansion.preconditioned(r), 0.0)

        # Superlinear convergence: relative residual min(1/4, sqrt(norm)) in the preconditioned norm.
        direction, _ = conjugate_gradients(
            lambda p: np.where(free, expansion.product(p), 0.0),
            downhill,
            is_enough=lambda _, size, first: bool(size <= min(0.0625, np.sqrt(first)) * first),
            most=self.max_products,
            precondition=precondition,
        )
        return direction if direction.any() else precondition(downhill)


def _state(w: Floats, expansion: Expansion, step: float) -> NewtonState:
    return NewtonState(w, expansion.value, expansion.gradient, expansion, step=step, dual=expansion.dual)
