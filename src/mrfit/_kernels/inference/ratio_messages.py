"""Messages between variables with two states in factors of two: one log-ratio each.

With tables reduced to one number each, J = t00 + t11 - t01 - t10, and all else in the fields, a variable with the
log-ratio a (its field and all messages to it but one) sends log((1 + e^(a + J)) / (1 + e^a)) along that one edge.
"""

from __future__ import annotations

import math

import numpy as np

from mrfit._kernels.arithmetic.elementary import exp_nonpositive
from mrfit._kernels.machine_code.compiled import njit

LARGEST = 600.0  # of |J|: beyond, its exponential and those of fields do not fit together


@njit(cache=True, nogil=True, error_model="numpy")
def pass_ratios(field, edge_start, edges, coupling, weight, message, damping, tolerance, max_sweeps):
    """Sweep up and down in turn until no log-ratio changes by more than ``tolerance``.

    Edges 2f and 2f + 1 are the two ends of factor f; ``message`` holds what arrives at each end, and is changed.
    Returns the sweeps made and whether they converged.
    """
    n = len(field)
    factor = np.exp(coupling)
    for number in range(max_sweeps):
        change = 0.0
        for k in range(n):
            i = k if number % 2 == 0 else n - 1 - k
            begin, end = edge_start[i], edge_start[i + 1]
            total = field[i]
            for place in range(begin, end):
                total += weight[edges[place] >> 1] * message[edges[place]]
            for place in range(begin, end):
                e = edges[place]
                a = total - message[e]
                u = exp_nonpositive(-abs(a))
                E = factor[e >> 1]
                new = math.log((u + E) / (u + 1.0)) if a > 0.0 else math.log((1.0 + u * E) / (1.0 + u))
                old = message[e ^ 1]
                change = max(change, abs(new - old))
                message[e ^ 1] = new + damping * (old - new)
        if change <= tolerance:
            return number + 1, True
    return max_sweeps, False
