"""Counting of the distinct rows of a stream."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mrfit._typing import Codes, Floats
from mrfit.data.packed_rows import PackedRows

# Rows are buffered up to this many bytes, so that tables of a million rows are sorted once.
_BYTES_WAITING = 2**25
# Memory that sorting takes for each row besides its words: its position, and whether words differ.
_BYTES_OF_ORDER = 25
# Chunks are searched for duplicates until one has fewer than this share of them.
_FEW = 0.1


class RowCounter:
    """A counter of chunks of coded rows; memory grows with distinct rows, not with rows.

    Chunks are buffered until they are as long as the rows already distinct. Every sort then at least doubles the rows
    sorted before, or finds duplicates, so that all sorts together cost about as much as two of the whole table.
    """

    def __init__(self) -> None:
        self._distinct: list[PackedRows] = []
        self._buffered: list[PackedRows] = []
        self._repeats = True
        self.n_rows = 0
        self.independent = StreamCounter()

    def add(self, codes: Codes, sample_weight: Floats) -> None:
        self.n_rows += len(codes)
        self.independent.add(sample_weight)
        self._buffered.append(self._without_repeats(PackedRows.from_codes(codes, sample_weight)))
        if _n_bytes(self._buffered) > max(_n_bytes(self._distinct), _BYTES_WAITING):
            self._distinct, self._buffered = [self._joined().distinct()], []

    def _without_repeats(self, rows: PackedRows) -> PackedRows:
        if not self._repeats:
            return rows
        distinct = rows.distinct()
        self._repeats = len(distinct) <= (1.0 - _FEW) * len(rows)
        return distinct

    @property
    def n_bytes_needed(self) -> int:
        """Upper bound on the bytes that the rows so far need until they are codes."""
        parts = self._distinct + self._buffered
        return bytes_needed(sum(map(len, parts)), len(parts[0].packing.bits), _n_bytes(parts)) if parts else 0

    def result(self, lookups: Sequence[Codes] | None = None) -> PackedRows:
        """Return distinct rows in lexicographic order of codes or lookups[variable][code], and empty the counter."""
        rows = self._joined()
        self._distinct, self._buffered = [], []  # saves a copy while the rows are sorted
        return (rows if lookups is None else rows.recoded(lookups)).distinct()

    def _joined(self) -> PackedRows:
        return PackedRows.joined(self._distinct + self._buffered)


def bytes_needed(n_rows: int, n_columns: int, n_bytes: int) -> int:
    """Return an upper bound on the bytes of packed rows until they are distinct, sorted and decoded."""
    return max(3 * n_bytes + _BYTES_OF_ORDER * n_rows, n_bytes + n_columns * n_rows)


def _n_bytes(parts: Sequence[PackedRows]) -> int:
    return sum(part.n_bytes for part in parts)


class StreamCounter:
    """A running effective sample size of row weights; see `mrfit.data.unique_rows.UniqueRows`."""

    def __init__(self) -> None:
        self._total = self._squares = 0.0
        self._whole = True

    def add(self, sample_weight: Floats) -> StreamCounter:
        self._total += float(sample_weight.sum())
        self._squares += float(sample_weight @ sample_weight)
        self._whole = self._whole and bool((sample_weight == np.rint(sample_weight)).all())
        return self

    def absorb(self, other: StreamCounter) -> None:
        """Add the weights of other rows."""
        self._total += other._total
        self._squares += other._squares
        self._whole = self._whole and other._whole

    @property
    def n_rows(self) -> float:
        return self._total if self._whole else self._total**2 / self._squares
