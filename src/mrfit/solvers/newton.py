"""Truncated Newton: conjugate gradients on the Hessian, stopped early far from the optimum."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mrfit.objectives.objective import Expansion
from mrfit.penalties.penalty import Trait
from mrfit.solvers.method import Method, Problem, State, line_search

Floats = NDArray[np.float64]


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
        free = ~problem.held(state.w, state.gradient)
        direction = self._solve(state, free)
        latest: list[Expansion] = []

        def evaluate(w: Floats) -> tuple[float, Floats]:
            latest[:] = [problem.expand(w)]
            return latest[0].value, latest[0].gradient

        found = line_search(problem.clip, state, direction, evaluate)
        if found is None:
            return None
        w, _, _, step = found
        return _state(w, latest[0], step)

    def _solve(self, state: NewtonState, free: NDArray[np.bool_]) -> Floats:
        """Hessian^-1 (-gradient) on the free parameters, to a residual that shrinks with the gradient."""
        expansion = state.expansion
        r = np.where(free, -state.gradient, 0.0)
        d = np.zeros_like(r)
        y = np.where(free, expansion.preconditioned(r), 0.0)
        p = y.copy()
        ry = ry0 = float(r @ y)
        # Superlinear convergence: relative residual min(1/4, sqrt(norm)) in the preconditioned norm.
        goal = min(0.0625, np.sqrt(ry0)) * ry0
        for _ in range(self.max_products):
            if ry <= goal:
                break
            hp = np.where(free, expansion.product(p), 0.0)
            curvature = float(p @ hp)
            if curvature <= 0.0:  # flat to rounding: what was gathered so far is a descent direction
                break
            a = ry / curvature
            d += a * p
            r -= a * hp
            y = np.where(free, expansion.preconditioned(r), 0.0)
            ry, previous = float(r @ y), ry
            p = y + (ry / previous) * p
        return d if d.any() else y


def _state(w: Floats, expansion: Expansion, step: float) -> NewtonState:
    return NewtonState(w, expansion.value, expansion.gradient, expansion, step=step, dual=expansion.dual)
