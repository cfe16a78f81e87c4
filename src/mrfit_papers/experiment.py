"""What an experiment of a paper is: which units it needs, and what their results say."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from mrfit.core.errors import InputError, listed
from mrfit_papers.claim import Claim
from mrfit_papers.document import Block
from mrfit_papers.unit import Unit

Results = Mapping[Unit, dict[str, Any]]


@dataclass(frozen=True)
class Scope:
    """How much of an experiment to run.

    ``quick`` is a few small sets and reduced grids, ``published`` what the paper has numbers for; None is all its data
    sets.
    """

    quick: bool = False
    datasets: tuple[str, ...] | None = None
    seed: int = 0
    published: bool = False

    def in_options(self) -> str:
        """As the command line has it."""
        options = [f"--{name}" for name in ("quick", "published") if getattr(self, name)]
        return " ".join([*options, *([f"--datasets {','.join(self.datasets)}"] if self.datasets else [])])


class Experiment(ABC):
    """A table or figure of a paper. It holds what to run and what the paper says, and runs nothing itself."""

    word: ClassVar[str]
    title: ClassVar[str]
    datasets: ClassVar[tuple[str, ...]] = ()
    quick_datasets: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def units(self, scope: Scope) -> Sequence[Unit]:
        """All that the report needs. Experiments that share units share their results."""

    def asked(self, scope: Scope) -> Sequence[Unit]:
        """Those of its units that a scope asks for."""
        units = self.units(scope)
        return [unit for unit in units if unit.turn() == 0] if scope.published else units

    @abstractmethod
    def report(self, results: Results, scope: Scope) -> Sequence[Block]:
        """What results say; some units may have none yet."""

    def claims(self, results: Results) -> Sequence[Claim]:
        """The paper's claims that these results bear on."""
        return ()

    def chosen(self, scope: Scope) -> tuple[str, ...]:
        """The data sets to run on."""
        if scope.datasets is None:
            return self.quick_datasets if scope.quick else self.datasets
        unknown = [name for name in scope.datasets if name not in self.datasets]
        if unknown:
            known = f"it has {listed(self.datasets)}" if self.datasets else "it has no data sets to choose from"
            raise InputError(f"{self.word} has no data set {unknown[0]!r}; {known}.")
        return scope.datasets
