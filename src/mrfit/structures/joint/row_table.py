"""Rows as lists of what is not in its silent state, for models of pairs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mrfit._kernels.structure.nodewise import columns_times
from mrfit._kernels.structure.pair_cells import RowArrays
from mrfit._typing import Floats, Indices
from mrfit.data.unique_rows import ActiveEntries, UniqueRows


@dataclass(frozen=True)
class StateOrder:
    """The states of every variable by falling weight in some rows: the most frequent one is silent and costs nothing.

    ``place[i][code]`` is where a declared state stands; one that never occurs stands one past the last that does. For
    two states the order changes a sign and nothing else, as constants are free.
    """

    place: tuple[Indices, ...]
    n_seen: Indices

    @classmethod
    def of(cls, rows: UniqueRows) -> StateOrder:
        places, n_seen = [], []
        for i, variable in enumerate(rows.domain):
            weight = np.bincount(rows.codes[:, i], rows.sample_weight, variable.n_states)
            place = np.empty(variable.n_states, np.int64)
            place[np.argsort(-weight, kind="stable")] = np.arange(variable.n_states)
            n_seen.append(int((weight > 0).sum()))
            places.append(np.minimum(place, n_seen[-1]))
        return cls(tuple(places), np.array(n_seen, np.int64))

    @cached_property
    def n_columns(self) -> Indices:
        """States of each variable beside the silent one."""
        return np.maximum(self.n_seen - 1, 0)

    @cached_property
    def turned(self) -> Floats:
        """-1 for variables of two states whose second is silent, by which couplings change their sign; else 1."""
        return np.array(
            [-1.0 if n == 2 and np.flatnonzero(p == 0)[0] > np.flatnonzero(p == 1)[0] else 1.0
             for p, n in zip(self.place, self.n_seen.tolist(), strict=True)]
        )  # fmt: skip


@dataclass(frozen=True)
class RowTable:
    """Distinct rows with their weights; a column is an indicator "variable i is in state s", s > 0."""

    arrays: RowArrays

    @classmethod
    def of(cls, rows: UniqueRows, order: StateOrder) -> RowTable:
        codes = np.stack([place[rows.codes[:, i]] for i, place in enumerate(order.place)], axis=1)
        # What was never seen has no column: to its neighbours it is silent, and it is not judged itself.
        features = np.where(codes < order.n_seen, codes, 0).astype(rows.codes.dtype)
        active = ActiveEntries.from_codes(features, tuple((order.n_columns + 1).tolist()))
        own = np.ascontiguousarray(codes.T)
        return cls(RowArrays(active.start, active.rows, active.first_indicator, own, rows.sample_weight))

    @property
    def n_variables(self) -> int:
        return len(self.arrays.codes)

    @property
    def n_rows(self) -> int:
        return len(self.arrays.sample_weight)

    @property
    def n_columns(self) -> int:
        return len(self.arrays.start) - 1

    @cached_property
    def widths(self) -> Indices:
        """Columns of each variable."""
        return np.asarray(np.diff(self.arrays.first_column), np.int64)

    @cached_property
    def column_weight(self) -> Floats:
        """Weight of the rows in which each column is active."""
        active = self.arrays.sample_weight[self.arrays.rows]
        sums = np.concatenate([[0.0], np.cumsum(active)])
        return np.asarray(np.diff(sums[self.arrays.start]), np.float64)

    def times(self, values: Floats) -> Floats:
        """Sum of ``values`` (lanes, rows) over the rows in which each column is active, (columns, lanes)."""
        sums = np.empty((self.n_columns, len(values)))
        columns_times(self.arrays.start, self.arrays.rows, values, sums)
        return sums

    def pair_sums(self, values: Floats) -> Floats:
        """Sums over the block of every pair of variables, (columns, columns) to (variables, variables)."""
        if (self.widths == 1).all():
            return values
        for axis in (0, 1):
            shape = list(values.shape)
            shape[axis] = self.n_variables
            sums, some = np.zeros(shape), self.widths > 0
            if some.any():
                at = (some,) if axis == 0 else (slice(None), some)
                sums[at] = np.add.reduceat(values, self.arrays.first_column[:-1][some], axis=axis)
            values = sums
        return values
