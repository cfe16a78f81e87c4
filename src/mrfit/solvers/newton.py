"""Truncated Newton: conjugate gradients on the Hessian, stopped early far from the optimum."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from mrfit.linear_systems import Factor, conjugate_gradients
from mrfit.objectives.objective import Expansion
from mrfit.penalties.penalty import Trait
from mrfit.solvers.method import Method, Problem, State, line_search

Floats = NDArray[np.float64]


_FLAT = 1e-12  # curvature of a direction that may as well be flat
_NANOSECONDS = 0.02  # to divide a matrix, times the third power of its size


@dataclass(frozen=True)
class NewtonState(State):
    expansion: Expansion
    factor: Factor | None = None  # of a Hessian nearby


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
        rough = problem.objective.rough_hessian()
        return _state(w, problem.expand(w), 1.0, None if rough is None else Factor.of(rough))

    def advance(self, problem: Problem, state: NewtonState) -> NewtonState | None:
        # 1. The Newton direction of the parameters that may move. One at a bound that the others push out holds still.
        free = ~problem.held(state.w, state.gradient)
        direction, factor = self._solve(state, free)
        while (pushed := problem.leaving(state.w, direction)).any():
            free &= ~pushed
            direction, factor = self._solve(replace(state, factor=factor), free)
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
        return _state(w, latest[0], step, factor)

    def _solve(self, state: NewtonState, free: NDArray[np.bool_]) -> tuple[Floats, Factor | None]:
        """Hessian^-1 (-gradient) on the free parameters, to a residual that shrinks with the gradient; and the factor.

        Conjugate gradients, from one preconditioner to the next where they take long.
        """
        expansion, factor = state.expansion, state.factor
        residual = downhill = np.where(free, -state.gradient, 0.0)
        direction = np.zeros_like(downhill)
        for factor, most in self._preconditioners(expansion, factor):  # noqa: B020
            precondition = _masked(expansion.preconditioned if factor is None else factor.divide, free)
            # Superlinear convergence: relative residual min(1/4, sqrt(norm)) in the preconditioned norm.
            first = float(downhill @ precondition(downhill))
            enough = min(0.0625, np.sqrt(first)) * first
            more, residual = conjugate_gradients(
                _masked(expansion.product, free),
                residual,
                is_enough=partial(_is_enough, enough),
                most=most,
                precondition=precondition,
            )
            direction = direction + more
            if float(residual @ precondition(residual)) <= enough:
                break
        return (direction if direction.any() else precondition(downhill)), factor

    def _preconditioners(self, expansion: Expansion, factor: Factor | None) -> Iterator[tuple[Factor | None, int]]:
        """What to divide by, and how many products may be spent before the next one.

        The Hessian as a matrix is worked out, and divided by, when as much was spent on products as that takes: never
        twice the work of the better way. One that was worked out before, at another point, comes first.
        """
        dense = expansion.dense
        dividing = np.inf if dense is None else len(expansion.gradient) ** 3 * _NANOSECONDS / dense.nanoseconds
        if dense is None or dense.products + dividing > self.max_products:
            yield factor, self.max_products
            return
        price = math.ceil(dense.products + dividing)
        if factor is None:
            known = dense.remembered()
            yield None, price if known is None else math.ceil(dividing)
            factor = None if known is None else Factor.of(known)
        if factor is not None:
            yield factor, price
        yield Factor.of(dense.matrix()), self.max_products


def _is_enough(enough: float, residual: Floats, size: float, first: float) -> bool:
    return size <= enough


def _masked(function: Callable[[Floats], Floats], free: NDArray[np.bool_]) -> Callable[[Floats], Floats]:
    """With zeros for all that may not move."""
    return lambda v: np.where(free, function(v), 0.0)


def _state(w: Floats, expansion: Expansion, step: float, factor: Factor | None = None) -> NewtonState:
    return NewtonState(w, expansion.value, expansion.gradient, expansion, factor, step=step, dual=expansion.dual)
