"""Experiments of papers: the units that they need, and reports of their results."""

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
    """The part of an experiment to run.

    ``quick`` is a few small sets and reduced grids, ``published`` only what the paper has numbers for. ``datasets`` is
    None for all data sets.
    """

    quick: bool = False
    datasets: tuple[str, ...] | None = None
    seed: int = 0
    published: bool = False

    def in_options(self) -> str:
        """Return the scope as options of the command line."""
        options = [f"--{name}" for name in ("quick", "published") if getattr(self, name)]
        return " ".join([*options, *([f"--datasets {','.join(self.datasets)}"] if self.datasets else [])])


class Experiment(ABC):
    """A table or figure of a paper. It defines what to run and what the paper claims, and runs nothing itself."""

    word: ClassVar[str]
    title: ClassVar[str]
    datasets: ClassVar[tuple[str, ...]] = ()
    quick_datasets: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def units(self, scope: Scope) -> Sequence[Unit]:
        """Return all units that the report needs. Experiments with common units share their results."""

    def asked(self, scope: Scope) -> Sequence[Unit]:
        """Return the units within a scope."""
        units = self.units(scope)
        return [unit for unit in units if unit.turn() == 0] if scope.published else units

    @abstractmethod
    def report(self, results: Results, scope: Scope) -> Sequence[Block]:
        """Return the report of results; some units may have none yet."""

    def claims(self, results: Results) -> Sequence[Claim]:
        """Return the paper's claims on which these results bear."""
        return ()

    def chosen(self, scope: Scope) -> tuple[str, ...]:
        """Return the data sets to run on."""
        if scope.datasets is None:
            return self.quick_datasets if scope.quick else self.datasets
        unknown = [name for name in scope.datasets if name not in self.datasets]
        if unknown:
            known = f"it has {listed(self.datasets)}" if self.datasets else "it has no data sets to choose from"
            raise InputError(f"{self.word} has no data set {unknown[0]!r}; {known}.")
        return scope.datasets
