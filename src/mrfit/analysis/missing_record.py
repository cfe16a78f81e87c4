"""Summary of the missing values of a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mrfit.data.encoding import UNOBSERVED
from mrfit.data.unique_rows import UniqueRows


@dataclass(frozen=True)
class MissingSummary:
    """Weighted counts of incomplete rows, of missing cells in each column, and of columns that lack values together."""

    n_rows: float
    n_incomplete: float
    columns: tuple[tuple[str, float], ...]  # most first
    patterns: tuple[tuple[tuple[str, ...], float], ...]  # most rows first; no columns: complete rows

    @classmethod
    def of(cls, rows: UniqueRows) -> MissingSummary:
        missing, names, weight = rows.codes == UNOBSERVED, rows.domain.names, rows.sample_weight
        masks, pattern = np.unique(missing, axis=0, return_inverse=True)
        sizes = np.bincount(pattern.ravel(), weight)
        columns = [(name, float(weight @ missing[:, i])) for i, name in enumerate(names)]
        patterns = [
            (tuple(names[i] for i in np.flatnonzero(mask)), float(size))
            for mask, size in zip(masks, sizes, strict=True)
        ]
        return cls(
            rows.total_weight,
            float(weight @ missing.any(axis=1)),
            tuple(sorted(columns, key=lambda column: -column[1])),
            tuple(sorted(patterns, key=lambda pattern: -pattern[1])),
        )

    def to_dict(self) -> dict[str, Any]:
        return {
            "rows": self.n_rows,
            "incomplete": self.n_incomplete,
            "columns": [{"name": name, "missing": n, "share": n / self.n_rows} for name, n in self.columns],
            "patterns": [{"missing": list(names), "rows": n} for names, n in self.patterns],
        }
