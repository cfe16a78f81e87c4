"""Reading of files as batches of dictionary-encoded columns, in pieces of bounded size."""

from __future__ import annotations

import csv
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from mrfit._typing import StateCodes
from mrfit.core.errors import DataError, listed
from mrfit.data.batch import Batch, BatchColumn, arrow_codes, check_names, check_range
from mrfit.data.delimited import delimited_pieces
from mrfit.data.file_layout import FileLayout, LayoutOptions
from mrfit.data.labels import label
from mrfit.data.sources import Peekable, Source, TableFile, Utf8Stream, display_name, files_of, opened
from mrfit.data.storage import Storage

# Codes for missing values in text files.
MISSING_SPELLINGS = frozenset(("", "NA", "NaN", "nan", "null", "NULL", "N/A", "?", "*"))

_CELLS_PER_PIECE = 2**23
_PARQUET_MAGIC = b"PAR1"
_ACCEPTED = ".csv, .tsv, .txt or .data (each also .gz), or .parquet"

Select = Callable[[Sequence[str]], Collection[str]]
Progress = Callable[[int, int], None]


def read_batches(
    source: Source,
    *,
    select: Select | None = None,
    progress: Progress | None = None,
    may_be_empty: bool = False,
    **layout: Unpack[LayoutOptions],
) -> Iterator[Batch]:
    """Yield the rows of a file, in pieces and in one pass.

    Parameters
    ----------
    source
        Delimited text (``.csv``, ``.tsv``, ``.txt``), a Libra/DEBD ``.data`` file (commas, no header, rows may start
        with ``weight|``), each also gzipped, or a Parquet file. Also ``-`` for standard input, any pipe, a named data
        set such as ``nltcs:train``, or a directory, pattern (``parts/*.csv``) or list of files: they are one table if
        all have the same columns, in any order. Folders ``name=value`` in a directory define columns. All of these may
        be addresses that fsspec understands, such as ``s3://bucket/parts/``.
    select
        Function that selects columns by the names of all columns; by default all are read.
    progress
        Called after every piece with the bytes read and those of all files, without streams.
    may_be_empty
        Whether to accept a table without rows: other parts of it may have some.
    layout
        Properties of the files, explained at `mrfit.data.file_layout.FileLayout`.
    """
    how = FileLayout(**layout)
    files = files_of_table(source, how.format)
    places = [file.place for file in files]
    names: Collection[str] | None = None
    n_rows, n_bytes, all_bytes = 0, 0, sum(place.n_bytes for place in places)
    for place, columns in zip(places, [file.folder_columns for file in files], strict=True):
        with named_in_errors(place), _opened_table(place, how, columns) as table:
            if names is not None and set(table.names) != set(names):
                raise DataError(_column_mismatch(place, table.names, places[0], names))
            notes = table.notes if names is None else ()  # the notes of the first file are enough
            names = table.names
            chosen = None if select is None else select(table.names)
            file = place.name if len(places) > 1 else None
            for batch in _batches(table, how.weight, chosen, file):
                done = min(n_bytes + table.n_bytes(batch.first_row + batch.n_rows), all_bytes)
                if progress is not None:
                    progress(done, all_bytes)
                yield replace(batch, notes=notes, share_read=done / all_bytes if all_bytes else None)
                n_rows, notes = n_rows + batch.n_rows, ()
            n_bytes += place.n_bytes
    if n_rows == 0 and not may_be_empty:
        raise DataError(f"{places[0].name!r} names columns but has no rows; at least one is needed.")


def files_of_table(source: Source, format: str | None) -> list[TableFile]:
    """Return the files of a table; in a directory those with known suffixes, or all if a format is given."""
    known = tuple(suffix + end for suffix in _KINDS for end in ("", ".gz"))
    return files_of(source, known if format is None else ("",))


@dataclass(frozen=True)
class _PendingTable:
    """An open file: its columns, its rows as Arrow batches, its codes for missing values, and remarks.

    ``prefixed`` means that rows may start with ``weight|``; ``n_bytes`` returns the bytes that a number of rows took.
    """

    names: tuple[str, ...]
    pieces: Iterable[Any]
    n_bytes: Callable[[int], int]
    missing: frozenset[str] = frozenset()
    prefixed: bool = False
    notes: tuple[str, ...] = ()

    def with_constants(self, columns: Sequence[tuple[str, str | None]]) -> _PendingTable:
        """Return the table with more columns, each with one value in all rows."""
        if not columns:
            return self
        names = (*self.names, *(name for name, _ in columns))
        check_names(names, source="With its folders, the file")
        return replace(self, names=names, pieces=(_with_constants(piece, columns) for piece in self.pieces))


def _with_constants(piece: Any, columns: Sequence[tuple[str, str | None]]) -> Any:
    import pyarrow as pa

    for name, value in columns:
        piece = piece.append_column(name, pa.repeat(pa.scalar(value, pa.string()), piece.num_rows))
    return piece


@contextmanager
def _opened_table(
    place: Storage, layout: FileLayout, columns: Sequence[tuple[str, str | None]]
) -> Iterator[_PendingTable]:
    if not place.exists():
        raise DataError(f"There is no file {str(place)!r}; check the path.")
    with opened(place) as file:
        yield _KINDS[_suffix(place, layout, file)](file, place, layout).with_constants(columns)


def _suffix(place: Storage, layout: FileLayout, file: Peekable) -> str:
    """Return the kind of a file by its format, else its name, else, for a stream, its content."""
    suffix = _known_suffix(place) if layout.format is None else f".{layout.format}"
    if suffix not in _KINDS and place.is_stream:
        suffix = ".parquet" if file.start == _PARQUET_MAGIC else ".csv"
    if suffix not in _KINDS:
        if suffix in (".items", ".basket"):
            raise DataError(
                f"{place.name!r} contains lists of items, which only structure, fit and score read. Convert it to a "
                "table."
            )
        raise DataError(
            f"The kind of {place.name!r} is not known; expected {_ACCEPTED}. Name it, for instance format='csv', or "
            "convert the file."
        )
    if suffix == ".data" and layout.weight is not None:
        raise DataError(
            f"weight={layout.weight!r} does not apply to {place.name!r}: rows of .data files carry weights as "
            "'weight|' in front. Pass format='csv' if a column holds the weights."
        )
    return suffix


def _known_suffix(place: Storage) -> str:
    """Return the suffix in lower case, without ``.gz`` on text files."""
    name = place.name.lower()
    return Path(name if name.endswith(".parquet.gz") else name.removesuffix(".gz")).suffix


def _text(
    file: Peekable, place: Storage, layout: FileLayout, *, separator: str | None = None, prefixed: bool = False
) -> _PendingTable:
    name = place.name
    dialect, pieces = delimited_pieces(
        Utf8Stream(file, layout.encoding, name=name),
        name=name,
        header=False if prefixed else layout.header,
        separator=layout.separator or separator,
    )
    missing = MISSING_SPELLINGS.union(map(label, layout.na_values))
    notes = tuple(f"{name!r}: {note}" for note in dialect.notes)
    return _PendingTable(dialect.names, pieces, lambda _: file.n_bytes, missing, prefixed, notes)


def _parquet(file: Peekable, place: Storage, layout: FileLayout) -> _PendingTable:
    table = place.parquet(file)
    names = tuple(table.schema_arrow.names)
    check_names(names, source=repr(place.name))
    pieces = table.iter_batches(batch_size=max(1, _CELLS_PER_PIECE // len(names)))
    n_bytes, n_rows = place.n_bytes, table.metadata.num_rows
    return _PendingTable(names, pieces, lambda row: n_bytes * row // n_rows, frozenset(map(label, layout.na_values)))


_KINDS: dict[str, Callable[[Peekable, Storage, FileLayout], _PendingTable]] = {
    ".csv": _text,
    ".tsv": partial(_text, separator="\t"),
    ".txt": _text,
    ".data": partial(_text, separator=",", prefixed=True),
    ".parquet": _parquet,
}


def _column_mismatch(place: Storage, names: Collection[str], first: Storage, expected: Collection[str]) -> str:
    lacks = [name for name in expected if name not in names]
    adds = [name for name in names if name not in expected]
    differs = " and ".join(f"{verb} {listed(found)}" for verb, found in (("lacks", lacks), ("adds", adds)) if found)
    return (
        f"{place.name!r} {differs}, compared with {first.name!r}; the files of one table need the same columns. "
        "Name the files that belong together by a pattern such as 'parts/*.csv'."
    )


def _batches(
    table: _PendingTable, weight: str | None, chosen: Collection[str] | None, file: str | None
) -> Iterator[Batch]:
    if weight is not None and weight not in table.names:
        raise DataError(f"There is no weight column {weight!r}; the columns are {listed(table.names)}.")
    n_rows, wanted = 0, None if chosen is None else frozenset(chosen)  # looked up once for each of many columns
    for piece in table.pieces:
        if piece.num_rows:
            columns, sample_weight = _columns(piece, table, weight=weight, chosen=wanted, first_row=n_rows)
            cells = _without_weights(piece) if table.prefixed else piece
            yield Batch(columns, sample_weight, n_rows, file=file, cells=cells)
            n_rows += piece.num_rows


def _columns(
    piece: Any, table: _PendingTable, *, weight: str | None, chosen: Collection[str] | None, first_row: int
) -> tuple[tuple[BatchColumn, ...], NDArray[np.float64] | None]:
    arrays = dict(zip(table.names, piece.columns, strict=True))
    columns: list[BatchColumn] = []
    sample_weight = None
    if weight is not None:
        sample_weight = _weights(*arrow_codes(weight, arrays.pop(weight)), first_row)
    if table.prefixed:
        first = table.names[0]
        codes, values = arrow_codes(first, arrays.pop(first))
        prefixes, values = _split_weights(values)
        sample_weight = _weights(codes, prefixes, first_row)
        if chosen is None or first in chosen:
            columns = [BatchColumn.encoded(first, codes, values, missing=table.missing)]
    columns += [
        BatchColumn.from_arrow(name, array, missing=table.missing)
        for name, array in arrays.items()
        if chosen is None or name in chosen
    ]
    return tuple(columns), sample_weight


def _without_weights(piece: Any) -> Any:
    """Return the rows without the ``weight|`` of their first field."""
    import pyarrow as pa

    first = piece.column(0)
    values = pa.array(_split_weights(first.dictionary.to_pylist())[1], pa.string())
    return piece.set_column(0, piece.schema.names[0], values.take(first.indices).dictionary_encode())


def _split_weights(fields: Sequence[Any]) -> tuple[list[str], list[str]]:
    """Return weights and values of fields ``weight|value``; the default weight is 1."""
    parts = [field.rpartition("|") for field in fields]
    return [weight if bar else "1" for weight, bar, _ in parts], [value for _, _, value in parts]


def _weights(codes: StateCodes, values: Sequence[object], first_row: int) -> NDArray[np.float64]:
    """Return row weights, parsed once per distinct value; code -1 (null) takes the last entry."""
    weight = np.array([*map(_weight, values), np.nan])[codes]
    wrong = np.flatnonzero(~(np.isfinite(weight) & (weight >= 0)))
    if wrong.size:
        value = [*values, None][codes[wrong[0]]]
        raise DataError(
            f"Row {first_row + wrong[0] + 1} has the weight {value!r}; weights must be finite numbers, not "
            "negative. Correct it or leave the row out."
        )
    check_range(weight, "The weight of a row")
    return weight


def _weight(value: object) -> float:
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return float("nan")


class _NamedError(DataError):
    """An error that already names its file."""


@contextmanager
def named_in_errors(source: Source) -> Iterator[None]:
    """Turn errors of reading into one line with the name of the file."""
    import pyarrow as pa

    name = display_name(source)
    try:
        yield
    except DataError as error:
        if isinstance(error, _NamedError) or name in str(error):
            raise
        raise _NamedError(f"{name!r}: {error}") from None
    except (pa.ArrowException, csv.Error) as error:
        reason = str(error).partition("\n")[0].rstrip(".")
        raise _NamedError(f"{name!r} cannot be read: {reason}. Check that it is what its name says.") from None
    except (OSError, EOFError, zlib.error) as error:
        raise _NamedError(
            f"{name!r} is damaged, cut short or not readable: {error}. Get the file again or check its permissions."
        ) from None
