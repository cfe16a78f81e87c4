"""Passes over a joint model of pairs: value, gradient, Hessian products and diagonal.

For variable i with states 0..S every row r holds

    z[s, r] = constants[s] + sum over neighbours j, in state t > 0 in row r, of w[pair i - j, s, t],   s = 1..S

Rows that agree on all neighbours of i are one *cell* of i, if this at least halves their number. Otherwise every row is
a cell and only a copy of the weights is prepared. This is cheaper to set up than `cells` with its prefix trees, but
slower in every pass: it suits pairs that change often, with a few passes for each set of them.

A parameter of a pair is used twice, once from either end. Derivatives from the two ends go to two rows of ``slopes``.
Variables are therefore independent, threads never share a sum, and the result does not depend on how variables are
dealt to threads.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from mrfit._kernels.data.partition import refine
from mrfit._kernels.fitting.logistic import (
    binary_loss,
    curvature_diagonal,
    curvature_times,
    keep_expected,
    multinomial_loss,
)
from mrfit._kernels.machine_code.compiled import njit

EXPANSION, PRODUCT, DIAGONAL = 0, 1, 2

# Columns as compressed lists of rows (see `ActiveEntries`), states by variable and row, and the weight of the rows.
RowArrays = namedtuple("RowArrays", "start rows first_column codes sample_weight")
# Neighbours of variable i at start[i]:start[i + 1], the start of the pair's parameters, and the start of the cells of
# the neighbour's columns in ``members`` (one entry for each column, from column_start[link] on, plus one).
LinkArrays = namedtuple("LinkArrays", "start other offset column_start")
# Cells of variable i at start[i], their weight by state, (S, cells), at count_start[i]; the cell of every row by
# variable, if rows were merged; and the cells in which each column of a neighbour is active.
PairCells = namedtuple("PairCells", "start count_start is_merged cell_of total counts member_start members")


@njit(cache=True, nogil=True)
def merge_rows(table, links, first, last, cell_of, n_cells, n_members):
    """Number the cells of variables ``first`` to ``last``, and count the cells with active columns of neighbours."""
    n_rows, first_column = len(table.sample_weight), table.first_column
    seen_in = np.empty(n_rows, np.int32)
    for i in range(first, last):
        low, high = links.column_start[links.start[i]], links.column_start[links.start[i + 1]]
        columns, at = np.empty(high - low, np.int64), 0
        for k in range(links.start[i], links.start[i + 1]):
            for column in range(first_column[links.other[k]], first_column[links.other[k] + 1]):
                columns[at] = column
                at += 1
        n_cells[i] = refine(table.start, table.rows, columns, cell_of[i])
        # Merging that saves less than half of the rows is not worth the look-ups: every row stays a cell.
        if 2 * n_cells[i] > n_rows:
            n_cells[i] = n_rows
            n_members[low:high] = 0
            continue
        seen_in[:] = -1
        for k in range(len(columns)):
            count = 0
            for at in range(table.start[columns[k]], table.start[columns[k] + 1]):
                cell = cell_of[i, table.rows[at]]
                if seen_in[cell] != k:
                    seen_in[cell] = k
                    count += 1
            n_members[low + k] = count


@njit(cache=True, nogil=True)
def fill_cells(table, links, cells, first, last):
    """Fill the weights and members of the cells of variables ``first`` to ``last``.

    Rows in a state without a column carry no weight.
    """
    n_rows, first_column = len(table.sample_weight), table.first_column
    seen_in = np.empty(n_rows, np.int32)
    for i in range(first, last):
        n_own, n_cells = first_column[i + 1] - first_column[i], cells.start[i + 1] - cells.start[i]
        total = cells.total[cells.start[i] : cells.start[i + 1]]
        counts = cells.counts[cells.count_start[i] : cells.count_start[i + 1]]
        total[:] = 0.0
        counts[:] = 0.0
        codes, merged = table.codes[i], cells.is_merged[i]
        for r in range(n_rows):
            cell = cells.cell_of[i, r] if merged else r
            if codes[r] <= n_own:
                total[cell] += table.sample_weight[r]
                if codes[r] > 0:
                    counts[(codes[r] - 1) * n_cells + cell] += table.sample_weight[r]
        if not merged:
            continue
        seen_in[:] = -1
        at = links.column_start[links.start[i]]
        for k in range(links.start[i], links.start[i + 1]):
            for column in range(first_column[links.other[k]], first_column[links.other[k] + 1]):
                position = cells.member_start[at]
                for entry in range(table.start[column], table.start[column + 1]):
                    cell = cells.cell_of[i, table.rows[entry]]
                    if seen_in[cell] != column:
                        seen_in[cell] = column
                        cells.members[position] = cell
                        position += 1
                at += 1


@njit(cache=True, nogil=True)
def _parameter_at(variable, other, s, t, n_own, n_other, offset):
    """Return the parameter of own state s and the neighbour's state t; tables are laid out from the lower variable."""
    return offset + (s * n_other + t if variable < other else t * n_own + s)


@njit(cache=True, nogil=True)
def _active(table, links, cells, variable, link, t):
    """Return the cells of a variable in which its neighbour is in state t + 1."""
    if cells.is_merged[variable]:
        at = links.column_start[link] + t
        return cells.members[cells.member_start[at] : cells.member_start[at + 1]]
    column = table.first_column[links.other[link]] + t
    return table.rows[table.start[column] : table.start[column + 1]]


@njit(cache=True, nogil=True)
def _add(at, value, z):
    for k in range(len(at)):
        z[at[k]] += value


@njit(cache=True, nogil=True, fastmath={"reassoc"})
def _sum_at(at, values):
    total = 0.0
    for k in range(len(at)):
        total += values[at[k]]
    return total


@njit(cache=True, nogil=True)
def _logits(table, links, cells, variable, constants, w, z):
    first_column, n_cells = table.first_column, cells.start[variable + 1] - cells.start[variable]
    n_own = first_column[variable + 1] - first_column[variable]
    for s in range(n_own):
        z[s * n_cells : (s + 1) * n_cells] = constants[first_column[variable] + s]
    for k in range(links.start[variable], links.start[variable + 1]):
        other = links.other[k]
        n_other = first_column[other + 1] - first_column[other]
        for t in range(n_other):
            active = _active(table, links, cells, variable, k, t)
            for s in range(n_own):
                value = w[_parameter_at(variable, other, s, t, n_own, n_other, links.offset[k])]
                _add(active, value, z[s * n_cells : (s + 1) * n_cells])


@njit(cache=True, nogil=True)
def _slopes(table, links, cells, variable, residual, constant_slopes, slopes):
    first_column, n_cells = table.first_column, cells.start[variable + 1] - cells.start[variable]
    n_own = first_column[variable + 1] - first_column[variable]
    for s in range(n_own):
        constant_slopes[first_column[variable] + s] = residual[s * n_cells : (s + 1) * n_cells].sum()
    for k in range(links.start[variable], links.start[variable + 1]):
        other = links.other[k]
        n_other = first_column[other + 1] - first_column[other]
        end = 0 if variable < other else 1
        for t in range(n_other):
            active = _active(table, links, cells, variable, k, t)
            for s in range(n_own):
                position = _parameter_at(variable, other, s, t, n_own, n_other, links.offset[k])
                slopes[end, position] = _sum_at(active, residual[s * n_cells : (s + 1) * n_cells])


@njit(cache=True, nogil=True)
def sweep(mode, table, links, cells, first, last, constants, w, expected, values, constant_slopes, slopes):
    """Fill values and slopes of variables ``first`` to ``last``; ``expected`` = weight * p has the layout of counts.

    EXPANSION evaluates at the point (``constants``, ``w``) and writes ``expected``. PRODUCT takes them as a direction,
    and DIAGONAL ignores them; both are at the point of ``expected``.
    """
    longest, most_cells = 0, 0
    for i in range(first, last):
        longest = max(longest, cells.count_start[i + 1] - cells.count_start[i])
        most_cells = max(most_cells, cells.start[i + 1] - cells.start[i])
    z, residual = np.empty(longest), np.empty(longest)
    scratch, more_scratch = np.empty(most_cells), np.empty(most_cells)
    total, counts = cells.total, cells.counts
    for i in range(first, last):
        n_own = table.first_column[i + 1] - table.first_column[i]
        n_cells, at, cell = cells.start[i + 1] - cells.start[i], cells.count_start[i], cells.start[i]
        if n_own == 0:
            continue
        if mode != DIAGONAL:
            _logits(table, links, cells, i, constants, w, z)
        if mode == EXPANSION:
            if n_own == 1:
                values[i] = binary_loss(n_cells, z, counts, at, total, cell, residual)
            else:
                values[i] = multinomial_loss(
                    n_own, n_cells, z, counts, at, total, cell, residual, scratch, more_scratch
                )
            keep_expected(n_own * n_cells, residual, counts, at, expected)
        elif mode == PRODUCT:
            curvature_times(n_own, n_cells, z, expected, at, total, cell, residual, scratch)
        else:
            curvature_diagonal(n_own, n_cells, expected, at, total, cell, residual)
        _slopes(table, links, cells, i, residual, constant_slopes, slopes)


@njit(cache=True, nogil=True, error_model="numpy")
def over_rows(table, cells, expected, first, last, residual, curvature):
    """Compute expected - observed weight of every row and column, and its curvature, for ``first`` to ``last``."""
    n_rows, lane = len(table.sample_weight), 0
    for i in range(first, last):
        n_cells, merged, codes = cells.start[i + 1] - cells.start[i], cells.is_merged[i], table.codes[i]
        for s in range(table.first_column[i + 1] - table.first_column[i]):
            own = expected[cells.count_start[i] + s * n_cells : cells.count_start[i] + (s + 1) * n_cells]
            total = cells.total[cells.start[i] : cells.start[i + 1]]
            for r in range(n_rows):
                cell = cells.cell_of[i, r] if merged else r
                p, weight = own[cell] / total[cell], table.sample_weight[r]
                residual[lane, r] = weight * (p - (codes[r] == s + 1))
                curvature[lane, r] = weight * p * (1.0 - p)
            lane += 1
