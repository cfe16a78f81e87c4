"""Forward selection with a threshold that held-out rows select."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from mrfit.data.unique_rows import UniqueRows
from mrfit.structures.joint.held_out_loss import HeldOutLoss
from mrfit.structures.nodewise.allowed_pairs import AllowedPairs
from mrfit.structures.nodewise.forward_neighbours import THRESHOLD, ForwardNeighbours
from mrfit.structures.nodewise.neighbour_selection import NeighbourSelection
from mrfit.structures.nodewise.neighbours import Neighbours

# Higher thresholds as long as the held-out loss falls; the lower one if the first higher one is no better.
_HIGHER, _LOWER = (12.0, 20.0), (0.0,)


@dataclass(frozen=True)
class _Candidate:
    """Neighbours at a threshold, and the mean loss of their graph on held-out rows."""

    threshold: float
    neighbours: Neighbours
    loss: float


@dataclass(frozen=True)
class HeldOutThreshold(NeighbourSelection):
    """`ForwardNeighbours` at the default threshold, or at one that predicts held-out rows better.

    A regression measures what a neighbour adds for its own variable. A joint fit of the whole graph measures whether
    that helps: more edges may pay off there than single regressions are sure of, or fewer.
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
        held_out = HeldOutLoss.of(rows, self.valid.recoded(rows.domain), jobs=jobs)

        def candidate(threshold: float) -> _Candidate:
            selection = ForwardNeighbours(self.max_degree, threshold, either=self.rule == "or")
            found = selection.neighbours(rows, pairs, jobs=jobs)
            return _Candidate(threshold, found, held_out.loss_of_edges(pairs.on(found.edges(self.rule))))

        usual = candidate(THRESHOLD)
        best = _last_gain(usual, map(candidate, _HIGHER))
        if best is usual:
            best = _last_gain(usual, map(candidate, _LOWER))
        if callback is not None:
            callback(len(rows.domain))
        said = f"A neighbour had to score more than {best.threshold:g} (chosen on held-out rows)."
        return replace(best.neighbours, remarks=(said,))


def _last_gain(best: _Candidate, others: Iterable[_Candidate]) -> _Candidate:
    """Return the last candidate of those that each predict better than the one before."""
    for other in others:
        if other.loss >= best.loss:
            break
        best = other
    return best
