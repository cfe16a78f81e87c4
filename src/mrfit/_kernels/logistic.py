"""Element-wise maths of a weighted multinomial logistic loss on a block of cells.

Arrays with a state axis are flat (states - 1, cells) blocks, the first state being the reference with z = 0.
``counts`` and ``expected`` begin at ``at``, ``total`` (the weight of a cell over all states, positive) at ``cell``.
"""

from __future__ import annotations

import math

from numba import njit

from mrfit._kernels.elementary import exp_nonpositive, log1p_unit


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "reassoc", "nsz"})
def binary_loss(n_cells, z, counts, at, total, cell, residual):
    """Sum of total * log(1 + exp z) - counts * z; fills residual = total * sigma(z) - counts."""
    value = 0.0
    for c in range(n_cells):
        e = exp_nonpositive(-abs(z[c]))
        value += total[cell + c] * (max(z[c], 0.0) + log1p_unit(e)) - counts[at + c] * z[c]
        larger = 1.0 / (1.0 + e)
        residual[c] = total[cell + c] * (larger if z[c] >= 0.0 else e * larger) - counts[at + c]
    return value


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "reassoc", "nsz"})
def multinomial_loss(n_free, n_cells, z, counts, at, total, cell, residual, largest, denominator):
    """Sum of total * log sum_s exp z_s - sum_s counts_s z_s; fills residual = total * p - counts.

    ``largest`` and ``denominator`` are scratch of length n_cells.
    """
    largest[:n_cells] = 0.0
    for s in range(n_free):
        for c in range(n_cells):
            largest[c] = max(largest[c], z[s * n_cells + c])
    for c in range(n_cells):
        denominator[c] = exp_nonpositive(-largest[c])
    value = 0.0
    for s in range(n_free):
        for c in range(n_cells):
            e = exp_nonpositive(z[s * n_cells + c] - largest[c])
            residual[s * n_cells + c] = e
            denominator[c] += e
            value -= counts[at + s * n_cells + c] * z[s * n_cells + c]
    for c in range(n_cells):
        value += total[cell + c] * (largest[c] + math.log(denominator[c]))
        denominator[c] = total[cell + c] / denominator[c]
    for s in range(n_free):
        for c in range(n_cells):
            k = s * n_cells + c
            residual[k] = residual[k] * denominator[c] - counts[at + k]
    return value


@njit(cache=True, nogil=True)
def keep_expected(length, residual, counts, at, expected):
    """expected = total * p = residual + counts, what the Hessian is made of."""
    for k in range(length):
        expected[at + k] = residual[k] + counts[at + k]


@njit(cache=True, nogil=True, error_model="numpy")
def curvature_times(n_free, n_cells, direction, expected, at, total, cell, residual, mean):
    """residual = (diag(e) - e e' / total) direction in each cell, with e = total * p; ``mean`` is scratch."""
    mean[:n_cells] = 0.0
    for s in range(n_free):
        for c in range(n_cells):
            mean[c] += expected[at + s * n_cells + c] * direction[s * n_cells + c]
    for c in range(n_cells):
        mean[c] /= total[cell + c]
    for s in range(n_free):
        for c in range(n_cells):
            k = s * n_cells + c
            residual[k] = expected[at + k] * (direction[k] - mean[c])


@njit(cache=True, nogil=True, error_model="numpy")
def curvature_diagonal(n_free, n_cells, expected, at, total, cell, residual):
    """residual = e (1 - e / total), the diagonal of each cell's curvature."""
    for s in range(n_free):
        for c in range(n_cells):
            e = expected[at + s * n_cells + c]
            residual[s * n_cells + c] = e * (1.0 - e / total[cell + c])
