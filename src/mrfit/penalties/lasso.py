"""The best point of a quadratic plus weighted absolute values: by its matrix, or by products with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from mrfit._kernels.lasso import best_on_line, sweep
from mrfit.penalties.proximal_gradients import ProximalGradients

if TYPE_CHECKING:
    from mrfit.penalties.l1 import L1

Floats = NDArray[np.float64]

_ROUNDS = 200
_SWEEPS = 8  # of coordinate descent before each jump
_JUMPS = 50
_PATIENCE = 20  # rounds without half the violation: rounding


def minimize_quadratic(penalty: L1, w: Floats, gradient: Floats, hessian: Floats, *, tolerance: float) -> Floats:
    """The v that minimises gradient . (v - w) + 1/2 (v - w)' hessian (v - w) + penalty(v).

    Coordinate descent finds the zeros and the signs; given them, a jump by Cholesky to the best point with these, or
    as far towards it as the function falls. Stops at a violation of ``tolerance``.
    """
    threshold = penalty.threshold
    v, slope = w.copy(), gradient.copy()
    least, stalled = np.inf, 0
    for n_round in range(_ROUNDS):
        # 1. What is not zero, and what should not be; a tie at the threshold stays out, or redundant coordinates
        #    would come and go for ever.
        active = np.flatnonzero((v != 0) | (np.abs(slope) > threshold + tolerance) | (threshold == 0))
        for _ in range(_SWEEPS):
            if sweep(hessian, slope, threshold, v, active) <= tolerance:
                break
        slope = gradient + hessian @ (v - w)  # without what the sweeps gathered in rounding
        violation = penalty.violation(v, slope)
        # 2. Jumps, each of which ends at its goal or where a coordinate vanishes.
        for _ in range(min(2 ** (n_round // 4), _JUMPS)):
            if violation <= tolerance:
                return v
            arrived = _jump(hessian, slope, threshold, v)
            slope = gradient + hessian @ (v - w)
            violation = penalty.violation(v, slope)
            if arrived:
                break
        stalled = 0 if violation < 0.5 * least else stalled + 1
        least = min(least, violation)
        if violation <= tolerance or stalled > _PATIENCE:
            return v
    return v


def _jump(hessian: Floats, slope: Floats, threshold: Floats, v: Floats) -> bool:
    """Move ``v`` towards the minimiser with its zeros and signs, to the best point on the way; True if there."""
    active = np.flatnonzero((v != 0) | (threshold == 0))
    block = hessian.take(active, axis=0).take(active, axis=1).T  # symmetric, and in the order of LAPACK
    descent = -(slope[active] + threshold[active] * np.sign(v[active]))
    factor = linalg.cho_factor(block, lower=True, overwrite_a=True, check_finite=False)
    direction = linalg.cho_solve(factor, descent, check_finite=False)
    curvature = float(descent @ direction)  # as block @ direction = descent
    t, zero = best_on_line(slope[active], threshold[active], v[active], direction, curvature)
    v[active] += t * direction
    if zero >= 0:
        v[active[zero]] = 0.0
    return bool(zero < 0)


_MOMENTUM_STEPS = 60  # proximal gradients before each jump
_CONJUGATE_STEPS = 400


def minimize_by_products(
    penalty: L1, w: Floats, gradient: Floats, product: Callable[[Floats], Floats], *, tolerance: float
) -> Floats:
    """The same for more parameters than a matrix is worth holding, or dividing by.

    Accelerated proximal gradients find the zeros and the signs; given them, conjugate gradients lead to the best point
    with these, or as far towards it as the function falls.
    """
    search = ProximalGradients(w, gradient, product, penalty.prox, np.ones_like(w))
    least, stalled = np.inf, 0
    while stalled <= _PATIENCE:
        violation = penalty.violation(search.v, search.slope)
        if violation <= tolerance:
            break
        stalled = 0 if violation < 0.9 * least else stalled + 1
        least = min(least, violation)
        search.descend(_MOMENTUM_STEPS, patience=_MOMENTUM_STEPS)
        _jump_by_products(search, penalty.threshold, 0.3 * tolerance)
        search.refresh()
    return search.v


def _jump_by_products(search: ProximalGradients, threshold: Floats, goal: float) -> None:
    """The same as `_jump` by conjugate gradients, until no entry of the residual is larger than ``goal``."""
    v, slope = search.v, search.slope
    active = (v != 0) | (threshold == 0)
    residual = np.where(active, -(slope + threshold * np.sign(v)), 0.0)
    direction, bend, p = np.zeros_like(v), np.zeros_like(v), residual.copy()
    size = float(residual @ residual)
    for _ in range(_CONJUGATE_STEPS):
        if np.abs(residual).max() <= goal:
            break
        hp = search.product(p)
        length = size / float(p @ hp)
        direction += length * p
        bend += length * hp
        residual -= length * np.where(active, hp, 0.0)
        size, last = float(residual @ residual), size
        p = residual + (size / last) * p
    t, zero = best_on_line(slope, threshold, v, direction, float(direction @ bend))
    search.v = v + t * direction
    if zero >= 0:
        search.v[zero] = 0.0
