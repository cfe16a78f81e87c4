"""Run the nodes of a tree in logarithms, where scaled numbers would be lost.

The same nodes as in `contraction`, cell by cell: ten times slower, and never wrong about what is zero.
"""

from __future__ import annotations

import numpy as np

from mrfit._kernels.compiled import njit
from mrfit._kernels.contraction import advance, clique_of


@njit(cache=True, nogil=True, error_model="numpy")
def _begin(nodes, clique, base):
    for k in range(len(clique.inputs)):
        base[k] = nodes.table_start[clique.inputs[k]]


@njit(cache=True, nogil=True, error_model="numpy")
def _sum_of_inputs(values, base):
    total = 0.0
    for at in base:
        total += values[at]
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def _log_add(x, y):
    """log(e^x + e^y)."""
    if x < y:
        x, y = y, x
    return x if y == -np.inf else x + np.log1p(np.exp(y - x))


@njit(cache=True, nogil=True, error_model="numpy")
def log_forward(nodes, n_leaves, values):
    """Compute the output of every node into ``values``, which begins with the leaves."""
    for node in range(len(nodes.n_removed)):
        clique = clique_of(nodes, node)
        base, counter = np.empty(len(clique.inputs), np.int64), np.zeros(len(clique.states), np.int64)
        _begin(nodes, clique, base)
        at, more = nodes.table_start[n_leaves + node], True
        while more:
            largest, total, inner = -np.inf, 0.0, True
            while inner:
                x = _sum_of_inputs(values, base)
                if x > largest:
                    total = total * np.exp(largest - x) + 1.0
                    largest = x
                elif x > -np.inf:
                    total += np.exp(x - largest)
                inner = advance(counter, clique.states, clique.strides, base, 0, clique.n_removed)
            values[at] = largest + np.log(total) if largest > -np.inf else -np.inf
            at += 1
            more = advance(counter, clique.states, clique.strides, base, clique.n_removed, len(clique.states))


@njit(cache=True, nogil=True, error_model="numpy")
def log_backward(nodes, n_leaves, values, adjoints):
    """The logarithms of the derivatives of Z in all tables; ``adjoints`` are 0 for roots, minus infinity for others."""
    for node in range(len(nodes.n_removed) - 1, -1, -1):
        clique = clique_of(nodes, node)
        n_inputs = len(clique.inputs)
        base, counter = np.empty(n_inputs, np.int64), np.zeros(len(clique.states), np.int64)
        _begin(nodes, clique, base)
        before = np.empty(n_inputs)
        out, more = nodes.table_start[n_leaves + node], True
        while more:
            inner = True
            while inner:
                x = adjoints[out]
                for k in range(n_inputs):
                    before[k] = x
                    x += values[base[k]]
                x = 0.0
                for k in range(n_inputs - 1, -1, -1):
                    adjoints[base[k]] = _log_add(adjoints[base[k]], before[k] + x)
                    x += values[base[k]]
                inner = advance(counter, clique.states, clique.strides, base, 0, clique.n_removed)
            out += 1
            more = advance(counter, clique.states, clique.strides, base, clique.n_removed, len(clique.states))
