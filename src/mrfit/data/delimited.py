"""Delimited text as record batches of dictionary-encoded text columns, with or without a header line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from mrfit.core.errors import DataError
from mrfit.data.batch import check_names
from mrfit.data.dialect import Dialect, squeezed
from mrfit.data.sources import Utf8Stream

_BYTES_PER_PIECE = 2**22
# Enough to detect separators and names; more is read only if it has fewer than two lines.
_BYTES_OF_HEAD = 2**16
_BLANK_LINES = re.compile(rb"\A( *[\r\n]+)+")


def delimited_pieces(
    stream: Utf8Stream, *, name: str, header: bool | str, separator: str | None
) -> tuple[Dialect, Iterator[Any]]:
    """Return the dialect of a text file and its rows as Arrow record batches, in one pass."""
    head, at_end = _head(stream)
    if not head.strip():
        raise DataError(f"{name!r} is empty; expected rows of values.")
    lines = head if at_end else head[: _last_row_end(head)] or head
    dialect = Dialect.of(lines.decode(), header, separator)
    check_names(dialect.names, source=repr(name))
    if len(dialect.names) == 1 and head.startswith(b">"):
        raise DataError(
            f"{name!r} begins with {dialect.names[0]!r}, as files of sequences in FASTA format do, which mrfit does "
            "not read. Convert it to a table with a column for each position."
        )
    return dialect, _pieces(_blocks(stream, _after_lines(head, dialect.n_lines)), dialect, name)


def _head(stream: Utf8Stream) -> tuple[bytes, bool]:
    """Return the beginning of a file from its first nonblank line, and whether that is the whole file."""
    head = b""
    while head.count(b"\n") + head.count(b"\r") < 4:  # at least two lines, if they end in CR LF
        more = stream.read(max(_BYTES_OF_HEAD, len(head)))
        if not more:
            return head, True
        head = _BLANK_LINES.sub(b"", head + more)
    return head, False


def _after_lines(text: bytes, n_lines: int) -> bytes:
    """Return the text without its first lines, for all line endings."""
    return b"".join(text.splitlines(keepends=True)[n_lines:]) if n_lines else text


def _pieces(blocks: Iterator[bytes], dialect: Dialect, name: str) -> Iterator[Any]:
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    ragged: list[Any] = []

    def refuse(row: Any) -> str:
        ragged.append(row)
        return "error"

    text = pa.dictionary(pa.int32(), pa.string())
    separator, names = dialect.separator, list(dialect.names)
    parse = arrow_csv.ParseOptions(delimiter=separator, newlines_in_values=True, invalid_row_handler=refuse)
    # Missing values are recognised later, after stripping.
    convert = arrow_csv.ConvertOptions(column_types=dict.fromkeys(names, text), null_values=[])
    n_rows = 0
    for block in blocks:
        block = squeezed(block.decode()).encode() if separator == " " else block
        # A single thread, so that errors know their rows; more threads did not speed up dictionaries either.
        read = arrow_csv.ReadOptions(use_threads=False, block_size=len(block) + 1, column_names=names)
        try:
            table = arrow_csv.read_csv(pa.BufferReader(block), read, parse, convert)
        except pa.ArrowInvalid:
            if not ragged:
                raise
            row = ragged[0]
            raise DataError(
                f"{name!r} row {n_rows + row.number} has {row.actual_columns} fields; expected "
                f"{row.expected_columns}, as in its first line. Correct it or check the separator {separator!r}."
            ) from None
        n_rows += table.num_rows
        yield from table.combine_chunks().to_batches()


def _blocks(stream: Utf8Stream, rest: bytes) -> Iterator[bytes]:
    """Yield whole rows of a file, a few megabytes at a time, after the bytes in ``rest``.

    Arrow's own streaming reads ahead of the consumer: a file of 260 MB took 300 MB.
    """
    while more := stream.read(_BYTES_PER_PIECE):
        rest += more
        end = _last_row_end(rest)
        if rest[:end].strip():
            yield rest[:end]
            rest = rest[end:]
    if rest.strip():
        yield rest


def _last_row_end(text: bytes) -> int:
    """Return the position after the last line break outside quotes; 0 if there is no such break.

    An even number of quotes precedes such a break. If the number is odd, the last quote opened the quoted field, and
    the break is before it.
    """
    end = _last_line_end(text, len(text))
    odd = text.count(b'"', 0, end) % 2
    while odd and end:
        quote = text.rfind(b'"', 0, end)
        end = _last_line_end(text, quote)
        odd = text.count(b'"', end, quote) % 2
    return end


def _last_line_end(text: bytes, stop: int) -> int:
    # A carriage return at the very end may be the first half of CR LF.
    return max(text.rfind(b"\n", 0, stop), text.rfind(b"\r", 0, min(stop, len(text) - 1))) + 1
