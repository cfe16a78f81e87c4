"""Stored results: one line of JSON for each finished unit, safe at any moment."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mrfit.core.errors import InputError, listed
from mrfit.formats.jsonl import LineFile, LineKind
from mrfit.learning.versions import versions
from mrfit_papers.unit import Unit

NAME = "results.jsonl"

_FORMAT, _HEADER = 1, "mrfit_results"
_KIND = LineKind(_HEADER, ("key", "session"), "another folder with --out")


@dataclass(frozen=True)
class UnitRecord:
    """The result of a unit, its processor seconds, and the key of everything that decided it.

    ``versions`` are the results versions above 1 that made it, by name; see `Unit.raised_versions`.
    """

    key: str
    about: dict[str, Any]
    result: dict[str, Any]
    seconds: float
    versions: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def from_dict(cls, line: Mapping[str, Any]) -> UnitRecord:
        return cls(line["key"], line["unit"], line["result"], line["seconds"], line.get("versions", {}))

    def to_dict(self) -> dict[str, Any]:
        versions = {"versions": dict(self.versions)} if self.versions else {}
        return {"key": self.key, "unit": self.about, **versions, "result": self.result, "seconds": self.seconds}


@dataclass(frozen=True)
class Session:
    """One run of a command that did something: when, on how many processes, for how long.

    A run that was killed has no units: how many it finished, and in what time, nobody wrote down.
    """

    date: str
    processor: str
    jobs: int
    units: int = 0
    seconds: float = 0.0
    memory: float = 0.0  # bytes at most, of all processes
    mrfit: str = ""  # its version; empty in sessions of the version that began the file

    @property
    def is_closed(self) -> bool:
        return self.units > 0

    def to_dict(self) -> dict[str, Any]:
        return {"session": self.__dict__}


class Store:
    """All records of a folder, and a file to which new ones are added.

    The first line has the versions that began the file; every other line is a record or a session. A line reaches the
    disk before the next unit counts as done (`LineFile`).
    """

    def __init__(self, path: Path, lines: list[dict[str, Any]], file: LineFile | None) -> None:
        self.path, self._file = path, file
        self.versions: dict[str, str] = lines[0]["versions"] if lines else dict(versions())
        self.records: dict[str, UnitRecord] = {}
        self.sessions: list[Session] = []
        for line in lines[1:]:
            if "session" in line:
                self._remember(Session(**line["session"]))
            else:
                record = UnitRecord.from_dict(line)
                self.records[record.key] = record

    @classmethod
    def read(cls, folder: Path) -> Store:
        """Read the results of a folder, without write access."""
        path = folder / NAME
        if not path.is_file():
            raise InputError(f"There are no results in {folder}: no file {NAME}. Run without --report-only first.")
        return cls(path, _KIND.parsed(path, path.read_bytes())[0], None)

    @classmethod
    @contextmanager
    def opened(cls, folder: Path) -> Iterator[Store]:
        """Open a folder to add results; no other process can at the same time."""
        path = folder / NAME
        _make(folder)
        with LineFile.opened(path, _KIND) as file:
            store = cls(path, file.lines, file)
            if not file.lines:
                store._write({_HEADER: _FORMAT, "versions": dict(versions())})
            yield store

    def missing(self, units: Iterable[Unit]) -> list[Unit]:
        """Return units without a result, or with one of an older results version only.

        It refuses if the folder has results of the same units under other conditions.
        """
        known = self._by_settings()
        missing = []
        for unit in units:
            if unit.key not in self.records:
                missing.append(unit)
                for record in known.get(_settings(unit.about), ()):
                    self._check_older(record, unit)
        return missing

    def of(self, units: Iterable[Unit]) -> dict[Unit, UnitRecord]:
        """Return the records of units that have one of the current results version.

        They are matched by settings and versions, so that reading results does not need the data.
        """
        known = self._by_settings()
        found: dict[Unit, UnitRecord] = {}
        for unit in units:
            for record in known.get(_settings(unit.about), ()):
                if record.versions == unit.raised_versions:
                    found[unit] = record
        return found

    def outdated(self, units: Sequence[Unit]) -> dict[Unit, list[str]]:
        """Return units that have results of other versions only, and the names of the versions that differ."""
        known, current = self._by_settings(), self.of(units)
        found = {}
        for unit in units:
            if unit not in current and (records := known.get(_settings(unit.about))):
                found[unit] = _differing(records[-1].versions, unit.raised_versions)
        return found

    @property
    def mrfit_versions(self) -> list[str]:
        """Versions of mrfit that made results, in the order of their first use.

        Several may: results versions decide which results are current. Other libraries change last digits, beyond the
        accuracy of optima.
        """
        return list(dict.fromkeys([self.versions["mrfit"], *(s.mrfit for s in self.sessions if s.mrfit)]))

    def _by_settings(self) -> dict[str, list[UnitRecord]]:
        found: dict[str, list[UnitRecord]] = {}
        for record in self.records.values():
            found.setdefault(_settings(record.about), []).append(record)
        return found

    def _check_older(self, record: UnitRecord, unit: Unit) -> None:
        """Refuse to replace results unless they are of an older version."""
        ours = unit.raised_versions
        if record.versions == ours:
            raise InputError(
                f"{self.path} holds a result of {unit.describe()} from other data, or from another learner. "
                "Results of both are not mixed: choose another folder with --out."
            )
        newer = [name for name, version in record.versions.items() if version > ours.get(name, 1)]
        if newer:
            raise InputError(
                f"{self.path} holds a result of {unit.describe()} from a newer version of {listed(newer)}. Use the "
                "mrfit that made it, or choose another folder with --out."
            )

    def add(self, unit: Unit, result: dict[str, Any], seconds: float) -> None:
        record = UnitRecord(unit.key, unit.about, result, round(seconds, 3), unit.raised_versions)
        self._write(record.to_dict())
        self.records[record.key] = record

    def begin_session(self, session: Session) -> None:
        """Write down where units are about to be run: a kill leaves results whose machine is known."""
        self._write(session.to_dict())
        self._remember(session)

    def close_session(self, session: Session) -> None:
        self._write(session.to_dict())
        self._remember(session)

    def _remember(self, session: Session) -> None:
        """Replace the record that was written when the session began, if there is one."""
        if session.is_closed and self.sessions and not self.sessions[-1].is_closed:
            self.sessions.pop()
        self.sessions.append(session)

    def _write(self, line: dict[str, Any]) -> None:
        if self._file is None:
            raise InputError(f"{self.path} is open for reading only.")
        self._file.add(line)


def _differing(some: Mapping[str, int], others: Mapping[str, int]) -> list[str]:
    """Return the names of versions that differ; one without an entry is 1."""
    return sorted(name for name in {*some, *others} if some.get(name, 1) != others.get(name, 1))


def _settings(about: dict[str, Any]) -> str:
    """Return settings as JSON in a fixed order, to compare."""
    return json.dumps(about, sort_keys=True)


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise InputError(f"Cannot store results in {folder}: it is a file; name a folder.") from None
    except OSError as error:
        raise InputError(f"Cannot make the folder {folder}: {error.strerror}.") from error
