"""Paths of many regressions, walked together in compiled code."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mrfit._kernels.arithmetic.copies import copy_into
from mrfit._kernels.machine_code.compiled import njit
from mrfit._kernels.structure.node_cells import one_cell
from mrfit._kernels.structure.nodewise import LANES, columns_times, residual_over_rows, solve_node

_NEAR = 16  # variables whose sums are read together: sums are stored by column, norms by node


class RegressionState(NamedTuple):
    """The regressions to walk, one row for each: their definition, present solution, and path length.

    The initial neighbours of a node, and their values, are stored as in `Points`.
    """

    variable: np.ndarray
    n_free: np.ndarray  # states except the first
    excluded: np.ndarray  # (nodes, variables) that may not enter
    constant: np.ndarray  # (nodes, states)
    n_selected: np.ndarray
    first_selected: np.ndarray
    first_value: np.ndarray
    selected: np.ndarray
    values: np.ndarray
    norms: (
        np.ndarray
    )  # (nodes, variables) of the gradient where they stand, by scale; a walk leaves those where it ended
    strength: np.ndarray  # (nodes, steps), falling
    n_steps: np.ndarray
    slack: np.ndarray  # allowed violation


class Points(NamedTuple):
    """Solutions as (nodes, steps) arrays; selected variables and their values are stored one point after the other."""

    loss: np.ndarray
    violation: np.ndarray
    constant: np.ndarray  # (nodes, steps, states)
    n_selected: np.ndarray  # -1 after the end of a path
    first_selected: np.ndarray
    first_value: np.ndarray
    selected: np.ndarray
    values: np.ndarray


@njit(cache=True, nogil=True, error_model="numpy")
def walk_paths(table, nodes, max_selected):
    """Solve every node at each of its strengths in turn, each from the last, until it selects too many variables.

    As many nodes are active as fit into one pass over the table; when a path ends, the next node starts. A regression
    is solved on the nonzero variables and those that enter according to the gradient at the last solution. Then all
    others are checked, for all active nodes in one pass, and missed variables are added.
    """
    n_nodes, n_steps = nodes.strength.shape
    most_free = _largest(nodes.n_free)
    n_slots, n_lanes = max(1, LANES // most_free), max(LANES, most_free)
    loss, violation = np.zeros((n_nodes, n_steps)), np.zeros((n_nodes, n_steps))
    constant, n_selected = np.zeros((n_nodes, n_steps, most_free)), _minus_ones((n_nodes, n_steps))
    first_selected, first_value = np.zeros((n_nodes, n_steps), np.int64), np.zeros((n_nodes, n_steps), np.int64)
    selected, values, n_chosen, n_values = np.empty(64, np.int64), np.empty(64), 0, 0

    node, step, next_node = _minus_ones((n_slots,)), np.zeros(n_slots, np.int64), 0
    cells = [one_cell(table, 0, 1) for slot in range(n_slots)]
    coefficients = [np.empty((1, 1)) for slot in range(n_slots)]
    norms = np.empty((n_slots, nodes.norms.shape[1]))
    working = np.zeros(norms.shape, np.bool_)
    # Buffers, allocated once: fresh memory for every pass would cost as much as the pass.
    residual, sums = np.empty((n_lanes, len(table.sample_weight))), np.empty((len(table.variable), n_lanes))
    while True:
        for slot in range(n_slots):
            if node[slot] >= 0:
                continue
            while next_node < n_nodes and nodes.n_steps[next_node] == 0:
                next_node += 1
            if next_node < n_nodes:
                i, step[slot] = next_node, 0
                node[slot] = i
                copy_into(norms[slot], nodes.norms[i])
                cells[slot] = one_cell(table, nodes.variable[i], nodes.n_free[i])
                coefficients[slot] = _initial_coefficients(table, nodes, i, working[slot])
                _let_in(table, coefficients[slot], norms[slot], nodes.strength[i, 0], working[slot])
                next_node += 1
        active_slots = _indices(node >= 0)
        if len(active_slots) == 0:
            break
        for slot in active_slots:
            i, t = node[slot], step[slot]
            cells[slot], violation[i, t], loss[i, t], _ = solve_node(
                table, nodes.variable[i], cells[slot], _indices(working[slot]), nodes.strength[i, t],
                0.5 * nodes.slack[i], coefficients[slot],
            )  # fmt: skip
        # The working set was guessed from the last solution. This check of all variables makes the guess safe: a slot
        # whose check fails keeps its step, and is solved again with the missed variables in the next turn.
        _check(table, nodes, node, active_slots, cells, residual, sums, norms)
        for slot in active_slots:
            i, t = node[slot], step[slot]
            limit = nodes.strength[i, t] + nodes.slack[i]
            outside = _let_in_missed(norms[slot], limit, working[slot])
            if outside > limit:
                continue
            # A certified point: its violation is that over all variables, not over the working set alone.
            violation[i, t] = max(violation[i, t], outside - nodes.strength[i, t])
            chosen = _selected(table, coefficients[slot], working[slot])
            if len(chosen) > max_selected:
                node[slot] = -1
                continue
            n_selected[i, t], first_selected[i, t], first_value[i, t] = len(chosen), n_chosen, n_values
            own = coefficients[slot]
            selected, values = _grown(selected, n_chosen, len(chosen)), _grown(values, n_values, own.size)
            for s in range(nodes.n_free[i]):
                constant[i, t, s] = own[0, s]
            for j in chosen:
                selected[n_chosen] = j
                n_chosen += 1
                for k in range(table.group_start[j], table.group_start[j + 1]):
                    for s in range(nodes.n_free[i]):
                        values[n_values] = own[1 + k, s]
                        n_values += 1
            step[slot] += 1
            if step[slot] == nodes.n_steps[i]:
                node[slot] = -1
                copy_into(nodes.norms[i], norms[slot])
            else:
                _let_in(table, coefficients[slot], norms[slot], nodes.strength[i, t + 1], working[slot])
    return Points(
        loss, violation, constant, n_selected, first_selected, first_value, selected[:n_chosen], values[:n_values]
    )


@njit(cache=True, nogil=True, error_model="numpy")
def _initial_coefficients(table, nodes, i, working):
    """Return the initial coefficients of node i; mark the nonzero ones as ``working``."""
    coefficients = np.zeros((1 + len(table.variable), nodes.n_free[i]))
    for s in range(nodes.n_free[i]):
        coefficients[0, s] = nodes.constant[i, s]
    for j in range(len(working)):
        working[j] = False
    at = nodes.first_value[i]
    for n in range(nodes.first_selected[i], nodes.first_selected[i] + nodes.n_selected[i]):
        j = nodes.selected[n]
        working[j] = True
        for k in range(table.group_start[j], table.group_start[j + 1]):
            for s in range(nodes.n_free[i]):
                coefficients[1 + k, s] = nodes.values[at]
                at += 1
    return coefficients


@njit(cache=True, nogil=True, error_model="numpy")
def _is_selected(table, coefficients, j):
    for k in range(table.group_start[j], table.group_start[j + 1]):
        for s in range(coefficients.shape[1]):
            if coefficients[1 + k, s] != 0.0:
                return True
    return False


@njit(cache=True, nogil=True, error_model="numpy")
def _selected(table, coefficients, working):
    chosen = _indices(working)
    n = 0
    for j in chosen:
        if _is_selected(table, coefficients, j):
            chosen[n] = j
            n += 1
    return chosen[:n]


@njit(cache=True, nogil=True, error_model="numpy")
def _let_in(table, coefficients, norms, strength, working):
    """Set the working set: nonzero variables, and those that the gradient at the last solution lets in."""
    for j in range(len(norms)):
        working[j] = norms[j] > strength or (working[j] and _is_selected(table, coefficients, j))


@njit(cache=True, nogil=True, error_model="numpy")
def _let_in_missed(norms, limit, working):
    """Let in variables that a check found missing; return the largest norm outside before."""
    largest = 0.0
    for j in range(len(norms)):
        if not working[j] and norms[j] > largest:
            largest = norms[j]
    if largest > limit:
        for j in range(len(norms)):
            working[j] |= norms[j] > limit
    return largest


@njit(cache=True, nogil=True, error_model="numpy")
def _check(table, nodes, node, active_slots, cells, residual, sums, norms):
    """Compute the gradient norms of all variables in the regressions of the active slots, by the variables' scale."""
    lane = np.zeros(len(active_slots) + 1, np.int64)
    for n in range(len(active_slots)):
        i = node[active_slots[n]]
        lane[n + 1] = lane[n] + nodes.n_free[i]
        residual_over_rows(table, nodes.variable[i], cells[active_slots[n]], residual[lane[n] : lane[n + 1]])
    columns_times(table.start, table.rows, residual[: lane[-1]], sums)
    n_variables = norms.shape[1]
    for slot in active_slots:
        norms[slot] = 0.0
    for begin in range(0, n_variables, _NEAR):
        end = min(begin + _NEAR, n_variables)
        for n in range(len(active_slots)):
            for s in range(lane[n], lane[n + 1]):
                for j in range(begin, end):
                    for k in range(table.group_start[j], table.group_start[j + 1]):
                        norms[active_slots[n], j] += sums[k, s] ** 2
    for slot in active_slots:
        for j in range(n_variables):
            norms[slot, j] = 0.0 if nodes.excluded[node[slot], j] else np.sqrt(norms[slot, j]) / table.scale[j]


# Plain loops instead of numpy's functions, each of which would have to be compiled before the first call.


@njit(cache=True, nogil=True, error_model="numpy")
def _grown(buffer, length, more):
    """Return the buffer, or a copy twice as large if ``more`` entries do not fit after its first ``length``."""
    if length + more <= len(buffer):
        return buffer
    larger = np.empty(2 * (length + more), buffer.dtype)
    for k in range(length):
        larger[k] = buffer[k]
    return larger


@njit(cache=True, nogil=True, error_model="numpy")
def _minus_ones(shape):
    array = np.zeros(shape, np.int64)
    array -= 1
    return array


@njit(cache=True, nogil=True, error_model="numpy")
def _largest(values):
    largest = values[0]
    for value in values:
        largest = max(largest, value)
    return largest


@njit(cache=True, nogil=True, error_model="numpy")
def _indices(mask):
    """Return the indices at which ``mask`` is true."""
    found, n = np.empty(len(mask), np.int64), 0
    for k in range(len(mask)):
        if mask[k]:
            found[n] = k
            n += 1
    return found[:n]
