"""Results that are added to a file while work goes on: a line of JSON for each, safe at any moment."""

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
    """What stands in such a file.

    Parameters
    ----------
    first
        A name that the first line has, before all others.
    others
        Of which every other line has one.
    instead
        What to choose where the file is not to be used, for errors: "another file".
    """

    first: str
    others: tuple[str, ...]
    instead: str

    def parsed(self, path: Path, content: bytes) -> tuple[list[dict[str, Any]], int]:
        """Every line, and the length of all that are whole: a last one without an end was cut off by a kill."""
        begins = f'{{"{self.first}"'.encode()
        if not content.startswith(begins[: len(content)]):
            raise InputError(f"Line 1 of {path} is not what mrfit writes there: choose {self.instead}.")
        length = content.rfind(b"\n") + 1
        lines = []
        for number, text in enumerate(content[:length].splitlines(), 1):
            try:
                line = json.loads(text)
                expected = (self.first,) if number == 1 else self.others
                if not any(name in line for name in expected):
                    raise ValueError(f"it has none of {', '.join(expected)}")
            except (ValueError, TypeError) as error:
                raise InputError(
                    f"Line {number} of {path} is not what mrfit writes there: {error}. Remove it."
                ) from None
            lines.append(line)
        return lines, length


class LineFile:
    """A file that lines are added to; ``lines`` are those it began with.

    A line is written in one piece and reaches the disk before `add` returns: a process that is killed loses only what
    it was at.
    """

    def __init__(self, lines: list[dict[str, Any]], file: IO[bytes]) -> None:
        self.lines, self._file = lines, file

    @classmethod
    @contextmanager
    def opened(cls, path: Path, kind: LineKind) -> Iterator[LineFile]:
        """To add to; nobody else can meanwhile. A file that is none of this ``kind`` is not touched."""
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
        """The same for one run alone: its settings stand in the first line, and a file of others is refused."""
        with cls.opened(path, kind) as file:
            if not file.lines:
                file.add({kind.first: 1, **settings})
            for name, value in settings.items():
                if file.lines and file.lines[0].get(name) != value:
                    raise InputError(
                        f"{path} is of another run, not of the same {name}. Repeat the command that made it, or choose "
                        f"{kind.instead}."
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
