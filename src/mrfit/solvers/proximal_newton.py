"""Proximal Newton on a working set (Lee, Sun and Saunders 2014), damped for singular Hessians."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mrfit._typing import Floats, Indices
from mrfit.objectives.objective import Expansion
from mrfit.penalties.penalty import Trait
from mrfit.solvers.method import CompositeProblem, Method, Slope, State
from mrfit.solvers.quadratics import Quadratic, minimize_quadratic, needs_matrix

_PRECISION = 1e-2  # of the model's minimum, as a share of the violation
_FINEST = 1e-14  # the precision that rounding allows
_HALVINGS = 8
_ATTEMPTS = 6
_LEAST_DAMPING = 1e-12
_FEW = 2000  # parameters up to which a matrix is always cheap
_WORTH_PRODUCTS = 5e4  # measured with 2^16 joint states


@dataclass(frozen=True)
class ProximalNewtonState(State):
    expansion: Expansion
    damping: float
    estimate: Floats | None = None  # of the Hessian, if its true blocks are expensive and a rough Hessian is known

    def block(self, chosen: Indices) -> Floats:
        """Return the Hessian of the chosen parameters, or an estimate of it."""
        if self.estimate is not None:
            return self.estimate[np.ix_(chosen, chosen)]
        return _block(self.expansion, chosen, len(self.w))


@dataclass(frozen=True)
class ProximalNewton(Method[ProximalNewtonState]):
    """Proximal Newton steps over a working set of parameters, for any penalty with a proximal operator.

    Each step goes to the minimum of the quadratic model plus the penalty. The working set consists of nonzero
    parameters, free ones, and the zero blocks that violate optimality most. The gradient of all parameters is known at
    every point, so an optimum on the working set is checked over all of them.

    Parameters
    ----------
    damping : float, default 1e-06
        Added to the diagonal of the Hessian at the start, relative to its mean, and adapted after every step. Redundant
        parameters make the Hessian singular, and undamped steps on it stall short of the optimum.
    growth : float, default 0.5
        Number of blocks that may enter in one step, relative to those already in.
    newcomers : int, default 100
        Number of blocks that may enter in any case.

    See Also
    --------
    Fista : Slower and simpler, for the same penalties.
    OWLQN : Without Hessians, for l1 penalties.

    Notes
    -----
    If the objective provides only products, but a rough Hessian is known, that serves as an estimate. It is corrected
    after every step by the change of the gradient (BFGS), so that a step takes one evaluation.

    Examples
    --------
    >>> import mrfit
    >>> from mrfit.objectives import Likelihood
    >>> from mrfit.parameterizations import Canonical
    >>> from mrfit.penalties import WeightedL1
    >>> from mrfit.solvers import ProximalNewton, minimize
    >>> table = {"rain": ["no", "yes"] * 3, "wet": ["no", "yes", "no", "yes", "yes", "no"]}
    >>> rows = mrfit.UniqueRows.of(table)
    >>> objective = Likelihood(Canonical(rows.domain, mrfit.Structure.complete(2)), rows)
    >>> penalty = WeightedL1(0.05, [0.0, 0.0, 1.0])
    >>> minimize(objective, ProximalNewton(), penalty=penalty).w.round(2)
    array([-0.27, -0.27,  0.54])
    """

    damping: float = 1e-6
    growth: float = 0.5
    newcomers: int = 100

    word = "proximal-newton"
    needs = Trait.PROXIMAL

    def start(self, problem: CompositeProblem, w: Floats) -> ProximalNewtonState:
        expansion = problem.expand(w)
        estimate = problem.objective.rough_hessian() if expansion.block is None else None
        return _state(w, expansion, 1.0, self.damping, estimate)

    def advance(self, problem: CompositeProblem, state: ProximalNewtonState) -> ProximalNewtonState | None:
        # 1. The working set, and the quadratic model of the objective there.
        slope = problem.slope(state.w, state.gradient)
        chosen = self._working_set(problem, state.w, slope)
        model = _Model(problem, state, chosen, slope.size)
        damping, precision = state.damping, _PRECISION
        for _ in range(_ATTEMPTS):
            # 2. The minimum of the model plus the penalty, to a share of the violation.
            direction = model.direction(damping, precision)
            # 3. A step towards it with sufficient decrease; failing that, more damping and more precision.
            following = model.step(direction, damping)
            if following is not None:
                return following
            damping, precision = max(100.0 * damping, 1e-8), 0.01 * precision
        return None

    def _working_set(self, problem: CompositeProblem, w: Floats, slope: Slope) -> Indices:
        """Return the free and the nonzero parameters, without those held at a bound, and the worst zero blocks."""
        inside = np.union1d(np.flatnonzero(w != 0), problem.free)
        entering = np.flatnonzero(slope.subgradient != 0)
        entering = np.setdiff1d(entering[w[entering] == 0], problem.free, assume_unique=True)
        size = np.abs(slope.subgradient[entering])
        block = problem.penalty.blocks
        if block is None:
            entering = entering[_largest(size, self._allowed(len(inside)))]
            chosen = np.concatenate([inside, entering])
        else:
            within = np.zeros(int(block.max(initial=-1)) + 1, bool)
            within[block[inside]] = True
            score = np.bincount(block[entering], size**2, minlength=len(within))
            worst = _largest(np.where(within, 0.0, score), self._allowed(int(within.sum())))
            within[worst[score[worst] > 0]] = True
            chosen = np.flatnonzero(within[block])
        return np.setdiff1d(chosen, slope.held)

    def _allowed(self, n_inside: int) -> int:
        return self.newcomers + int(self.growth * n_inside)


def _largest(values: Floats, count: int) -> Indices:
    """Return the positions of at most ``count`` largest values."""
    return np.argpartition(-values, count)[:count] if len(values) > count else np.arange(len(values))


class _Model:
    """The second-order model of the objective, and the penalty, as functions of the working set."""

    def __init__(
        self, problem: CompositeProblem, state: ProximalNewtonState, chosen: Indices, violation: float
    ) -> None:
        self.problem, self.state, self.chosen, self.violation = problem, state, chosen, violation
        self.penalty = problem.penalty.restricted(chosen)
        self.here, self.gradient = state.w[chosen], state.gradient[chosen]
        # Factorizing a matrix takes the cube of its size; products take a few hundred passes over all parameters.
        many = len(chosen) > _FEW and len(chosen) ** 3 > _WORTH_PRODUCTS * len(state.w)
        expensive = state.estimate is None and (many or state.expansion.block is None)
        self._by_products = expensive and not needs_matrix(self.penalty, self.here)
        if self._by_products:
            self._diagonal = state.expansion.diagonal()[chosen]
        else:
            self.hessian = state.block(chosen)
            self._diagonal = self.hessian.diagonal().copy()
        self._scale = max(float(self._diagonal.mean()), 1e-12) if len(chosen) else 1.0

    def direction(self, damping: float, precision: float) -> Floats:
        """Return the direction to the minimum, found to a share ``precision`` of the violation."""
        goal = max(precision * self.violation, _FINEST)
        ridge = damping * self._scale
        if self._by_products:
            model = Quadratic(self.here, self.gradient, lambda d: self._product(d) + ridge * d)
        else:
            np.fill_diagonal(self.hessian, self._diagonal + ridge)
            model = Quadratic.of_matrix(self.here, self.gradient, self.hessian)
        target = minimize_quadratic(model, self.penalty, tolerance=goal)
        bound = self.problem.bound[self.chosen]
        return np.clip(target, -bound, bound) - self.here

    def _product(self, d: Floats) -> Floats:
        full = np.zeros(len(self.state.w))
        full[self.chosen] = d
        return self.state.expansion.product(full)[self.chosen]

    def step(self, direction: Floats, damping: float) -> ProximalNewtonState | None:
        """Return a point along the direction that decreases the value enough (Armijo), or None.

        Where rounding hides the decrease, the violation has to decrease instead.
        """
        value = self.state.value
        noise = 32.0 * float(np.finfo(float).eps) * abs(value)
        change = self.penalty.value(self.here + direction) - self.penalty.value(self.here)
        predicted = float(self.gradient @ direction) + change
        # An upper bound on the decrease per unit of step near zero, as the penalty is convex; Armijo's rule uses it in
        # place of the slope (Lee, Sun and Saunders 2014).
        if predicted >= noise or not direction.any():
            return None
        step = 1.0
        for halvings in range(_HALVINGS):
            w = self.state.w.copy()
            w[self.chosen] += step * direction
            w.flags.writeable = False  # so that it may be cached without a copy
            expansion = self.problem.expand(w)
            is_visible = abs(expansion.value - value) > noise
            if expansion.value <= value + 1e-4 * step * predicted if is_visible else self._is_nearer(w, expansion):
                # A full step shows that the model was good: trust it more next time. Each halving shows the contrary.
                damping *= 0.1 if halvings == 0 else 4.0**halvings
                return _state(w, expansion, step, max(damping, _LEAST_DAMPING), self._corrected(w, expansion))
            if not is_visible:
                return None
            step *= 0.5
        return None

    def _corrected(self, w: Floats, expansion: Expansion) -> Floats | None:
        """Return the estimate with the curvature observed along the step to ``w`` (the BFGS formula)."""
        estimate = self.state.estimate
        if estimate is None:
            return None
        move, change = w - self.state.w, expansion.gradient - self.state.gradient
        expected = estimate @ move
        curvature = float(move @ change)
        # Without curvature along the move the formula would lose positive definiteness.
        if curvature <= 1e-12 * np.linalg.norm(move) * np.linalg.norm(change):
            return estimate
        return estimate + np.outer(change, change / curvature) - np.outer(expected, expected / float(move @ expected))

    def _is_nearer(self, w: Floats, expansion: Expansion) -> bool:
        return self.problem.violation(w, expansion.gradient) < 0.9 * self.violation


def _block(expansion: Expansion, chosen: Indices, n: int) -> Floats:
    """Return the Hessian of the chosen parameters, by products if the objective has no better way."""
    if expansion.block is not None:
        return expansion.block(chosen)
    columns = []
    for k in chosen:
        one = np.zeros(n)
        one[k] = 1.0
        columns.append(expansion.product(one)[chosen])
    block = np.stack(columns, axis=1)
    return np.asarray(0.5 * (block + block.T), np.float64)


def _state(
    w: Floats, expansion: Expansion, step: float, damping: float, estimate: Floats | None = None
) -> ProximalNewtonState:
    return ProximalNewtonState(
        w, expansion.value, expansion.gradient, expansion, damping, estimate, step=step, dual=expansion.dual
    )
