"""Neighbours chosen by what they gain, at a price that held-out rows choose."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from mrfit.data.unique_rows import UniqueRows
from mrfit.structures.joint.held_out_loss import HeldOutLoss
from mrfit.structures.nodewise.allowed_pairs import AllowedPairs
from mrfit.structures.nodewise.forward_selection import PRICE, ForwardSelection
from mrfit.structures.nodewise.neighbour_selection import NeighbourSelection
from mrfit.structures.nodewise.neighbours import Neighbours

# From the usual price on, as far as held-out rows gain; cheaper where dearer is no better.
_DEARER, _CHEAPER = (12.0, 20.0), (0.0,)


@dataclass(frozen=True)
class _Priced:
    """What is chosen at a price, and its mean loss on held-out rows."""

    price: float
    neighbours: Neighbours
    loss: float


@dataclass(frozen=True)
class HeldOutPrice(NeighbourSelection):
    """`ForwardSelection` at the usual price, or at one by which held-out rows are predicted better.

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
        judge = HeldOutLoss.of(rows, self.valid.recoded(rows.domain), jobs=jobs)

        def priced(price: float) -> _Priced:
            selection = ForwardSelection(self.max_degree, price, either=self.rule == "or")
            found = selection.neighbours(rows, pairs, jobs=jobs)
            return _Priced(price, found, judge.loss_of_edges(pairs.on(found.edges(self.rule))))

        usual = priced(PRICE)
        best = _last_gain(usual, map(priced, _DEARER))
        if best is usual:
            best = _last_gain(usual, map(priced, _CHEAPER))
        if callback is not None:
            callback(len(rows.domain))
        said = f"A neighbour had to score more than {best.price:g} (chosen on held-out rows)."
        return replace(best.neighbours, remarks=(said,))


def _last_gain(best: _Priced, others: Iterable[_Priced]) -> _Priced:
    """The last of those that each predict better than the one before."""
    for other in others:
        if other.loss >= best.loss:
            break
        best = other
    return best
