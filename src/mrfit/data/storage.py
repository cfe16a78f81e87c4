"""Local files and standard input. `mrfit.data.addresses` has remote files."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from mrfit.core.errors import InputError

if TYPE_CHECKING:
    from mrfit.data.sources import Peekable

STANDARD_INPUT = "-"


class Storage(ABC):
    """A location of table files, as readers access it; its text is what a user would write."""

    @property
    @abstractmethod
    def name(self) -> str:
        """Name for messages."""

    @property
    def suffix(self) -> str:
        return Path(self.name).suffix

    @property
    @abstractmethod
    def is_stream(self) -> bool:
        """Whether it can be read only once, from front to back, or its name does not tell its format."""

    @property
    @abstractmethod
    def n_bytes(self) -> int:
        """Length in bytes; 0 if unknown."""

    @abstractmethod
    def exists(self) -> bool: ...

    @abstractmethod
    def is_dir(self) -> bool: ...

    @abstractmethod
    def absolute(self) -> Storage:
        """Return the same location as an absolute path."""

    @abstractmethod
    def inside(self) -> list[tuple[Storage, bool]]:
        """Return the entries of a folder, and whether each is a folder."""

    @abstractmethod
    def matching(self) -> Iterator[Storage]:
        """Return the files that match it as a pattern."""

    @abstractmethod
    def open(self) -> AbstractContextManager[BinaryIO]:
        """Open the bytes for reading from front to back."""

    def parquet(self, file: Peekable) -> Any:
        """Open it as a Parquet file; a stream is read as a whole, because Parquet files are read from their end."""
        import pyarrow as pa
        from pyarrow import parquet

        return parquet.ParquetFile(pa.BufferReader(file.read()))


@dataclass(frozen=True, order=True)
class LocalFile(Storage):
    """A path of this machine: a file, a folder, a pipe or a device."""

    path: Path

    def __str__(self) -> str:
        return str(self.path)

    @property
    def name(self) -> str:
        return self.path.name

    @property
    def is_stream(self) -> bool:
        return self.path.is_relative_to("/dev") or self.path.is_relative_to("/proc") or not self.path.is_file()

    @property
    def n_bytes(self) -> int:
        return 0 if self.is_stream else self.path.stat().st_size

    def exists(self) -> bool:
        return self.path.exists()

    def is_dir(self) -> bool:
        return self.path.is_dir()

    def absolute(self) -> LocalFile:
        return LocalFile(self.path.absolute())

    def inside(self) -> list[tuple[Storage, bool]]:
        return [(LocalFile(path), path.is_dir()) for path in self.path.iterdir() if path.is_dir() or path.is_file()]

    def matching(self) -> Iterator[Storage]:
        found = Path(self.path.anchor).glob(str(self.path.relative_to(self.path.anchor)))
        return (LocalFile(path) for path in found if not path.is_dir())

    def open(self) -> AbstractContextManager[BinaryIO]:
        return self.path.open("rb")

    def parquet(self, file: Peekable) -> Any:
        from pyarrow import parquet

        return super().parquet(file) if self.is_stream else parquet.ParquetFile(self.path)


@dataclass(frozen=True, order=True)
class StandardInput(Storage):
    """The standard input of the program."""

    name = "standard input"
    is_stream = True
    n_bytes = 0

    def __str__(self) -> str:
        return STANDARD_INPUT

    def exists(self) -> bool:
        return True

    def is_dir(self) -> bool:
        return False

    def absolute(self) -> StandardInput:
        return self

    def inside(self) -> list[tuple[Storage, bool]]:
        return []

    def matching(self) -> Iterator[Storage]:
        return iter(())

    def open(self) -> AbstractContextManager[BinaryIO]:
        return nullcontext(standard_input())


def here(path: str | Path) -> Storage:
    """Return a local path; ``-`` is standard input."""
    return StandardInput() if is_standard_input(path) else LocalFile(Path(path))


def is_standard_input(path: str | Path) -> bool:
    return str(path) == STANDARD_INPUT


def standard_input() -> BinaryIO:
    """Return the bytes of standard input, which a program may lack."""
    if sys.stdin is None:
        raise InputError("There is no standard input to read; name a file instead of '-'.")
    return sys.stdin.buffer
