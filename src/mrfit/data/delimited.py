"""Delimited text as pieces of dictionary-encoded text columns, with or without a line of names."""

from __future__ import annotations

import codecs
import csv
import gzip
import re
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from mrfit.data.batch import check_names
from mrfit.data.labels import is_number
from mrfit.errors import DataError

_BYTES_PER_PIECE = 2**22
_DELIMITERS = (",", "\t", ";")


def delimited_pieces(path: Path, header: bool | str, *, delimiter: str | None = None) -> Iterator[Any]:
    """Arrow record batches of a text file; the delimiter is guessed from the first line if not given."""
    fields, delimiter, n_lines = _first_record(path, delimiter)
    names = _numbered(fields)
    if header is False or (header == "auto" and all(map(is_number, fields))):
        n_lines = 0
    else:
        names = [field.strip() or name for field, name in zip(fields, names, strict=True)]
    check_names(names, source=repr(path.name))
    return _pieces(path, delimiter, names, n_lines)


def _numbered(fields: Sequence[str]) -> list[str]:
    return [f"v{position}" for position in range(len(fields))]


def _first_record(path: Path, delimiter: str | None) -> tuple[list[str], str, int]:
    """The first fields of a text file, what separates them, and the lines read so far."""
    with _opened(path, "rt", encoding="utf-8-sig", newline="") as lines:
        n_blank = 0
        for line in lines:
            if line.strip("\r\n"):
                break
            n_blank += 1
        else:
            raise DataError(f"{path.name!r} is empty; expected rows of values.")
        delimiter = delimiter or _sniffed(line)
        reader = csv.reader(chain([line], lines), delimiter=delimiter)
        fields = next(reader)
        return fields, delimiter, n_blank + reader.line_num


def _opened(path: Path, mode: str, **options: Any) -> Any:
    return (gzip.open if path.suffix.lower() == ".gz" else open)(path, mode, **options)


def _sniffed(line: str) -> str:
    """The separator most frequent outside quotes, a comma if in doubt."""
    return max(_DELIMITERS, key=re.sub(r'"[^"]*"', "", line).count)


def _pieces(path: Path, delimiter: str, names: Sequence[str], n_lines_before: int) -> Iterator[Any]:
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    ragged: list[Any] = []

    def refuse(row: Any) -> str:
        ragged.append(row)
        return "error"

    text = pa.dictionary(pa.int32(), pa.string())
    parse = arrow_csv.ParseOptions(delimiter=delimiter, newlines_in_values=True, invalid_row_handler=refuse)
    # Missing values are recognised after stripping, so not here.
    convert = arrow_csv.ConvertOptions(column_types=dict.fromkeys(names, text), null_values=[])
    n_rows = 0
    for block in _blocks(path, n_lines_before):
        # One thread: only then are the rows of errors known; more did not help dictionaries either.
        read = arrow_csv.ReadOptions(use_threads=False, block_size=len(block) + 1, column_names=names)
        try:
            table = arrow_csv.read_csv(pa.BufferReader(block), read, parse, convert)
        except pa.ArrowInvalid:
            if not ragged:
                raise
            row = ragged[0]
            raise DataError(
                f"{path.name!r} row {n_rows + row.number} has {row.actual_columns} fields; expected "
                f"{row.expected_columns}, as in its first line. Correct it or check the separator {delimiter!r}."
            ) from None
        n_rows += table.num_rows
        yield from table.combine_chunks().to_batches()


def _blocks(path: Path, n_lines_before: int) -> Iterator[bytes]:
    """Whole rows of a file, a few megabytes at a time.

    Arrow's own streaming reads ahead without regard to who consumes: a file of 260 MB took 300 MB.
    """
    with _opened(path, "rb") as file:
        if file.read(len(codecs.BOM_UTF8)) != codecs.BOM_UTF8:
            file.seek(0)
        for _ in range(n_lines_before):
            file.readline()
        rest = b""
        while more := file.read(_BYTES_PER_PIECE):
            rest += more
            end = rest.rfind(b"\n") + 1
            while end and rest.count(b'"', 0, end) % 2:  # that line break is within quotes
                end = rest.rfind(b"\n", 0, end - 1) + 1
            if rest[:end].strip():
                yield rest[:end]
                rest = rest[end:]
        if rest.strip():
            yield rest
