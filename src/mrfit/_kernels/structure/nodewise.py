"""Kernels of sparse regressions of single variables on all others: solved on working sets, checked together."""

from __future__ import annotations

import numpy as np

from mrfit._kernels.machine_code.compiled import njit
from mrfit._kernels.structure.node_cells import split_cells
from mrfit._kernels.structure.sparse_newton import BLOCK, solve_on_cells

LANES = 64  # most logits checked together
FEW = 8  # width of the narrow variant
_TILE = 64  # rows whose expected counts stay in the first-level cache


@njit(cache=True, nogil=True, error_model="numpy")
def _columns_of(group_start, working, slot):
    """Return the first column of every group, the columns, and the number without a slot, for ``working`` variables."""
    starts = np.zeros(len(working) + 1, np.int64)
    for g in range(len(working)):
        starts[g + 1] = starts[g] + group_start[working[g] + 1] - group_start[working[g]]
    columns, n_absent = np.empty(starts[-1], np.int64), 0
    for g in range(len(working)):
        for k in range(starts[g], starts[g + 1]):
            columns[k] = group_start[working[g]] + k - starts[g]
            n_absent += slot[columns[k]] < 0
    return starts, columns, n_absent


@njit(cache=True, nogil=True, error_model="numpy")
def _absent(columns, slot, n_absent):
    absent, n = np.empty(n_absent, np.int64), 0
    for k in columns:
        if slot[k] < 0:
            absent[n] = k
            n += 1
    return absent


@njit(cache=True, nogil=True, error_model="numpy")
def solve_node(table, variable, cells, working, strength, tolerance, coefficients):
    """Solve one regression on the groups of ``working``; ``coefficients`` are the starting point and take the solution.

    Coefficients outside ``working`` become zero. Cells are split where needed, and their probabilities filled. Returns
    (cells, violation, loss, penalty).
    """
    n_free = coefficients.shape[1]
    starts, columns, n_new = _columns_of(table.group_start, working, cells.slot)
    if n_new:
        cells = split_cells(table, variable, cells, _absent(columns, cells.slot, n_new))
    strengths = np.empty(len(working))
    for g in range(len(working)):
        strengths[g] = strength * table.scale[working[g]]
    n_cells, probability = len(cells.total), cells.probability
    bits = np.empty((len(columns), n_cells), np.uint8)
    beta = np.empty((1 + len(columns), n_free))
    for s in range(n_free):
        beta[0, s] = coefficients[0, s]
    for k in range(len(columns)):
        own = cells.bits[cells.slot[columns[k]]]
        for c in range(n_cells):
            bits[k, c] = own[c]
        for s in range(n_free):
            beta[1 + k, s] = coefficients[1 + columns[k], s]
    violation, value, penalty = solve_on_cells(
        n_free, starts, bits, cells.counts, cells.total, strengths, tolerance, beta.reshape(-1), probability
    )
    for k in range(len(coefficients)):
        for s in range(n_free):
            coefficients[k, s] = 0.0
    for s in range(n_free):
        coefficients[0, s] = beta[0, s]
        for k in range(len(columns)):
            coefficients[1 + columns[k], s] = beta[1 + k, s]
    for first in range(0, n_cells, BLOCK):
        width = min(BLOCK, n_cells - first)
        for s in range(n_free):
            at = n_free * first + s * width
            for c in range(width):
                probability[at + c] = (probability[at + c] + cells.counts[at + c]) / cells.total[first + c]
    return cells, violation, value - penalty, penalty


@njit(cache=True, nogil=True, error_model="numpy")
def residual_over_rows(table, variable, cells, residual):
    """Fill residual[s, row] = weight of the row * (probability of state s + 1 in its cell - 1 if in that state)."""
    n_free, n_cells, class_of = len(residual), len(cells.total), cells.class_of
    state_of, weight = table.codes[variable], table.sample_weight
    for s in range(n_free):
        out = residual[s]
        if n_free == 1:
            for r in range(len(class_of)):
                out[r] = weight[r] * (cells.probability[class_of[r]] - state_of[r])
        else:
            for r in range(len(class_of)):
                first = class_of[r] - class_of[r] % BLOCK
                width = min(BLOCK, n_cells - first)
                probability = cells.probability[n_free * first + s * width + class_of[r] - first]
                out[r] = weight[r] * (probability - (state_of[r] == s + 1))


def _pass_of(width):
    """Return a pass over the table for ``width`` lanes, a constant, so that inner loops use whole vector registers."""

    @njit(cache=True, nogil=True, error_model="numpy")
    def columns_times(start, rows, values, sums):
        n_lanes, n_rows = values.shape
        tile, own = np.zeros((_TILE, width)), np.zeros((len(start) - 1, width))
        reached = start[:-1].copy()  # next entry of each column
        for first in range(0, n_rows, _TILE):
            last = min(first + _TILE, n_rows)
            for lane in range(n_lanes):
                for r in range(first, last):
                    tile[r - first, lane] = values[lane, r]
            for k in range(len(reached)):
                at, end = reached[k], start[k + 1]
                # Rows of a column ascend, so four entries at a time lie in the tile if the last of them does.
                while at + 4 <= end and rows[at + 3] < last:
                    a, b, c, d = rows[at] - first, rows[at + 1] - first, rows[at + 2] - first, rows[at + 3] - first
                    for lane in range(width):
                        own[k, lane] += (tile[a, lane] + tile[b, lane]) + (tile[c, lane] + tile[d, lane])
                    at += 4
                while at < end and rows[at] < last:
                    a = rows[at] - first
                    for lane in range(width):
                        own[k, lane] += tile[a, lane]
                    at += 1
                reached[k] = at
        for k in range(len(own)):
            for lane in range(n_lanes):
                sums[k, lane] = own[k, lane]

    return columns_times


_few_times, _many_times = _pass_of(FEW), _pass_of(LANES)


@njit(cache=True, nogil=True, error_model="numpy")
def columns_times(start, rows, values, sums):
    """Fill sums[k, lane] = sum over the rows in which column k is active of values[lane, row].

    The lanes (regressions) of a block share one pass over the table. Rows are taken tile by tile, transposed so that a
    row's lanes are contiguous, and four at a time, so that most sums stay out of memory.
    """
    done, n_lanes = 0, len(values)
    while done < n_lanes:
        if n_lanes - done > 2 * FEW:
            last = min(done + LANES, n_lanes)
            _many_times(start, rows, values[done:last], sums[:, done:last])
        else:
            last = min(done + FEW, n_lanes)
            _few_times(start, rows, values[done:last], sums[:, done:last])
        done = last
