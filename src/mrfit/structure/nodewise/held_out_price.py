"""Neighbours chosen by what they gain, at a price that held-out rows choose."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from mrfit.data.unique_rows import UniqueRows
from mrfit.structure.joint.judge import Judge
from mrfit.structure.nodewise.allowed_pairs import AllowedPairs
from mrfit.structure.nodewise.forward_selection import PRICE, ForwardSelection
from mrfit.structure.nodewise.neighbours import Neighbours
from mrfit.structure.nodewise.selection import NeighbourSelection

_PRICES = (20.0, 12.0, PRICE, 0.0)  # falling: every one lets in more than the one before


@dataclass(frozen=True)
class _Priced:
    """What is chosen at a price, and its mean loss on held-out rows."""

    price: float
    neighbours: Neighbours
    loss: float


@dataclass(frozen=True)
class HeldOutPrice(NeighbourSelection):
    """`ForwardSelection` at one price after the other, until held-out rows are predicted no better.

    A regression asks what a neighbour does for its own variable. Whether that helps is asked of the graph of them all,
    in a joint fit: more edges may pay there than single regressions are sure of, or fewer.
    """

    max_degree: int
    rule: str
    valid: UniqueRows

    def neighbours(
        self,
        rows: UniqueRows,
        pairs: AllowedPairs,
        *,
        jobs: int = 1,
        callback: Callable[[int], None] | None = None,
    ) -> Neighbours:
        self.valid.check_complete("choosing a structure")
        judge = Judge.of(rows, self.valid.recoded(rows.domain), jobs=jobs)

        def priced(price: float) -> _Priced:
            found = ForwardSelection(self.max_degree, price).neighbours(rows, pairs, jobs=jobs)
            return _Priced(price, found, judge.loss_of_edges(pairs.on(found.edges(self.rule))))

        choices = map(priced, _PRICES)
        best = next(choices)
        for lower in choices:
            if lower.loss >= best.loss:
                break
            best = lower
        if callback is not None:
            callback(len(rows.domain))
        said = f"A neighbour had to score more than {best.price:g} (chosen on held-out rows)."
        return replace(best.neighbours, remarks=(said,))
