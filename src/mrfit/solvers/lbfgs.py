"""Limited-memory quasi-Newton (Nocedal 1980), scaled by the diagonal of the Hessian at the start."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mrfit.solvers.minimize import Method, Problem, State, line_search

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class LBFGSState(State):
    scale: Floats = None  # type: ignore[assignment]  # diagonal of the Hessian at the start
    pairs: tuple[tuple[Floats, Floats], ...] = ()  # (move, change of gradient), oldest first


@dataclass(frozen=True)
class LBFGS(Method[LBFGSState]):
    """L-BFGS on the free parameters, with projection where there are bounds.

    Parameters
    ----------
    memory
        Pairs of moves and gradient changes kept.
    """

    memory: int = 20

    def start(self, problem: Problem, w: Floats) -> LBFGSState:
        expansion = problem.expand(w)
        # A parameter whose feature never occurs has no curvature of its own; any positive scale will do.
        diagonal = np.maximum(expansion.diagonal, 1e-8 * expansion.diagonal.max(initial=1e-300))
        return LBFGSState(w, expansion.value, expansion.gradient, scale=diagonal)

    def advance(self, problem: Problem, state: LBFGSState) -> LBFGSState | None:
        free = ~problem.held(state.w, state.gradient)
        direction = -_inverse_hessian_times(np.where(free, state.gradient, 0.0), state, free)
        found = line_search(problem, state, direction, problem.value_and_gradient)
        if found is None:
            return None
        w, value, gradient, step = found
        move, change = w - state.w, gradient - state.gradient
        pairs = state.pairs
        if move @ change > 1e-12 * np.linalg.norm(move) * np.linalg.norm(change):
            pairs = (*pairs, (move, change))[-self.memory :]
        return LBFGSState(w, value, gradient, step, state.scale, pairs)


def _inverse_hessian_times(v: Floats, state: LBFGSState, free: NDArray[np.bool_]) -> Floats:
    """The two-loop recursion, restricted to the free parameters."""
    q = v.copy()
    pairs = [(np.where(free, s, 0.0), np.where(free, y, 0.0)) for s, y in state.pairs]
    pairs = [(s, y) for s, y in pairs if s @ y > 0]
    coefficients = []
    for s, y in reversed(pairs):
        a = float(s @ q) / float(s @ y)
        coefficients.append(a)
        q -= a * y
    q /= state.scale
    if pairs:
        s, y = pairs[-1]
        q *= float(s @ y) / float(y @ (y / state.scale))
    for (s, y), a in zip(pairs, reversed(coefficients), strict=True):
        q += (a - float(y @ q) / float(s @ y)) * s
    return np.where(free, q, 0.0)
