"""Independent variables fitted to a product of tables by coordinate ascent of the mean-field bound."""

from __future__ import annotations

import math

import numpy as np

from mrfit._kernels.inference.contract_vectors import SUM, contract_others
from mrfit._kernels.machine_code.compiled import njit

_TIED = 1e-9  # relative tolerance of probabilities of impossible cells; an exact zero ties only with zero


@njit(cache=True, nogil=True, error_model="numpy")
def ascend(graph, field, finite, impossible, p, tolerance, max_sweeps):
    """Sweep over the variables in order until no probability changes by more than ``tolerance``.

    Each variable takes p(s) in proportion to exp of the expected log-potential, over the states that give the least
    probability to impossible cells: minus infinity is the limit of ever larger losses. ``finite`` are the log-tables
    with 0 for minus infinity, ``impossible`` has 1 there (or no cells if no cell is impossible). Changes ``p``; returns
    the number of sweeps and whether they converged.
    """
    half, longest = 1, 1
    for f in range(len(graph.table_start) - 1):
        half = max(half, (graph.table_start[f + 1] - graph.table_start[f]) // 2)
    for n in graph.states:
        longest = max(longest, n)
    work = np.empty((2, half))
    out, gain, loss = np.empty(longest), np.empty(longest), np.empty(longest)
    at = graph.field_start[graph.scope]  # start of each edge's probabilities
    for number in range(max_sweeps):
        change = 0.0
        for i in range(len(graph.states)):
            n, own = graph.states[i], graph.field_start[i]
            for s in range(n):
                gain[s], loss[s] = field[own + s], 0.0
            for k in range(graph.edge_start[i], graph.edge_start[i + 1]):
                e = graph.edges[k]
                f = graph.factor[e]
                first, last, begin = graph.scope_start[f], graph.scope_start[f + 1], graph.table_start[f]
                for turn in range(1 if len(impossible) == 0 else 2):
                    cells, sums = (finite, gain) if turn == 0 else (impossible, loss)
                    contract_others(SUM, cells, begin, graph.sizes, first, last, e, p, at, work, out)
                    for s in range(n):
                        sums[s] += out[s]
            least, top, total = np.inf, -np.inf, 0.0
            for s in range(n):
                if gain[s] != -np.inf:
                    least = min(least, loss[s])
            for s in range(n):
                if loss[s] > least + _TIED * least:
                    gain[s] = -np.inf
                top = max(top, gain[s])
            for s in range(n):
                gain[s] = math.exp(gain[s] - top)
                total += gain[s]
            for s in range(n):
                change = max(change, abs(gain[s] / total - p[own + s]))
                p[own + s] = gain[s] / total
        if change <= tolerance:
            return number + 1, True
    return max_sweeps, False
