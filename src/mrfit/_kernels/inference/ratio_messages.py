"""Messages between binary variables in pair factors: one log-ratio each.

Tables are reduced to one number each, J = t00 + t11 - t01 - t10, and the rest to fields. A variable with the log-ratio
a (its field and all messages to it but one) sends log((1 + e^(a + J)) / (1 + e^a)) along that edge.
"""

from __future__ import annotations

import math

import numpy as np

from mrfit._kernels.arithmetic.elementary import exp_nonpositive
from mrfit._kernels.machine_code.compiled import njit

LARGEST = 600.0  # limit of |J|: beyond it the exponentials of J and of fields do not fit into doubles together


@njit(cache=True, nogil=True, error_model="numpy")
def pass_ratios(field, edge_start, edges, coupling, weight, message, damping, tolerance, max_sweeps):
    """Sweep up and down in turn until no log-ratio changes by more than ``tolerance``.

    Edges 2f and 2f + 1 are the two ends of factor f; ``message`` holds the incoming message at each end, and is
    overwritten. Returns the number of sweeps and whether they converged.
    """
    n = len(field)
    factor = np.exp(coupling)
    for number in range(max_sweeps):
        change = 0.0
        for k in range(n):
            i = k if number % 2 == 0 else n - 1 - k
            begin, end = edge_start[i], edge_start[i + 1]
            total = field[i]
            for k_edge in range(begin, end):
                total += weight[edges[k_edge] >> 1] * message[edges[k_edge]]
            for k_edge in range(begin, end):
                e = edges[k_edge]
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
