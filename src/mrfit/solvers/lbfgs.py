"""Limited-memory quasi-Newton (Nocedal 1980), started with a rough Hessian or with its diagonal."""

from __future__ import annotations

from dataclasses import dataclass

from mrfit.penalties.penalty import Trait
from mrfit.solvers.limited_memory import LimitedMemory, QuasiNewtonState
from mrfit.solvers.method import CompositeProblem, line_search


@dataclass(frozen=True)
class LBFGS(LimitedMemory):
    """Limited-memory BFGS (L-BFGS) on the free parameters, projected to bounds; for smooth penalties or none.

    Parameters
    ----------
    memory : int, default 20
        Number of stored pairs of moves and changes of the gradient.

    See Also
    --------
    OWLQN : The same for l1 penalties.
    TruncatedNewton : Fewer iterations, each with Hessian products.

    Examples
    --------
    >>> import mrfit
    >>> from mrfit.objectives import Likelihood
    >>> from mrfit.parameterizations import Canonical
    >>> from mrfit.solvers import LBFGS, minimize
    >>> table = {"rain": ["no", "yes"] * 3, "wet": ["no", "yes", "no", "yes", "yes", "no"]}
    >>> rows = mrfit.UniqueRows.of(table)
    >>> objective = Likelihood(Canonical(rows.domain, mrfit.Structure.complete(2)), rows)
    >>> minimize(objective, LBFGS(memory=5)).w.round(3)
    array([-0.693, -0.693,  1.386])
    """

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
