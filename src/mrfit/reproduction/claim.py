"""A claim of a paper, and what became of it here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from mrfit.reproduction.document import Cell, Column, Table


class Verdict(Enum):
    REPRODUCED = "reproduced"
    PARTLY = "partly"
    NOT_REPRODUCED = "not reproduced"

    @classmethod
    def of(cls, share: float) -> Verdict:
        """By the share of cases in which a claim holds: all, some, or fewer than half."""
        return cls.REPRODUCED if share == 1 else cls.PARTLY if share >= 0.5 else cls.NOT_REPRODUCED


@dataclass(frozen=True)
class Claim:
    """The paper's words in short, our number, and why it differs where it does."""

    paper: str
    where: str
    words: str
    ours: str
    verdict: Verdict
    why: str = ""

    def to_dict(self) -> dict[str, str]:
        return {**self.__dict__, "verdict": self.verdict.value}


def claims_table(claims: Sequence[Claim]) -> Table:
    columns = (
        Column("where", "left"),
        Column("the paper", "words"),
        Column("here", "words"),
        Column("verdict", "left"),
        Column("why", "words"),
    )
    good = {Verdict.REPRODUCED: True, Verdict.PARTLY: None, Verdict.NOT_REPRODUCED: False}
    rows = [
        (f"{c.paper}, {c.where}", c.words, c.ours, Cell(c.verdict.value, is_best=True, is_good=good[c.verdict]), c.why)
        for c in claims
    ]
    return Table(columns, rows)
