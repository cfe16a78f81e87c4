"""Distinct rows with their weights: all that learning needs of a table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

import numpy as np
from numpy.typing import NDArray

from mrfit._kernels.partition import active_entries, refine, representatives
from mrfit.data.batch import Batch, checked_sample_weight
from mrfit.data.coding import Coder, Reading, check_complete, has_all_cells
from mrfit.data.layout import LayoutOptions
from mrfit.data.readers import named_in_errors, read_batches
from mrfit.data.united_domain import united_domain
from mrfit.domain import Domain
from mrfit.errors import DataError

if TYPE_CHECKING:
    from mrfit.data.dataset import Dataset

Codes = NDArray[np.uint8]
Floats = NDArray[np.float64]


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


@dataclass(frozen=True, eq=False)
class UniqueRows:
    """Distinct rows in lexicographic order, their positive weights, and how many rows were read.

    The order makes every later sum independent of the order of the table. ``effective_rows`` is how many independent
    rows the weights stand for: their sum where they are whole numbers, which are taken for counts; else that of Kish
    (1965), the squared sum of the weights by the sum of their squares, over the rows that were read.
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
        rows = cls.from_codes(dataset.domain, dataset.codes, dataset.sample_weight)
        return replace(rows, dropped_rows=dataset.dropped_rows, notes=dataset.notes)

    @classmethod
    def of(cls, rows: object) -> UniqueRows:
        """The distinct rows of whatever holds rows: a `Dataset`, or a table that `Dataset.from_table` reads."""
        from mrfit.data.dataset import Dataset

        if isinstance(rows, UniqueRows):
            return rows
        return cls.from_dataset(rows if isinstance(rows, Dataset) else Dataset.from_table(rows))

    @classmethod
    def from_file(
        cls, source: str | Path, reading: Reading | None = None, **layout: Unpack[LayoutOptions]
    ) -> UniqueRows:
        """Count the rows of a file of any size, in pieces.

        ``source`` and ``layout`` are explained at `mrfit.data.readers.read_batches`.
        """
        reading = reading or Reading()
        with named_in_errors(source):
            return cls.from_batches(read_batches(source, select=reading.chosen, **layout), reading)

    @classmethod
    def from_batches(cls, batches: Iterable[Batch], reading: Reading) -> UniqueRows:
        """Count the rows of a stream; only distinct rows are ever held together."""
        coder, counter = Coder(reading), RowCounter()
        for batch in batches:
            counter.add(*coder.encode(batch))
        domain, remaps = coder.finish()
        codes, weight = counter.result()
        final = np.stack([remap[codes[:, i]] for i, remap in enumerate(remaps)], axis=1)
        rows = cls.from_codes(domain, final, weight)
        return replace(
            rows,
            n_rows=counter.n_rows,
            dropped_rows=coder.dropped_rows,
            notes=coder.notes,
            effective_rows=counter.independent.n_rows,
        )

    @classmethod
    def from_codes(cls, domain: Domain, codes: Codes, sample_weight: Floats) -> UniqueRows:
        distinct, weight = _distinct(codes, sample_weight, domain.shape)
        if not len(distinct):
            raise DataError("Every row has weight zero; at least one needs a positive weight.")
        return cls(domain, distinct, weight, len(codes), effective_rows=_Independent().add(sample_weight).n_rows)

    @classmethod
    def merged(cls, parts: Sequence[UniqueRows]) -> UniqueRows:
        """The rows of all parts of a table as one: the same for any order of the parts, but for that of the columns."""
        if not parts:
            raise DataError("There are no parts to merge; at least one is needed.")
        domain = united_domain([part.domain for part in parts])
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
        """The distinct rows with other weights, those of weight zero left out; independent rows in proportion.

        A resample, a fold and a half of a table are all weights on the same rows.
        """
        weight = checked_sample_weight(sample_weight, self.n_distinct)
        some, share = weight > 0, float(weight.sum()) / self.total_weight
        return UniqueRows(
            self.domain, self.codes[some], weight[some], int(some.sum()), effective_rows=share * self.effective_rows
        )

    def __eq__(self, other: object) -> bool:
        """Whether the rows and their weights are the same, however they were read."""
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
        """The same rows under another domain, matched by column and state name."""
        if domain == self.domain:
            return self
        batch = Batch.from_codes(self.domain, self.codes, self.sample_weight)
        return replace(
            self.from_batches([batch], Reading(domain, missing="keep")),
            n_rows=self.n_rows,
            effective_rows=self.effective_rows,
        )

    def on_columns(self, columns: Sequence[int]) -> UniqueRows:
        """The same rows with some of the columns, in the order given."""
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
        """Of rows that are among the distinct ones: their numbers there."""
        kind = f"S{codes.shape[1]}"
        known, wanted = (np.ascontiguousarray(each).view(kind).ravel() for each in (self.codes, codes))
        return np.searchsorted(known, wanted)

    @property
    def n_distinct(self) -> int:
        return len(self.codes)

    @cached_property
    def total_weight(self) -> float:
        return float(self.sample_weight.sum())

    @cached_property
    def is_complete(self) -> bool:
        """Whether every cell has a value."""
        return has_all_cells(self.codes)

    def check_complete(self, what: str) -> None:
        """Refuse unobserved cells on behalf of ``what``, which cannot do without them."""
        if not self.is_complete:
            check_complete(self.codes, what)

    @cached_property
    def active(self) -> ActiveEntries:
        self.check_complete("learning")
        return ActiveEntries.from_codes(self.codes, self.domain.shape)


def _distinct(codes: Codes, sample_weight: Floats, shape: tuple[int, ...]) -> tuple[Codes, Floats]:
    """Distinct rows of positive weight, sorted, with summed weights."""
    if not sample_weight.all():
        codes, sample_weight = codes[sample_weight > 0], sample_weight[sample_weight > 0]
    codes = np.ascontiguousarray(codes)
    class_of = np.empty(len(codes), np.int32)
    # What is unobserved counts as one more state here.
    seen = shape if has_all_cells(codes) else _seen_shape(codes)
    active = ActiveEntries.from_codes(codes, tuple(map(max, seen, shape)))
    n_classes = refine(active.start, active.rows, np.arange(len(active.start) - 1), class_of) if len(codes) else 0
    representative = np.empty(n_classes, np.int64)
    representatives(class_of, representative)
    distinct = codes[representative]
    weight = _summed(class_of, sample_weight, n_classes)
    order = _lexicographic_order(distinct)
    return distinct[order], weight[order]


def _summed(class_of: NDArray[np.int32], sample_weight: Floats, n_classes: int) -> Floats:
    """Total weight of each class, the same bits for any order of the rows."""
    if n_classes and not (sample_weight == np.rint(sample_weight)).all():  # sums of whole numbers are exact anyway
        order = np.lexsort((sample_weight, class_of))
        starts = np.searchsorted(class_of[order], np.arange(n_classes))
        return np.add.reduceat(sample_weight[order], starts)
    return np.bincount(class_of, sample_weight, n_classes).astype(np.float64, copy=False)


def _lexicographic_order(codes: Codes) -> NDArray[np.int64]:
    """Rows as fixed-width byte strings compare like their codes, most significant column first."""
    if not codes.size:
        return np.arange(len(codes))
    return np.argsort(np.ascontiguousarray(codes).view(f"S{codes.shape[1]}").ravel(), kind="stable")


class _Independent:
    """How many independent rows weights stand for; see `UniqueRows`."""

    def __init__(self) -> None:
        self._total = self._squares = 0.0
        self._whole = True

    def add(self, sample_weight: Floats) -> _Independent:
        self._total += float(sample_weight.sum())
        self._squares += float(sample_weight @ sample_weight)
        self._whole = self._whole and bool((sample_weight == np.rint(sample_weight)).all())
        return self

    @property
    def n_rows(self) -> float:
        return self._total if self._whole else self._total**2 / self._squares


class RowCounter:
    """Accumulates chunks of coded rows; memory grows with distinct rows, not with rows.

    Chunks wait in a buffer until it is as long as what is already distinct, so every row takes part in a
    logarithmic number of merges.
    """

    def __init__(self) -> None:
        self._kept: list[tuple[Codes, Floats]] = []
        self._waiting: list[tuple[Codes, Floats]] = []
        self.n_rows = 0
        self.independent = _Independent()

    def add(self, codes: Codes, sample_weight: Floats) -> None:
        self.n_rows += len(codes)
        self.independent.add(sample_weight)
        self._waiting.append(_distinct(codes, sample_weight, _seen_shape(codes)))
        if _length(self._waiting) > _length(self._kept):
            self._merge()

    def result(self) -> tuple[Codes, Floats]:
        self._merge()
        return self._kept[0]

    def _merge(self) -> None:
        parts = self._kept + self._waiting
        codes = np.concatenate([part[0] for part in parts])
        weight = np.concatenate([part[1] for part in parts])
        self._kept, self._waiting = [_distinct(codes, weight, _seen_shape(codes))], []


def _seen_shape(codes: Codes) -> tuple[int, ...]:
    """States of each variable as far as they occur; provisional codes have no domain yet."""
    return tuple(int(top) + 1 for top in codes.max(axis=0, initial=0))


def _length(parts: Iterable[tuple[Codes, Floats]]) -> int:
    return sum(len(codes) for codes, _ in parts)
