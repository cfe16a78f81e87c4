"""Cells of a node's regression: rows that agree on all columns used so far are one cell.

A *column* is an indicator "variable j is in state s", s > 0. A regression with few columns costs a few hundred cells,
for any number of rows. Cells are only ever split, so results for the old columns are preserved.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mrfit._kernels.data.partition import count_cells, split
from mrfit._kernels.machine_code.compiled import njit
from mrfit._kernels.structure.sparse_newton import BLOCK


class Indicators(NamedTuple):
    """A table of distinct rows, by column."""

    start: np.ndarray  # rows[start[k] : start[k + 1]] are the rows in which column k is active, ascending
    rows: np.ndarray
    codes: np.ndarray  # (variables, rows)
    variable: np.ndarray  # of every column
    state: np.ndarray  # of every column
    group_start: np.ndarray  # columns of every variable
    sample_weight: np.ndarray
    scale: np.ndarray  # of every variable: factor of the penalty strength of its coefficients


class NodeCells(NamedTuple):
    """Cells of a regression's rows; ``counts`` and ``probability`` have a state axis, in blocks."""

    class_of: np.ndarray  # cell of every row
    size: np.ndarray  # rows of every cell
    columns: np.ndarray  # columns that distinguish cells so far
    slot: np.ndarray  # the position of every column in ``columns``, -1 if absent
    bits: np.ndarray  # (columns, cells): 1 where a column is active
    total: np.ndarray  # weight of every cell
    counts: np.ndarray  # weight of every cell by state except the first
    probability: np.ndarray  # probability of these states in every cell under the present solution


@njit(cache=True, nogil=True, error_model="numpy")
def one_cell(table, variable, n_free):
    """Return all rows as a single cell."""
    n_rows = len(table.sample_weight)
    size = np.empty(n_rows + 1, np.int32)
    size[0] = n_rows
    class_of = np.zeros(n_rows, np.int32)
    slot = np.empty(len(table.variable), np.int32)
    for k in range(len(slot)):
        slot[k] = -1
    total, counts = np.empty(1), np.empty(n_free)
    count_cells(class_of, table.codes[variable], table.sample_weight, BLOCK, total, counts)
    probability = np.empty(n_free)
    for s in range(n_free):
        probability[s] = counts[s] / total[0]
    bits = np.empty((0, 1), np.uint8)
    return NodeCells(class_of, size, np.empty(0, np.int64), slot, bits, total, counts, probability)


@njit(cache=True, nogil=True, error_model="numpy")
def split_cells(table, variable, cells, new):
    """Split the cells by the columns ``new``.

    Bits are bytes column by column: a column times a vector of cells is then one vectorised loop, which beats lists of
    active columns down to densities of a few percent.
    """
    n_old, n_before = len(cells.columns), len(cells.total)
    n_free = len(cells.counts) // n_before
    n_cells = split(table.start, table.rows, new, cells.class_of, cells.size, n_before)
    total, counts = np.empty(n_cells), np.empty(n_free * n_cells)
    count_cells(cells.class_of, table.codes[variable], table.sample_weight, BLOCK, total, counts)
    columns = np.empty(n_old + len(new), np.int64)
    bits = np.zeros((len(columns), n_cells), np.uint8)
    for k in range(len(columns)):
        columns[k] = cells.columns[k] if k < n_old else new[k - n_old]
    for k in range(n_old):
        for c in range(n_before):
            bits[k, c] = cells.bits[k, c]
    member = np.empty(n_cells, np.int64)  # any row of a cell; new cells only contain rows with a new column
    for k in range(n_old, len(columns)):
        cells.slot[columns[k]] = k
        for at in range(table.start[columns[k]], table.start[columns[k] + 1]):
            c = cells.class_of[table.rows[at]]
            bits[k, c] = 1
            member[c] = table.rows[at]
    for k in range(n_old):
        codes, state = table.codes[table.variable[columns[k]]], table.state[columns[k]]
        for c in range(n_before, n_cells):
            # A new cell inherits nothing: its old bits are read off one of its rows, as all of them agree.
            bits[k, c] = codes[member[c]] == state
    return NodeCells(cells.class_of, cells.size, columns, cells.slot, bits, total, counts, np.empty(len(counts)))
