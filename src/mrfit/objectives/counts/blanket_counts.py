"""Mergeable counts of the joint states of every variable and its Markov blanket.

The pseudo-likelihood depends on the rows through these counts alone. Counts of parts of a table, read one after the
other or on other machines, add up to those of the whole. Where the structure is sparse, they stay small for any
number of rows.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from mrfit._kernels.data.state_table import add_states
from mrfit._typing import Codes, Floats
from mrfit.core.domain import Domain
from mrfit.core.errors import DataError, InputError
from mrfit.data.batch import Batch
from mrfit.data.encoding import Encoder, ParseOptions, check_complete
from mrfit.data.file_layout import LayoutOptions
from mrfit.data.packed_rows import PackedRows
from mrfit.data.readers import named_in_errors, read_batches
from mrfit.data.row_counter import RowCounter
from mrfit.data.sources import Source, files_of
from mrfit.data.unique_rows import UniqueRows
from mrfit.structures.structure import Structure

# Up to this many joint states have an entry each (half a megabyte); of more, only those that occur are listed.
_MOST_ENTRIES = 2**16
_FEW_ENTRIES = 2**12  # 32 kB: fits into the cache, and a pass takes microseconds
_ROWS_AT_ONCE = 2**16


@dataclass(frozen=True, eq=False)
class BlanketCounts:
    """Distinct states of each variable and its neighbours, with their weights.

    ``states[i]`` has a column for variable i and for each of its neighbours, ascending. Integer weights add up exactly,
    in any order; others up to rounding.
    """

    domain: Domain
    structure: Structure
    states: tuple[PackedRows, ...]
    total_weight: float

    @classmethod
    def of(cls, rows: UniqueRows, structure: Structure) -> BlanketCounts:
        counter = BlanketCounter(rows.domain, structure)
        counter.add(rows.codes, rows.sample_weight)
        return counter.result().checked()

    @classmethod
    def from_file(
        cls, source: Source, structure: Structure, reading: ParseOptions | None = None, **layout: Unpack[LayoutOptions]
    ) -> BlanketCounts:
        """Count a file of any size, in pieces; rows are never held in memory together.

        Where ``reading`` has no domain, the file is read twice: first for its states.
        """
        reading = reading or ParseOptions()
        with named_in_errors(source):
            if reading.domain is None:
                reading = _with_domain(source, reading, layout)
            return cls.from_batches(read_batches(source, select=reading.chosen, **layout), structure, reading)

    @classmethod
    def from_batches(cls, batches: Iterable[Batch], structure: Structure, reading: ParseOptions) -> BlanketCounts:
        if reading.domain is None:
            raise InputError("Mergeable counts need the states in advance; pass ParseOptions(domain=...).")
        coder, counter = Encoder(reading), BlanketCounter(reading.domain, structure)
        for batch in batches:
            counter.add(*coder.encode(batch))
        coder.finish()
        return counter.result().checked()

    @classmethod
    def merged(cls, parts: Sequence[BlanketCounts]) -> BlanketCounts:
        """Return the counts of all parts together."""
        if not parts:
            raise DataError("There are no counts to merge; at least one part is needed.")
        first = parts[0]
        for number, part in enumerate(parts[1:], start=2):
            if part.domain != first.domain or part.structure != first.structure:
                raise DataError(
                    f"Part {number} was counted with another domain or structure than the first. Count all parts with "
                    "one domain: ParseOptions(domain=...), for instance of mrfit.data.merged_domains."
                )
        states = zip(*(part.states for part in parts), strict=True)
        merged = tuple(PackedRows.joined(each).distinct() for each in states)
        return cls(first.domain, first.structure, merged, sum(part.total_weight for part in parts)).checked()

    def checked(self) -> BlanketCounts:
        """Return these counts, or refuse them if they are empty; a part of a table may be empty."""
        if not self.total_weight > 0.0:
            raise DataError("Every row has weight zero; at least one needs a positive weight.")
        return self

    @cached_property
    def columns(self) -> list[NDArray[np.int64]]:
        """The columns of every variable and its neighbours."""
        return _columns(self.structure)

    @property
    def n_states(self) -> int:
        return sum(map(len, self.states))

    @property
    def n_bytes(self) -> int:
        return sum(states.n_bytes for states in self.states)

    @cached_property
    def state_weights(self) -> tuple[Floats, ...]:
        """The weight of each state of every variable."""
        return tuple(map(self._state_weights, range(len(self.domain))))

    def _state_weights(self, variable: int) -> Floats:
        states = self.states[variable]
        own = int(np.searchsorted(self.columns[variable], variable))
        codes, n_states = states.codes()[:, own], self.domain.shape[variable]
        return np.asarray(np.bincount(codes, states.sample_weight, minlength=n_states), np.float64)

    @cached_property
    def sha256(self) -> str:
        """Hash of states, structure and counts, which tells whether two models saw the same data, split in any way."""
        digest = hashlib.sha256(json.dumps(self.domain.to_states()).encode())
        digest.update(self.structure.edges.tobytes())
        for states in self.states:
            digest.update(states.words.tobytes())
            digest.update(states.sample_weight.tobytes())
        return digest.hexdigest()

    def rows_of(self, variable: int) -> UniqueRows:
        """Return the states of a variable and its neighbours as rows of the whole domain; other columns are 0."""
        states = self.states[variable]
        codes = np.zeros((len(states), len(self.domain)), np.uint8)
        codes[:, self.columns[variable]] = states.codes()
        return UniqueRows(self.domain, codes, states.sample_weight.copy(), len(states))


def _with_domain(source: Source, reading: ParseOptions, layout: LayoutOptions) -> ParseOptions:
    """Return the same reading with the states that occur in a file."""
    if any(file.place.is_stream for file in files_of(source, ("",))):
        raise InputError(
            "A stream can be read only once, so its states are needed in advance; pass ParseOptions(domain=...)."
        )
    coder = Encoder(reading)
    for batch in read_batches(source, select=reading.chosen, **layout):
        coder.encode(batch)
    return ParseOptions(coder.finish()[0], missing=reading.missing, unknown=reading.unknown)


class BlanketCounter:
    """Accumulator of rows under a structure; its memory does not grow with repeated states."""

    def __init__(self, domain: Domain, structure: Structure) -> None:
        if structure.n_variables != len(domain):
            raise InputError(
                f"The structure is over {structure.n_variables} variables, the domain has {len(domain)}; they need to "
                "be the same."
            )
        self._domain, self._structure = domain, structure
        self._columns = _columns(structure)
        self._counters = [_counter([domain.shape[j] for j in columns]) for columns in self._columns]
        self._total_weight = 0.0

    def add(self, codes: Codes, sample_weight: Floats) -> None:
        if not len(codes):
            return
        check_complete(codes, "counting")
        self._total_weight += float(sample_weight.sum())
        for first in range(0, len(codes), _ROWS_AT_ONCE):
            by_column = np.ascontiguousarray(codes[first : first + _ROWS_AT_ONCE].T)
            # A copy: numba compiles read-only arrays separately.
            weight = np.array(sample_weight[first : first + _ROWS_AT_ONCE], order="C")
            for columns, counter in zip(self._columns, self._counters, strict=True):
                counter.add(by_column[columns].T, weight)

    def result(self) -> BlanketCounts:
        """Return the counts, which may be empty."""
        states = tuple(counter.result() for counter in self._counters)
        return BlanketCounts(self._domain, self._structure, states, self._total_weight)


class _StateTable:
    """A counter of rows with an entry for every joint state."""

    def __init__(self, shape: Sequence[int]) -> None:
        self._shape = tuple(shape)
        self._stride = np.array([prod(shape[k + 1 :]) for k in range(len(shape))], np.int64)
        self._table = np.zeros(prod(shape))

    def add(self, codes: Codes, sample_weight: Floats) -> None:
        add_states(codes.T, self._stride, sample_weight, self._table)

    def result(self) -> PackedRows:
        occurring = np.flatnonzero(self._table)
        codes = np.stack(np.unravel_index(occurring, self._shape), axis=1).astype(np.uint8)
        return PackedRows.from_codes(codes, self._table[occurring])


def _counter(shape: Sequence[int]) -> _StateTable | RowCounter:
    return _StateTable(shape) if prod(shape) <= _MOST_ENTRIES else RowCounter()


def has_small_tables(shape: Sequence[int], structure: Structure) -> bool:
    """Return whether every variable and its neighbours have few enough joint states to count all of them quickly.

    Such counts merge for any rows.
    """
    logs, (first, second) = np.log2(np.asarray(shape, np.float64)), structure.edges.T
    of_neighbours = sum(np.bincount(a, logs[b], minlength=len(logs)) for a, b in ((first, second), (second, first)))
    return bool((logs + of_neighbours <= np.log2(_FEW_ENTRIES) + 1e-9).all())


def _columns(structure: Structure) -> list[NDArray[np.int64]]:
    """Return the columns of every variable and its neighbours, ascending."""
    own = np.arange(structure.n_variables)
    first, second = structure.edges.T
    joined, others = np.concatenate([own, first, second]), np.concatenate([own, second, first])
    others = others[np.lexsort((others, joined))]
    return np.split(others, np.cumsum(np.bincount(joined, minlength=len(own)))[:-1])
