"""What there is to say about learning again from resamples."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mrfit.data.unique_rows import UniqueRows
from mrfit.learning.relearning import Stability
from mrfit.resampling.case_drop import CaseDrop
from mrfit.resampling.complementary_pairs import StablePairs
from mrfit.resampling.networks import Edge, pairs_of
from mrfit.resampling.stars import Stars
from mrfit.summaries.rows import RowsSummary


@dataclass(frozen=True)
class StabilitySummary:
    """``edges`` are the most frequent first; ``stable`` those that complementary pairs promise, with their shares.

    ``unit`` is that of the weights of edges, and ``has_sign`` says which of these have a sign.
    """

    rows: RowsSummary
    kind: str
    n_resamples: int
    failures: Mapping[str, int]
    level: float
    edges: tuple[Edge, ...]
    case_drop: CaseDrop | None
    pairs: StablePairs | None
    stars: Stars | None
    stable: tuple[tuple[str, str, float], ...]
    unit: str
    has_sign: tuple[bool, ...]

    @classmethod
    def of(cls, stability: Stability, rows: UniqueRows) -> StabilitySummary:
        networks, edges = stability.networks, stability.edges
        scored = {name: own is not None for name, own in zip(networks.names, stability.scores, strict=True)}
        return cls(
            rows=RowsSummary.of(rows),
            kind=stability.kind,
            n_resamples=len(networks.weights),
            failures=networks.failures,
            level=stability.level,
            edges=edges,
            case_drop=stability.case_drop,
            pairs=stability.pairs,
            stars=stability.stars,
            stable=() if stability.pairs is None else _stable(stability.pairs, networks.names),
            unit=stability.unit,
            has_sign=tuple(scored[edge.source] and scored[edge.target] for edge in edges),
        )

    @property
    def n_failed(self) -> int:
        return sum(self.failures.values())

    def to_dict(self) -> dict[str, Any]:
        more: dict[str, Any] = {}
        if self.case_drop is not None:
            more |= self.case_drop.to_dict()
        if self.pairs is not None:
            stable = [{"source": a, "target": b, "share": share} for a, b, share in self.stable]
            more |= {"kept_by_each_half": self.pairs.n_kept, "threshold": self.pairs.threshold}
            more |= {"expected_false_edges": self.pairs.bound, "assumption": self.pairs.assumption, "stable": stable}
        if self.stars is not None:
            more |= self.stars.to_dict()
        return {
            **self.rows.to_dict(),
            "kind": self.kind,
            "n_resamples": self.n_resamples,
            "n_failed": self.n_failed,
            "failures": dict(self.failures),
            "level": self.level,
            "edge_weight": self.unit,
            **more,
            "edges": [
                {**edge.to_dict(), "has_sign": has_sign}
                for edge, has_sign in zip(self.edges, self.has_sign, strict=True)
            ],
        }


def _stable(pairs: StablePairs, names: tuple[str, ...]) -> tuple[tuple[str, str, float], ...]:
    ends, shares = pairs_of(len(names)), pairs.shares
    order = sorted(pairs.stable.tolist(), key=lambda k: -shares[k])
    return tuple((names[ends[k, 0]], names[ends[k, 1]], float(shares[k])) for k in order)
