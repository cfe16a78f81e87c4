"""Messages between the variables and the factors of a graph: any numbers of states, any orders, any zeros.

An edge is a variable in the scope of a factor. Its message from the factor is stored as logarithms with a largest value
of 0, and so is the variable's reply (the cavity): the sum of its field and of all messages times the weight of their
factors, minus this one message. Factors are contracted in linear space wherever no product of their least possible
values can underflow, and in log space elsewhere. Minus infinity is therefore a proof, and a state once impossible stays
impossible.

Weights are 1 for belief propagation. For tree-reweighting they are the edges' appearance probabilities, with tables
raised to one over them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mrfit._kernels.inference.contract_vectors import LOG_SUM, MAX, SUM, contract_others
from mrfit._kernels.machine_code.compiled import njit

_SAFE = -650.0  # of a sum of logarithms: the smallest normal number is exp(-708)


class MessageGraph(NamedTuple):
    """Incidence of variables and factors; each ``*_start`` has one entry more than there are lists."""

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
    """All messages: to variables (``message``), and back as logarithms and as numbers."""

    message: np.ndarray
    log_cavity: np.ndarray
    cavity: np.ndarray
    lowest: np.ndarray  # finite logarithm of each edge's cavity
    total: np.ndarray  # log-beliefs of single variables, largest 0


@njit(cache=True, nogil=True, error_model="numpy")
def _normalise(values, begin, n):
    """Shift logarithms to a largest value of 0; return False if all are minus infinity."""
    top = -np.inf
    for s in range(begin, begin + n):
        top = max(top, values[s])
    if top > -np.inf:
        for s in range(begin, begin + n):
            values[s] -= top
    return top > -np.inf


@njit(cache=True, nogil=True, error_model="numpy")
def _contract_pair(table, begin, step, n, cavity, at, step_other, n_other, out):
    """Contract a pair in linear space, like `contract_others`: by far the most frequent case, and mostly small."""
    for s in range(n):
        total = 0.0
        for t in range(n_other):
            total += table[begin + s * step + t * step_other] * cavity[at + t]
        out[s] = total


@njit(cache=True, nogil=True, error_model="numpy")
def _accept(message, begin, new, n, is_log, damping):
    """Replace a message by a new one, scaled and damped; return by how much they differ."""
    change, top = 0.0, -np.inf
    for s in range(n):
        if not is_log:
            new[s] = np.log(new[s])
        top = max(top, new[s])
    for s in range(n):
        value, old = new[s] if top == -np.inf else new[s] - top, message[begin + s]
        if value != old:  # two infinities are equal
            change = max(change, abs(value - old))
            message[begin + s] = value + damping * (old - value) if value != -np.inf else value
    return change


@njit(cache=True, nogil=True, error_model="numpy")
def _receive(graph, potentials, messages, i, damping, maximise, work, out):
    """Compute new messages to a variable; return by how much they differ from the old ones.

    Fields of tuples are read once, because compiled code counts a reference each time it takes an array from a tuple.
    """
    edges, factor, scope_start, table_start = graph.edges, graph.factor, graph.scope_start, graph.table_start
    sizes, at, lowest_of_table, lowest = graph.sizes, graph.message_start, potentials.lowest, messages.lowest
    table, log_table, cavity, log_cavity = potentials.table, potentials.log_table, messages.cavity, messages.log_cavity
    message, change = messages.message, 0.0
    for k in range(graph.edge_start[i], graph.edge_start[i + 1]):
        e = edges[k]
        f, n = factor[e], sizes[e]
        first, last, begin = scope_start[f], scope_start[f + 1], table_start[f]
        low = lowest_of_table[f]
        for other in range(first, last):
            if other != e:
                low += lowest[other]
        is_log = maximise or low < _SAFE
        if is_log:
            kind = MAX if maximise else LOG_SUM
            contract_others(kind, log_table, begin, sizes, first, last, e, log_cavity, at, work, out)
        elif last - first > 2:
            kind = SUM
            contract_others(kind, table, begin, sizes, first, last, e, cavity, at, work, out)
        else:
            other = first + last - 1 - e
            step, step_other = (sizes[other], 1) if other > e else (1, n)
            _contract_pair(table, begin, step, n, cavity, at[other], step_other, sizes[other], out)
        change = max(change, _accept(message, at[e], out, n, is_log, damping))
    return change


@njit(cache=True, nogil=True, error_model="numpy")
def _send(graph, potentials, messages, i, priority):
    """Send a variable's messages to its factors, raise others' priorities; return False if no state is possible."""
    edges, at, factor, weight = graph.edges, graph.message_start, graph.factor, potentials.weight
    total, message, field = messages.total, messages.message, potentials.field
    log_cavity, cavity, lowest = messages.log_cavity, messages.cavity, messages.lowest
    n, own, first, last = graph.states[i], graph.field_start[i], graph.edge_start[i], graph.edge_start[i + 1]
    for s in range(own, own + n):
        total[s] = field[s]
    for k in range(first, last):
        share, begin = weight[factor[edges[k]]], at[edges[k]]
        for s in range(n):
            total[own + s] += share * message[begin + s]
    if not _normalise(total, own, n):
        return False
    for k in range(first, last):
        e = edges[k]
        begin, top, low, change = at[e], -np.inf, 0.0, 0.0
        for s in range(n):
            if total[own + s] != -np.inf:
                top = max(top, total[own + s] - message[begin + s])
        for s in range(n):
            value = -np.inf
            if total[own + s] != -np.inf:
                value = total[own + s] - message[begin + s] - top
                low = min(low, value)
            if value != log_cavity[begin + s]:
                change = max(change, abs(value - log_cavity[begin + s]))
                log_cavity[begin + s] = value
            cavity[begin + s] = np.exp(value)
        lowest[e] = low
        if len(priority) > 0 and change > 0.0:
            for other in range(graph.scope_start[factor[e]], graph.scope_start[factor[e] + 1]):
                if other != e:
                    _raise_priority(priority, graph.scope[other], change)
    return True


@njit(cache=True, nogil=True, error_model="numpy")
def _raise_priority(priority, i, value):
    """Raise a priority in a tournament tree: entry k is the larger of 2k and 2k + 1, with variables as leaves."""
    k = len(priority) // 2 + i
    while k > 0 and priority[k] < value:
        priority[k] = value
        k //= 2


@njit(cache=True, nogil=True, error_model="numpy")
def _take_first(priority):
    """Take the variable with the largest pending change, which is then reset; return both."""
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
    """Let every variable send its current messages; return False if a variable has no possible state."""
    no_priority, possible = np.empty(0), True
    for i in range(len(graph.states)):
        possible &= _send(graph, potentials, messages, i, no_priority)
    return possible


@njit(cache=True, nogil=True, error_model="numpy")
def _buffers(graph):
    """Return buffers for tables that are being contracted, and for one message."""
    half, longest = 1, 1
    for f in range(len(graph.table_start) - 1):
        half = max(half, (graph.table_start[f + 1] - graph.table_start[f]) // 2)
    for n in graph.sizes:
        longest = max(longest, n)
    return np.empty((2, half)), np.empty(longest)


@njit(cache=True, nogil=True, error_model="numpy")
def pass_in_sweeps(graph, potentials, messages, flooding, damping, maximise, tolerance, max_sweeps):
    """Update variables up and down in turn, or all at once, until no message changes by more than ``tolerance``.

    Returns the number of sweeps, whether they converged, and whether every variable has a possible state. Flooding
    begins with the given cavities, so that after k sweeps fields too have travelled k edges.
    """
    work, out = _buffers(graph)
    no_priority, n, number, change = np.empty(0), len(graph.states), 0, np.inf
    least = 2 if flooding else 1  # fields are first sent in the second sweep
    possible = flooding or start(graph, potentials, messages)
    while possible and number < max_sweeps and (change > tolerance or number < least):
        change = 0.0
        for k in range(n):
            i = n - 1 - k if number % 2 == 1 and not flooding else k
            change = max(change, _receive(graph, potentials, messages, i, damping, maximise, work, out))
            if not flooding:
                possible &= _send(graph, potentials, messages, i, no_priority)
        if flooding:
            possible = start(graph, potentials, messages)
        number += 1
    return number, change <= tolerance and number >= least, possible


@njit(cache=True, nogil=True, error_model="numpy")
def pass_by_residual(graph, potentials, messages, damping, maximise, tolerance, max_sweeps):
    """Update the variable whose incoming cavities changed most since its last update, until all changes are small.

    Returns the same as `pass_in_sweeps`; a sweep is as many updates as there are variables.
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
    """Fill ``out`` with the log-beliefs of each factor's scope, largest 0."""
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
