"""Size of a table, estimated from its first rows, to forecast the cost of working on it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Unpack

import numpy as np

from mrfit.data.encoding import ParseOptions
from mrfit.data.file_layout import LayoutOptions
from mrfit.data.item_lists import is_item_list, read_sparse
from mrfit.data.packed_rows import PackedRows
from mrfit.data.readers import named_in_errors, read_batches
from mrfit.data.row_counter import bytes_needed
from mrfit.data.sources import Source
from mrfit.data.sparse_rows import MOST_CODES
from mrfit.data.unique_rows import UniqueRows

_LIST_ENTRY = 100  # bytes of a list entry while it is read, and of its copies by column and row afterwards


@dataclass(frozen=True)
class FirstLook:
    """An estimate of a table's size from its first rows; ``n_seen`` of them were read.

    Parameters
    ----------
    n_rows
        Number of rows that the files hold if the other rows take as many bytes as those read.
    share_distinct
        Share of distinct rows among those read; more rows repeat more often, so it is an upper bound.
    n_entries
        Values other than the first state of their variable.
    n_shared
        Pairs of such values in one row, summed over rows.
    n_bytes_needed
        Bytes of memory for reading the whole table, at the same share of distinct rows.
    seconds
        Processor seconds for reading the whole table, at the same pace.
    is_lists
        Whether rows remain lists of items; files of item lists are read as a whole.
    """

    n_rows: int
    n_columns: int
    n_bytes: int
    n_seen: int
    share_distinct: float
    n_entries: int
    n_shared: int
    n_bytes_needed: int
    seconds: float
    is_lists: bool = False

    @classmethod
    def at(cls, source: Source, reading: ParseOptions | None = None, **layout: Unpack[LayoutOptions]) -> FirstLook:
        reading = reading or ParseOptions()
        if is_item_list(source, layout.get("format")):
            return cls._at_lists(source, reading, layout)
        last_progress = [(0, 0)]

        def listen(done: int, of: int) -> None:
            last_progress[0] = done, of

        begun = time.process_time()
        with named_in_errors(source):
            batch = next(read_batches(source, select=reading.chosen, progress=listen, **layout))
            rows = UniqueRows.from_batches([batch], reading)
        seconds = time.process_time() - begun
        done, of = last_progress[0]
        share = max(1.0, of / done) if done else 1.0
        on = (rows.codes > 0).sum(axis=1)
        return cls(
            n_rows=round(share * rows.n_rows),
            n_columns=len(rows.domain),
            n_bytes=of,
            n_seen=rows.n_rows,
            share_distinct=rows.n_distinct / rows.n_rows,
            n_entries=round(share * float(rows.sample_weight @ on)),
            n_shared=round(share * float(rows.sample_weight @ on**2)),
            n_bytes_needed=round(share * _bytes_needed(rows)),
            seconds=share * seconds,
        )

    @classmethod
    def _at_lists(cls, source: Source, reading: ParseOptions, layout: LayoutOptions) -> FirstLook:
        last_progress = [0]

        def listen(done: int, of: int) -> None:
            last_progress[0] = of

        begun = time.process_time()
        rows = read_sparse(source, reading, progress=listen, **layout)
        lengths = np.diff(rows.entries.indptr).astype(np.int64)
        return cls(
            n_rows=rows.n_rows,
            n_columns=len(rows.domain),
            n_bytes=last_progress[0],
            n_seen=rows.n_rows,
            share_distinct=1.0,
            n_entries=rows.n_entries,
            n_shared=int((lengths**2).sum()),
            n_bytes_needed=_LIST_ENTRY * rows.n_entries,
            seconds=time.process_time() - begun,
            is_lists=rows.n_rows * len(rows.domain) > MOST_CODES,
        )


def _bytes_needed(rows: UniqueRows) -> int:
    packed = PackedRows.from_codes(rows.codes, rows.sample_weight)
    return bytes_needed(len(packed), len(rows.domain), packed.n_bytes)
