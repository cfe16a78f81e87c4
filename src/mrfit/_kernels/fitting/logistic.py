"""Element-wise maths of a weighted multinomial logistic loss on a block of cells.

Arrays with a state axis are flat (states - 1, cells) blocks, the first state being the reference with z = 0. ``counts``
and ``expected`` begin at ``at``, ``total`` (the weight of a cell over all states, positive) at ``cell``. Slices taken
inside a function cost nothing, and let the compiler see plain, vectorisable loops.
"""

from __future__ import annotations

import math

from mrfit._kernels.arithmetic.elementary import exp_nonpositive, log1p_unit
from mrfit._kernels.machine_code.compiled import njit


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "reassoc", "nsz"})
def binary_loss(n_cells, z, counts, at, total, cell, residual):
    """Return the sum of total * log(1 + exp z) - counts * z; fill residual = total * sigma(z) - counts."""
    ones, weight = counts[at : at + n_cells], total[cell : cell + n_cells]
    value = 0.0
    for c in range(n_cells):
        e = exp_nonpositive(-abs(z[c]))
        value += weight[c] * (max(z[c], 0.0) + log1p_unit(e)) - ones[c] * z[c]
        larger = 1.0 / (1.0 + e)
        residual[c] = weight[c] * (larger if z[c] >= 0.0 else e * larger) - ones[c]
    return value


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "reassoc", "nsz"})
def multinomial_loss(n_free, n_cells, z, counts, at, total, cell, residual, largest, denominator):
    """Return the sum of total * log sum_s exp z_s - sum_s counts_s z_s; fill residual = total * p - counts.

    ``largest`` and ``denominator`` are scratch of length n_cells.
    """
    weight = total[cell : cell + n_cells]
    for c in range(n_cells):
        largest[c] = 0.0
    for s in range(n_free):
        z_s = z[s * n_cells : (s + 1) * n_cells]
        for c in range(n_cells):
            largest[c] = max(largest[c], z_s[c])
    for c in range(n_cells):
        denominator[c] = exp_nonpositive(-largest[c])
    value = 0.0
    for s in range(n_free):
        z_s, residual_s = z[s * n_cells : (s + 1) * n_cells], residual[s * n_cells : (s + 1) * n_cells]
        counts_s = counts[at + s * n_cells : at + (s + 1) * n_cells]
        for c in range(n_cells):
            residual_s[c] = exp_nonpositive(z_s[c] - largest[c])
            denominator[c] += residual_s[c]
            value -= counts_s[c] * z_s[c]
    for c in range(n_cells):
        value += weight[c] * (largest[c] + math.log(denominator[c]))
        denominator[c] = weight[c] / denominator[c]
    for s in range(n_free):
        residual_s = residual[s * n_cells : (s + 1) * n_cells]
        counts_s = counts[at + s * n_cells : at + (s + 1) * n_cells]
        for c in range(n_cells):
            residual_s[c] = residual_s[c] * denominator[c] - counts_s[c]
    return value


@njit(cache=True, nogil=True)
def keep_expected(length, residual, counts, at, expected):
    """Store expected = total * p = residual + counts, from which the Hessian is computed."""
    kept, observed = expected[at : at + length], counts[at : at + length]
    for k in range(length):
        kept[k] = residual[k] + observed[k]


@njit(cache=True, nogil=True, error_model="numpy")
def curvature_times(n_free, n_cells, direction, expected, at, total, cell, residual, mean):
    """Fill residual = (diag(e) - e e' / total) direction in each cell, with e = total * p; ``mean`` is scratch."""
    weight = total[cell : cell + n_cells]
    for c in range(n_cells):
        mean[c] = 0.0
    for s in range(n_free):
        e_s = expected[at + s * n_cells : at + (s + 1) * n_cells]
        direction_s = direction[s * n_cells : (s + 1) * n_cells]
        for c in range(n_cells):
            mean[c] += e_s[c] * direction_s[c]
    for c in range(n_cells):
        mean[c] /= weight[c]
    for s in range(n_free):
        e_s = expected[at + s * n_cells : at + (s + 1) * n_cells]
        direction_s = direction[s * n_cells : (s + 1) * n_cells]
        residual_s = residual[s * n_cells : (s + 1) * n_cells]
        for c in range(n_cells):
            residual_s[c] = e_s[c] * (direction_s[c] - mean[c])


@njit(cache=True, nogil=True, error_model="numpy")
def curvature_diagonal(n_free, n_cells, expected, at, total, cell, residual):
    """Fill residual = e (1 - e / total), the diagonal of each cell's curvature."""
    weight = total[cell : cell + n_cells]
    for s in range(n_free):
        e_s = expected[at + s * n_cells : at + (s + 1) * n_cells]
        residual_s = residual[s * n_cells : (s + 1) * n_cells]
        for c in range(n_cells):
            residual_s[c] = e_s[c] * (1.0 - e_s[c] / weight[c])
