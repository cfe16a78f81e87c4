"""Kernels of the weighted sum of absolute values, each in one pass over all parameters."""

from __future__ import annotations

from mrfit._kernels.machine_code.compiled import njit

BLOCK = 1024


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "reassoc"})
def weighted_sum(w, weight):
    """Return the sum of weight * |w|."""
    total = 0.0
    for k in range(len(w)):
        total += weight[k] * abs(w[k])
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def pseudo_gradient(w, gradient, strength, weight, out):
    """Fill the element nearest zero of gradient + strength * weight * (subdifferential of |w|); NaN stays NaN."""
    for k in range(len(w)):
        slope = strength * weight[k]
        g = gradient[k]
        beyond = abs(g) - slope
        beyond = 0.0 if beyond <= 0.0 else beyond
        at_zero = beyond if g > 0.0 else -beyond
        beside = g + slope if w[k] > 0.0 else g - slope
        out[k] = at_zero if w[k] == 0.0 else beside


@njit(cache=True, nogil=True, error_model="numpy")
def exceeds(gradient, weight, strength):
    """Return the largest |gradient| / weight if it exceeds strength, else strength; zero weights are ignored."""
    worst = strength
    for begin in range(0, len(gradient), BLOCK):
        g, block = gradient[begin : begin + BLOCK], weight[begin : begin + BLOCK]
        n_beyond = 0  # counted without a branch; few blocks have any
        for k in range(len(g)):
            n_beyond += (abs(g[k]) > worst * block[k]) & (block[k] > 0.0)
        if n_beyond:
            for k in range(len(g)):
                if block[k] > 0.0 and abs(g[k]) > worst * block[k]:
                    worst = abs(g[k]) / block[k]
    return worst
