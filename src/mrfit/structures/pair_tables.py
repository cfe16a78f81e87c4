"""Frequencies of all pairs of states, as tables of pairs of variables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from mrfit._kernels.data.pair_counts import count_pairs
from mrfit._typing import Floats
from mrfit.core.errors import InputError
from mrfit.data.sparse_rows import SparseRows
from mrfit.data.unique_rows import UniqueRows

MOST_BYTES = 4e9  # largest size of the tables over all pairs
_BLOCK_BYTES = 2**24  # bytes of joint frequencies in one block


@dataclass(frozen=True, eq=False)
class PairTables:
    """Frequencies of all pairs of states, stored without the first state of each variable, which the others imply.

    Parameters
    ----------
    shape
        Number of states of each variable.
    indicators
        Frequency of every pair of indicators, for all states but the first; the last indicator is constant 1.
    dust
        Largest rounding error of a difference of sums that should be zero.
    """

    shape: tuple[int, ...]
    indicators: Floats
    dust: float

    @classmethod
    def of_rows(cls, rows: UniqueRows) -> PairTables:
        """Count the pairs in one pass without copying the rows; the size of the tables is checked first."""
        if isinstance(rows, SparseRows):
            _check_size(rows.domain.shape)
            return cls._of_weights(rows.domain.shape, _item_pairs(rows), rows.sample_weight)
        return cls.of_codes(rows.domain.shape, rows.codes, rows.sample_weight)

    @classmethod
    def of_codes(cls, shape: tuple[int, ...], codes: NDArray[Any], sample_weight: Floats) -> PairTables:
        """Count the pairs of rows of codes."""
        return cls._of_weights(shape, pair_weights(shape, codes, sample_weight), sample_weight)

    @classmethod
    def _of_weights(cls, shape: tuple[int, ...], joint_weights: Floats, sample_weight: Floats) -> PairTables:
        total = float(sample_weight.sum())
        joint_weights /= total
        return cls(shape, joint_weights, 1e-9 * float(sample_weight.min()) / total)

    def smoothed(self, uniform: float) -> PairTables:
        """Add ``uniform`` times as many rows, spread evenly over all joint states.

        The tables of variables with themselves are then meaningless.
        """
        even = np.append(np.repeat(1.0 / np.array(self.shape), np.array(self.shape, np.int64) - 1), 1.0)
        return PairTables(self.shape, (self.indicators + uniform * np.outer(even, even)) / (1.0 + uniform), self.dust)

    @property
    def n_variables(self) -> int:
        return len(self.shape)

    @property
    def of_indicators(self) -> Floats:
        """Frequency of each indicator."""
        return self.indicators[:-1, -1]

    @cached_property
    def singles(self) -> Floats:
        """Frequencies of all states of all variables."""
        return np.asarray(self._states @ self.indicators[:, -1])

    def single(self, i: int) -> Floats:
        return self.singles[self.states_of(i, i + 1)]

    def pair(self, i: int, j: int) -> Floats:
        """Return the table of two variables."""
        return np.asarray(self.pairs(np.array([[i, j]]))[0])

    def pairs(self, ends: NDArray[np.int64]) -> Floats:
        """Return the tables of pairs of variables with equal shapes, (pairs, states, states)."""
        rows, columns = (self._known_states(of_pairs) for of_pairs in ends.T)
        known = self.indicators[rows[:, :, None], columns[:, None, :]]
        return self._clean(_with_first(_with_first(known).transpose(0, 2, 1)).transpose(0, 2, 1))

    def _known_states(self, variables: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the indices of the indicators of each variable and of the constant one, (variables, states)."""
        first = self._first_state[variables] - variables
        n_states = self.shape[variables[0]]
        return np.pad(first[:, None] + np.arange(n_states - 1), ((0, 0), (0, 1)), constant_values=-1)

    def states_of(self, first: int, last: int) -> slice:
        """Return the range of the states of some variables among those of all."""
        return slice(int(self._first_state[first]), int(self._first_state[last]))

    def block(self, first: int, last: int) -> Floats:
        """Return the frequencies of the states of some variables with those of all, (their states, all states)."""
        rows = self._states[self.states_of(first, last)]
        return self._clean(np.asarray((self._states @ (rows @ self.indicators).T).T))

    def blocks(self) -> Iterator[tuple[int, int, Floats]]:
        """Yield blocks of all tables: the first variable, the one behind the last, and `block`."""
        most, first = max(1, _BLOCK_BYTES // (8 * int(self._first_state[-1]))), 0
        while first < self.n_variables:
            end = int(np.searchsorted(self._first_state, self._first_state[first] + most, side="right")) - 1
            last = max(first + 1, end)
            yield first, last, self.block(first, last)
            first = last

    def summed(self, terms: Floats, first: int, last: int) -> Floats:
        """Sum numbers shaped like a `block` over the table of each pair."""
        low = self._first_state[first]
        by_variable = np.add.reduceat(terms, self._first_state[first:last] - low, axis=0)
        return np.asarray(np.add.reduceat(by_variable, self._first_state[:-1], axis=1))

    def _clean(self, joint: Floats) -> Floats:
        return np.where(joint > self.dust, joint, 0.0)

    @cached_property
    def _first_state(self) -> NDArray[np.int64]:
        return np.concatenate([[0], np.cumsum(np.array(self.shape, np.int64))])

    @cached_property
    def _states(self) -> sparse.csr_array:
        """Matrix (states, indicators + 1) of states as sums of indicators: a first state is one minus the others."""
        shape = np.array(self.shape, np.int64)
        n_states, n_indicators = int(shape.sum()), int((shape - 1).sum())
        is_first = np.zeros(n_states, bool)
        is_first[np.cumsum(shape) - shape] = True
        first, others = np.flatnonzero(is_first), np.flatnonzero(~is_first)
        own_first = np.repeat(first, shape - 1)
        row = np.concatenate([first, others, own_first])
        indicators = np.arange(n_indicators)
        column = np.concatenate([np.full(len(first), n_indicators), indicators, indicators])
        value = np.concatenate([np.ones(n_states), np.full(n_indicators, -1.0)])
        return sparse.csr_array((value, (row, column)), shape=(n_states, n_indicators + 1))


def _with_first(known: Floats) -> Floats:
    """Prepend the row of the first state to each table: the last row, a total, minus the other rows."""
    return np.concatenate([known[:, -1:] - known[:, :-1].sum(axis=1, keepdims=True), known[:, :-1]], axis=1)


def pair_weights(shape: tuple[int, ...], codes: NDArray[Any], sample_weight: Floats) -> Floats:
    """Return the weights of pairs of indicators in the layout of `PairTables`; the weights of parts add up."""
    _check_size(shape)
    first = np.concatenate([[0], np.cumsum(np.array(shape, np.int64) - 1)])
    joint_weights = np.empty((first[-1] + 1, first[-1] + 1))
    count_pairs(codes, first, sample_weight, joint_weights)
    return joint_weights


def _item_pairs(rows: SparseRows) -> Floats:
    """Return the weights of pairs of entries in item lists."""
    ones = sparse.csr_array(np.ones((rows.n_distinct, 1)))
    entries = sparse.hstack([rows.entries.astype(np.float64), ones], format="csr")
    weighted = sparse.diags_array(rows.sample_weight) @ entries
    return np.asarray((entries.T @ weighted).toarray(), np.float64)


def _check_size(shape: tuple[int, ...]) -> None:
    """Refuse tables over all pairs that would not fit into memory."""
    n_bytes = 8.0 * (float(sum(shape) - len(shape) + 1) ** 2 + float(len(shape)) ** 2)
    if n_bytes > MOST_BYTES:
        raise InputError(
            f"The mutual information of all pairs of {len(shape):,} variables with {sum(shape):,} states takes "
            f"{n_bytes / 1e9:.2g} GB; the limit is {MOST_BYTES / 1e9:.2g} GB. Use fewer columns, or give the edges "
            "in a file."
        )
