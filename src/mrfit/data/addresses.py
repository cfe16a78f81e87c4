"""Remote files, named by addresses that fsspec understands, such as ``s3://bucket/table.parquet``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, BinaryIO

from mrfit.core.errors import DataError, InputError
from mrfit.data.storage import Storage

if TYPE_CHECKING:
    from mrfit.data.sources import Peekable

_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+(://|::.*://)")


def is_address(source: object) -> bool:
    """Whether a text is the address of a file: a protocol of two letters or more, and ``://``."""
    return isinstance(source, str) and _ADDRESS.match(source) is not None


@dataclass(frozen=True, order=True)
class Address(Storage):
    """A remote file or folder.

    Only its text is sent to other processes. They connect by themselves, with the keys and endpoints that the driver
    finds in the environment.
    """

    text: str

    is_stream = False

    def __str__(self) -> str:
        return self.text

    def __reduce__(self) -> tuple[type[Address], tuple[str]]:
        return Address, (self.text,)

    @property
    def name(self) -> str:
        head = self.text.partition("::")[0]
        return PurePosixPath(head if "://" in head else self.text).name

    def absolute(self) -> Address:
        return self

    def exists(self) -> bool:
        with self._one_line_errors():
            return bool(self.filesystem.exists(self._path))

    def is_dir(self) -> bool:
        with self._one_line_errors():
            return bool(self.filesystem.isdir(self._path))

    @cached_property
    def n_bytes(self) -> int:
        with self._one_line_errors():
            return int(self.filesystem.size(self._path) or 0)

    def inside(self) -> list[tuple[Storage, bool]]:
        with self._one_line_errors():
            found = self.filesystem.ls(self._path, detail=True)
        inside = [entry for entry in found if entry["name"].rstrip("/") != self._path.rstrip("/")]
        return [(self._beside(entry["name"].rstrip("/")), entry["type"] == "directory") for entry in inside]

    def matching(self) -> Iterator[Storage]:
        with self._one_line_errors():
            found = self.filesystem.glob(self._path, detail=True)
        return (self._beside(path) for path, entry in found.items() if entry["type"] != "directory")

    @contextmanager
    def open(self) -> Iterator[BinaryIO]:
        with self._one_line_errors():
            file = self.filesystem.open(self._path, "rb")
        try:
            yield _RemoteReader(self, file)  # type: ignore[misc]
        finally:
            file.close()

    def parquet(self, file: Peekable) -> Any:
        """Open a Parquet file through the file system, so that only the required parts are fetched."""
        from pyarrow import parquet

        with self._one_line_errors():
            return parquet.ParquetFile(self._path, filesystem=self.filesystem)

    @property
    def filesystem(self) -> Any:
        return self._resolved[0]

    @property
    def _path(self) -> str:
        return str(self._resolved[1])

    @cached_property
    def _resolved(self) -> tuple[Any, str]:
        """File system and path; cached, because an archive is closed with its file system."""
        try:
            from fsspec.core import url_to_fs
        except ImportError:
            raise InputError(
                f"The address {self.text!r} needs fsspec, which is not installed. Install it: pip install "
                "'mrfit[remote]', and the driver of its protocol, such as s3fs."
            ) from None
        with self._one_line_errors():
            filesystem, path = url_to_fs(self.text.rstrip("/"))
            return filesystem, path

    def _beside(self, path: str) -> Address:
        """Return the address of another path in the same file system.

        In ``zip://a.csv::s3://b/c.zip`` only the part before ``::`` changes.
        """
        text = self.text.rstrip("/")
        own = text if text.endswith(self._path) else text.partition("::")[0]
        return Address(own.removesuffix(self._path) + path + text.removeprefix(own))

    @contextmanager
    def _one_line_errors(self) -> Iterator[None]:
        """Turn every error of a driver into one line; drivers' errors share no base class."""
        try:
            yield
        except InputError:
            raise
        except FileNotFoundError:
            raise DataError(f"There is no file {self.text!r}; check the address.") from None
        except Exception as error:
            reason = " ".join(str(error).split()).rstrip(".") or type(error).__name__
            raise DataError(
                f"{self.text!r} cannot be reached: {reason}. Check the address, the driver of its protocol and the "
                "keys it needs."
            ) from error


@dataclass(frozen=True)
class _RemoteReader:
    """An open file whose driver may fail at any read."""

    address: Address
    file: Any

    def read(self, size: int = -1) -> bytes:
        with self.address._one_line_errors():
            return bytes(self.file.read(size))
