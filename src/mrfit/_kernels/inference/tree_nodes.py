"""From an order of elimination to the nodes of a tree: which tables meet, over which variables, and what is summed.

Variables are numbered by their place in the order. A node multiplies its inputs, each a leaf or the output of an
earlier node, over the variables of its clique and sums out some of them. The axes of every table but the leaves are in
the order of elimination, so that what is summed out stands in front, and an output is added up in whole blocks.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mrfit._kernels.arithmetic.bits import lowest
from mrfit._kernels.machine_code.compiled import njit

_JOINED = 4  # inputs are joined before they meet a clique with at least so many times the cells of what they make
_ONE = np.uint64(1)
_SMALLEST = 64  # cells of cliques for which that is worth a node of its own


class TreeNodes(NamedTuple):
    """The nodes in the order in which they run; lists lie one after the other."""

    axis_start: np.ndarray  # where the axes of a node's clique begin
    axes: np.ndarray  # places of variables in the order
    axis_states: np.ndarray
    n_removed: np.ndarray  # of a node's axes, in front, that are summed out
    input_start: np.ndarray  # where the inputs of a node begin
    inputs: np.ndarray  # numbers of tables: leaves, then the outputs of nodes in their order
    stride_start: np.ndarray  # where the strides of a node begin: for each input, one for each axis
    strides: np.ndarray
    table_start: np.ndarray  # where a table begins in one vector of all
    is_root: np.ndarray  # tables that no node takes: their product is Z
    has_rows: np.ndarray  # tables whose last axis is never eliminated
    adjoint_start: np.ndarray  # where the adjoint of a table begins; the last entry is how much room they take together


@njit(cache=True, nogil=True)
def separators(order, starts, neighbours, place):
    """For every variable of the order, by places: those after it that are joined to it when it is eliminated."""
    n = len(order)
    start, found = np.zeros(n + 1, np.int64), [np.int64(0)]
    found.pop()
    seen, first_child, next_child = np.full(len(place), -1), np.full(n, -1), np.full(n, -1)
    for k in range(n):
        v, begin = order[k], len(found)
        for at in range(starts[v], starts[v + 1]):
            u = place[neighbours[at]]
            if u > k and seen[u] != k:
                seen[u] = k
                found.append(u)
        child = first_child[k]
        while child >= 0:
            for at in range(start[child], start[child + 1]):
                u = found[at]
                if u > k and seen[u] != k:
                    seen[u] = k
                    found.append(u)
            child = next_child[child]
        mine = np.sort(np.array(found[begin:], np.int64))
        for at in range(len(mine)):
            found[begin + at] = mine[at]
        start[k + 1] = len(found)
        if len(mine) and mine[0] < n:
            next_child[k] = first_child[mine[0]]
            first_child[mine[0]] = k
    return start, np.array(found, np.int64)


@njit(cache=True, nogil=True)
def leaf_axes(scope_start, scope_variables, n_states, place):
    """For every scope: its variables with several states by their places, ascending, their strides, and all cells.

    Tables lie in C order of the scope as listed.
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
                while k > begin and axes[k - 1] > place[v]:
                    axes[k], strides[k] = axes[k - 1], strides[k - 1]
                    k -= 1
                axes[k], strides[k] = place[v], cells[scope]
                end += 1
            cells[scope] *= n_states[v]
        start[scope + 1] = end
    return start, axes[: start[-1]], strides[: start[-1]], cells


@njit(cache=True, nogil=True)
def _begin_of_chains(start, separator, merge):
    """Variables that are eliminated together: the first of the chain that ends with each, -1 inside chains.

    A variable and the next one go together where the next adds nothing: its clique is within theirs.
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
    """Cells of all cliques, of all messages, the first variable of the largest clique, and of each by its last."""
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
    """The axes of a table as bits, by their places in the clique."""
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
    """Write a node to the program; the number of the table that it makes."""
    program.append(len(clique))
    program.append(n_removed)
    program.append(len(inputs))
    program.extend(clique)
    program.extend(inputs)
    axes_of.append(clique[n_removed:])
    return len(axes_of) - 1


@njit(cache=True, nogil=True)
def _join_small(program, axes_of, clique, inputs, n_states, most):
    """Multiply inputs two by two before they meet the clique, as long as that makes tables of at most ``most`` cells.

    The smallest one goes with the one with which it makes the smallest table. Fewer, larger inputs are left.
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
                together = _mask_cells(masks[first] | masks[k], clique, n_states)
                if together <= least and (second < 0 or together < least):
                    second, least = k, together
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
    """All nodes, each as the sizes and the lists of its axes and inputs; ``axes_of`` tables grows by their outputs."""
    program, first_table, next_table = [np.int64(0)], np.full(n, -1), np.full(len(axes_of) + n, -1)
    program.pop()
    for t in range(len(axes_of)):
        _hang(t, axes_of[t], first_table, next_table)
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
        _hang(t, axes_of[t], first_table, next_table)
    return program


@njit(cache=True, nogil=True)
def _hang(t, axes, first_table, next_table):
    """Note a table with the variable that is the first of its axes to be eliminated."""
    if len(axes) and axes[0] < len(first_table):
        next_table[t] = first_table[axes[0]]
        first_table[axes[0]] = t


@njit(cache=True, nogil=True)
def _lists(starts, values):
    """A list of lists from one vector."""
    out = [[np.int64(0)]]
    out.pop()
    for k in range(len(starts) - 1):
        mine = [np.int64(0)]
        mine.pop()
        mine.extend(values[starts[k] : starts[k + 1]])
        out.append(mine)
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
    """Nodes for leaves whose axes are given by places in the order, ascending, with the strides of their tables.

    ``n_states`` is by place; places beyond those that have a separator are never eliminated.
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
        has_rows, _adjoint_places(n_leaves, input_start, inputs, table_start, ~is_input),
    )  # fmt: skip


@njit(cache=True, nogil=True)
def _adjoint_places(n_leaves, input_start, inputs, table_start, is_root):
    """Where adjoints lie: those of leaves as the leaves do, those of messages where nothing is needed any more.

    On the way back an adjoint is needed from when the node that takes its table has run until its own node has. So few
    are at any time, and memory that was just used is used again.
    """
    n_tables = len(table_start) - 1
    place = table_start.copy()
    hole_start, hole_size = [np.int64(0)], [np.int64(0)]  # free, in no order
    hole_start.pop()
    hole_size.pop()
    end = table_start[n_leaves]
    for node in range(n_tables - n_leaves - 1, -1, -1):
        out = n_leaves + node
        if is_root[out]:
            place[out], end = _taken(hole_start, hole_size, table_start[out + 1] - table_start[out], end)
        for at in range(input_start[node], input_start[node + 1]):
            t = inputs[at]
            if t >= n_leaves:
                place[t], end = _taken(hole_start, hole_size, table_start[t + 1] - table_start[t], end)
        _give_back(hole_start, hole_size, place[out], table_start[out + 1] - table_start[out])
    place[-1] = end
    return place


@njit(cache=True, nogil=True)
def _taken(hole_start, hole_size, size, end):
    """Room in the smallest hole that has enough of it, else at the end; and where the end is then."""
    best = -1
    for k in range(len(hole_start)):
        if hole_size[k] >= size and (best < 0 or hole_size[k] < hole_size[best]):
            best = k
    if best < 0:
        return end, end + size
    place = hole_start[best]
    hole_start[best] += size
    hole_size[best] -= size
    return place, end


@njit(cache=True, nogil=True)
def _give_back(hole_start, hole_size, place, size):
    """A hole more, joined to those that it touches."""
    for k in range(len(hole_start) - 1, -1, -1):
        if hole_size[k] == 0 or hole_start[k] + hole_size[k] == place or place + size == hole_start[k]:
            if hole_size[k] > 0:
                place, size = min(place, hole_start[k]), size + hole_size[k]
            hole_start.pop(k)
            hole_size.pop(k)
    hole_start.append(place)
    hole_size.append(size)
