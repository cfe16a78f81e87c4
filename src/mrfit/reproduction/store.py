"""Where results are kept: one line of JSON for each finished unit, safe at any moment."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from mrfit.errors import InputError
from mrfit.learning.versions import versions
from mrfit.reproduction.unit import Unit

if sys.platform != "win32":
    import fcntl

NAME = "results.jsonl"

_FORMAT = 1


@dataclass(frozen=True)
class Record:
    """The result of a unit, the processor seconds it took, and the key that says what decided it."""

    key: str
    about: dict[str, Any]
    result: dict[str, Any]
    seconds: float

    def to_dict(self) -> dict[str, Any]:
        return {"key": self.key, "unit": self.about, "result": self.result, "seconds": self.seconds}


@dataclass(frozen=True)
class Session:
    """One run of a command that did something: when, on how many processes, for how long."""

    date: str
    processor: str
    jobs: int
    units: int
    seconds: float
    memory: float  # bytes at most, of all processes

    def to_dict(self) -> dict[str, Any]:
        return {"session": self.__dict__}


class Store:
    """All records of a folder, and a file that new ones are added to.

    The first line says which versions made the file; every other line is a record or a session. A line is written in
    one piece and reaches the disk before the next unit counts as done, so that a process that is killed loses only the
    unit it was at; a last line without an end is what remains of such a moment and is taken away.
    """

    def __init__(self, path: Path, lines: list[dict[str, Any]], file: IO[bytes] | None) -> None:
        self.path, self._file = path, file
        self.versions: dict[str, str] = lines[0]["versions"] if lines else dict(versions())
        self.records: dict[str, Record] = {}
        self.sessions: list[Session] = []
        for line in lines[1:]:
            if "session" in line:
                self.sessions.append(Session(**line["session"]))
            else:
                record = Record(line["key"], line["unit"], line["result"], line["seconds"])
                self.records[record.key] = record

    @classmethod
    def read(cls, folder: Path) -> Store:
        """What a folder holds, to look at only."""
        path = folder / NAME
        if not path.is_file():
            raise InputError(f"There are no results in {folder}: no file {NAME}. Run without --report-only first.")
        return cls(path, _parsed(path, path.read_bytes())[0], None)

    @classmethod
    @contextmanager
    def opened(cls, folder: Path) -> Iterator[Store]:
        """To add to; nobody else can meanwhile."""
        path = folder / NAME
        _make(folder)
        try:
            file = path.open("a+b")
        except OSError as error:
            raise InputError(f"Cannot write {path}: {error.strerror}.") from error
        with file:
            _lock(file, path)
            file.seek(0)
            lines, length = _parsed(path, file.read())
            file.truncate(length)
            store = cls(path, lines, file)
            if lines:
                store._check_version()
            else:
                store._write({"mrfit_results": _FORMAT, "versions": dict(versions())})
            yield store

    def missing(self, units: Iterable[Unit]) -> list[Unit]:
        """Those without a result; refuses where the folder holds results of the same units under other conditions."""
        known = {_settings(record.about) for record in self.records.values()}
        missing = []
        for unit in units:
            if unit.key not in self.records:
                missing.append(unit)
                if _settings(unit.about) in known:
                    raise InputError(
                        f"{self.path} holds a result of {unit.in_words()} from other data, or from another learner. "
                        "Results of both are not mixed: choose another folder with --out."
                    )
        return missing

    def of(self, units: Iterable[Unit]) -> dict[Unit, Record]:
        """The records of those that have one, by their settings: to look at results nobody needs the data."""
        known = {_settings(record.about): record for record in self.records.values()}
        return {unit: known[_settings(unit.about)] for unit in units if _settings(unit.about) in known}

    def add(self, unit: Unit, result: dict[str, Any], seconds: float) -> None:
        record = Record(unit.key, unit.about, result, round(seconds, 3))
        self._write(record.to_dict())
        self.records[record.key] = record

    def close_session(self, session: Session) -> None:
        self._write(session.to_dict())
        self.sessions.append(session)

    def _write(self, line: dict[str, Any]) -> None:
        if self._file is None:
            raise InputError(f"{self.path} is open for reading only.")
        self._file.write(json.dumps(line, allow_nan=False).encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())

    def _check_version(self) -> None:
        """That of mrfit. Other versions of other libraries move last digits, which optima are not known to anyway."""
        made, here = self.versions["mrfit"], versions()["mrfit"]
        if made != here:
            raise InputError(
                f"{self.path} was made with mrfit {made}; this is {here}. Results of both are not mixed: choose "
                "another folder with --out."
            )


def _settings(about: dict[str, Any]) -> str:
    """In one order, to compare."""
    return json.dumps(about, sort_keys=True)


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise InputError(f"Cannot keep results in {folder}: it is a file; name a folder.") from None
    except OSError as error:
        raise InputError(f"Cannot make the folder {folder}: {error.strerror}.") from error


def _lock(file: IO[bytes], path: Path) -> None:
    if sys.platform != "win32":
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise InputError(
                f"Another process is adding results to {path}. Wait for it, or choose another folder with --out."
            ) from None


def _parsed(path: Path, content: bytes) -> tuple[list[dict[str, Any]], int]:
    """Every line, and the length of all that are whole."""
    length = content.rfind(b"\n") + 1
    lines = []
    for number, text in enumerate(content[:length].splitlines(), 1):
        try:
            line = json.loads(text)
            expected = ("mrfit_results",) if number == 1 else ("key", "session")
            if not any(name in line for name in expected):
                raise ValueError(f"it has none of {', '.join(expected)}")
        except (ValueError, TypeError) as error:
            raise InputError(f"Line {number} of {path} is not what mrfit writes there: {error}. Remove it.") from None
        lines.append(line)
    return lines, length
