"""Record of the measures of variables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from mrfit.analysis.nodes.node_measures import NodeMeasures
from mrfit.analysis.nodes.node_stability import NodeStability


@dataclass(frozen=True)
class Community:
    """Variables that belong together; ``stability`` is None if nothing was bootstrapped."""

    number: int  # from 1
    variables: tuple[str, ...]
    stability: float | None

    def to_dict(self) -> dict[str, Any]:
        return {"number": self.number, "variables": list(self.variables), "stability": self.stability}


@dataclass(frozen=True, eq=False)
class NodesSummary:
    """``rows`` has a line for each variable, the strongest first; ``predicted`` names the rows that were predicted."""

    nodes: NodeMeasures
    stability: NodeStability | None
    predicted: str | None = None

    @property
    def rows(self) -> list[dict[str, Any]]:
        """Rows of the table, with ends of intervals (``_low``, ``_high``) and stability of communities where known."""
        found = self.nodes.rows()
        if self.stability is not None:
            for i, row in enumerate(found):
                for name, (low, high) in self.stability.ranges.items():
                    row |= {f"{name}_low": float(low[i]), f"{name}_high": float(high[i])}
                row["community_stability"] = float(self.stability.of_members[i])
        return sorted(found, key=lambda row: -row["strength"])

    @property
    def communities(self) -> tuple[Community, ...]:
        label, names = self.nodes.community, self.nodes.names
        stable = None if self.stability is None else self.stability.of_communities
        return tuple(
            Community(
                number + 1,
                tuple(names[i] for i in np.flatnonzero(label == number)),
                None if stable is None else float(stable[number]),
            )
            for number in range(int(label.max()) + 1)
        )

    @property
    def n_edges(self) -> int:
        return int(np.count_nonzero(self.nodes.weights.of_pairs))

    @property
    def n_resamples(self) -> int:
        return 0 if self.stability is None else len(self.stability.networks.weights)

    @property
    def failures(self) -> Mapping[str, int]:
        return {} if self.stability is None else self.stability.networks.failures

    @property
    def n_failed(self) -> int:
        return sum(self.failures.values())

    def to_dict(self) -> dict[str, Any]:
        return {
            "coding": self.nodes.weights.coding,
            "weights": self.nodes.weights.meaning,
            "edge_weight": self.nodes.weights.unit,
            "n_variables": len(self.nodes.names),
            "n_edges": self.n_edges,
            "predicted": self.predicted,
            "n_resamples": self.n_resamples,
            "n_failed": self.n_failed,
            "failures": dict(self.failures),
            "level": None if self.stability is None else self.stability.level,
            "modularity": self.nodes.modularity,
            "communities": [community.to_dict() for community in self.communities],
            "nodes": [{**row, "node_strength": row["strength"]} for row in self.rows],
        }
