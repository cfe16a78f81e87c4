"""Distinct rows of a table with their weights, which is all that learning needs."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, Unpack

import numpy as np
from numpy.typing import NDArray

from mrfit._kernels.data.partition import active_entries
from mrfit._typing import Codes, Floats
from mrfit.core.domain import Domain
from mrfit.core.errors import DataError, listed
from mrfit.data.batch import Batch, checked_sample_weight
from mrfit.data.encoding import Encoder, ParseOptions, ReadingOptions, check_complete, has_all_cells
from mrfit.data.file_layout import LayoutOptions
from mrfit.data.memory import MemoryLimit
from mrfit.data.merged_domains import merge_domains
from mrfit.data.packed_rows import PackedRows
from mrfit.data.readers import Progress, named_in_errors, read_batches
from mrfit.data.row_counter import RowCounter, StreamCounter
from mrfit.data.sources import Source

if TYPE_CHECKING:
    from mrfit.data.dataset import Dataset


@dataclass(frozen=True)
class ActiveEntries:
    """Rows in which each indicator "variable j is in state s" (s > 0) holds, as compressed columns.

    Indicator ``first_indicator[j] + s - 1`` owns ``rows[start[k]:start[k + 1]]``, ascending.
    """

    first_indicator: NDArray[np.int64]
    start: NDArray[np.int64]
    rows: NDArray[np.int32]

    @classmethod
    def from_codes(cls, codes: Codes, shape: tuple[int, ...]) -> ActiveEntries:
        first_indicator = np.concatenate([[0], np.cumsum(np.asarray(shape, np.int64) - 1)])
        start = np.empty(first_indicator[-1] + 1, np.int64)
        rows = np.empty(np.count_nonzero(codes), np.int32)
        active_entries(codes, first_indicator[:-1], start, rows)
        return cls(first_indicator, start, rows)


class FileOptions(ReadingOptions, LayoutOptions, total=False):
    """Options for the layout of a file and the parsing of its values, as keyword arguments."""


class SeenRows(NamedTuple):
    """Rows that determine the conditional distribution of one variable."""

    active: ActiveEntries  # of the other variables, at least the requested indicators
    own: Codes  # states of the variable itself
    sample_weight: Floats


@dataclass(frozen=True, eq=False)
class UniqueRows:
    """Distinct rows of a table in lexicographic order, with positive weights.

    The order makes every sum independent of the order of the table. All learners take these rows; `of` makes them from
    any table.

    Parameters
    ----------
    domain : Domain
        Variables and their states.
    codes : ndarray of uint8
        The distinct rows, shape (distinct rows, variables); 255 for missing values.
    sample_weight : ndarray of float
        Weight of each distinct row.
    n_rows : int
        Number of rows that were read.
    dropped_rows : int, default=0
        Number of rows that reading dropped.
    notes : tuple of str, default=()
        Remarks about the table.
    effective_rows : float, default=None
        Effective sample size of the weights; None means their sum.

    See Also
    --------
    Dataset : Rows in their order.
    SparseRows : Rows of very many binary variables.

    Notes
    -----
    ``effective_rows`` is the sum of the weights if they are whole numbers, which are treated as counts. Otherwise it is
    that of Kish (1965): the squared sum of the weights divided by the sum of their squares, over the rows that were
    read.

    Examples
    --------
    >>> from mrfit import UniqueRows
    >>> rows = UniqueRows.of({"smokes": ["yes", "no", "no"], "coughs": ["yes", "no", "no"]})
    >>> rows
    <UniqueRows: 3 rows, 2 distinct, 2 variables>
    >>> rows.sample_weight
    array([2., 1.])
    """

    domain: Domain
    codes: Codes  # (distinct, variables)
    sample_weight: Floats  # (distinct,)
    n_rows: int
    dropped_rows: int = 0
    notes: tuple[str, ...] = ()
    effective_rows: float = None  # type: ignore[assignment]  # never None once built

    def __post_init__(self) -> None:
        if self.effective_rows is None:
            object.__setattr__(self, "effective_rows", self.total_weight)
        self.codes.flags.writeable = False
        self.sample_weight.flags.writeable = False

    @classmethod
    def from_dataset(cls, dataset: Dataset) -> UniqueRows:
        """Return the distinct rows of a `Dataset`."""
        rows = cls.from_codes(dataset.domain, dataset.codes, dataset.sample_weight)
        return replace(rows, dropped_rows=dataset.dropped_rows, notes=dataset.notes)

    @classmethod
    def of(cls, rows: object) -> UniqueRows:
        """Return the distinct rows of a `Dataset`, or of a table that `Dataset.from_table` reads."""
        from mrfit.data.dataset import Dataset

        if isinstance(rows, UniqueRows):
            return rows
        return cls.from_dataset(rows if isinstance(rows, Dataset) else Dataset.from_table(rows))

    @classmethod
    def from_file(
        cls,
        source: Source,
        reading: ParseOptions | None = None,
        *,
        progress: Progress | None = None,
        **how: Unpack[FileOptions],
    ) -> UniqueRows:
        """Count the rows of a file of any size, in pieces; only distinct rows are in memory.

        Parameters
        ----------
        source : path or sequence of paths
            CSV, TSV, text, Libra ``.data`` (each also ``.gz``) or Parquet. A directory, pattern or list of such files
            is one table, ``-`` is standard input, ``nltcs:train`` a named data set.
        reading : ParseOptions or None, default=None
            Options that define how values are parsed; its fields may be passed as keywords instead.
        progress : callable or None, default=None
            Called after every piece with the bytes read and the bytes of all files.
        **how
            Fields of `FileLayout` and, without ``reading``, of `ParseOptions`.
        """
        layout: LayoutOptions = {name: how[name] for name in LayoutOptions.__annotations__ if name in how}  # type: ignore[assignment, literal-required]
        coding = {name: value for name, value in how.items() if name not in LayoutOptions.__annotations__}
        if coding and reading is not None:
            raise DataError(f"{next(iter(coding))}= is a field of the reading that is given. Put it into that Reading.")
        if unknown := sorted(coding.keys() - ReadingOptions.__annotations__.keys()):
            known = (*ReadingOptions.__annotations__, *LayoutOptions.__annotations__)
            raise DataError(f"There is no option {unknown[0]!r} for files; choose among {listed(known, limit=20)}.")
        reading = reading or ParseOptions(**coding)  # type: ignore[arg-type]
        with named_in_errors(source):
            batches = read_batches(source, select=reading.chosen, progress=progress, **layout)
            return cls.from_batches(batches, reading)

    @classmethod
    def from_batches(cls, batches: Iterable[Batch], reading: ParseOptions) -> UniqueRows:
        """Count the rows of a stream; memory holds only distinct rows.

        Parameters
        ----------
        batches : iterable of Batch
            Pieces of a table.
        reading : ParseOptions
            Options that define how values are parsed.
        """
        coder, counter, limit = Encoder(reading), RowCounter(), MemoryLimit(reading.memory)
        for batch in batches:
            counter.add(*coder.encode(batch))
            limit.check(counter.n_bytes_needed, batch.share_read)
        domain, remaps = coder.finish()
        rows = cls._of_packed(domain, counter.result(remaps), counter.n_rows, counter.independent.n_rows)
        return replace(rows, dropped_rows=coder.dropped_rows, notes=coder.notes)

    @classmethod
    def from_codes(cls, domain: Domain, codes: Codes, sample_weight: Floats) -> UniqueRows:
        """Return the distinct rows of an array of codes.

        Parameters
        ----------
        domain : Domain
            Variables and their states.
        codes : ndarray of uint8
            Codes, shape (rows, variables).
        sample_weight : ndarray of float
            Weight of each row.
        """
        rows = PackedRows.from_codes(codes, sample_weight).distinct()
        return cls._of_packed(domain, rows, len(codes), StreamCounter().add(sample_weight).n_rows)

    @classmethod
    def _of_packed(cls, domain: Domain, rows: PackedRows, n_rows: int, effective_rows: float) -> UniqueRows:
        if not len(rows):
            raise DataError("Every row has weight zero; at least one needs a positive weight.")
        return cls(domain, rows.codes(), rows.sample_weight, n_rows, effective_rows=effective_rows)

    @classmethod
    def merged(cls, parts: Sequence[UniqueRows]) -> UniqueRows:
        """Merge the rows of all parts of a table; only the order of the columns depends on the order of the parts."""
        if not parts:
            raise DataError("There are no parts to merge; at least one is needed.")
        domain = merge_domains([part.domain for part in parts])
        recoded = [part.recoded(domain) for part in parts]
        codes = np.concatenate([part.codes for part in recoded])
        rows = cls.from_codes(domain, codes, np.concatenate([part.sample_weight for part in recoded]))
        squares = sum(part.total_weight**2 / part.effective_rows for part in parts)
        return replace(
            rows,
            n_rows=sum(part.n_rows for part in parts),
            dropped_rows=sum(part.dropped_rows for part in parts),
            notes=tuple(dict.fromkeys(note for part in parts for note in part.notes)),
            effective_rows=rows.total_weight**2 / squares,
        )

    def reweighted(self, sample_weight: Floats) -> UniqueRows:
        """Return the distinct rows with other weights; rows of weight zero are dropped.

        The effective number of rows changes in proportion to the total weight. Bootstrap samples, folds and halves of a
        table are all weights on the same rows.
        """
        weight = checked_sample_weight(sample_weight, self.n_distinct)
        some, share = weight > 0, float(weight.sum()) / self.total_weight
        return UniqueRows(
            self.domain, self.codes[some], weight[some], int(some.sum()), effective_rows=share * self.effective_rows
        )

    def __eq__(self, other: object) -> bool:
        """Whether the rows and their weights are equal, regardless of how they were read."""
        if not isinstance(other, UniqueRows):
            return NotImplemented
        return (
            self.domain == other.domain
            and np.array_equal(self.codes, other.codes)
            and np.array_equal(self.sample_weight, other.sample_weight)
        )

    def __hash__(self) -> int:
        return hash((self.domain, self.n_distinct, self.total_weight))

    def __repr__(self) -> str:
        return f"<UniqueRows: {self.n_rows:,} rows, {self.n_distinct:,} distinct, {len(self.domain)} variables>"

    def recoded(self, domain: Domain) -> UniqueRows:
        """Return the same rows under another domain, matched by column and state name."""
        if domain == self.domain:
            return self
        batch = Batch.from_codes(self.domain, self.codes, self.sample_weight)
        return replace(
            self.from_batches([batch], ParseOptions(domain, missing="keep")),
            n_rows=self.n_rows,
            effective_rows=self.effective_rows,
        )

    def on_columns(self, columns: Sequence[int]) -> UniqueRows:
        """Return the same rows with some of the columns, in the given order."""
        if list(columns) == list(range(len(self.domain))):
            return self
        domain = Domain(tuple(self.domain[i] for i in columns))
        codes = np.ascontiguousarray(self.codes[:, list(columns)])
        rows = self.from_codes(domain, codes, self.sample_weight)
        return replace(
            rows,
            n_rows=self.n_rows,
            dropped_rows=self.dropped_rows,
            notes=self.notes,
            effective_rows=self.effective_rows,
        )

    def places_of(self, codes: Codes) -> NDArray[np.int64]:
        """Return the positions of rows of codes among the distinct rows, which must contain them."""
        kind = f"S{codes.shape[1]}"
        known, wanted = (np.ascontiguousarray(each).view(kind).ravel() for each in (self.codes, codes))
        return np.searchsorted(known, wanted)

    @property
    def n_distinct(self) -> int:
        """Number of distinct rows."""
        return len(self.codes)

    @cached_property
    def sha256(self) -> str:
        """Hash of states, codes and weights, to tell whether two models were fitted to the same data."""
        digest = hashlib.sha256(json.dumps(self.domain.to_states()).encode())
        digest.update(self.codes.tobytes())
        digest.update(self.sample_weight.tobytes())
        return digest.hexdigest()

    @cached_property
    def total_weight(self) -> float:
        """Sum of the row weights."""
        return float(self.sample_weight.sum())

    def scored(self, score: Callable[[Codes], Floats]) -> Floats:
        """Apply a function of codes to the distinct rows."""
        return score(self.codes)

    def column(self, variable: int) -> Codes:
        """Return the codes of one variable."""
        return self.codes[:, variable]

    def seen_by(self, variable: int, indicators: NDArray[np.int64]) -> SeenRows:
        """Return rows sufficient for a variable and some indicators of others; these may be fewer than all rows.

        Parameters
        ----------
        variable : int
            Number of the variable.
        indicators : ndarray of int
            Numbers of indicators "variable j is in state s" of other variables.
        """
        own = np.array(self.column(variable))  # copied: kernels are compiled for one layout
        return SeenRows(self.active, own, self.sample_weight)

    @cached_property
    def state_weights(self) -> tuple[Floats, ...]:
        """Weight of the rows in each state, for every variable."""
        columns = enumerate(self.domain.shape)
        return tuple(np.bincount(self.column(i), self.sample_weight, c)[:c].astype(np.float64) for i, c in columns)

    @cached_property
    def is_complete(self) -> bool:
        """Whether every cell has a value."""
        return has_all_cells(self.codes)

    def check_complete(self, what: str) -> None:
        """Refuse missing values on behalf of ``what``, which needs complete rows."""
        if not self.is_complete:
            check_complete(self.codes, what)

    @cached_property
    def active(self) -> ActiveEntries:
        """Rows in which each indicator "variable j is in state s" (s > 0) holds."""
        self.check_complete("learning")
        return ActiveEntries.from_codes(self.codes, self.domain.shape)
