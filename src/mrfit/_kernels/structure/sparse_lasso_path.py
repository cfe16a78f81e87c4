"""Paths of many regressions over lists of active entries: yes/no variables, of which a row has few.

Rows without any of the columns at work in a regression are one cell, whose probability p0 is that of most rows. So the
gradient of variable j is p0 times its weight, but for the rows it shares with the variable itself or with columns at
work: a check of all variables, exact, costs the entries of these rows and no more. Variables that share no such row
have p0 times their weight and nothing else, so the largest of them, by falling weight, speaks for all.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mrfit._kernels.machine_code.compiled import njit
from mrfit._kernels.structure.dense_lasso_path import Points, _minus_ones, _with_room
from mrfit._kernels.structure.sparse_newton import solve_on_cells

# Variables let in at once, for each that a path may select: thousands share the same few rows, and enter together.
_CROWD, _LEAST_CROWD = 4, 16


class ItemLists(NamedTuple):
    """A table by column and by row."""

    start: np.ndarray  # rows[start[j] : start[j + 1]] are the rows in which variable j is on, ascending
    rows: np.ndarray
    row_start: np.ndarray  # items[row_start[r] : row_start[r + 1]] are the variables that are on in row r
    items: np.ndarray
    sample_weight: np.ndarray
    weight: np.ndarray  # of the rows of every variable
    scale: np.ndarray  # of every variable: its coefficients are penalised by so many times the strength
    by_reach: np.ndarray  # variables by falling weight / scale
    barred: np.ndarray  # (pairs, 2) that may not enter each other's regressions, by the first, both ways
    left_out: np.ndarray  # variables that enter no regression


class _PathBuffers(NamedTuple):
    """Arrays as long as the table is, which every regression leaves as it found them."""

    class_of: np.ndarray  # cell of every row
    is_touched: np.ndarray  # rows that have a column at work
    own: np.ndarray  # rows in which the variable itself is on
    is_working: np.ndarray  # columns at work
    is_met: np.ndarray  # variables that share a row with the variable itself, or did with a column at work
    is_barred: np.ndarray
    together: np.ndarray  # weight of the rows that a variable shares with the variable itself
    gradient: np.ndarray
    beta: np.ndarray
    touched: np.ndarray  # rows, as they were found
    met: np.ndarray  # variables, as they were found


@njit(cache=True, nogil=True, error_model="numpy")
def critical_strengths(table, variables, out):
    """For every variable the strength at which the first neighbour enters its regression."""
    room, p, total = _room(table), np.empty(1), _sum(table.sample_weight)
    for n in range(len(variables)):
        n_met = _meet(table, variables[n], room)
        p[0] = table.weight[variables[n]] / total
        n_met = _check(table, p, room, n_met, 0)
        out[n] = _largest_outside(table, p[0], room, n_met)
        _leave(table, variables[n], room, n_met, 0)


@njit(cache=True, nogil=True, error_model="numpy")
def walk_item_paths(table, nodes, max_selected):
    """Solve every node at each of its strengths in turn, each from the last, until it selects too many variables.

    As `walk_paths` does, but one node after the other. The nodes' gradient norms and excluded variables are not
    looked at. Where a crowd would enter at once, those with the largest gradients go first; a path ends as soon as
    they alone are more than twice too many, without asking what all the others would make of them.
    """
    n_nodes, n_steps = nodes.strength.shape
    loss, violation = np.zeros((n_nodes, n_steps)), np.zeros((n_nodes, n_steps))
    constant, n_selected = np.zeros((n_nodes, n_steps, 1)), _minus_ones((n_nodes, n_steps))
    first = np.zeros((n_nodes, n_steps), np.int64)
    selected, values, n_chosen = np.empty(64, np.int64), np.empty(64), 0
    room, total, crowd = _room(table), _sum(table.sample_weight), max(_LEAST_CROWD, _CROWD * max_selected)
    for i in range(n_nodes):
        variable, free, t, is_crowd = nodes.variable[i], nodes.constant[i, 0], 0, False
        n_met, n_touched = _meet(table, variable, room), 0
        working = nodes.selected[nodes.first_selected[i] : nodes.first_selected[i] + nodes.n_selected[i]]
        for n in range(len(working)):
            room.is_working[working[n]] = True
            room.beta[working[n]] = nodes.values[nodes.first_selected[i] + n]
        while t < nodes.n_steps[i]:
            strength = nodes.strength[i, t]
            n_touched, p, free, inside, loss[i, t] = _solve(
                table, variable, room, n_touched, working, free, total, strength, 0.5 * nodes.slack[i]
            )
            n_met = _check(table, p, room, n_met, n_touched)
            outside = _largest_outside(table, p[0], room, n_met)
            if outside > strength + nodes.slack[i]:
                if is_crowd and _n_selected(room, working) > 2 * max_selected:
                    break
                limit = strength + nodes.slack[i]
                working, is_crowd = _let_in(table, p[0], room, n_met, limit, working, crowd)
                continue
            working = _without_zeros(room, working)
            if len(working) > max_selected:
                break
            violation[i, t], constant[i, t, 0] = max(inside, outside - strength), free
            n_selected[i, t], first[i, t] = len(working), n_chosen
            selected = _with_room(selected, n_chosen, len(working))
            values = _with_room(values, n_chosen, len(working))
            for j in working:
                selected[n_chosen], values[n_chosen] = j, room.beta[j]
                n_chosen += 1
            t += 1
            if t < nodes.n_steps[i]:
                working, is_crowd = _let_in(table, p[0], room, n_met, nodes.strength[i, t], working, crowd)
        for j in working:
            room.is_working[j], room.beta[j] = False, 0.0
        _leave(table, variable, room, n_met, n_touched)
    return Points(loss, violation, constant, n_selected, first, first, selected[:n_chosen], values[:n_chosen])


@njit(cache=True, nogil=True, error_model="numpy")
def solve_on_items(table, room, variable, working, strength, tolerance, beta):
    """One regression on the columns ``working``, ascending; improves ``beta``, the constant first. Returns its loss."""
    n_met, total = _meet(table, variable, room), _sum(table.sample_weight)
    for n in range(len(working)):
        room.beta[working[n]] = beta[1 + n]
    n_touched, _, beta[0], _, loss = _solve(table, variable, room, 0, working, beta[0], total, strength, tolerance)
    for n in range(len(working)):
        beta[1 + n], room.beta[working[n]] = room.beta[working[n]], 0.0
    _leave(table, variable, room, n_met, n_touched)
    return loss


@njit(cache=True, nogil=True, error_model="numpy")
def item_room(table):
    """Room for `solve_on_items`, of one thread."""
    return _room(table)


@njit(cache=True, nogil=True, error_model="numpy")
def _room(table):
    n_rows, n_variables = len(table.sample_weight), len(table.weight)
    return _PathBuffers(
        class_of=np.zeros(n_rows, np.int64),
        is_touched=np.zeros(n_rows, np.bool_),
        own=np.zeros(n_rows, np.bool_),
        is_working=np.zeros(n_variables, np.bool_),
        is_met=np.zeros(n_variables, np.bool_),
        is_barred=table.left_out.copy(),
        together=np.zeros(n_variables),
        gradient=np.zeros(n_variables),
        beta=np.zeros(n_variables),
        touched=np.empty(n_rows, np.int64),
        met=np.empty(n_variables, np.int64),
    )


@njit(cache=True, nogil=True, error_model="numpy")
def _meet(table, variable, room):
    """Find the variables that share rows with ``variable``, and the weights of these; returns how many they are."""
    n_met = 0
    for at in range(table.start[variable], table.start[variable + 1]):
        r = table.rows[at]
        room.own[r] = True
        for k in range(table.row_start[r], table.row_start[r + 1]):
            j = table.items[k]
            if not room.is_met[j]:
                room.is_met[j] = True
                room.met[n_met] = j
                n_met += 1
            room.together[j] += table.sample_weight[r]
    _bar(table, variable, room, True)
    return n_met


@njit(cache=True, nogil=True, error_model="numpy")
def _leave(table, variable, room, n_met, n_touched):
    """Make the room as it was."""
    for at in range(table.start[variable], table.start[variable + 1]):
        room.own[table.rows[at]] = False
    _untouch(room, n_touched)
    for n in range(n_met):
        room.is_met[room.met[n]] = False
        room.together[room.met[n]] = 0.0
    _bar(table, variable, room, False)


@njit(cache=True, nogil=True, error_model="numpy")
def _bar(table, variable, room, barred):
    """Bar a variable itself, and those it may not be a neighbour of, from its regression; or no longer."""
    room.is_barred[variable] = barred or table.left_out[variable]
    low, high = 0, len(table.barred)
    while low < high:
        middle = (low + high) // 2
        if table.barred[middle, 0] < variable:
            low = middle + 1
        else:
            high = middle
    while low < len(table.barred) and table.barred[low, 0] == variable:
        room.is_barred[table.barred[low, 1]] = barred or table.left_out[table.barred[low, 1]]
        low += 1


@njit(cache=True, nogil=True, error_model="numpy")
def _untouch(room, n_touched):
    for n in range(n_touched):
        room.class_of[room.touched[n]] = 0
        room.is_touched[room.touched[n]] = False


@njit(cache=True, nogil=True, error_model="numpy")
def _solve(table, variable, room, n_touched, working, free, total_weight, strength, tolerance):
    """Solve on the columns ``working``; coefficients go to the room.

    Returns (rows touched, probability in every cell, constant, violation, loss).
    """
    _untouch(room, n_touched)
    n_touched, n_cells = _split(table, room, working)
    total, counts, residual = np.zeros(n_cells), np.zeros(n_cells), np.empty(n_cells)
    total[0], counts[0] = total_weight, table.weight[variable]
    for n in range(n_touched):
        r = room.touched[n]
        c, weight = room.class_of[r], table.sample_weight[r]
        if c > 0:
            total[c] += weight
            total[0] -= weight
            if room.own[r]:
                counts[c] += weight
                counts[0] -= weight
    bits, starts = np.zeros((len(working), n_cells), np.uint8), np.empty(len(working) + 1, np.int64)
    beta, strengths = np.empty(1 + len(working)), np.empty(len(working))
    beta[0], starts[0] = free, 0
    for n in range(len(working)):
        j = working[n]
        starts[n + 1], beta[1 + n], strengths[n] = n + 1, room.beta[j], strength * table.scale[j]
        for at in range(table.start[j], table.start[j + 1]):
            bits[n, room.class_of[table.rows[at]]] = 1
    violation, value, penalty = solve_on_cells(1, starts, bits, counts, total, strengths, tolerance, beta, residual)
    for n in range(len(working)):
        room.beta[working[n]] = beta[1 + n]
    for c in range(n_cells):
        residual[c] = (residual[c] + counts[c]) / total[c]
    return n_touched, residual, beta[0], violation, value - penalty


@njit(cache=True, nogil=True, error_model="numpy")
def _split(table, room, working):
    """Cells of the rows that agree on ``working``; returns (rows touched, cells).

    As `partition.split`, with arrays no longer than the columns are; rows that are not touched are in class 0.
    """
    most = 1
    for j in working:
        most += table.start[j + 1] - table.start[j]
    size, moved, child = np.zeros(most, np.int64), np.zeros(most, np.int64), _minus_ones((most,))
    size[0] = len(table.sample_weight)
    n_touched, n_cells = 0, 1
    for j in working:
        first, last = table.start[j], table.start[j + 1]
        for at in range(first, last):
            r = table.rows[at]
            moved[room.class_of[r]] += 1
            if not room.is_touched[r]:
                room.is_touched[r] = True
                room.touched[n_touched] = r
                n_touched += 1
        n_before = n_cells
        for at in range(first, last):
            r = table.rows[at]
            old = room.class_of[r]
            if child[old] < 0 and moved[old] < size[old]:
                child[old] = n_cells
                size[n_cells] = moved[old]
                n_cells += 1
            if child[old] >= 0:
                room.class_of[r] = child[old]
        for c in range(n_before):
            if child[c] >= 0:
                size[c] -= moved[c]
                child[c] = -1
            moved[c] = 0
    return n_touched, n_cells


@njit(cache=True, nogil=True, error_model="numpy")
def _check(table, p, room, n_met, n_touched):
    """The gradients of all variables that were met, and of those that touched rows bring; returns how many they are."""
    p0 = p[0]
    for n in range(n_met):
        j = room.met[n]
        room.gradient[j] = p0 * table.weight[j] - room.together[j]
    for n in range(n_touched):
        r = room.touched[n]
        more = table.sample_weight[r] * (p[room.class_of[r]] - p0)
        for k in range(table.row_start[r], table.row_start[r + 1]):
            j = table.items[k]
            if not room.is_met[j]:
                room.is_met[j] = True
                room.met[n_met] = j
                n_met += 1
                room.gradient[j] = p0 * table.weight[j]
            room.gradient[j] += more
    return n_met


@njit(cache=True, nogil=True, error_model="numpy")
def _largest_outside(table, p0, room, n_met):
    """The largest gradient, by scale, of a variable that is not at work."""
    largest = 0.0
    for n in range(n_met):
        j = room.met[n]
        if not room.is_working[j] and not room.is_barred[j]:
            largest = max(largest, abs(room.gradient[j]) / table.scale[j])
    for j in table.by_reach:
        reach = p0 * table.weight[j] / table.scale[j]
        if reach <= largest:
            break
        if not room.is_met[j] and not room.is_barred[j]:
            return reach
    return largest


@njit(cache=True, nogil=True, error_model="numpy")
def _let_in(table, p0, room, n_met, limit, working, crowd):
    """What is at work, and those whose gradient is beyond the limit, ascending; and whether some had to stay outside.

    These are all but the ``crowd`` with the largest gradients.
    """
    n_before, n = len(working), len(working)
    larger = _with_room(working.copy(), n, n_met)
    for k in range(n_met):
        j = room.met[k]
        if not room.is_working[j] and not room.is_barred[j] and abs(room.gradient[j]) > limit * table.scale[j]:
            larger[n] = j
            n += 1
    for j in table.by_reach:
        if p0 * table.weight[j] <= limit * table.scale[j]:
            break
        if not room.is_met[j] and not room.is_barred[j] and not room.is_working[j]:
            larger = _with_room(larger, n, 1)
            room.gradient[j] = p0 * table.weight[j]
            larger[n] = j
            n += 1
    is_crowd = n - n_before > crowd
    if is_crowd:
        n = n_before + _largest_first(table, room, larger[n_before:n], crowd)
    for k in range(n_before, n):
        room.is_working[larger[k]] = True
    _sort(larger, n)
    return larger[:n], is_crowd


@njit(cache=True, nogil=True, error_model="numpy")
def _largest_first(table, room, variables, n):
    """Bring the ``n`` with the largest gradients, by scale, to the front, by insertion; returns how many these are."""
    for k in range(1, len(variables)):
        j, at = variables[k], min(k, n)
        reach = abs(room.gradient[j]) / table.scale[j]
        while at > 0 and abs(room.gradient[variables[at - 1]]) / table.scale[variables[at - 1]] < reach:
            if at < n:
                variables[at] = variables[at - 1]
            at -= 1
        if at < n:
            variables[at] = j
    return n


@njit(cache=True, nogil=True, error_model="numpy")
def _n_selected(room, working):
    n = 0
    for j in working:
        if room.beta[j] != 0.0:
            n += 1
    return n


@njit(cache=True, nogil=True, error_model="numpy")
def _without_zeros(room, working):
    kept, n = np.empty(len(working), np.int64), 0
    for j in working:
        room.is_working[j] = room.beta[j] != 0.0
        if room.is_working[j]:
            kept[n] = j
            n += 1
    return kept[:n]


@njit(cache=True, nogil=True, error_model="numpy")
def _sort(values, n):
    """The first n of them in place, by insertion: they are few, and most stand in order."""
    for k in range(1, n):
        value, at = values[k], k
        while at > 0 and values[at - 1] > value:
            values[at] = values[at - 1]
            at -= 1
        values[at] = value


@njit(cache=True, nogil=True, error_model="numpy")
def _sum(values):
    total = 0.0
    for value in values:
        total += value
    return total
