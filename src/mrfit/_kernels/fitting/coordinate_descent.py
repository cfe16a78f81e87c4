"""Coordinate descent on a quadratic plus weighted absolute values, and the best point on a line."""

from __future__ import annotations

import numpy as np

from mrfit._kernels.machine_code.compiled import njit


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})
def _add(row, factor, out):
    for j in range(len(out)):
        out[j] += factor * row[j]


@njit(cache=True, nogil=True, error_model="numpy")
def sweep(hessian, slope, threshold, v, chosen):
    """Move every chosen coordinate to its best value in turn; maintain ``slope``, the quadratic's gradient at ``v``.

    Returns the largest change of a coordinate times its curvature.
    """
    largest = 0.0
    for n in range(len(chosen)):
        k = chosen[n]
        curvature = hessian[k, k]
        target = v[k] - slope[k] / curvature
        shrink = threshold[k] / curvature
        if target > shrink:
            target -= shrink
        elif target < -shrink:
            target += shrink
        else:
            target = 0.0
        move = target - v[k]
        if move != 0.0:
            largest = max(largest, abs(move) * curvature)
            v[k] = target
            _add(hessian[k], move, slope)
    return largest


@njit(cache=True, nogil=True, error_model="numpy")
def best_on_line(slope, threshold, v, direction, curvature, zero_at, order):
    """Return the minimiser t in [0, 1] of slope . d t + curvature t^2 / 2 + sum of threshold |v + t d|.

    The function is convex and quadratic between the zeros of the coordinates, which are at ``zero_at``, ascending in
    ``order`` (sorting here would take longer to compile than all the rest). Returns t, and the coordinate that is zero
    there, or -1.
    """
    n = len(v)
    gradient = 0.0
    for k in range(n):
        gradient += slope[k] * direction[k]
        if threshold[k] > 0.0:
            if v[k] == 0.0:
                gradient += threshold[k] * abs(direction[k])
            else:
                gradient += threshold[k] * direction[k] * np.sign(v[k])
    for n_passed in range(n):
        k = order[n_passed]
        end = min(zero_at[k], 1.0)
        # Within this piece the derivative is gradient + curvature * t.
        if gradient + curvature * end >= 0.0:
            return min(max(-gradient / curvature if curvature > 0.0 else end, 0.0), end), -1
        if zero_at[k] > 1.0:
            return 1.0, -1
        gradient += 2.0 * threshold[k] * abs(direction[k])
        if gradient + curvature * end >= 0.0:
            return end, k
    return 1.0, -1
