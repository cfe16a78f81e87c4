"""Proximal Newton on a working set (Lee, Sun and Saunders 2014), damped where the Hessian is singular."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mrfit.objectives.objective import Expansion
from mrfit.penalties.penalty import Trait
from mrfit.solvers.method import Method, Problem, State

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

_PRECISION = 1e-2  # of the model's best point, as a share of the violation
_FINEST = 1e-14  # precision that rounding allows
_HALVINGS = 8
_ATTEMPTS = 6


@dataclass(frozen=True)
class ProximalNewtonState(State):
    expansion: Expansion = None  # type: ignore[assignment]
    damping: float = 0.0


@dataclass(frozen=True)
class ProximalNewton(Method[ProximalNewtonState]):
    """Minimises the quadratic model plus the penalty over the parameters that matter, and steps there.

    The working set is what is not zero, what is free, and the blocks of zeros that violate optimality most; since the
    gradient of all parameters is known at every point, an optimum is one over all of them.

    Parameters
    ----------
    damping
        Added to the diagonal of the Hessian at the start, relative to its mean; adapted after every step. Redundant
        parameters make the Hessian singular, and undamped steps on it stall short of the optimum.
    growth
        Blocks that may enter in one step, relative to those that are in.
    newcomers
        Blocks that may enter in any case.
    """

    damping: float = 1e-6
    growth: float = 0.5
    newcomers: int = 100

    needs = Trait.PROXIMAL

    def start(self, problem: Problem, w: Floats) -> ProximalNewtonState:
        return _state(w, problem.expand(w), 1.0, self.damping)

    def advance(self, problem: Problem, state: ProximalNewtonState) -> ProximalNewtonState | None:
        # 1. The parameters to work on, and the quadratic model of the objective there.
        subgradient = problem.penalty.least_subgradient(state.w, state.gradient)
        subgradient[problem.held(state.w, subgradient)] = 0.0
        chosen = self._working_set(problem, state.w, subgradient)
        hessian = _block(state.expansion, chosen, len(state.w))
        scale = max(float(np.trace(hessian)) / max(len(chosen), 1), 1e-12)
        penalty, here, bound = problem.penalty.restricted(chosen), state.w[chosen], problem.bound[chosen]
        violation = float(np.abs(subgradient).max())
        goal = max(_PRECISION * violation, _FINEST)
        damping, added = state.damping, 0.0
        for _ in range(_ATTEMPTS):
            # 2. The best point of the model plus the penalty, to a share of the violation.
            hessian[np.diag_indices_from(hessian)] += damping * scale - added
            added = damping * scale
            target = penalty.scaled_prox(here, state.gradient[chosen], hessian, tolerance=goal)
            direction = np.clip(target, -bound, bound) - here
            # 3. A step towards it that decreases the value enough; a shorter way if there is none.
            change = penalty.value(here + direction) - penalty.value(here)
            following = self._step(problem, state, chosen, direction, change, damping)
            if following is None:
                damping, goal = max(100.0 * damping, 1e-8), max(0.01 * goal, _FINEST)
                continue
            # Where rounding hides a decrease of the value, a step must at least bring the optimum nearer.
            hidden = following.value >= state.value - _noise(state.value)
            nearer = hidden and problem.violation(following.w, following.gradient) < violation
            return following if nearer or not hidden else None
        return None

    def _working_set(self, problem: Problem, w: Floats, subgradient: Floats) -> Indices:
        inside = w != 0
        inside[problem.free] = True
        entering = np.flatnonzero((subgradient != 0) & ~inside)
        block = problem.penalty.block
        if block is None:
            allowed = self.newcomers + int(self.growth * np.count_nonzero(inside))
            if len(entering) > allowed:
                entering = entering[np.argpartition(-np.abs(subgradient[entering]), allowed)[:allowed]]
            return np.sort(np.concatenate([np.flatnonzero(inside), entering]))
        n_blocks = int(block.max(initial=-1)) + 1
        within = np.zeros(n_blocks, bool)
        within[block[inside & (block >= 0)]] = True
        score = np.bincount(block[entering], subgradient[entering] ** 2, minlength=n_blocks)
        score[within] = 0.0
        allowed = min(self.newcomers + int(self.growth * within.sum()), n_blocks)
        within[np.argsort(-score)[:allowed]] |= score[np.argsort(-score)[:allowed]] > 0
        return np.flatnonzero((block < 0) | within[block])

    def _step(
        self,
        problem: Problem,
        state: ProximalNewtonState,
        chosen: Indices,
        direction: Floats,
        change: float,
        damping: float,
    ) -> ProximalNewtonState | None:
        """A point on the way that decreases the value enough, with ``change`` of the penalty at its end (Armijo)."""
        promise = float(state.gradient[chosen] @ direction) + change
        noise = _noise(state.value)
        if promise >= noise or not direction.any():
            return None
        step = 1.0
        for halvings in range(_HALVINGS):
            w = state.w.copy()
            w[chosen] += step * direction
            expansion = problem.expand(w)
            if expansion.value <= state.value + 1e-4 * step * promise + noise:
                return _state(w, expansion, step, max(damping * (0.1 if halvings == 0 else 4.0**halvings), 1e-12))
            step *= 0.5
        return None


def _noise(value: float) -> float:
    """What rounding may hide in a difference of values."""
    return 4.0 * float(np.finfo(float).eps) * abs(value)


def _block(expansion: Expansion, chosen: Indices, n: int) -> Floats:
    """The Hessian of the chosen parameters, by products where the objective has no better way."""
    if expansion.block is not None:
        return expansion.block(chosen)
    columns = []
    for k in chosen:
        one = np.zeros(n)
        one[k] = 1.0
        columns.append(expansion.product(one)[chosen])
    block = np.stack(columns, axis=1)
    return np.asarray(0.5 * (block + block.T), np.float64)


def _state(w: Floats, expansion: Expansion, step: float, damping: float) -> ProximalNewtonState:
    return ProximalNewtonState(w, expansion.value, expansion.gradient, step, expansion, damping, dual=expansion.dual)
