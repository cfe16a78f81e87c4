"""Files of item lists: one line for each row, with the names or numbers of its items."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Unpack

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from mrfit.core.domain import Domain, Variable
from mrfit.core.errors import DataError
from mrfit.data.column_selection import check_agreement, chosen_names
from mrfit.data.encoding import ParseOptions
from mrfit.data.file_layout import FileLayout, LayoutOptions
from mrfit.data.memory import MemoryLimit
from mrfit.data.readers import Progress, named_in_errors
from mrfit.data.sources import Source, TableFile, Utf8Stream, files_of, opened
from mrfit.data.sparse_rows import MOST_CODES, STATES, SparseRows
from mrfit.data.storage import Storage
from mrfit.data.unique_rows import UniqueRows

SUFFIXES = (".items", ".basket", ".items.gz", ".basket.gz")
FORMAT = "items"
_BYTES_AT_ONCE = 2**22
# Memory for sorting the entries: row and column before and after, and the overhead of an array per list.
_ENTRY_BYTES, _LIST_BYTES = 40, 140
_CODE_BYTES = 4  # of a cell while lists are turned into codes


def is_item_list(source: Source, format: str | None) -> bool:
    """Whether a source contains item lists: by its format, else by its name; of several files the first decides."""
    if format is not None:
        return format == FORMAT
    if isinstance(source, TableFile):
        source = source.place
    first = source if isinstance(source, str | Path | Storage) else next(iter(source), "")
    return str(first).lower().endswith(SUFFIXES)


def read_items(
    source: Source,
    reading: ParseOptions | None = None,
    *,
    progress: Progress | None = None,
    **layout: Unpack[LayoutOptions],
) -> UniqueRows:
    """Return the rows of item lists: as codes if these fit (2^28 cells, and the memory limit), else as `SparseRows`.

    Items are separated by spaces or, in lines that contain one, by commas. ``weight|`` may precede the first item. An
    empty line is a row without items. Under a domain, items outside it are ignored.
    """
    rows = read_sparse(source, reading, progress=progress, **layout)
    most = min(MOST_CODES, MemoryLimit(reading.memory if reading else None).n_bytes / _CODE_BYTES)
    return rows.dense() if rows.n_distinct * len(rows.domain) <= most else rows


def read_sparse(
    source: Source,
    reading: ParseOptions | None = None,
    *,
    progress: Progress | None = None,
    **layout: Unpack[LayoutOptions],
) -> SparseRows:
    """Read item lists as `SparseRows`, regardless of their size."""
    reading, how = reading or ParseOptions(), FileLayout(**layout)
    with named_in_errors(source):
        _check_options(reading, how)
        found, limit = _Lists(), MemoryLimit(reading.memory)
        for lines, share_read in _lines(source, how, progress):
            for line in lines:
                found.add(line, how.separator)
            limit.check(found.n_bytes_needed, share_read)
        if not found.n_items:
            raise DataError("It contains no items; at least one row needs some.")
        return found.rows(reading)


def _check_options(reading: ParseOptions, layout: FileLayout) -> None:
    for name, value in (("weight", layout.weight), ("states", reading.states), ("header", layout.header is True)):
        if value:
            raise DataError(
                f"{name}=... does not apply to lists of items, which are on or off; row weights are written "
                "'weight|' in front. Leave it out."
            )
    for variable in reading.domain or ():
        if variable.states != STATES:
            raise DataError(
                f"Items have the states 0 and 1; {variable.name!r} has {', '.join(variable.states)} in the domain or "
                "model. Read a table instead."
            )


def _lines(source: Source, layout: FileLayout, progress: Progress | None) -> Iterator[tuple[list[str], float | None]]:
    """Yield some lines at a time, and the fraction of all bytes read with them."""
    places = [file.place for file in files_of(source, SUFFIXES)]
    before, all_bytes = 0, sum(place.n_bytes for place in places)
    for place in places:
        if not place.exists():
            raise DataError(f"There is no file {str(place)!r}; check the path.")
        with named_in_errors(place), opened(place) as file:
            stream, rest = Utf8Stream(file, layout.encoding, name=place.name), b""
            while content := stream.read(_BYTES_AT_ONCE):
                *lines, rest = (rest + content).split(b"\n")
                done = min(before + file.n_bytes, all_bytes)
                yield [line.decode() for line in lines], done / all_bytes if all_bytes else None
                if progress is not None:
                    progress(done, all_bytes)
            if rest:
                yield [rest.decode()], None
        before += place.n_bytes


class _Lists:
    """A collector of lines; an item gets its number at its first occurrence."""

    def __init__(self) -> None:
        self._number: dict[str, int] = {}
        self._items: list[NDArray[np.int32]] = []
        self._weights: list[float] = []
        self.n_items = 0

    @property
    def n_bytes_needed(self) -> int:
        """Most bytes that the rows so far need until they are compressed."""
        return _ENTRY_BYTES * self.n_items + _LIST_BYTES * len(self._items)

    def add(self, line: str, separator: str | None) -> None:
        weight, bar, listed = line.rpartition("|")
        self._weights.append(self._weight(weight) if bar else 1.0)
        fields = listed.split(separator or ("," if "," in listed else None))
        names = {name for field in fields if (name := field.strip())}
        number = self._number
        self._items.append(np.array([number.setdefault(name, len(number)) for name in names], np.int32))
        self.n_items += len(names)

    def _weight(self, text: str) -> float:
        try:
            weight = float(text)
        except ValueError:
            weight = np.nan
        if not 0 <= weight < np.inf:
            raise DataError(
                f"Row {len(self._weights) + 1} has the weight {text!r}; weights must be finite numbers, not negative. "
                "Correct it or leave the row out."
            )
        return weight

    def rows(self, reading: ParseOptions) -> SparseRows:
        names, met = self._chosen(reading), list(self._number)
        place = {name: j for j, name in enumerate(names)}
        column = np.array([place.get(name, -1) for name in met], np.int64)[np.concatenate(self._items)]
        row = np.repeat(np.arange(len(self._items)), [len(items) for items in self._items])[column >= 0]
        shape = len(self._items), len(names)
        entries = sparse.csr_array((np.ones(len(row), np.uint8), (row, column[column >= 0])), shape=shape)
        entries.sort_indices()
        domain = reading.domain or Domain(tuple(Variable(name, STATES) for name in names))
        return SparseRows(domain, entries, np.array(self._weights))

    def _chosen(self, reading: ParseOptions) -> list[str]:
        """Return the selected items: numbers by size, then words alphabetically; those of a domain in its order."""
        if reading.domain is not None:
            check_agreement(reading.domain, reading.columns, reading.exclude)
            return list(reading.domain.names)
        by_size = sorted(
            self._number, key=lambda name: (not name.isdecimal(), int(name) if name.isdecimal() else 0, name)
        )
        return chosen_names(by_size, reading.columns, reading.exclude)
