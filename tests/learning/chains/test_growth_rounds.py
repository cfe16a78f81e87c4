"""Rounds go on while held-out rows gain, and end at the best of them."""

from __future__ import annotations

import numpy as np
import pytest

from mrfit.learning.chains.growth_rounds import GrowthRecord
from mrfit.parameterizations.canonical import Canonical
from mrfit.structures.structure import Structure
from populations import domain_of


class Scripted(GrowthRecord):
    """One pair more of a chain in every round; what held-out rows say is written down beforehand."""

    def __init__(self, scores: list[float], *, patience: int, least_gain: float = 0.0) -> None:
        super().__init__(patience=patience, least_gain=least_gain)
        self.scores, self.w = scores, np.zeros(0)
        self._on(1)

    def _on(self, n_pairs: int) -> None:
        self.parameters = Canonical(domain_of((2,) * 9), Structure.from_edges(9, [(k, k + 1) for k in range(n_pairs)]))

    def learn(self) -> None:
        self.w = np.full(1, float(self.n_scopes))

    def held_out(self) -> float:
        return self.scores[len(self.rounds)]

    def enter(self) -> bool:
        if len(self.rounds) == len(self.scores):
            return False
        self._on(self.n_scopes + 1)
        return True


@pytest.mark.parametrize(
    ("scores", "patience", "least_gain", "n_rounds", "best"),
    [
        ([-5.0, -4.0, -3.0], 1, 0.0, 3, 2),
        ([-5.0, -4.0, -4.5, -3.0], 1, 0.0, 3, 1),
        ([-5.0, -4.0, -4.5, -3.0], 2, 0.0, 4, 3),
        ([-5.0, -5.1, -5.2, -1.0], 2, 0.0, 3, 0),
        ([-5.0, -4.99, -4.98, -1.0], 2, 0.003, 3, 2),  # a little better counts as nothing, and is still kept
    ],
)
def test_when_it_ends(scores: list[float], patience: int, least_gain: float, n_rounds: int, best: int) -> None:
    growth = Scripted(scores, patience=patience, least_gain=least_gain)
    found = growth.run()
    assert len(growth.rounds) == n_rounds
    assert len(found.structure.edges) == best + 1
    assert growth.w[0] == best + 1
    assert f"to {best + 1} pairs in {best} rounds" in found.remarks[0]
