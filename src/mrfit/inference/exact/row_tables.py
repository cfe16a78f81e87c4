"""The tables of parameters in rows: where each row stands in them, and how often each cell occurs."""

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

_CHUNK = 2**20  # places of rows in tables that are held at once


class RowTables:
    """The tables of all scopes with parameters, one after the other; no engine need fit them."""

    def __init__(self, parameters: Parameterization) -> None:
        self.parameters = parameters

    def shares(self, rows: UniqueRows) -> Floats:
        """The marginals of all tables in the rows."""
        out = np.zeros(int(self.n_cells.sum()))
        for first, cells in self.cells(rows):
            weight = np.repeat(rows.sample_weight[first : first + len(cells)], cells.shape[1])
            out += np.bincount(cells.ravel(), weight, minlength=len(out))
        out /= rows.total_weight
        return out

    def smoothed(self, shares: Floats, total_weight: float, uniform_weight: float) -> Floats:
        """The same in rows of these `shares` and so many more that are dealt evenly to all joint states."""
        even = np.repeat(1.0 / self.n_cells, self.n_cells)
        return np.asarray((total_weight * shares + uniform_weight * even) / (total_weight + uniform_weight), np.float64)

    def cells(self, rows: UniqueRows, chosen: Indices | None = None) -> Iterator[tuple[int, Indices]]:
        """Places of the rows, or of the chosen ones, in all tables, (rows, tables), in pieces; and where one begins."""
        codes = rows.codes if chosen is None else rows.codes[chosen]
        columns, flat = np.array(codes.T, order="C"), self._flat  # a copy: what is read-only is compiled apart
        size = max(1, _CHUNK // max(1, len(flat.start) - 1))
        for first in range(0, len(codes), size):
            last = min(first + size, len(codes))
            cells = np.empty((last - first, len(flat.start) - 1), np.int64)
            find_cells(columns, flat.start, flat.variables, flat.n_states, first, last, cells)
            yield first, cells

    def features(self, cells: Indices) -> sparse.csr_array:
        """The features of rows, from their places in the tables: shape (rows, parameters)."""
        n_rows, n_tables = cells.shape
        table_map = self.parameters.table_map
        places = (np.ones(cells.size), cells.ravel(), n_tables * np.arange(n_rows + 1))
        found: sparse.csr_array = sparse.csr_array(places, shape=(n_rows, table_map.shape[0])) @ table_map
        return found

    @cached_property
    def n_cells(self) -> Indices:
        """Of every table."""
        shape = self.parameters.domain.shape
        return np.array([prod(shape[i] for i in scope) for scope in self.parameters.table_scopes], np.int64)

    @cached_property
    def _flat(self) -> Scopes:
        return Scopes.of(self.parameters.domain.shape, self.parameters.table_scopes)
