"""Limited-memory quasi-Newton (Nocedal 1980), scaled by the diagonal of the Hessian at the start."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mrfit.penalties.penalty import Trait
from mrfit.solvers.curvature_pairs import CurvaturePairs
from mrfit.solvers.method import Method, Problem, State, line_search

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class LBFGSState(State):
    curvature: CurvaturePairs


@dataclass(frozen=True)
class LBFGS(Method[LBFGSState]):
    """L-BFGS on the free parameters, with projection where there are bounds.

    Parameters
    ----------
    memory
        Pairs of moves and gradient changes kept.
    """

    memory: int = 20

    needs = Trait.DIFFERENTIABLE

    def start(self, problem: Problem, w: Floats) -> LBFGSState:
        expansion = problem.expand(w)
        return LBFGSState(w, expansion.value, expansion.gradient, CurvaturePairs.at(expansion))

    def advance(self, problem: Problem, state: LBFGSState) -> LBFGSState | None:
        free = ~problem.held(state.w, state.gradient)
        direction = -state.curvature.inverse_times(state.gradient, free)
        found = line_search(problem.clip, state, direction, problem.value_and_gradient)
        if found is None:
            return None
        w, value, gradient, step = found
        curvature = state.curvature.extended(w - state.w, gradient - state.gradient, memory=self.memory)
        return LBFGSState(w, value, gradient, curvature, step=step)
