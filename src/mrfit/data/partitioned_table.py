"""A table in files that are read separately, possibly by several processes, and never held in memory together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Unpack

import numpy as np

from mrfit._typing import Codes, Floats
from mrfit.core.cluster import mapped
from mrfit.core.domain import Domain
from mrfit.core.errors import InputError
from mrfit.data.batch import Batch
from mrfit.data.encoding import Encoder, ParseOptions
from mrfit.data.file_layout import LayoutOptions
from mrfit.data.folds import fold_weights
from mrfit.data.readers import Progress, files_of_table, named_in_errors, read_batches
from mrfit.data.row_counter import StreamCounter
from mrfit.data.sources import Source, TableFile, display_name
from mrfit.data.unique_rows import UniqueRows


@dataclass(frozen=True, eq=False)
class PartitionedTable:
    r"""A table in files that are read separately and never in memory together.

    It contains no rows, so it can be sent to any process that can read the files. Make one with `of`.

    Parameters
    ----------
    files : tuple of files
        The files.
    reading : ParseOptions
        Options that define how values are parsed; its domain must be known.
    layout : dict, default=dict()
        Fields of `FileLayout`.
    notes : tuple of str, default=()
        Remarks about the table.

    See Also
    --------
    mrfit.cluster : Learn from such a table on several machines.
    Learner.fit : Takes such a table for the pseudo-likelihood.

    Examples
    --------
    >>> from pathlib import Path
    >>> from mrfit import PartitionedTable
    >>> for name, last in (("a.csv", "1,1"), ("b.csv", "0,0")):
    ...     _ = Path(name).write_text("smokes,coughs\n0,1\n" + last + "\n")
    >>> table = PartitionedTable.of(["a.csv", "b.csv"])
    >>> len(table.each()), table.rows()
    (2, <UniqueRows: 4 rows, 3 distinct, 2 variables>)
    """

    files: tuple[TableFile, ...]
    reading: ParseOptions
    layout: LayoutOptions = field(default_factory=LayoutOptions)
    notes: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        source: Source,
        reading: ParseOptions | None = None,
        *,
        progress: Progress | None = None,
        **layout: Unpack[LayoutOptions],
    ) -> PartitionedTable:
        """Take all files of a source, but no streams.

        Without a domain or declared states of all columns, the files are read once to find their states.

        Parameters
        ----------
        source : path or sequence of paths
            CSV, TSV, text, Libra ``.data`` (each also ``.gz``) or Parquet. A directory, pattern or list of such files
            is one table, ``-`` is standard input, ``nltcs:train`` a named data set.
        reading : ParseOptions or None, default=None
            Options that define how values are parsed.
        progress : callable or None, default=None
            Called after every file with the bytes done and the bytes of all files.
        **layout
            Fields of `FileLayout`.
        """
        found = files_of_table(source, layout.get("format"))
        if any(file.place.is_stream and file.place.exists() for file in found):
            raise InputError("Parts are read more than once, and a stream only once; name files instead.")
        files = tuple(replace(file, place=file.place.absolute()) for file in found)
        own = cls(files, reading or ParseOptions(), layout)
        return own if own.reading.domain is not None else own._with_domain(progress)

    def _with_domain(self, progress: Progress | None) -> PartitionedTable:
        """Return the same parts under all states found in any of the files."""
        callback = None if progress is None else _ByteProgress(progress, self.n_bytes)
        coders = mapped(_states_of_part, self.each(), name=PartitionedTable.called, callback=callback)
        for other, part in zip(coders[1:], self.each()[1:], strict=True):
            with named_in_errors(part.files):
                coders[0].absorb(other)
        with named_in_errors(self.files):
            domain, _ = coders[0].finish()
        reading = ParseOptions(
            domain, missing=self.reading.missing, unknown=self.reading.unknown, memory=self.reading.memory
        )
        return replace(self, reading=reading, notes=coders[0].notes)

    @property
    def domain(self) -> Domain:
        """Variables and their states."""
        if self.reading.domain is None:
            raise InputError("The states of the parts are not known yet; use PartitionedTable.of.")
        return self.reading.domain

    def called(self) -> str:
        """Return the name of the parts for messages."""
        return repr(display_name(self.files))

    @property
    def n_bytes(self) -> int:
        """Total length of all files."""
        return sum(file.place.n_bytes for file in self.files)

    def each(self) -> list[PartitionedTable]:
        """Return each file as a part of its own."""
        return [replace(self, files=(file,)) for file in self.files]

    def dealt(self, n: int) -> list[PartitionedTable]:
        """Return at most ``n`` runs of files with about equal bytes."""
        sizes = np.array([1 + file.place.n_bytes for file in self.files], np.float64)
        run_of = ((np.cumsum(sizes) - 0.5 * sizes) * n / sizes.sum()).astype(int)  # by the middle of each file
        return [
            replace(self, files=tuple(self.files[k] for k in np.flatnonzero(run_of == r))) for r in np.unique(run_of)
        ]

    def batches(self) -> Iterator[Batch]:
        """Yield the rows of all files in batches; there may be none."""
        return read_batches(self.files, select=self.reading.chosen, may_be_empty=True, **self.layout)

    def rows(self) -> UniqueRows:
        """Return the distinct rows of these files together."""
        with named_in_errors(self.files):
            return UniqueRows.from_batches(self.batches(), self.reading)


@dataclass
class _ByteProgress:
    """A callback that adds up the bytes of finished parts."""

    progress: Progress
    n_bytes: int
    done: int = 0

    def __call__(self, part: PartitionedTable) -> None:
        self.done += part.n_bytes
        self.progress(self.done, self.n_bytes)


class FoldedRows:
    """An iterator over the rows of some files, dealt to folds; afterwards it knows their number.

    Rows go to folds at random, by the seed and the number of the part, with equal numbers from every batch. Every pass
    with the same seed and number deals them alike.
    """

    def __init__(self, part: PartitionedTable, number: int = 0, *, n_folds: int = 0, seed: int = 0) -> None:
        self._part, self._number, self._n_folds, self._seed = part, number, n_folds, seed
        self.n_rows = self.dropped_rows = 0
        self.independent = StreamCounter()

    def __iter__(self) -> Iterator[tuple[Codes, list[Floats]]]:
        """Yield codes of some rows, and their weights in each fold; without folds, their weights."""
        coder, rng = Encoder(self._part.reading), np.random.default_rng([self._seed, self._number])
        with named_in_errors(self._part.files):
            for batch in self._part.batches():
                codes, sample_weight = coder.encode(batch)
                self.n_rows, self.dropped_rows = self.n_rows + len(codes), coder.dropped_rows
                self.independent.add(sample_weight)
                n = self._n_folds
                yield codes, list(fold_weights(sample_weight, n, rng)) if n else [sample_weight]


def _states_of_part(part: PartitionedTable) -> Encoder:
    """Encode one file to find the states in its columns."""
    coder = Encoder(part.reading)
    with named_in_errors(part.files):
        for batch in part.batches():
            coder.encode(batch)
    return coder
