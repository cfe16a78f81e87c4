"""Accelerated proximal gradients (Beck and Teboulle 2009) with restarts (O'Donoghue and Candès 2015)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mrfit.penalties.penalty import Trait
from mrfit.solvers.method import Method, Problem, State

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class FistaState(State):
    ahead: Floats  # where the next gradient is taken
    momentum: float
    length: float  # of a gradient step: one over the curvature


@dataclass(frozen=True)
class Fista(Method[FistaState]):
    """w <- prox(ahead - length * gradient(ahead)), then ahead is w carried on along its last move.

    Slow and sure: it needs gradients and a prox and nothing else, which makes it the check on faster methods. Where
    the move turns against the gradient the momentum starts anew. Lengths are found by halving, and tried longer again.

    Parameters
    ----------
    length
        Of the first step.
    """

    length: float = 1.0

    needs = Trait.PROXIMAL

    def start(self, problem: Problem, w: Floats) -> FistaState:
        expansion = problem.expand(w)
        return FistaState(w, expansion.value, expansion.gradient, w, 1.0, self.length, dual=expansion.dual)

    def advance(self, problem: Problem, state: FistaState) -> FistaState | None:
        ahead, length = state.ahead, 1.1 * state.length
        smooth, gradient = problem.smooth_value_and_gradient(ahead)
        for _ in range(60):
            # 1. A proximal step that the quadratic with curvature 1 / length bounds from above.
            w = problem.clip(problem.penalty.prox(ahead - length * gradient, length))
            move = w - ahead
            expansion = problem.expand(w)
            own = expansion.value - problem.penalty.value(w)
            bound = smooth + float(gradient @ move) + 0.5 / length * float(move @ move)
            if own <= bound + 1e-14 * abs(own):
                break
            length *= 0.5
        else:
            return None
        # 2. Momentum, unless it points uphill.
        restart = float((ahead - w) @ (w - state.w)) > 0.0
        momentum = 1.0 if restart else 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * state.momentum**2))
        carried = 0.0 if restart else (state.momentum - 1.0) / momentum
        return FistaState(
            w, expansion.value, expansion.gradient, w + carried * (w - state.w), momentum, length,
            dual=expansion.dual,
        )  # fmt: skip
