"""Summary of a learned structure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mrfit._renamed import with_former_keys
from mrfit.data.unique_rows import UniqueRows
from mrfit.learning.partitioned_rows import RowsSummary
from mrfit.structures.base import LearnedStructure


@dataclass(frozen=True)
class StructureSummary:
    """``edges`` are records of names and evidence, the largest weight first (see `EdgeReport.rows`).

    ``unit`` is that of their weights, and ``has_sign`` says which of these have a sign.
    """

    rows: RowsSummary
    largest_degree: int
    mean_degree: float
    violation: float | None
    seconds: float
    remarks: tuple[str, ...]
    unit: str
    edges: tuple[Mapping[str, Any], ...]
    has_sign: tuple[bool, ...]

    @classmethod
    def of(cls, learned: LearnedStructure, rows: UniqueRows, *, seconds: float) -> StructureSummary:
        degrees = learned.structure.degrees
        return cls(
            rows=RowsSummary.of(rows),
            largest_degree=int(degrees.max(initial=0)),
            mean_degree=float(degrees.mean()),
            violation=learned.violation,
            seconds=seconds,
            remarks=learned.remarks,
            unit=learned.report.unit,
            edges=tuple(learned.report.rows(rows.domain.names)),
            has_sign=tuple(learned.report.has_sign[learned.report.order].tolist()),
        )

    def to_dict(self) -> dict[str, Any]:
        record = {
            **self.rows.to_dict(),
            "n_edges": len(self.edges),
            "largest_degree": self.largest_degree,
            "mean_degree": self.mean_degree,
            "max_gradient": self.violation,
            "seconds": self.seconds,
            "remarks": list(self.remarks),
            "edge_weight": self.unit,
            "edges": [with_former_keys(edge, weight="strength") for edge in self.edges],
        }
        return with_former_keys(record, max_gradient="violation")
