"""A structure that grows in rounds, while rows that have no part in it gain."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from mrfit._typing import Floats
from mrfit.parameterizations.canonical import Canonical
from mrfit.structures.base import LearnedStructure
from mrfit.structures.structure import Structure


@dataclass(frozen=True)
class GrowthRound:
    """One round: scopes of several variables so far, and the mean log-likelihood of held-out rows."""

    n_scopes: int
    held_out: float


class GrowthRecord(ABC):
    """The state of a growth: parameters of a structure, their values, and how the rounds went.

    ``patience`` is how many rounds in a row may gain nothing, that is at most a share of ``least_gain`` of the
    log-likelihood.
    """

    parameters: Canonical
    w: Floats

    def __init__(self, *, patience: int, least_gain: float = 0.0) -> None:
        self.patience, self.least_gain = patience, least_gain
        self.rounds: list[GrowthRound] = []
        self._kept: tuple[Canonical, Floats]  # of the best round

    @abstractmethod
    def learn(self) -> None:
        """Refit all parameters."""

    @abstractmethod
    def held_out(self) -> float:
        """The mean log-likelihood of held-out rows."""

    @abstractmethod
    def enter(self) -> bool:
        """Let in what gains most; whether there was anything."""

    def run(self) -> LearnedStructure:
        self.begin()
        self.grow()
        return LearnedStructure(self.structure, remarks=(self.remark(),))

    def begin(self) -> None:
        self._learn_and_judge()
        self._kept = (self.parameters, self.w)

    def grow(self) -> None:
        """Rounds until nothing enters or patience ends; then back to the best of them."""
        since = 0
        while since < self.patience and self.enter():
            best = self.best.held_out
            self._learn_and_judge()
            if self.rounds[-1].held_out > best:
                self._kept = (self.parameters, self.w)
            since = 0 if self.rounds[-1].held_out > best + self.least_gain * abs(best) else since + 1
        self.parameters, self.w = self._kept

    def _learn_and_judge(self) -> None:
        self.learn()
        self.rounds.append(GrowthRound(self.n_scopes, self.held_out()))

    @property
    def structure(self) -> Structure:
        return self.parameters.structure

    @property
    def n_scopes(self) -> int:
        """Number of scopes of two or more variables."""
        return self.structure.n_scopes - len(self.structure.blocks[1])

    @property
    def best(self) -> GrowthRound:
        return max(self.rounds, key=lambda one: one.held_out)

    def remark(self) -> str:
        best, first = self.best, self.rounds[0]
        what = "pairs" if self.structure.order == 2 else f"sets of up to {self.structure.order} variables"
        return (
            f"Grown from a tree of {first.n_scopes:,} pairs to {best.n_scopes:,} {what} in {self.rounds.index(best)} "
            f"rounds: held-out log-likelihood {first.held_out:.3f} to {best.held_out:.3f}, as estimated on the way."
        )
