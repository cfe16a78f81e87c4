"""A unit of work: the smallest piece of an experiment that is run, stored and never run again."""

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
from mrfit.learning.versions import versions


@dataclass(frozen=True)
class Unit(ABC):
    """What is to be done, as plain settings; equal settings on equal data by an equal version give equal results.

    It crosses to other processes, so it holds nothing else.
    """

    kind: ClassVar[str]
    results_version: ClassVar[int] = 1  # raise it when a unit makes something else of what its learner learns

    @abstractmethod
    def run(self) -> dict[str, Any]:
        """The result, ready for JSON. The same on every call, whatever ran before it in the process."""

    @abstractmethod
    def data(self) -> tuple[tuple[str, str], ...]:
        """The files it reads: names of data sets and their parts."""

    def learner(self) -> Learner | None:
        """What it learns with, if it is one learner; its settings are part of the unit's key."""
        return None

    def shared(self) -> Hashable:
        """Units with an equal value share work (reading, a structure): one process does them one after another."""
        return self

    def turn(self) -> int:
        """Units of a lower turn are run first: what one would miss most if the rest never came.

        At 0 is what the paper has numbers for.
        """
        return 0

    def cost(self) -> float:
        """Roughly how long it takes, beside other units: for an even load and an estimate of the time left."""
        return 1.0

    @abstractmethod
    def describe(self) -> str:
        """What it is, for a person who waits: "nltcs, 5 neighbours (top), APT"."""

    @property
    def about(self) -> dict[str, Any]:
        """The settings, ready for JSON."""
        return json.loads(json.dumps({"kind": self.kind, **asdict(self)}))  # type: ignore[no-any-return]

    def learners(self) -> tuple[Learner, ...]:
        """All learners whose results it uses."""
        learner = self.learner()
        return () if learner is None else (learner,)

    @property
    def raised_versions(self) -> dict[str, int]:
        """The results versions above 1 of this kind of unit and of all that its learners are made of, by name."""
        found = {self.kind: self.results_version}
        for learner in self.learners():
            found |= learner.results_versions()
        return {name: version for name, version in sorted(found.items()) if version > 1}

    def determined_by(self) -> Mapping[str, Any]:
        """Everything that decides the result.

        Of a learner, what differs from a learner by itself: that belongs to the version, and a setting that a later one
        adds leaves stored results as good as they were. For the same reason versions count from 1 and are named only
        where one has been raised.
        """
        learner, raised = self.learner(), self.raised_versions
        return {
            "unit": self.about,
            "learner": None if learner is None else to_plain(learner, terse=True),
            "data": {f"{name}:{part}": checksum(name, part) for name, part in self.data()},
            "mrfit": versions()["mrfit"],
            **({"results versions": raised} if raised else {}),
        }

    @property
    def key(self) -> str:
        """A hash of everything that decides the result."""
        text = json.dumps(self.determined_by(), sort_keys=True, allow_nan=False)
        return hashlib.sha256(text.encode()).hexdigest()


@cache
def checksum(name: str, part: str) -> str:
    """Of the file as it lies here, not as the catalogue has it."""
    return hashlib.sha256(find(name, part).read_bytes()).hexdigest()
