"""A unit of work: the smallest piece of an experiment, which runs once and is stored."""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any, ClassVar

from mrfit import Learner
from mrfit.data.named_datasets import find
from mrfit.learning.serialization import to_plain

# Results versions count from this version of mrfit. It stays in all keys: a release leaves results valid.
_RESULTS_VERSIONS_SINCE = "0.1.0"


@dataclass(frozen=True)
class Unit(ABC):
    """A unit as plain settings; equal settings on equal data by an equal version give equal results.

    It crosses to other processes, so it contains nothing else.
    """

    kind: ClassVar[str]
    results_version: ClassVar[int] = 1  # raise it when a unit computes something else from the same learned model

    @abstractmethod
    def run(self) -> dict[str, Any]:
        """Return the result as plain values for JSON. It does not depend on earlier runs in the process."""

    @abstractmethod
    def data(self) -> tuple[tuple[str, str], ...]:
        """Return the files that it reads: names of data sets and their parts."""

    def learner(self) -> Learner | None:
        """Return its learner, if it has exactly one; the learner's settings are part of the unit's key."""
        return None

    def shared(self) -> Hashable:
        """Return a value that units with common work (reading, a structure) share: one process runs them in a row."""
        return self

    def turn(self) -> int:
        """Return the priority: units of a lower turn run first, in case a run is stopped.

        Turn 0 has those with published numbers.
        """
        return 0

    def cost(self) -> float:
        """Return the rough time relative to other units, for an even load and an estimate of the time left."""
        return 1.0

    @abstractmethod
    def describe(self) -> str:
        """Describe the unit for people: "nltcs, 5 neighbours (top), APT"."""

    @property
    def about(self) -> dict[str, Any]:
        """The settings as plain values for JSON."""
        return json.loads(json.dumps({"kind": self.kind, **asdict(self)}))  # type: ignore[no-any-return]

    def learners(self) -> tuple[Learner, ...]:
        """Return all learners whose results it uses."""
        learner = self.learner()
        return () if learner is None else (learner,)

    @property
    def raised_versions(self) -> dict[str, int]:
        """The results versions above 1 of this kind of unit and of all parts of its learners, by name."""
        found = {self.kind: self.results_version}
        for learner in self.learners():
            found |= learner.results_versions()
        return {name: version for name, version in sorted(found.items()) if version > 1}

    def determined_by(self) -> Mapping[str, Any]:
        """Return everything that decides the result.

        Of a learner, only settings that differ from their defaults count. Defaults belong to the version, and a setting
        that a later version adds leaves stored results valid. For the same reason versions count from 1 and are named
        only where one has been raised.
        """
        learner, raised = self.learner(), self.raised_versions
        return {
            "unit": self.about,
            "learner": None if learner is None else to_plain(learner, terse=True),
            "data": {f"{name}:{part}": checksum(name, part) for name, part in self.data()},
            "mrfit": _RESULTS_VERSIONS_SINCE,
            **({"results versions": raised} if raised else {}),
        }

    @property
    def key(self) -> str:
        """A hash of everything that decides the result."""
        text = json.dumps(self.determined_by(), sort_keys=True, allow_nan=False)
        return hashlib.sha256(text.encode()).hexdigest()


@cache
def checksum(name: str, part: str) -> str:
    """Return the hash of the local file, not that of the catalogue."""
    return hashlib.sha256(find(name, part).read_bytes()).hexdigest()
