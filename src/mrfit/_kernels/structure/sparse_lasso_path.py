"""Paths of many regressions over lists of active entries: binary variables, few of which are active in a row.

Rows without any of a regression's working columns are one cell, whose probability p0 is that of most rows. The gradient
of variable j is therefore p0 times its weight, corrected for the rows it shares with the variable itself or with
working columns. An exact check of all variables costs only the entries of these rows. Variables that share no such row
have the gradient p0 times their weight, so the heaviest of them bounds all others.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mrfit._kernels.machine_code.compiled import njit
from mrfit._kernels.structure.dense_lasso_path import Points, _grown, _minus_ones
from mrfit._kernels.structure.sparse_newton import solve_on_cells

# Variables let in at once, per variable that a path may select: thousands share the same few rows and enter at once.
_CROWD, _LEAST_CROWD = 4, 16


class ItemLists(NamedTuple):
    """Binary table by column and by row."""

    start: np.ndarray  # rows[start[j] : start[j + 1]] are the rows in which variable j is active, ascending
    rows: np.ndarray
    row_start: np.ndarray  # items[row_start[r] : row_start[r + 1]] are the active variables of row r
    items: np.ndarray
    sample_weight: np.ndarray
    weight: np.ndarray  # of the rows of every variable
    scale: np.ndarray  # of every variable: factor of the penalty strength of its coefficients
    by_reach: np.ndarray  # variables by falling weight / scale
    barred: np.ndarray  # (pairs, 2) that may not enter each other's regressions, sorted by the first, in both orders
    left_out: np.ndarray  # variables that enter no regression


class _PathBuffers(NamedTuple):
    """Arrays as long as the table, which every regression restores after use."""

    class_of: np.ndarray  # cell of every row
    is_touched: np.ndarray  # rows with a working column
    own: np.ndarray  # rows in which the variable itself is active
    is_working: np.ndarray  # working columns
    is_met: np.ndarray  # variables that share a row with the variable itself, or did with a working column
    is_barred: np.ndarray
    shared_weight: np.ndarray  # weight of the rows that a variable shares with the variable itself
    gradient: np.ndarray
    beta: np.ndarray
    touched: np.ndarray  # rows, in the order found
    met: np.ndarray  # variables, in the order found


@njit(cache=True, nogil=True, error_model="numpy")
def critical_strengths(table, variables, out):
    """Compute for every variable the strength at which the first neighbour enters its regression."""
    work, p, total = _work_arrays(table), np.empty(1), _sum(table.sample_weight)
    for n in range(len(variables)):
        n_met = _meet(table, variables[n], work)
        p[0] = table.weight[variables[n]] / total
        n_met = _check(table, p, work, n_met, 0)
        out[n] = _largest_outside(table, p[0], work, n_met)
        _leave(table, variables[n], work, n_met, 0)


@njit(cache=True, nogil=True, error_model="numpy")
def walk_item_paths(table, nodes, max_selected):
    """Solve every node at each of its strengths in turn, each from the last, until it selects too many variables.

    Unlike `walk_paths` it takes one node after the other, and ignores the nodes' gradient norms and excluded variables.
    If a crowd would enter at once, those with the largest gradients go first. A path ends as soon as these alone are
    more than twice too many, without computing the effect on all others.
    """
    n_nodes, n_steps = nodes.strength.shape
    loss, violation = np.zeros((n_nodes, n_steps)), np.zeros((n_nodes, n_steps))
    constant, n_selected = np.zeros((n_nodes, n_steps, 1)), _minus_ones((n_nodes, n_steps))
    first = np.zeros((n_nodes, n_steps), np.int64)
    selected, values, n_chosen = np.empty(64, np.int64), np.empty(64), 0
    work, total, crowd = _work_arrays(table), _sum(table.sample_weight), max(_LEAST_CROWD, _CROWD * max_selected)
    for i in range(n_nodes):
        variable, free, t, is_crowd = nodes.variable[i], nodes.constant[i, 0], 0, False
        n_met, n_touched = _meet(table, variable, work), 0
        working = nodes.selected[nodes.first_selected[i] : nodes.first_selected[i] + nodes.n_selected[i]]
        for n in range(len(working)):
            work.is_working[working[n]] = True
            work.beta[working[n]] = nodes.values[nodes.first_selected[i] + n]
        while t < nodes.n_steps[i]:
            strength = nodes.strength[i, t]
            n_touched, p, free, inside, loss[i, t] = _solve(
                table, variable, work, n_touched, working, free, total, strength, 0.5 * nodes.slack[i]
            )
            n_met = _check(table, p, work, n_met, n_touched)
            outside = _largest_outside(table, p[0], work, n_met)
            if outside > strength + nodes.slack[i]:
                if is_crowd and _n_selected(work, working) > 2 * max_selected:
                    break
                limit = strength + nodes.slack[i]
                working, is_crowd = _let_in(table, p[0], work, n_met, limit, working, crowd)
                continue
            working = _without_zeros(work, working)
            if len(working) > max_selected:
                break
            violation[i, t], constant[i, t, 0] = max(inside, outside - strength), free
            n_selected[i, t], first[i, t] = len(working), n_chosen
            selected = _grown(selected, n_chosen, len(working))
            values = _grown(values, n_chosen, len(working))
            for j in working:
                selected[n_chosen], values[n_chosen] = j, work.beta[j]
                n_chosen += 1
            t += 1
            if t < nodes.n_steps[i]:
                working, is_crowd = _let_in(table, p[0], work, n_met, nodes.strength[i, t], working, crowd)
        for j in working:
            work.is_working[j], work.beta[j] = False, 0.0
        _leave(table, variable, work, n_met, n_touched)
    return Points(loss, violation, constant, n_selected, first, first, selected[:n_chosen], values[:n_chosen])


@njit(cache=True, nogil=True, error_model="numpy")
def solve_on_items(table, work, variable, working, strength, tolerance, beta):
    """Solve one regression on the ascending columns ``working``; improve ``beta``, constant first; return the loss."""
    n_met, total = _meet(table, variable, work), _sum(table.sample_weight)
    for n in range(len(working)):
        work.beta[working[n]] = beta[1 + n]
    n_touched, _, beta[0], _, loss = _solve(table, variable, work, 0, working, beta[0], total, strength, tolerance)
    for n in range(len(working)):
        beta[1 + n], work.beta[working[n]] = work.beta[working[n]], 0.0
    _leave(table, variable, work, n_met, n_touched)
    return loss


@njit(cache=True, nogil=True, error_model="numpy")
def item_work_arrays(table):
    """Return the work arrays of one thread for `solve_on_items`."""
    return _work_arrays(table)


@njit(cache=True, nogil=True, error_model="numpy")
def _work_arrays(table):
    n_rows, n_variables = len(table.sample_weight), len(table.weight)
    return _PathBuffers(
        class_of=np.zeros(n_rows, np.int64),
        is_touched=np.zeros(n_rows, np.bool_),
        own=np.zeros(n_rows, np.bool_),
        is_working=np.zeros(n_variables, np.bool_),
        is_met=np.zeros(n_variables, np.bool_),
        is_barred=table.left_out.copy(),
        shared_weight=np.zeros(n_variables),
        gradient=np.zeros(n_variables),
        beta=np.zeros(n_variables),
        touched=np.empty(n_rows, np.int64),
        met=np.empty(n_variables, np.int64),
    )


@njit(cache=True, nogil=True, error_model="numpy")
def _meet(table, variable, work):
    """Find the variables that share rows with ``variable``, and the weights of these rows; return their number."""
    n_met = 0
    for at in range(table.start[variable], table.start[variable + 1]):
        r = table.rows[at]
        work.own[r] = True
        for k in range(table.row_start[r], table.row_start[r + 1]):
            j = table.items[k]
            if not work.is_met[j]:
                work.is_met[j] = True
                work.met[n_met] = j
                n_met += 1
            work.shared_weight[j] += table.sample_weight[r]
    _bar(table, variable, work, True)
    return n_met


@njit(cache=True, nogil=True, error_model="numpy")
def _leave(table, variable, work, n_met, n_touched):
    """Restore the work arrays."""
    for at in range(table.start[variable], table.start[variable + 1]):
        work.own[table.rows[at]] = False
    _untouch(work, n_touched)
    for n in range(n_met):
        work.is_met[work.met[n]] = False
        work.shared_weight[work.met[n]] = 0.0
    _bar(table, variable, work, False)


@njit(cache=True, nogil=True, error_model="numpy")
def _bar(table, variable, work, barred):
    """Bar a variable itself and its forbidden neighbours from its regression, or revoke that."""
    work.is_barred[variable] = barred or table.left_out[variable]
    low, high = 0, len(table.barred)
    while low < high:
        middle = (low + high) // 2
        if table.barred[middle, 0] < variable:
            low = middle + 1
        else:
            high = middle
    while low < len(table.barred) and table.barred[low, 0] == variable:
        work.is_barred[table.barred[low, 1]] = barred or table.left_out[table.barred[low, 1]]
        low += 1


@njit(cache=True, nogil=True, error_model="numpy")
def _untouch(work, n_touched):
    for n in range(n_touched):
        work.class_of[work.touched[n]] = 0
        work.is_touched[work.touched[n]] = False


@njit(cache=True, nogil=True, error_model="numpy")
def _solve(table, variable, work, n_touched, working, free, total_weight, strength, tolerance):
    """Solve on the columns ``working``; coefficients go to the work arrays.

    Returns (rows touched, probability in every cell, constant, violation, loss).
    """
    _untouch(work, n_touched)
    n_touched, n_cells = _split(table, work, working)
    total, counts, residual = np.zeros(n_cells), np.zeros(n_cells), np.empty(n_cells)
    # Cell 0, the rows that no working column touches, is nearly the whole table: it is what remains of the known
    # totals, so its rows are never visited.
    total[0], counts[0] = total_weight, table.weight[variable]
    for n in range(n_touched):
        r = work.touched[n]
        c, weight = work.class_of[r], table.sample_weight[r]
        if c > 0:
            total[c] += weight
            total[0] -= weight
            if work.own[r]:
                counts[c] += weight
                counts[0] -= weight
    bits, starts = np.zeros((len(working), n_cells), np.uint8), np.empty(len(working) + 1, np.int64)
    beta, strengths = np.empty(1 + len(working)), np.empty(len(working))
    beta[0], starts[0] = free, 0
    for n in range(len(working)):
        j = working[n]
        starts[n + 1], beta[1 + n], strengths[n] = n + 1, work.beta[j], strength * table.scale[j]
        for at in range(table.start[j], table.start[j + 1]):
            bits[n, work.class_of[table.rows[at]]] = 1
    violation, value, penalty = solve_on_cells(1, starts, bits, counts, total, strengths, tolerance, beta, residual)
    for n in range(len(working)):
        work.beta[working[n]] = beta[1 + n]
    for c in range(n_cells):
        residual[c] = (residual[c] + counts[c]) / total[c]
    return n_touched, residual, beta[0], violation, value - penalty


@njit(cache=True, nogil=True, error_model="numpy")
def _split(table, work, working):
    """Split the rows into cells that agree on ``working``; return (rows touched, cells).

    It works like `partition.split`, with arrays no longer than the columns; untouched rows are in class 0.
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
            moved[work.class_of[r]] += 1
            if not work.is_touched[r]:
                work.is_touched[r] = True
                work.touched[n_touched] = r
                n_touched += 1
        n_before = n_cells
        for at in range(first, last):
            r = table.rows[at]
            old = work.class_of[r]
            if child[old] < 0 and moved[old] < size[old]:
                child[old] = n_cells
                size[n_cells] = moved[old]
                n_cells += 1
            if child[old] >= 0:
                work.class_of[r] = child[old]
        for c in range(n_before):
            if child[c] >= 0:
                size[c] -= moved[c]
                child[c] = -1
            moved[c] = 0
    return n_touched, n_cells


@njit(cache=True, nogil=True, error_model="numpy")
def _check(table, p, work, n_met, n_touched):
    """Compute the gradients of all met variables, and of those in touched rows; return the number of met variables."""
    p0 = p[0]
    for n in range(n_met):
        j = work.met[n]
        work.gradient[j] = p0 * table.weight[j] - work.shared_weight[j]
    for n in range(n_touched):
        r = work.touched[n]
        more = table.sample_weight[r] * (p[work.class_of[r]] - p0)
        for k in range(table.row_start[r], table.row_start[r + 1]):
            j = table.items[k]
            if not work.is_met[j]:
                work.is_met[j] = True
                work.met[n_met] = j
                n_met += 1
                work.gradient[j] = p0 * table.weight[j]
            work.gradient[j] += more
    return n_met


@njit(cache=True, nogil=True, error_model="numpy")
def _largest_outside(table, p0, work, n_met):
    """Return the largest gradient, by scale, of a variable outside the working set."""
    largest = 0.0
    for n in range(n_met):
        j = work.met[n]
        if not work.is_working[j] and not work.is_barred[j]:
            largest = max(largest, abs(work.gradient[j]) / table.scale[j])
    # Variables that were not met share no row with the variable itself or a working column, so their gradient is
    # exactly p0 times their weight. In falling order of it, the first such variable is the largest.
    for j in table.by_reach:
        reach = p0 * table.weight[j] / table.scale[j]
        if reach <= largest:
            break
        if not work.is_met[j] and not work.is_barred[j]:
            return reach
    return largest


@njit(cache=True, nogil=True, error_model="numpy")
def _let_in(table, p0, work, n_met, limit, working, crowd):
    """Return the working set plus variables with a gradient above the limit, ascending; and whether some were left.

    At most the ``crowd`` variables with the largest gradients enter.
    """
    n_before, n = len(working), len(working)
    larger = _grown(working.copy(), n, n_met)
    for k in range(n_met):
        j = work.met[k]
        if not work.is_working[j] and not work.is_barred[j] and abs(work.gradient[j]) > limit * table.scale[j]:
            larger[n] = j
            n += 1
    for j in table.by_reach:
        if p0 * table.weight[j] <= limit * table.scale[j]:
            break
        if not work.is_met[j] and not work.is_barred[j] and not work.is_working[j]:
            larger = _grown(larger, n, 1)
            work.gradient[j] = p0 * table.weight[j]
            larger[n] = j
            n += 1
    is_crowd = n - n_before > crowd
    if is_crowd:
        n = n_before + _largest_first(table, work, larger[n_before:n], crowd)
    for k in range(n_before, n):
        work.is_working[larger[k]] = True
    _sort(larger, n)
    return larger[:n], is_crowd


@njit(cache=True, nogil=True, error_model="numpy")
def _largest_first(table, work, variables, n):
    """Bring the ``n`` variables with the largest gradients, by scale, to the front; return their number."""
    for k in range(1, len(variables)):
        j, at = variables[k], min(k, n)
        reach = abs(work.gradient[j]) / table.scale[j]
        while at > 0 and abs(work.gradient[variables[at - 1]]) / table.scale[variables[at - 1]] < reach:
            if at < n:
                variables[at] = variables[at - 1]
            at -= 1
        if at < n:
            variables[at] = j
    return n


@njit(cache=True, nogil=True, error_model="numpy")
def _n_selected(work, working):
    n = 0
    for j in working:
        if work.beta[j] != 0.0:
            n += 1
    return n


@njit(cache=True, nogil=True, error_model="numpy")
def _without_zeros(work, working):
    nonzero, n = np.empty(len(working), np.int64), 0
    for j in working:
        work.is_working[j] = work.beta[j] != 0.0
        if work.is_working[j]:
            nonzero[n] = j
            n += 1
    return nonzero[:n]


@njit(cache=True, nogil=True, error_model="numpy")
def _sort(values, n):
    """Sort the first n values by insertion: they are few, and mostly in order."""
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
