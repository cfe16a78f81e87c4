"""Evaluation of the nodes of a tree in logarithms, for numbers that would underflow even when scaled.

The nodes are those of `contraction`, evaluated cell by cell: ten times slower, but exact about zeros.
"""

from __future__ import annotations

import numpy as np

from mrfit._kernels.inference.tensor_blocks import advance, begin, begin_output, clique_of, make_work_arrays
from mrfit._kernels.machine_code.compiled import njit


@njit(cache=True, nogil=True, error_model="numpy")
def _log_add(x, y):
    """Return log(e^x + e^y)."""
    if x < y:
        x, y = y, x
    return x if y == -np.inf else x + np.log1p(np.exp(y - x))


@njit(cache=True, nogil=True, error_model="numpy")
def log_forward(nodes, n_leaves, values):
    """Compute the output of every node into ``values``, which begins with the leaves."""
    work = make_work_arrays(nodes)
    for node in range(len(nodes.n_removed)):
        clique, at, more = clique_of(nodes, node), nodes.table_start[n_leaves + node], True
        begin(nodes, clique, work)
        while more:
            largest, total, inner = -np.inf, 0.0, True
            while inner:
                x = 0.0
                for k in range(clique.n_inputs):
                    x += values[work.base[k]]
                if x > largest:
                    total = total * np.exp(largest - x) + 1.0
                    largest = x
                elif x > -np.inf:
                    total += np.exp(x - largest)
                inner = advance(nodes, clique, work, 0, clique.n_removed, False)
            values[at] = largest + np.log(total) if largest > -np.inf else -np.inf
            at += 1
            more = advance(nodes, clique, work, clique.n_removed, clique.n_axes, False)


@njit(cache=True, nogil=True, error_model="numpy")
def log_backward(nodes, n_leaves, values, adjoints):
    """Compute log-derivatives of Z in all tables; ``adjoints`` start at 0 for roots, minus infinity for others."""
    work = make_work_arrays(nodes)
    for node in range(len(nodes.n_removed) - 1, -1, -1):
        clique, more = clique_of(nodes, node), True
        n = clique.n_inputs
        begin(nodes, clique, work)
        begin_output(nodes, clique, nodes.table_start[n_leaves + node], work)
        while more:
            x = adjoints[work.base[n]]
            for k in range(n):
                work.before[k] = x
                x += values[work.base[k]]
            x = 0.0
            for k in range(n - 1, -1, -1):
                adjoints[work.base[k]] = _log_add(adjoints[work.base[k]], work.before[k] + x)
                x += values[work.base[k]]
            more = advance(nodes, clique, work, 0, clique.n_axes, True)
