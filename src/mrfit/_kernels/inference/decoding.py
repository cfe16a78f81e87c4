"""Decoding of one joint state from max-product messages."""

from __future__ import annotations

import numpy as np

from mrfit._kernels.machine_code.compiled import njit


@njit(cache=True, nogil=True, error_model="numpy")
def _best_completion(graph, log_table, log_cavity, f, state):
    """Return the largest value of a factor with some states fixed; cavities weight the other variables."""
    first, last = graph.scope_start[f], graph.scope_start[f + 1]
    best = -np.inf
    for cell in range(graph.table_start[f], graph.table_start[f + 1]):
        value, rest = log_table[cell], cell - graph.table_start[f]
        for e in range(last - 1, first - 1, -1):
            s = rest % graph.sizes[e]
            rest //= graph.sizes[e]
            known = state[graph.scope[e]]
            if known < 0:
                value += log_cavity[graph.message_start[e] + s]
            elif known != s:
                value = -np.inf
        best = max(best, value)
    return best


@njit(cache=True, nogil=True, error_model="numpy")
def _choose(graph, field, log_table, log_cavity, state, i):
    """Choose the best state of a variable given the others; return whether it changed."""
    before, best, top = state[i], -1, -np.inf
    for s in range(graph.states[i]):
        state[i] = s
        value = field[graph.field_start[i] + s]
        for k in range(graph.edge_start[i], graph.edge_start[i + 1]):
            value += _best_completion(graph, log_table, log_cavity, graph.factor[graph.edges[k]], state)
        if value > top or best < 0 or (value == top and s == before):
            best, top = s, value
    state[i] = best
    return best != before


@njit(cache=True, nogil=True, error_model="numpy")
def decode(graph, field, log_table, log_cavity, order, max_sweeps):
    """Choose states one variable after another, each given its predecessors, then improve them one at a time.

    On a forest, with variables in an ``order`` in which each is adjacent to an earlier one, this traces an optimum
    back, ties included. Returns the states.
    """
    state = np.full(len(graph.states), -1)
    for i in order:
        _choose(graph, field, log_table, log_cavity, state, i)
    for _ in range(max_sweeps):
        changed = False
        for i in order:
            changed |= _choose(graph, field, log_table, log_cavity, state, i)
        if not changed:
            break
    return state
