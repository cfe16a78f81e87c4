"""The best point of a quadratic plus weighted absolute values."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from mrfit._kernels.lasso import best_on_line, sweep

Floats = NDArray[np.float64]

_ROUNDS = 200
_SWEEPS = 8  # of coordinate descent before each jump
_JUMPS = 50
_PATIENCE = 20  # rounds without half the violation: rounding


def minimize_quadratic(w: Floats, gradient: Floats, hessian: Floats, threshold: Floats, *, tolerance: float) -> Floats:
    """The v that minimises gradient . (v - w) + 1/2 (v - w)' hessian (v - w) + sum of threshold * |v|.

    Coordinate descent finds the zeros and the signs; given them, a jump by Cholesky to the best point with these, or
    as far towards it as the function falls. Stops at a violation of ``tolerance``.
    """
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
        violation = _violation(v, slope, threshold)
        # 2. Jumps, each of which ends at its goal or where a coordinate vanishes.
        for _ in range(min(2 ** (n_round // 4), _JUMPS)):
            if violation <= tolerance:
                return v
            arrived = _jump(hessian, slope, threshold, v)
            slope = gradient + hessian @ (v - w)
            violation = _violation(v, slope, threshold)
            if arrived:
                break
        stalled = 0 if violation < 0.5 * least else stalled + 1
        least = min(least, violation)
        if violation <= tolerance or stalled > _PATIENCE:
            return v
    return v


def _violation(v: Floats, slope: Floats, threshold: Floats) -> float:
    at_zero = np.maximum(np.abs(slope) - threshold, 0.0)
    return float(np.max(np.where(v == 0, at_zero, np.abs(slope + np.sign(v) * threshold)), initial=0.0))


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
