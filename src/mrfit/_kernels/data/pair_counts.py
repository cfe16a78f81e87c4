"""Weights of all pairs of states in a table, and maximum spanning trees."""

from __future__ import annotations

import numpy as np

from mrfit._kernels.machine_code.compiled import njit


@njit(cache=True, nogil=True)
def count_pairs(codes, first_indicator, sample_weight, counts):
    """Fill counts[a, b] with the weight of the rows in which indicators a and b hold; the last one always holds.

    Indicator ``first_indicator[j] + s - 1`` holds where variable j is in state s > 0. The rows are read once, and only
    pairs of indicators that hold cost anything.
    """
    n_rows, n_variables = codes.shape
    holding = np.empty(n_variables + 1, np.int64)
    counts[:] = 0.0
    for r in range(n_rows):
        m = 0
        for j in range(n_variables):
            if codes[r, j] > 0:
                holding[m] = first_indicator[j] + codes[r, j] - 1
                m += 1
        holding[m] = len(counts) - 1
        weight = sample_weight[r]
        for k in range(m + 1):
            row = counts[holding[k]]
            for other in range(k, m + 1):
                row[holding[other]] += weight
    for a in range(len(counts)):
        for b in range(a):
            counts[a, b] = counts[b, a]


@njit(cache=True, nogil=True)
def maximum_spanning_tree(weight, edges):
    """Fill ``edges``, (n - 1, 2), with the spanning tree of n nodes that has the largest sum of weights (Prim 1957).

    Ties go to the edge that leads to the earlier node, from the node that joined the tree first.
    """
    n = len(weight)
    best, joined_by, joined = np.full(n, -np.inf), np.zeros(n, np.int64), np.zeros(n, np.bool_)
    latest = 0
    for k in range(n - 1):
        joined[latest] = True
        following = -1
        for j in range(n):
            if joined[j]:
                continue
            if weight[latest, j] > best[j]:
                best[j], joined_by[j] = weight[latest, j], latest
            if following < 0 or best[j] > best[following]:
                following = j
        edges[k, 0], edges[k, 1] = joined_by[following], following
        latest = following
