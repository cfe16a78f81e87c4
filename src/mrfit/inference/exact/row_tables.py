"""Rows of data in the tables of a parameterization: the cell of each row, and the frequency of each cell."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from math import prod

import numpy as np
from scipy import sparse

from mrfit._kernels.inference.table_cells import find_cells
from mrfit._typing import Floats, Indices
from mrfit.data.unique_rows import UniqueRows
from mrfit.inference.exact.tree_plan import Scopes
from mrfit.parameterizations.parameterization import Parameterization

_CHUNK = 2**20  # cells, of rows in tables, that are held at once


class RowTables:
    """The tables of all scopes with parameters, concatenated; no engine has to fit them."""

    def __init__(self, parameters: Parameterization) -> None:
        self.parameters = parameters

    def shares(self, rows: UniqueRows) -> Floats:
        """Return the marginals of all tables in the rows."""
        out = np.zeros(int(self.n_cells.sum()))
        for first, cells in self.cells(rows):
            weight = np.repeat(rows.sample_weight[first : first + len(cells)], cells.shape[1])
            out += np.bincount(cells.ravel(), weight, minlength=len(out))
        out /= rows.total_weight
        return out

    def smoothed(self, shares: Floats, total_weight: float, uniform_weight: float) -> Floats:
        """Return the marginals of rows with these `shares` plus ``uniform_weight`` rows spread over all states."""
        even = np.repeat(1.0 / self.n_cells, self.n_cells)
        return np.asarray((total_weight * shares + uniform_weight * even) / (total_weight + uniform_weight), np.float64)

    def cells(self, rows: UniqueRows, chosen: Indices | None = None) -> Iterator[tuple[int, Indices]]:
        """Yield the first row of each piece, and the cells of its rows in all tables, (rows, tables).

        ``chosen`` restricts the rows.
        """
        codes = rows.codes if chosen is None else rows.codes[chosen]
        columns, flat = np.array(codes.T, order="C"), self._flat  # a copy: numba compiles read-only arrays separately
        size = max(1, _CHUNK // max(1, len(flat.start) - 1))
        for first in range(0, len(codes), size):
            last = min(first + size, len(codes))
            cells = np.empty((last - first, len(flat.start) - 1), np.int64)
            find_cells(columns, flat.start, flat.variables, flat.n_states, first, last, cells)
            yield first, cells

    def features(self, cells: Indices) -> sparse.csr_array:
        """Return the features of rows from their cells in the tables: shape (rows, parameters)."""
        n_rows, n_tables = cells.shape
        table_map = self.parameters.table_map
        entries = (np.ones(cells.size), cells.ravel(), n_tables * np.arange(n_rows + 1))
        found: sparse.csr_array = sparse.csr_array(entries, shape=(n_rows, table_map.shape[0])) @ table_map
        return found

    @cached_property
    def n_cells(self) -> Indices:
        """The number of cells of every table."""
        shape = self.parameters.domain.shape
        return np.array([prod(shape[i] for i in scope) for scope in self.parameters.table_scopes], np.int64)

    @cached_property
    def _flat(self) -> Scopes:
        return Scopes.of(self.parameters.domain.shape, self.parameters.table_scopes)
