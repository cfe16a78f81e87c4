"""Nodes of a tree from an elimination order: which tables are multiplied, over which variables, and what is summed.

Variables are numbered by their position in the order. A node multiplies its inputs, each a leaf or the output of an
earlier node, over the variables of its clique and sums out some of them. The axes of every table but the leaves are in
elimination order, so that the axes to sum out come first, and an output is added up in whole blocks.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mrfit._kernels.arithmetic.bits import lowest
from mrfit._kernels.machine_code.compiled import njit

_JOINED = 4  # inputs are joined first if the clique has at least this many times the cells of their product
_ONE = np.uint64(1)
_SMALLEST = 64  # smallest cliques, in cells, for which joining inputs deserves its own node


class TreeNodes(NamedTuple):
    """Nodes in the order of evaluation, with their lists one after the other."""

    axis_start: np.ndarray  # start of the axes of a node's clique
    axes: np.ndarray  # positions of variables in the order
    axis_states: np.ndarray
    n_removed: np.ndarray  # of a node's axes, in front, that are summed out
    input_start: np.ndarray  # start of the inputs of a node
    inputs: np.ndarray  # numbers of tables: leaves, then the outputs of nodes in their order
    stride_start: np.ndarray  # start of the strides of a node: for each input, one for each axis
    strides: np.ndarray
    table_start: np.ndarray  # start of a table in the vector of all tables
    is_root: np.ndarray  # tables that are no node's input: their product is Z
    has_rows: np.ndarray  # tables whose last axis is never eliminated
    adjoint_start: np.ndarray  # start of the adjoint of a table; the last entry is the total length


@njit(cache=True, nogil=True)
def separators(order, starts, neighbours, position):
    """Return for every position of the order the later positions adjacent to it when it is eliminated."""
    n = len(order)
    start, found = np.zeros(n + 1, np.int64), [np.int64(0)]
    found.pop()
    seen, first_child, next_child = np.full(len(position), -1), np.full(n, -1), np.full(n, -1)
    for k in range(n):
        v, begin = order[k], len(found)
        for at in range(starts[v], starts[v + 1]):
            u = position[neighbours[at]]
            if u > k and seen[u] != k:
                seen[u] = k
                found.append(u)
        # Neighbours that elimination adds come through children alone. The parent of a variable is the earliest in its
        # separator, and its separator without the parent is within the parent's (the elimination tree; Liu 1990). So
        # fill is found without ever storing the filled graph.
        child = first_child[k]
        while child >= 0:
            for at in range(start[child], start[child + 1]):
                u = found[at]
                if u > k and seen[u] != k:
                    seen[u] = k
                    found.append(u)
            child = next_child[child]
        own = np.sort(np.array(found[begin:], np.int64))
        for at in range(len(own)):
            found[begin + at] = own[at]
        start[k + 1] = len(found)
        if len(own) and own[0] < n:
            next_child[k] = first_child[own[0]]
            first_child[own[0]] = k
    return start, np.array(found, np.int64)


@njit(cache=True, nogil=True)
def leaf_axes(scope_start, scope_variables, n_states, position):
    """Return for every scope the positions of its variables with several states, their strides, and all cells.

    Tables are in C order of the scope as listed.
    """
    start = np.zeros(len(scope_start), np.int64)
    axes, strides = np.empty(len(scope_variables), np.int64), np.empty(len(scope_variables), np.int64)
    cells = np.ones(len(scope_start) - 1, np.int64)
    for scope in range(len(scope_start) - 1):
        begin = end = start[scope]
        for at in range(scope_start[scope + 1] - 1, scope_start[scope] - 1, -1):
            v = scope_variables[at]
            if n_states[v] > 1:
                k = end
                while k > begin and axes[k - 1] > position[v]:
                    axes[k], strides[k] = axes[k - 1], strides[k - 1]
                    k -= 1
                axes[k], strides[k] = position[v], cells[scope]
                end += 1
            cells[scope] *= n_states[v]
        start[scope + 1] = end
    return start, axes[: start[-1]], strides[: start[-1]], cells


@njit(cache=True, nogil=True)
def _begin_of_chains(start, separator, merge):
    """Return the first variable of the chain of joint elimination that ends with each variable, -1 inside chains.

    Two consecutive variables are eliminated together if the clique of the second is within that of the first.
    """
    n = len(start) - 1
    first = np.arange(n)
    if not merge:
        return first
    for k in range(n):
        size = start[k + 1] - start[k]
        if size == 0 or separator[start[k]] >= n:
            continue
        following = separator[start[k]]
        if first[following] == following and size == start[following + 1] - start[following] + 1:
            first[following] = first[k]
            first[k] = -1
    return first


@njit(cache=True, nogil=True)
def sizes(start, separator, n_states, merge):
    """Return the cells of all cliques and messages, the first variable of the largest clique, and the chains."""
    begin = _begin_of_chains(start, separator, merge)
    cliques, messages, largest, most = 0.0, 0.0, 0, 0.0
    for last in range(len(begin)):
        first = begin[last]
        if first < 0:
            continue
        cells = n_states[first] * _cells(separator[start[first] : start[first + 1]], n_states)
        cliques += cells
        messages += _cells(separator[start[last] : start[last + 1]], n_states)
        if cells > most:
            most, largest = cells, first
    return cliques, messages, largest, begin


@njit(cache=True, nogil=True)
def _cells(axes, n_states):
    cells = 1.0
    for k in axes:
        cells *= n_states[k]
    return cells


@njit(cache=True, nogil=True)
def _mask(axes, clique):
    """Return the axes of a table as bits, by their positions in the clique."""
    mask, at = np.uint64(0), 0
    for k in axes:
        while clique[at] != k:
            at += 1
        mask |= _ONE << np.uint64(at)
    return mask


@njit(cache=True, nogil=True)
def _mask_cells(mask, clique, n_states):
    cells = 1.0
    while mask != 0:
        cells *= n_states[clique[lowest(mask)]]
        mask &= mask - _ONE
    return cells


@njit(cache=True, nogil=True)
def _add(program, axes_of, clique, n_removed, inputs):
    """Append a node to the program; return the number of its output table."""
    program.append(len(clique))
    program.append(n_removed)
    program.append(len(inputs))
    program.extend(clique)
    program.extend(inputs)
    axes_of.append(clique[n_removed:])
    return len(axes_of) - 1


@njit(cache=True, nogil=True)
def _join_small(program, axes_of, clique, inputs, n_states, most):
    """Multiply inputs pairwise before they meet the clique, while the products have at most ``most`` cells.

    The smallest input is multiplied by the one that gives the smallest product. Fewer, larger inputs remain.
    """
    masks = np.array([_mask(axes_of[t], clique) for t in inputs])
    cells = np.array([_mask_cells(mask, clique, n_states) for mask in masks])
    tables, is_done = np.array(inputs), np.zeros(len(inputs), np.bool_)
    n = len(inputs)
    left = [np.int64(0)]
    left.pop()
    while True:
        first = -1
        for k in range(n):
            if not is_done[k] and (first < 0 or cells[k] < cells[first]):
                first = k
        if first < 0:
            return left
        second, least = -1, most
        for k in range(n):
            if not is_done[k] and k != first:
                joined_cells = _mask_cells(masks[first] | masks[k], clique, n_states)
                if joined_cells <= least and (second < 0 or joined_cells < least):
                    second, least = k, joined_cells
        is_done[first] = True
        if second < 0:
            left.append(tables[first])
            continue
        masks[second] |= masks[first]
        cells[second] = least
        axes = [clique[at] for at in range(len(clique)) if (masks[second] >> np.uint64(at)) & _ONE != 0]
        tables[second] = _add(program, axes_of, axes, 0, [tables[first], tables[second]])


@njit(cache=True, nogil=True)
def _program(n, start, separator, axes_of, n_states, merge):
    """Return all nodes, each as sizes and lists of its axes and inputs; ``axes_of`` is extended by their outputs."""
    program, first_table, next_table = [np.int64(0)], np.full(n, -1), np.full(len(axes_of) + n, -1)
    program.pop()
    for t in range(len(axes_of)):
        _attach(t, axes_of[t], first_table, next_table)
    begin = _begin_of_chains(start, separator, merge)
    for last in range(n):
        if begin[last] < 0:
            continue
        clique = [np.int64(begin[last])]
        clique.extend(separator[start[begin[last]] : start[begin[last] + 1]])
        inputs = [np.int64(0)]
        inputs.pop()
        n_removed = 0
        while n_removed < len(clique) and clique[n_removed] <= last:
            t = first_table[clique[n_removed]]
            while t >= 0:
                inputs.append(t)
                t = next_table[t]
            n_removed += 1
        cells = _cells(clique, n_states)
        if len(inputs) > 2 and cells >= _SMALLEST:
            inputs = _join_small(program, axes_of, clique, inputs, n_states, cells / _JOINED)
        t = _add(program, axes_of, clique, n_removed, inputs)
        if t >= len(next_table):
            next_table = np.concatenate((next_table, np.full(len(next_table), -1)))
        _attach(t, axes_of[t], first_table, next_table)
    return program


@njit(cache=True, nogil=True)
def _attach(t, axes, first_table, next_table):
    """Attach a table to the first of its axes to be eliminated."""
    if len(axes) and axes[0] < len(first_table):
        next_table[t] = first_table[axes[0]]
        first_table[axes[0]] = t


@njit(cache=True, nogil=True)
def _lists(starts, values):
    """Return a list of lists from one vector."""
    out = [[np.int64(0)]]
    out.pop()
    for k in range(len(starts) - 1):
        own = [np.int64(0)]
        own.pop()
        own.extend(values[starts[k] : starts[k + 1]])
        out.append(own)
    return out


@njit(cache=True, nogil=True)
def _c_strides(axes, n_states):
    strides, step = [np.int64(1) for k in axes], np.int64(1)
    for at in range(len(axes) - 1, -1, -1):
        strides[at] = step
        step *= n_states[axes[at]]
    return strides


@njit(cache=True, nogil=True)
def tree_nodes(start, separator, leaf_start, leaf_axes, leaf_strides, leaf_cells, n_states, merge):
    """Return the nodes for leaves whose axes are positions in the order, ascending, with the strides of their tables.

    ``n_states`` is by position; positions after those that have a separator are never eliminated.
    """
    n, n_leaves = len(start) - 1, len(leaf_start) - 1
    axes_of, strides_of = _lists(leaf_start, leaf_axes), _lists(leaf_start, leaf_strides)
    program = np.array(_program(n, start, separator, axes_of, n_states, merge))
    n_nodes = len(axes_of) - n_leaves
    axis_start, input_start = np.zeros(n_nodes + 1, np.int64), np.zeros(n_nodes + 1, np.int64)
    stride_start, n_removed = np.zeros(n_nodes + 1, np.int64), np.empty(n_nodes, np.int64)
    at = 0
    for node in range(n_nodes):
        n_axes, n_removed[node], n_inputs = program[at], program[at + 1], program[at + 2]
        axis_start[node + 1] = axis_start[node] + n_axes
        input_start[node + 1] = input_start[node] + n_inputs
        stride_start[node + 1] = stride_start[node] + n_axes * n_inputs
        at += 3 + n_axes + n_inputs
    axes, inputs = np.empty(axis_start[-1], np.int64), np.empty(input_start[-1], np.int64)
    strides, is_input = np.zeros(stride_start[-1], np.int64), np.zeros(len(axes_of), np.bool_)
    table_start = np.zeros(len(axes_of) + 1, np.int64)
    table_start[1 : n_leaves + 1] = np.cumsum(leaf_cells)
    at = 0
    for node in range(n_nodes):
        n_axes, n_inputs = program[at], program[at + 2]
        clique = program[at + 3 : at + 3 + n_axes]
        axes[axis_start[node] : axis_start[node + 1]] = clique
        for number in range(n_inputs):
            t = program[at + 3 + n_axes + number]
            inputs[input_start[node] + number], is_input[t] = t, True
            own, axis = axes_of[t], 0
            for k in range(len(own)):
                while clique[axis] != own[k]:
                    axis += 1
                strides[stride_start[node] + number * n_axes + axis] = strides_of[t][k]
        out = axes_of[n_leaves + node]
        strides_of.append(_c_strides(out, n_states))
        table_start[n_leaves + node + 1] = table_start[n_leaves + node] + np.int64(_cells(out, n_states))
        at += 3 + n_axes + n_inputs
    has_rows = np.array([len(own) > 0 and own[-1] >= n for own in axes_of])
    return TreeNodes(
        axis_start, axes, n_states[axes], n_removed, input_start, inputs, stride_start, strides, table_start, ~is_input,
        has_rows, _adjoint_starts(n_leaves, input_start, inputs, table_start, ~is_input),
    )  # fmt: skip


@njit(cache=True, nogil=True)
def _adjoint_starts(n_leaves, input_start, inputs, table_start, is_root):
    """Return the starts of adjoints: those of leaves as in the tables, those of messages in memory that is free again.

    On the backward pass an adjoint is needed from the evaluation of the node that takes its table until that of its own
    node. Few are needed at any time, so memory is reused soon after its last use.
    """
    n_tables = len(table_start) - 1
    position = table_start.copy()
    free_start, free_size = [np.int64(0)], [np.int64(0)]  # free intervals, unordered
    free_start.pop()
    free_size.pop()
    end = table_start[n_leaves]
    for node in range(n_tables - n_leaves - 1, -1, -1):
        out = n_leaves + node
        if is_root[out]:
            position[out], end = _taken(free_start, free_size, table_start[out + 1] - table_start[out], end)
        for at in range(input_start[node], input_start[node + 1]):
            t = inputs[at]
            if t >= n_leaves:
                position[t], end = _taken(free_start, free_size, table_start[t + 1] - table_start[t], end)
        _give_back(free_start, free_size, position[out], table_start[out + 1] - table_start[out])
    position[-1] = end
    return position


@njit(cache=True, nogil=True)
def _taken(free_start, free_size, size, end):
    """Allocate from the smallest sufficient free interval, else at the end; return the position and the new end."""
    best = -1
    for k in range(len(free_start)):
        if free_size[k] >= size and (best < 0 or free_size[k] < free_size[best]):
            best = k
    if best < 0:
        return end, end + size
    position = free_start[best]
    free_start[best] += size
    free_size[best] -= size
    return position, end


@njit(cache=True, nogil=True)
def _give_back(free_start, free_size, position, size):
    """Free an interval and merge it with adjacent free intervals."""
    for k in range(len(free_start) - 1, -1, -1):
        if free_size[k] == 0 or free_start[k] + free_size[k] == position or position + size == free_start[k]:
            if free_size[k] > 0:
                position, size = min(position, free_start[k]), size + free_size[k]
            free_start.pop(k)
            free_size.pop(k)
    free_start.append(position)
    free_size.append(size)
