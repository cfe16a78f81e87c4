"""Append-only result files: one line of JSON for each result, valid after every crash."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from mrfit.core.errors import InputError

if sys.platform != "win32":
    import fcntl


@dataclass(frozen=True)
class LineKind:
    """A kind of line file: the names its lines contain.

    Parameters
    ----------
    first
        A name that the first line has, before all others.
    others
        Names of which every other line has at least one.
    instead
        What errors suggest instead of this file, such as "another file".
    """

    first: str
    others: tuple[str, ...]
    instead: str

    def parsed(self, path: Path, content: bytes) -> tuple[list[dict[str, Any]], int]:
        """Return all complete lines and their length; a last line without an end was cut off by a kill."""
        begins = f'{{"{self.first}"'.encode()
        if not content.startswith(begins[: len(content)]):
            raise InputError(f"Line 1 of {path} was not written by mrfit: choose {self.instead}.")
        length = content.rfind(b"\n") + 1
        lines = []
        for number, text in enumerate(content[:length].splitlines(), 1):
            try:
                line = json.loads(text)
                expected = (self.first,) if number == 1 else self.others
                if not any(name in line for name in expected):
                    raise ValueError(f"it has none of {', '.join(expected)}")
            except (ValueError, TypeError) as error:
                raise InputError(f"Line {number} of {path} was not written by mrfit: {error}. Remove it.") from None
            lines.append(line)
        return lines, length


class LineFile:
    """A file that lines are appended to; ``lines`` are those it had when opened.

    Each line is written in one piece and reaches the disk before `add` returns, so that a killed process loses only the
    result it was working on.
    """

    def __init__(self, lines: list[dict[str, Any]], file: IO[bytes]) -> None:
        self.lines, self._file = lines, file

    @classmethod
    @contextmanager
    def opened(cls, path: Path, kind: LineKind) -> Iterator[LineFile]:
        """Open and lock a file for appending; a file of another ``kind`` is not changed."""
        try:
            file = path.open("a+b")
        except OSError as error:
            raise InputError(f"Cannot write {path}: {error.strerror}.") from error
        with file:
            _lock(file, path, kind)
            file.seek(0)
            lines, length = kind.parsed(path, file.read())
            file.truncate(length)
            yield cls(lines, file)

    @classmethod
    @contextmanager
    def of_run(cls, path: Path, kind: LineKind, settings: dict[str, Any]) -> Iterator[LineFile]:
        """Open the file of a single run: its settings are in the first line, and the file of another run is refused."""
        with cls.opened(path, kind) as file:
            if not file.lines:
                file.add({kind.first: 1, **settings})
            for name, value in settings.items():
                if file.lines and file.lines[0].get(name) != value:
                    raise InputError(
                        f"{path} is of another run, not of the same {name}. Repeat the command that made it, or "
                        f"choose {kind.instead}."
                    )
            yield file

    def add(self, line: dict[str, Any]) -> None:
        self._file.write(json.dumps(line, allow_nan=False).encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())


def _lock(file: IO[bytes], path: Path, kind: LineKind) -> None:
    if sys.platform != "win32":
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise InputError(
                f"Another process is adding results to {path}. Wait for it, or choose {kind.instead}."
            ) from None
