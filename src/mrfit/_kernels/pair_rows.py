"""The pass over rows of a joint model of pairs: value, gradient, Hessian products and diagonal.

For variable i with states 0..S every row r holds

    z[s, r] = constants[s] + sum over neighbours j, in state t > 0 in row r, of w[pair i - j, s, t],   s = 1..S

A parameter of a pair is met twice, once from either end. Derivatives from the two ends go to two rows of ``slopes``, so
variables are independent, threads never share a sum, and the result does not depend on how variables are dealt to
threads. Unlike the cells of a fixed structure nothing is prepared, so that pairs may come and go: a pass costs the
entries of neighbours that are not in their silent state, and one logistic function for each row.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from mrfit._kernels.compiled import njit
from mrfit._kernels.logistic import binary_loss, curvature_diagonal, curvature_times, keep_expected, multinomial_loss

EXPANSION, PRODUCT, DIAGONAL = 0, 1, 2

# Columns as compressed lists of rows (see `ActiveEntries`), states by variable and row, and the weight of the rows.
RowArrays = namedtuple("RowArrays", "start rows first_column codes sample_weight")
# Neighbours of variable i at start[i]:start[i + 1], and where the parameters of the pair begin.
LinkArrays = namedtuple("LinkArrays", "start other offset")


@njit(cache=True, nogil=True)
def _place(variable, other, s, t, n_own, n_other, offset):
    """The parameter of own state s and the neighbour's state t: tables are laid out from the lower variable."""
    return offset + (s * n_other + t if variable < other else t * n_own + s)


@njit(cache=True, nogil=True)
def _add(rows, value, z):
    for k in range(len(rows)):
        z[rows[k]] += value


@njit(cache=True, nogil=True, fastmath={"reassoc"})
def _sum_at(rows, values):
    total = 0.0
    for k in range(len(rows)):
        total += values[rows[k]]
    return total


@njit(cache=True, nogil=True)
def _logits(table, links, variable, constants, w, z):
    n_rows, first_column = len(table.sample_weight), table.first_column
    n_own = first_column[variable + 1] - first_column[variable]
    for s in range(n_own):
        z[s * n_rows : (s + 1) * n_rows] = constants[first_column[variable] + s]
    for k in range(links.start[variable], links.start[variable + 1]):
        other = links.other[k]
        n_other = first_column[other + 1] - first_column[other]
        for t in range(n_other):
            column = first_column[other] + t
            rows = table.rows[table.start[column] : table.start[column + 1]]
            for s in range(n_own):
                value = w[_place(variable, other, s, t, n_own, n_other, links.offset[k])]
                _add(rows, value, z[s * n_rows : (s + 1) * n_rows])


@njit(cache=True, nogil=True)
def _slopes(table, links, variable, residual, constant_slopes, slopes):
    n_rows, first_column = len(table.sample_weight), table.first_column
    n_own = first_column[variable + 1] - first_column[variable]
    for s in range(n_own):
        constant_slopes[first_column[variable] + s] = residual[s * n_rows : (s + 1) * n_rows].sum()
    for k in range(links.start[variable], links.start[variable + 1]):
        other = links.other[k]
        n_other = first_column[other + 1] - first_column[other]
        end = 0 if variable < other else 1
        for t in range(n_other):
            column = first_column[other] + t
            rows = table.rows[table.start[column] : table.start[column + 1]]
            for s in range(n_own):
                place = _place(variable, other, s, t, n_own, n_other, links.offset[k])
                slopes[end, place] = _sum_at(rows, residual[s * n_rows : (s + 1) * n_rows])


@njit(cache=True, nogil=True)
def _observed(table, variable, n_own, total, counts):
    """Weight of every row, and by state; rows in a state that has no place are not judged and weigh nothing."""
    n_rows, codes = len(table.sample_weight), table.codes[variable]
    for r in range(n_rows):
        total[r] = table.sample_weight[r] if codes[r] <= n_own else 0.0
    for s in range(n_own):
        for r in range(n_rows):
            counts[s * n_rows + r] = table.sample_weight[r] if codes[r] == s + 1 else 0.0


@njit(cache=True, nogil=True)
def sweep(mode, table, links, first, last, constants, w, expected, values, constant_slopes, slopes):
    """Variables ``first`` to ``last``: fills their ``values`` and slopes; ``expected``, weight * p, (columns, rows).

    EXPANSION takes ``constants`` and ``w`` for a point and writes ``expected``; PRODUCT takes them for a direction and
    DIAGONAL takes nothing, both at the point of ``expected``.
    """
    n_rows, first_column = len(table.sample_weight), table.first_column
    n_most = 0
    for i in range(first, last):
        n_most = max(n_most, first_column[i + 1] - first_column[i])
    z, residual, counts = np.empty(n_most * n_rows), np.empty(n_most * n_rows), np.empty(n_most * n_rows)
    total, scratch, more_scratch = np.empty(n_rows), np.empty(n_rows), np.empty(n_rows)
    flat = expected.reshape(-1)
    for i in range(first, last):
        n_own, at = first_column[i + 1] - first_column[i], first_column[i] * n_rows
        if n_own == 0:
            continue
        if mode != DIAGONAL:
            _logits(table, links, i, constants, w, z)
        if mode == EXPANSION:
            _observed(table, i, n_own, total, counts)
            if n_own == 1:
                values[i] = binary_loss(n_rows, z, counts, 0, total, 0, residual)
            else:
                values[i] = multinomial_loss(n_own, n_rows, z, counts, 0, total, 0, residual, scratch, more_scratch)
            keep_expected(n_own * n_rows, residual, counts, 0, flat[at : at + n_own * n_rows])
        elif mode == PRODUCT:
            curvature_times(n_own, n_rows, z, flat, at, table.sample_weight, 0, residual, scratch)
        else:
            curvature_diagonal(n_own, n_rows, flat, at, table.sample_weight, 0, residual)
        _slopes(table, links, i, residual, constant_slopes, slopes)
