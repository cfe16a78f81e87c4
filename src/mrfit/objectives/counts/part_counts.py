"""Counts of some files of a table, by fold, and their number of rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mrfit.data.partitioned_table import FoldedRows, PartitionedTable
from mrfit.data.row_counter import StreamCounter
from mrfit.objectives.counts.blanket_counts import BlanketCounter, BlanketCounts
from mrfit.structures.structure import Structure


@dataclass(frozen=True, eq=False)
class PartCounts:
    """Counts of every fold (of all rows where there are no folds); some may be empty."""

    folds: tuple[BlanketCounts, ...]
    n_rows: int
    dropped_rows: int
    independent: StreamCounter

    @classmethod
    def merged(cls, parts: Sequence[PartCounts]) -> PartCounts:
        """Return the counts of all files together."""
        independent = StreamCounter()
        for part in parts:
            independent.absorb(part.independent)
        folds = tuple(map(BlanketCounts.merged, zip(*(part.folds for part in parts), strict=True)))
        n_rows, dropped_rows = (sum(getattr(part, name) for part in parts) for name in ("n_rows", "dropped_rows"))
        return cls(folds, n_rows, dropped_rows, independent)


def count_part(structure: Structure, n_folds: int, seed: int, numbered: tuple[int, PartitionedTable]) -> PartCounts:
    """Count the rows of some files, in pieces."""
    number, part = numbered
    counters = [BlanketCounter(part.domain, structure) for _ in range(max(1, n_folds))]
    rows = FoldedRows(part, number, n_folds=n_folds, seed=seed)
    for codes, weights in rows:
        for counter, sample_weight in zip(counters, weights, strict=True):
            counter.add(codes, sample_weight)
    counts = tuple(counter.result() for counter in counters)
    return PartCounts(counts, rows.n_rows, rows.dropped_rows, rows.independent)
