"""The named data sets: descriptions, local paths and origins."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from io import BytesIO
from pathlib import Path
from typing import Any

from mrfit.core.errors import DataError, InputError, listed
from mrfit.core.temporary_file import replacing

_VARIABLE = "MRFIT_DATA"


@dataclass(frozen=True)
class NamedFile:
    """One file of a data set.

    ``rows`` counts its lines of data; ``weight`` names its column of row weights. ``blob_id`` is the git blob id of the
    uncompressed bytes, the same in every copy of the source, and ``remote`` is the file's name there.
    """

    split: str
    path: str
    rows: int
    sha256: str
    blob_id: str | None = None
    remote: str | None = None
    weight: str | None = None


@dataclass(frozen=True)
class NamedSet:
    """A data set of the literature; ``source`` is the origin of its values."""

    name: str
    description: str
    n_variables: int
    citation: str
    source: str
    files: tuple[NamedFile, ...]

    @property
    def splits(self) -> tuple[str, ...]:
        return tuple(file.split for file in self.files)


@cache
def _document() -> Mapping[str, Any]:
    text = files("mrfit.data").joinpath("catalogue.json").read_text(encoding="utf-8")
    document: Mapping[str, Any] = json.loads(text)
    return document


@cache
def catalogue() -> tuple[NamedSet, ...]:
    """Return all named data sets."""
    return tuple(
        NamedSet(**{**entry, "files": tuple(NamedFile(**file) for file in entry["files"])})
        for entry in _document()["sets"]
    )


def named_set(name: str) -> NamedSet:
    """Return a data set by its name."""
    sets = {entry.name: entry for entry in catalogue()}
    if name in sets:
        return sets[name]
    close = get_close_matches(name.lower(), sets)
    hint = f"Did you mean {listed(close)}?" if close else f"The names are {listed(sets)}; `mrfit data list` has all."
    raise DataError(f"There is no data set named {name!r}. {hint}")


def directory(data_dir: str | Path | None = None) -> Path:
    """Return the directory of data sets: ``data_dir``, else the variable MRFIT_DATA, else the user's cache."""
    if data_dir is not None:
        return Path(data_dir)
    if os.environ.get(_VARIABLE):
        return Path(os.environ[_VARIABLE])
    import pooch

    return Path(pooch.os_cache("mrfit"))


def find(name: str, split: str, data_dir: str | Path | None = None) -> Path:
    """Return the path of one file of a data set, which must exist already."""
    entry = named_set(name)
    if split not in entry.splits:
        raise DataError(f"The data set {name!r} has no split {split!r}; it has {listed(entry.splits)}.")
    file = entry.files[entry.splits.index(split)]
    path = directory(data_dir) / file.path
    if not path.is_file():
        raise DataError(f"{file.path!r} is not in {str(directory(data_dir))!r}. {_how_to_get(entry)}")
    return path


def resolved(text: str | Path) -> Path:
    """Return the path of a file, which may be given as a named data set such as ``nltcs:train``."""
    path = Path(text)
    if isinstance(text, Path) or path.suffix or path.exists():
        return path
    name, colon, split = text.partition(":")
    if colon:
        return find(name, split)
    for entry in catalogue():
        if entry.name == text:
            raise InputError(f"{text} is a named data set; say which part, as in {text}:{entry.splits[0]}.")
    return path


def fetch(name: str, data_dir: str | Path | None = None, base_url: str | None = None) -> list[Path]:
    """Return the paths of all files of a data set; missing files are downloaded and checked."""
    entry = named_set(name)
    folder = directory(data_dir)
    for file in entry.files:
        if (folder / file.path).is_file():
            continue
        if file.remote is None:
            raise DataError(f"{file.path!r} is not in {str(folder)!r}. {_how_to_get(entry)}")
        _get(file, folder / file.path, f"{base_url or _document()['base_url']}/{file.remote}")
    return [folder / file.path for file in entry.files]


def verify(name: str, data_dir: str | Path | None = None) -> list[Path]:
    """Check the existing files of a data set against the catalogue and return their paths."""
    entry = named_set(name)
    folder = directory(data_dir)
    present = [file for file in entry.files if (folder / file.path).is_file()]
    for file in present:
        if not _matches_catalogue(file, (folder / file.path).read_bytes()):
            raise DataError(
                f"{str(folder / file.path)!r} is not the file of the catalogue: its checksum differs. "
                "Delete it and get it again."
            )
    return [folder / file.path for file in present]


def _how_to_get(entry: NamedSet) -> str:
    if all(file.remote for file in entry.files):
        return f"Fetch it with `mrfit data get {entry.name}`, or set {_VARIABLE} to a directory that holds it."
    return (
        f"It cannot be downloaded ready for use (source: {entry.source}). "
        f"Name a directory that holds it with --data DIR or {_VARIABLE}."
    )


def _get(file: NamedFile, path: Path, url: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"Cannot make the folder {str(path.parent)!r}: {error.strerror}; name another.") from None
    try:
        content = downloaded(url)
    except OSError as error:  # requests' errors too
        raise DataError(
            f"{url} cannot be downloaded: {error}. Check the connection, or name a directory that holds "
            f"the data with --data DIR or {_VARIABLE}."
        ) from None
    if not _matches_catalogue(file, content):
        raise DataError(f"What came from {url} is not {file.path!r}: its checksum differs. Try again.")
    with replacing(path) as written:
        written.write(content)


def downloaded(url: str) -> bytes:
    """Return the content of a URL."""
    import pooch

    content = BytesIO()
    pooch.HTTPDownloader(progressbar=False)(url, content, None)
    return content.getvalue()


def _matches_catalogue(file: NamedFile, content: bytes) -> bool:
    """Whether the bytes are those of the catalogue, or another compression of them."""
    if hashlib.sha256(content).hexdigest() == file.sha256:
        return True
    try:
        return file.blob_id is not None and _blob_id(gzip.decompress(content)) == file.blob_id
    except (OSError, EOFError, zlib.error):
        return False


def _blob_id(content: bytes) -> str:
    """Return the git blob id of the content."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()
