"""Checkpoints: optima stored in a file as they are found, so that a fit that was stopped continues.

Fits of a grid and of its folds follow one another in an order that settings and rows decide, so a number tells which of
them a line holds. A long fit stores its latest point every few minutes.
"""

from __future__ import annotations

import base64
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from math import isfinite
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np

from mrfit._typing import Floats
from mrfit.core.errors import InputError
from mrfit.formats.jsonl import LineFile, LineKind
from mrfit.learning.fit_result import Optimum
from mrfit.learning.tying.soft_tying import TiedSolution, TyingRecord
from mrfit.parameterizations.groups import Groups
from mrfit.solvers.solution import Record, Solution, Status

_KIND = LineKind("mrfit_fits", ("result", "point"), "another file")
_SECONDS = 300.0  # of a long fit that a kill may cost
# Classes by their names in the file.
_CLASSES = {
    "Optimum": Optimum,
    "TiedSolution": TiedSolution,
    "Solution": Solution,
    "Record": Record,
    "Round": TyingRecord,
    "Groups": Groups,
}
_NAMES = {cls: name for name, cls in _CLASSES.items()}
_NO_FIELDS = {"kind", "log_z_error", "learning_error"}  # earlier files have the last two, always null


class CheckpointedFit(Protocol):
    """The result of a fit."""

    @property
    def solution(self) -> Solution: ...


Result = TypeVar("Result", bound=CheckpointedFit)


class NoCheckpoint:
    """No checkpoint: every fit runs, and nothing is stored."""

    def result(self, fit: Callable[[], Result]) -> Result:
        """Return the result of the next fit."""
        return fit()

    def start(self, w: Floats) -> Floats:
        """Return the point from which the fit starts: ``w``, or where an earlier run was."""
        return w

    def watch(self, w: Floats) -> None:
        """Receive the latest point of the fit."""


class FitCheckpoint(NoCheckpoint):
    """A file with a line for every fit that ended, and for points of those that took long."""

    def __init__(self, path: Path, file: LineFile) -> None:
        self._path, self._file, self._number = path, file, -1
        self._lines = {(line["number"], "result" in line): line for line in file.lines[1:]}  # the last of each
        self._latest = time.monotonic()

    @classmethod
    @contextmanager
    def opened(cls, path: str | Path, settings: dict[str, Any]) -> Iterator[FitCheckpoint]:
        """Open a file to add to; refuse a file of other settings."""
        with LineFile.of_run(Path(path), _KIND, settings) as file:
            yield cls(Path(path), file)

    def result(self, fit: Callable[[], Result]) -> Result:
        """Return the result in the file, or run the fit, and store its result unless a callback stopped it."""
        self._number += 1
        if (line := self._lines.get((self._number, True))) is not None:
            return self._read(line["result"])  # type: ignore[no-any-return]
        self._latest = time.monotonic()
        found = fit()
        if found.solution.status is not Status.INTERRUPTED:
            self._file.add({"number": self._number, "result": _plain(found)})
        return found

    def start(self, w: Floats) -> Floats:
        line = self._lines.get((self._number, False))
        return w if line is None else np.asarray(self._read(line["point"]), np.float64)

    def watch(self, w: Floats) -> None:
        if time.monotonic() - self._latest >= _SECONDS:
            self._file.add({"number": self._number, "point": _plain(w)})
            self._latest = time.monotonic()

    def _read(self, document: Any) -> Any:
        try:
            return _from_plain(document)
        except (LookupError, TypeError, ValueError) as error:
            raise InputError(
                f"{self._path} holds no optimum where one should be ({error}). Choose another file."
            ) from None


def _plain(value: Any) -> Any:
    """Ready for JSON, to the last bit."""
    if isinstance(value, np.ndarray):
        return {"array": base64.b64encode(value.tobytes()).decode(), "dtype": value.dtype.str}
    if isinstance(value, Status):
        return {"status": value.name}
    if is_dataclass(value):
        return {"kind": _NAMES[type(value)]} | {f.name: _plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    if isinstance(value, np.generic):
        value = value.item()
    return {"number": repr(value)} if isinstance(value, float) and not isfinite(value) else value


def _from_plain(document: Any) -> Any:
    if isinstance(document, list):
        return tuple(map(_from_plain, document))
    if not isinstance(document, dict):
        return document
    if "kind" in document:
        kind: Any = _CLASSES[document["kind"]]
        return kind(**{name: _from_plain(each) for name, each in document.items() if name not in _NO_FIELDS})
    if "array" in document:
        return np.frombuffer(base64.b64decode(document["array"]), document["dtype"])
    if "status" in document:
        return Status[document["status"]]
    return float(document["number"])
