"""What there is to say about learning again from resamples."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mrfit.analysis.stability.case_dropping import CaseDrop
from mrfit.analysis.stability.complementary_pairs import StablePairs
from mrfit.analysis.stability.resampled_networks import Edge, pairs_of
from mrfit.analysis.stability.stability import Stability
from mrfit.analysis.stability.stars import Stars
from mrfit.data.unique_rows import UniqueRows
from mrfit.learning.partitioned_rows import RowsSummary


@dataclass(frozen=True)
class StabilitySummary:
    """``edges`` are the most frequent first; ``stable`` those that complementary pairs promise, with their shares."""

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

    @classmethod
    def of(cls, stability: Stability, rows: UniqueRows) -> StabilitySummary:
        networks = stability.networks
        return cls(
            rows=RowsSummary.of(rows),
            kind=stability.kind,
            n_resamples=len(networks.weights),
            failures=networks.failures,
            level=stability.level,
            edges=stability.edges,
            case_drop=stability.case_drop,
            pairs=stability.pairs,
            stars=stability.stars,
            stable=() if stability.pairs is None else _stable(stability.pairs, networks.names),
            unit=stability.unit,
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
            "edges": [edge.to_dict() for edge in self.edges],
        }


def _stable(pairs: StablePairs, names: tuple[str, ...]) -> tuple[tuple[str, str, float], ...]:
    ends, shares = pairs_of(len(names)), pairs.shares
    order = sorted(pairs.stable.tolist(), key=lambda k: -shares[k])
    return tuple((names[ends[k, 0]], names[ends[k, 1]], float(shares[k])) for k in order)
