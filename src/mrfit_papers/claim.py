"""A claim of a paper, and its verdict here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from mrfit_papers.document import Cell, DocumentColumn, DocumentTable


class Verdict(Enum):
    REPRODUCED = "reproduced"
    PARTLY = "partly"
    NOT_REPRODUCED = "not reproduced"
    NOT_DECIDABLE = "not decidable"

    @classmethod
    def of(cls, share: float) -> Verdict:
        """Return the verdict for the share of cases in which a claim holds: all, at least half, or fewer."""
        return cls.REPRODUCED if share == 1 else cls.PARTLY if share >= 0.5 else cls.NOT_REPRODUCED


@dataclass(frozen=True)
class Cases:
    """Number of cases in which a claim holds, out of those that have results.

    Parameters
    ----------
    held
        Number of cases in which it holds.
    run
        Number of cases that have results.
    all
        Number of cases that the claim is about.
    noun
        What a case is, in the plural.
    needs_all
        Whether the verdict waits for all cases, as for a claim about their median.
    """

    held: int
    run: int
    all: int
    noun: str = "cells"
    needs_all: bool = False

    @classmethod
    def of(cls, held: Sequence[bool], all_cases: int, noun: str = "cells") -> Cases:
        """Count cases that each hold or do not."""
        return cls(sum(held), len(held), all_cases, noun)

    @classmethod
    def together(cls, holds: bool, run: int, all_cases: int, noun: str = "cells") -> Cases:
        """Make the cases of a claim about all of them at once."""
        return cls(run if holds else 0, run, all_cases, noun, needs_all=True)

    @property
    def verdict(self) -> Verdict:
        """The verdict that no case without a result can change; not decidable without any."""
        if self.run == 0 or (self.needs_all and self.run < self.all):
            return Verdict.NOT_DECIDABLE
        least, most = (Verdict.of(held / self.all) for held in (self.held, self.held + self.all - self.run))
        return least if least == most else Verdict.NOT_DECIDABLE

    def __str__(self) -> str:
        return f"{self.run:,} of {self.all:,} {self.noun}"


@dataclass(frozen=True)
class Claim:
    """The paper's words in short, our number, and why it differs where it does."""

    paper: str
    where: str
    words: str
    ours: str
    cases: Cases
    why: str = ""

    @property
    def verdict(self) -> Verdict:
        return self.cases.verdict

    @property
    def verdict_in_words(self) -> str:
        """The verdict; if it is not decidable, with the number of cases it rests on."""
        undecided = self.verdict is Verdict.NOT_DECIDABLE
        return f"{self.verdict.value} from {self.cases}" if undecided else self.verdict.value

    def to_dict(self) -> dict[str, Any]:
        cases = {"held": self.cases.held, "run": self.cases.run, "all": self.cases.all, "of": self.cases.noun}
        return {**self.__dict__, "cases": cases, "verdict": self.verdict.value}


def claims_table(claims: Sequence[Claim]) -> DocumentTable:
    columns = (
        DocumentColumn("where", "left"),
        DocumentColumn("the paper", "words"),
        DocumentColumn("here", "words"),
        DocumentColumn("verdict", "left"),
        DocumentColumn("why", "words"),
    )
    good = {Verdict.REPRODUCED: True, Verdict.NOT_REPRODUCED: False}
    rows = [
        (
            f"{c.paper}, {c.where}",
            c.words,
            c.ours,
            Cell(c.verdict_in_words, is_best=True, is_good=good.get(c.verdict)),
            c.why if c.verdict is not Verdict.NOT_DECIDABLE else "",
        )
        for c in claims
    ]
    return DocumentTable(columns, rows)
