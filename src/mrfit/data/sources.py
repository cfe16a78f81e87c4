"""The files of a table, named by a path, an address, a directory, a pattern or a list."""

from __future__ import annotations

import codecs
import gzip
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import unquote

from mrfit.core.errors import DataError
from mrfit.data.addresses import Address, is_address
from mrfit.data.named_datasets import resolved
from mrfit.data.storage import Storage, here

_PATTERN = frozenset("*?[")
_HIVE_MISSING = "__HIVE_DEFAULT_PARTITION__"  # missing value in folder names of Hive partitions
_GZIP_MAGIC = b"\x1f\x8b"
_BYTE_ORDER_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32",  # before UTF-16, because its mark begins with that of UTF-16
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
    codecs.BOM_UTF8: "utf-8-sig",
}


@dataclass(frozen=True)
class TableFile:
    """A file of a table, and the constant columns that its folders define, such as ``year=2024``."""

    place: Storage
    folder_columns: tuple[tuple[str, str | None], ...] = ()


OneSource = str | Path | Storage | TableFile
Source = OneSource | Sequence[OneSource]


def files_of(source: Source, suffixes: tuple[str, ...]) -> list[TableFile]:
    """Return the files that together form one table, in sorted order, or in that of a list.

    A directory means the files in it with one of the ``suffixes``, and those in its folders ``name=value``. Hidden
    files and names that begin with ``_`` are skipped. A pattern such as ``parts/*.csv`` means all files it matches.
    """
    if isinstance(source, TableFile):
        return [source]
    if not isinstance(source, str | Path | Storage):
        return _files_of_all(source, suffixes)
    place = _place(source)
    if place.is_dir():
        found = list(_tables_in(place, suffixes, ()))
        if not found:
            raise DataError(
                f"{str(place)!r} is a directory without tables in it; expected files: {', '.join(suffixes)}."
            )
        return found
    if place.exists() or _PATTERN.isdisjoint(str(place)):
        return [TableFile(place)]
    matched = [TableFile(file) for file in sorted(place.matching()) if not file.name.startswith(".")]  # type: ignore[type-var]
    if not matched:
        raise DataError(f"No file matches the pattern {str(place)!r}; check the path.")
    return matched


def _place(source: str | Path | Storage) -> Storage:
    if isinstance(source, Storage):
        return source
    return Address(str(source)) if is_address(source) else here(resolved(source))


def _files_of_all(sources: Sequence[OneSource], suffixes: tuple[str, ...]) -> list[TableFile]:
    found = [file for source in sources for file in files_of(source, suffixes)]
    if not found:
        raise DataError("The list of files is empty; at least one is needed.")
    places = [file.place for file in found]
    if repeated := [place for place in dict.fromkeys(places) if places.count(place) > 1]:
        raise DataError(f"{str(repeated[0])!r} is named twice among the files of one table. Name each once.")
    return found


def _tables_in(
    folder: Storage, suffixes: tuple[str, ...], columns: tuple[tuple[str, str | None], ...]
) -> Iterator[TableFile]:
    for place, is_folder in sorted(folder.inside()):
        name, is_column, value = place.name.partition("=")
        if place.name.startswith((".", "_")):
            continue
        if not is_folder and place.name.lower().endswith(suffixes):
            yield TableFile(place, columns)
        elif is_folder and is_column:
            constant = None if value == _HIVE_MISSING else unquote(value)
            yield from _tables_in(place, suffixes, (*columns, (unquote(name), constant)))


def display_name(source: Source) -> str:
    """Return the name of a source for messages."""
    if isinstance(source, TableFile):
        source = source.place
    if isinstance(source, str | Path):
        source = here(source)
    if isinstance(source, Storage):
        return source.name
    return " and ".join([*map(display_name, source[:1]), *([f"{len(source) - 1} more"] if len(source) > 1 else [])])


@contextmanager
def opened(place: Storage) -> Iterator[Peekable]:
    """Open a file or stream, unpacked if its content is gzipped, regardless of its name."""
    with place.open() as file:
        yield _unpacked(Peekable(file), expected=place.suffix.lower() == ".gz")


class Peekable:
    """A stream that is read once, except for its first bytes, which ``start`` shows in advance.

    The buffered readers of the standard library peek no further than one read of a pipe, which may be one byte.
    ``packed`` is the compressed stream, if there is one.
    """

    def __init__(self, file: BinaryIO, packed: Peekable | None = None) -> None:
        self._file = file
        self._packed = packed
        self.start = file.read(4)
        self._waiting = self.start
        self._n_bytes = len(self.start)

    @property
    def n_bytes(self) -> int:
        """Bytes read from the file, compressed if it is compressed."""
        return self._n_bytes if self._packed is None else self._packed.n_bytes

    def read(self, size: int = -1) -> bytes:
        """Return ``size`` bytes, fewer only at the end."""
        waiting, self._waiting = self._waiting, b""
        if 0 <= size < len(waiting):
            waiting, self._waiting = waiting[:size], waiting[size:]
            return waiting
        more = self._file.read(size if size < 0 else size - len(waiting))
        self._n_bytes += len(more)
        return waiting + more


def _unpacked(file: Peekable, *, expected: bool = False) -> Peekable:
    if expected or file.start.startswith(_GZIP_MAGIC):
        packed: Any = file  # gzip calls only its `read`
        return Peekable(gzip.GzipFile(fileobj=packed), file)  # type: ignore[arg-type]
    return file


class Utf8Stream:
    """A text stream of any encoding, read as UTF-8 without a byte order mark; it locates invalid bytes."""

    def __init__(self, file: Peekable, encoding: str | None, *, name: str) -> None:
        self._file = file
        self._name = name
        marks = [mark for mark in _BYTE_ORDER_MARKS if file.start.startswith(mark)]
        found = _BYTE_ORDER_MARKS[marks[0]] if marks else "utf-8"
        self.encoding = found if encoding is None or _is_utf8(encoding) else encoding
        self._decoder = codecs.getincrementaldecoder(self.encoding)()
        self._n_bytes = 0
        self._n_lines = 0

    def read(self, size: int) -> bytes:
        """Return about ``size`` bytes of UTF-8, none at the end."""
        while True:
            raw = self._file.read(size)
            self._n_bytes += len(raw)
            try:
                text = self._decoder.decode(raw, final=not raw)
                content = text.encode()
            except UnicodeDecodeError as error:
                raise DataError(self._wrong_byte(error)) from None
            except UnicodeError as error:  # a missing byte order mark, or half a character
                raise DataError(f"{self._name!r} is not text in {self.encoding}: {error}.") from None
            if text or not raw:
                self._n_lines += text.count("\n")
                return content

    def _wrong_byte(self, error: UnicodeDecodeError) -> str:
        before = self._n_bytes - len(error.object) + error.start
        lines = self._n_lines + error.object[: error.start].count(b"\n") + 1
        expected = "UTF-8 text" if self.encoding.startswith("utf-8") else f"text in {self.encoding}"
        advice = "latin-1" if self.encoding.startswith("utf-8") else "utf-8"
        return (
            f"{self._name!r} is not {expected}: byte {before + 1} (line {lines}) is "
            f"0x{error.object[error.start]:02x}. Say how it is encoded, for instance encoding={advice!r}."
        )


def _is_utf8(encoding: str) -> bool:
    return codecs.lookup(encoding).name in ("utf-8", "utf-8-sig")
