"""Limited-memory quasi-Newton (Nocedal 1980), started with a rough Hessian or with its diagonal."""

from __future__ import annotations

from dataclasses import dataclass

from mrfit.penalties.penalty import Trait
from mrfit.solvers.limited_memory import LimitedMemory, QuasiNewtonState
from mrfit.solvers.method import CompositeProblem, line_search


@dataclass(frozen=True)
class LBFGS(LimitedMemory):
    """L-BFGS on the free parameters, projected to bounds; ``memory`` is the number of stored pairs."""

    word = "lbfgs"
    needs = Trait.DIFFERENTIABLE

    def advance(self, problem: CompositeProblem, state: QuasiNewtonState) -> QuasiNewtonState | None:
        free = ~problem.held(state.w, state.gradient)
        direction = -state.curvature.inverse_times(state.gradient, free)
        found = line_search(problem.clip, state, direction, problem.value_and_gradient)
        if found is None:
            return None
        w, value, gradient, step = found
        # A move that bounds cut short still measures the curvature of the function, which knows no bounds.
        curvature = state.curvature.extended(w - state.w, gradient - state.gradient, memory=self.memory)
        return QuasiNewtonState(w, value, gradient, curvature, step=step)
