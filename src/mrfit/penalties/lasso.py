"""The best point of a quadratic plus weighted absolute values: by its matrix, or by products with it."""

from __future__ import annotations

from collections.abc import Callable

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


_MOMENTUM_STEPS = 60  # proximal gradients before each jump
_CONJUGATE_STEPS = 400


def minimize_by_products(
    w: Floats, gradient: Floats, product: Callable[[Floats], Floats], threshold: Floats, *, tolerance: float
) -> Floats:
    """The same for more parameters than a matrix is worth holding, or dividing by.

    Accelerated proximal gradients find the zeros and the signs; given them, conjugate gradients lead to the best point
    with these, or as far towards it as the function falls.
    """
    search = _Products(w, gradient, product, threshold)
    least, stalled = np.inf, 0
    while stalled <= _PATIENCE:
        violation = _violation(search.v, search.slope, threshold)
        if violation <= tolerance:
            break
        stalled = 0 if violation < 0.9 * least else stalled + 1
        least = min(least, violation)
        search.proximal_gradients()
        search.jump(0.3 * tolerance)
        search.slope = gradient + product(search.v - w)  # without what many updates gathered in rounding
    return search.v


class _Products:
    """Where a search stands: ``v``, and ``slope``, the gradient of the quadratic there."""

    def __init__(self, w: Floats, gradient: Floats, product: Callable[[Floats], Floats], threshold: Floats) -> None:
        self.v, self.slope = w.copy(), gradient.copy()
        self.product, self.threshold = product, threshold
        self.curvature = 1.05 * self._largest_eigenvalue()

    def _largest_eigenvalue(self) -> float:
        """From below, by power iterations; `proximal_gradients` raises it where it is too small."""
        x = np.ones_like(self.v)
        for _ in range(8):
            x = self.product(x / np.linalg.norm(x))
        return float(np.linalg.norm(x))

    def proximal_gradients(self) -> None:
        """With momentum, which starts anew where it points uphill."""
        before, slope_before, momentum = self.v, self.slope, 1.0
        for _ in range(_MOMENTUM_STEPS):
            following = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * momentum**2))
            push = (momentum - 1.0) / following
            y = self.v + push * (self.v - before)
            slope_y = self.slope + push * (self.slope - slope_before)
            target = y - slope_y / self.curvature
            v = np.sign(target) * np.maximum(np.abs(target) - self.threshold / self.curvature, 0.0)
            move = v - y
            bend = self.product(move)
            if move @ bend > self.curvature * (move @ move):
                self.curvature = 1.05 * float(move @ bend) / float(move @ move)
                before, slope_before, momentum = self.v, self.slope, 1.0
                continue
            uphill = float(move @ (v - self.v)) < 0.0
            before, slope_before, self.v, self.slope = self.v, self.slope, v, slope_y + bend
            momentum = 1.0 if uphill else following

    def jump(self, goal: float) -> None:
        """Towards the minimiser with the present zeros and signs, to the best point on the way."""
        active = (self.v != 0) | (self.threshold == 0)
        residual = np.where(active, -(self.slope + self.threshold * np.sign(self.v)), 0.0)
        direction, bend, p = np.zeros_like(self.v), np.zeros_like(self.v), residual.copy()
        size = float(residual @ residual)
        for _ in range(_CONJUGATE_STEPS):
            if np.abs(residual).max() <= goal:
                break
            hp = self.product(p)
            length = size / float(p @ hp)
            direction += length * p
            bend += length * hp
            residual -= length * np.where(active, hp, 0.0)
            size, last = float(residual @ residual), size
            p = residual + (size / last) * p
        t, zero = best_on_line(self.slope, self.threshold, self.v, direction, float(direction @ bend))
        self.v, self.slope = self.v + t * direction, self.slope + t * bend
        if zero >= 0:
            self.v[zero] = 0.0
