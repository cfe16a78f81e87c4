"""Rows as lists of the variables that are not in their reference state, for models of pairs."""

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
    """States of every variable by falling weight in some rows; the most frequent one is the reference.

    ``rank[i][code]`` is the rank of a declared state; a state that never occurs ranks after all that do. For binary
    variables the order only changes a sign, because constants are free.
    """

    rank: tuple[Indices, ...]
    n_seen: Indices

    @classmethod
    def of(cls, rows: UniqueRows) -> StateOrder:
        ranks, n_seen = [], []
        for i, variable in enumerate(rows.domain):
            weight = np.bincount(rows.codes[:, i], rows.sample_weight, variable.n_states)
            rank = np.empty(variable.n_states, np.int64)
            rank[np.argsort(-weight, kind="stable")] = np.arange(variable.n_states)
            n_seen.append(int((weight > 0).sum()))
            ranks.append(np.minimum(rank, n_seen[-1]))
        return cls(tuple(ranks), np.array(n_seen, np.int64))

    @cached_property
    def n_columns(self) -> Indices:
        """Number of non-reference states of each variable."""
        return np.maximum(self.n_seen - 1, 0)

    @cached_property
    def turned(self) -> Floats:
        """-1 for binary variables whose second state is the reference, which changes the sign of couplings; else 1."""
        return np.array(
            [-1.0 if n == 2 and np.flatnonzero(p == 0)[0] > np.flatnonzero(p == 1)[0] else 1.0
             for p, n in zip(self.rank, self.n_seen.tolist(), strict=True)]
        )  # fmt: skip


@dataclass(frozen=True)
class RowTable:
    """Distinct rows with their weights; a column is an indicator "variable i is in state s", s > 0."""

    arrays: RowArrays

    @classmethod
    def of(cls, rows: UniqueRows, order: StateOrder) -> RowTable:
        codes = np.stack([rank[rows.codes[:, i]] for i, rank in enumerate(order.rank)], axis=1)
        # Unobserved states have no column: for neighbours they equal the reference, and they have no conditional.
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
        """Number of columns of each variable."""
        return np.asarray(np.diff(self.arrays.first_column), np.int64)

    @cached_property
    def column_weight(self) -> Floats:
        """Weight of the rows in which each column is active."""
        active = self.arrays.sample_weight[self.arrays.rows]
        sums = np.concatenate([[0.0], np.cumsum(active)])
        return np.asarray(np.diff(sums[self.arrays.start]), np.float64)

    def times(self, values: Floats) -> Floats:
        """Sum ``values`` (lanes, rows) over the rows in which each column is active, (columns, lanes)."""
        sums = np.empty((self.n_columns, len(values)))
        columns_times(self.arrays.start, self.arrays.rows, values, sums)
        return sums

    def pair_sums(self, values: Floats) -> Floats:
        """Sum over the block of every pair of variables, (columns, columns) to (variables, variables)."""
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
