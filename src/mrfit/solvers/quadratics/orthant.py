"""Minimization of a quadratic plus weighted absolute values, which are linear on every face of an orthant.

A search for the zeros and the signs alternates with a jump to the minimum for these zeros and signs, which is the
solution of a linear system. The jump ends early where a coordinate changes its sign.
"""

from __future__ import annotations

import numpy as np

from mrfit._kernels.fitting.coordinate_descent import best_on_line, sweep
from mrfit._typing import Floats, Indices
from mrfit.core.linear_systems import conjugate_gradients, divided
from mrfit.penalties.penalty import NonsmoothPenalty
from mrfit.solvers.quadratics.descent import Descent
from mrfit.solvers.quadratics.quadratic import Quadratic

_ROUNDS = 200
_SWEEPS = 8  # of coordinate descent before each jump
_JUMPS = 50
_PATIENCE = 20  # rounds without halving the violation: only rounding is left


def by_matrix(
    quadratic: Quadratic, hessian: Floats, penalty: NonsmoothPenalty, threshold: Floats, *, tolerance: float
) -> Floats:
    """Minimize to a violation of ``tolerance``: coordinate descent for zeros and signs, Cholesky factors for jumps."""
    v, slope = quadratic.w.copy(), quadratic.gradient.copy()
    least, stalled = np.inf, 0
    for n_round in range(_ROUNDS):
        # 1. Coordinates that are not zero, or should not be. One at the threshold stays out, or redundant coordinates
        #    would enter and leave for ever.
        active = np.flatnonzero((v != 0) | (np.abs(slope) > threshold + tolerance) | (threshold == 0))
        for _ in range(_SWEEPS):
            if sweep(hessian, slope, threshold, v, active) <= tolerance:
                break
        # Remove the rounding accumulated by the sweeps; by whole rows, so that redundant coordinates stay equal.
        slope = quadratic.gradient + hessian @ (v - quadratic.w)
        violation = penalty.violation(v, slope)
        # 2. Jumps, each of which ends at its goal or where a coordinate becomes zero.
        for _ in range(min(2 ** (n_round // 4), _JUMPS)):
            if violation <= tolerance:
                return v
            active = _on_face(v, threshold)
            descent = _descent(v, slope, threshold, active)
            direction = divided(hessian.take(active, axis=0).take(active, axis=1), descent)
            v, arrived = _moved(v, slope, threshold, active, direction, float(descent @ direction))
            slope = quadratic.gradient + hessian @ (v - quadratic.w)
            violation = penalty.violation(v, slope)
            if arrived:
                break
        stalled = 0 if violation < 0.5 * least else stalled + 1
        least = min(least, violation)
        if violation <= tolerance or stalled > _PATIENCE:
            return v
    return v


_MOMENTUM_STEPS = 60  # proximal gradients before each jump
_CONJUGATE_STEPS = 400


def by_products(quadratic: Quadratic, penalty: NonsmoothPenalty, threshold: Floats, *, tolerance: float) -> Floats:
    """Minimize without a matrix, for more parameters than one is worth storing or factorizing.

    Accelerated proximal gradients find the zeros and the signs, and conjugate gradients solve for the jumps.
    """
    search = Descent(quadratic, penalty.prox, np.ones_like(quadratic.w))
    least, stalled = np.inf, 0
    while stalled <= _PATIENCE:
        violation = penalty.violation(search.v, search.slope)
        if violation <= tolerance:
            break
        stalled = 0 if violation < 0.9 * least else stalled + 1
        least = min(least, violation)
        search.descend(_MOMENTUM_STEPS, patience=_MOMENTUM_STEPS)
        active = _on_face(search.v, threshold)
        descent = _descent(search.v, search.slope, threshold, active)
        direction, left = _divided_by_products(quadratic, active, descent, 0.3 * tolerance)
        curvature = float(direction @ (descent - left))
        search.v, _ = _moved(search.v, search.slope, threshold, active, direction, curvature)
        search.refresh()
    return search.v


def _on_face(v: Floats, threshold: Floats) -> Indices:
    """Return the coordinates that may move without meeting a kink."""
    return np.flatnonzero((v != 0) | (threshold == 0))


def _descent(v: Floats, slope: Floats, threshold: Floats, active: Indices) -> Floats:
    """Return the direction of steepest descent on the face."""
    return np.asarray(-(slope[active] + threshold[active] * np.sign(v[active])), np.float64)


def _divided_by_products(quadratic: Quadratic, active: Indices, r: Floats, goal: float) -> tuple[Floats, Floats]:
    """Solve until no entry of the residual exceeds ``goal``; return the solution and the residual."""
    full = np.zeros_like(quadratic.w)

    def product(d: Floats) -> Floats:
        full[active] = d
        return quadratic.product(full)[active]

    return conjugate_gradients(
        product, r, is_enough=lambda left, *_: float(np.max(np.abs(left), initial=0.0)) <= goal, most=_CONJUGATE_STEPS
    )


def _moved(
    v: Floats, slope: Floats, threshold: Floats, active: Indices, direction: Floats, curvature: float
) -> tuple[Floats, bool]:
    """Return the best point along the direction, and whether no coordinate becomes zero there."""
    zero_at = _zeros(v[active], threshold[active], direction)
    t, zero = best_on_line(
        slope[active], threshold[active], v[active], direction, curvature, zero_at, np.argsort(zero_at)
    )
    v = v.copy()
    v[active] += t * direction
    if zero >= 0:
        v[active[zero]] = 0.0
    return v, bool(zero < 0)


def _zeros(v: Floats, threshold: Floats, direction: Floats) -> Floats:
    """Return the t > 0 at which each coordinate of v + t direction meets its kink, or 2 (beyond the end)."""
    zero_at = np.full(len(v), 2.0)
    towards_zero = (threshold > 0.0) & (np.sign(v) * np.sign(direction) < 0.0)
    with np.errstate(over="ignore", under="ignore"):  # infinitely far, or at the start
        np.divide(-v, direction, out=zero_at, where=towards_zero)
    return zero_at
