"""Messages between the variables and the factors of a graph: any numbers of states, any orders, any zeros.

An edge is a variable in the scope of a factor. Its message from the factor is kept as logarithms with a largest value
of 0, and so is what the variable sends back (the cavity): the sum of its field and of all messages times the weight of
their factors, less this one message. Factors are contracted in linear space wherever no product of their least
possible values can underflow, and in log space elsewhere; so minus infinity is a proof, and a state once impossible
stays impossible.

Weights are 1 for belief propagation. For tree-reweighting they are the edges' appearance probabilities, with tables
raised to one over them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mrfit._kernels.compiled import njit
from mrfit._kernels.contract_vectors import LOG_SUM, MAX, SUM, contract_others

_SAFE = -650.0  # of a sum of logarithms: the smallest normal number is exp(-708)


class Graph(NamedTuple):
    """Which variables stand in which factors; ``*_start`` have one entry more than there are."""

    states: np.ndarray  # of each variable
    field_start: np.ndarray  # cells of single variables
    scope_start: np.ndarray  # edges of each factor
    scope: np.ndarray  # the variable of each edge
    sizes: np.ndarray  # its states
    table_start: np.ndarray
    message_start: np.ndarray  # cells of each edge
    edge_start: np.ndarray  # of each variable, into the next
    edges: np.ndarray
    factor: np.ndarray  # of each edge


class Potentials(NamedTuple):
    """Logarithms of fields and tables with a largest value of 0; the tables themselves, and their least value."""

    field: np.ndarray
    log_table: np.ndarray
    table: np.ndarray
    lowest: np.ndarray  # logarithm of the least value above 0 of each table
    weight: np.ndarray


class Messages(NamedTuple):
    """All that is sent: to variables (``message``), and back as logarithms and as numbers."""

    message: np.ndarray
    log_cavity: np.ndarray
    cavity: np.ndarray
    lowest: np.ndarray  # finite logarithm of each edge's cavity
    total: np.ndarray  # logarithm of what is believed of single variables, largest 0


@njit(cache=True, nogil=True, error_model="numpy")
def _normalise(values, begin, n):
    """Shift logarithms to a largest value of 0 and return the least that is finite; nothing happens to all zeros."""
    top, low = -np.inf, np.inf
    for s in range(begin, begin + n):
        top = max(top, values[s])
    if top == -np.inf:
        return 0.0
    for s in range(begin, begin + n):
        values[s] -= top
        if values[s] != -np.inf:
            low = min(low, values[s])
    return low


@njit(cache=True, nogil=True, error_model="numpy")
def _difference(new, old):
    return 0.0 if new == old else abs(new - old)  # two infinities are equal


@njit(cache=True, nogil=True, error_model="numpy")
def _contract(graph, potentials, messages, e, maximise, work, out):
    """The message along an edge, as logarithms with a largest value of 0."""
    f, n = graph.factor[e], graph.sizes[e]
    first, last = graph.scope_start[f], graph.scope_start[f + 1]
    low = potentials.lowest[f]
    for other in range(first, last):
        if other != e:
            low += messages.lowest[other]
    if low > _SAFE and not maximise:
        kind, cells, vector = SUM, potentials.table, messages.cavity
    else:
        kind, cells, vector = MAX if maximise else LOG_SUM, potentials.log_table, messages.log_cavity
    begin = graph.table_start[f]
    contract_others(kind, cells, begin, graph.sizes, first, last, e, vector, graph.message_start, work, out)
    if kind == SUM:
        for s in range(n):
            out[s] = np.log(out[s])
    begin = 0  # not written as the argument, which would compile it once more for this number
    _normalise(out, begin, n)


@njit(cache=True, nogil=True, error_model="numpy")
def _receive(graph, potentials, messages, i, damping, maximise, work, out):
    """New messages to a variable; by how much they differ from the old ones."""
    change = 0.0
    for k in range(graph.edge_start[i], graph.edge_start[i + 1]):
        e = graph.edges[k]
        _contract(graph, potentials, messages, e, maximise, work, out)
        begin = graph.message_start[e]
        for s in range(graph.sizes[e]):
            old = messages.message[begin + s]
            change = max(change, _difference(out[s], old))
            if damping > 0.0 and out[s] != -np.inf:
                out[s] = (1.0 - damping) * out[s] + damping * old
            messages.message[begin + s] = out[s]
    return change


@njit(cache=True, nogil=True, error_model="numpy")
def _send(graph, potentials, messages, i, priority):
    """What a variable tells its factors; False where nothing is possible any more. What changes is pending for
    others."""
    n, own = graph.states[i], graph.field_start[i]
    total = messages.total
    for s in range(n):
        total[own + s] = potentials.field[own + s]
    for k in range(graph.edge_start[i], graph.edge_start[i + 1]):
        e = graph.edges[k]
        weight, begin = potentials.weight[graph.factor[e]], graph.message_start[e]
        for s in range(n):
            total[own + s] += weight * messages.message[begin + s]
    _normalise(total, own, n)
    possible = False
    for s in range(n):
        possible |= total[own + s] == 0.0
    for k in range(graph.edge_start[i], graph.edge_start[i + 1]):
        e = graph.edges[k]
        begin, change = graph.message_start[e], 0.0
        top = -np.inf
        for s in range(n):
            if total[own + s] != -np.inf:
                top = max(top, total[own + s] - messages.message[begin + s])
        low = 0.0
        for s in range(n):
            value = -np.inf
            if total[own + s] != -np.inf:
                value = total[own + s] - messages.message[begin + s] - top
                low = min(low, value)
            change = max(change, _difference(value, messages.log_cavity[begin + s]))
            messages.log_cavity[begin + s] = value
            messages.cavity[begin + s] = np.exp(value)
        messages.lowest[e] = low
        if len(priority) > 0 and change > 0.0:
            f = graph.factor[e]
            for other in range(graph.scope_start[f], graph.scope_start[f + 1]):
                if other != e:
                    _raise_priority(priority, graph.scope[other], change)
    return possible


@njit(cache=True, nogil=True, error_model="numpy")
def _raise_priority(priority, i, value):
    """In a tournament: entry k is the larger of entries 2k and 2k + 1, variables stand in the second half."""
    k = len(priority) // 2 + i
    while k > 0 and priority[k] < value:
        priority[k] = value
        k //= 2


@njit(cache=True, nogil=True, error_model="numpy")
def _take_first(priority):
    """The variable with most pending change, which then has none; and that change."""
    half, k = len(priority) // 2, 1
    value = priority[1]
    while k < half:
        k = 2 * k if priority[2 * k] == value else 2 * k + 1
    i = k - half
    priority[k] = 0.0
    while k > 1:
        k //= 2
        priority[k] = max(priority[2 * k], priority[2 * k + 1])
    return i, value


@njit(cache=True, nogil=True, error_model="numpy")
def start(graph, potentials, messages):
    """Let every variable send what its messages now say; False where a variable has no possible state."""
    nobody, possible = np.empty(0), True
    for i in range(len(graph.states)):
        possible &= _send(graph, potentials, messages, i, nobody)
    return possible


@njit(cache=True, nogil=True, error_model="numpy")
def _buffers(graph):
    """Room for tables that are being contracted, and for one message."""
    half, longest = 1, 1
    for f in range(len(graph.table_start) - 1):
        half = max(half, (graph.table_start[f + 1] - graph.table_start[f]) // 2)
    for n in graph.sizes:
        longest = max(longest, n)
    return np.empty((2, half)), np.empty(longest)


@njit(cache=True, nogil=True, error_model="numpy")
def pass_in_sweeps(graph, potentials, messages, flooding, damping, maximise, tolerance, max_sweeps):
    """Variables up and down in turn, or all at the same time, until no message changes by more than ``tolerance``.

    Returns the sweeps made, whether they converged, and whether every variable has a possible state. Flooding begins
    with the cavities as they are given, so that after k sweeps fields too have gone k edges far.
    """
    work, out = _buffers(graph)
    nobody, n, number, change = np.empty(0), len(graph.states), 0, np.inf
    least = 2 if flooding else 1  # what fields say is sent in the second sweep
    possible = flooding or start(graph, potentials, messages)
    while possible and number < max_sweeps and (change > tolerance or number < least):
        change = 0.0
        for k in range(n):
            i = n - 1 - k if number % 2 == 1 and not flooding else k
            change = max(change, _receive(graph, potentials, messages, i, damping, maximise, work, out))
            if not flooding:
                possible &= _send(graph, potentials, messages, i, nobody)
        if flooding:
            possible = start(graph, potentials, messages)
        number += 1
    return number, change <= tolerance and number >= least, possible


@njit(cache=True, nogil=True, error_model="numpy")
def pass_by_residual(graph, potentials, messages, damping, maximise, tolerance, max_sweeps):
    """Always to the variable whose incoming cavities have changed most since it was last there.

    Returns what `pass_in_sweeps` does; a sweep is as many visits as there are variables.
    """
    work, out = _buffers(graph)
    n, half = len(graph.states), 1
    while half < n:
        half *= 2
    priority = np.zeros(2 * half)
    for i in range(n):
        _raise_priority(priority, i, np.inf)
    possible, pending, visit = start(graph, potentials, messages), np.inf if n > 0 else 0.0, 0
    while possible and visit < max_sweeps * n:
        i, pending = _take_first(priority)
        if pending <= tolerance:
            break
        left = damping * _receive(graph, potentials, messages, i, damping, maximise, work, out)
        if left > 0.0:
            _raise_priority(priority, i, left)
        possible = _send(graph, potentials, messages, i, priority)
        visit += 1
    return -(-visit // max(n, 1)), pending <= tolerance, possible


@njit(cache=True, nogil=True, error_model="numpy")
def beliefs(graph, potentials, messages, out):
    """Fill ``out`` with the logarithms of what is believed of each factor's scope, largest 0."""
    for f in range(len(graph.table_start) - 1):
        begin, end = graph.table_start[f], graph.table_start[f + 1]
        for cell in range(begin, end):
            out[cell] = potentials.log_table[cell]
        inner = end - begin
        outer = 1
        for e in range(graph.scope_start[f], graph.scope_start[f + 1]):
            n = graph.sizes[e]
            inner //= n
            at = graph.message_start[e]
            for r in range(outer):
                for s in range(n):
                    value, row = messages.log_cavity[at + s], begin + (r * n + s) * inner
                    for k in range(row, row + inner):
                        out[k] += value
            outer *= n
        _normalise(out, begin, end - begin)
