"""What is said of the rows something was learned from."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from mrfit.data.unique_rows import UniqueRows


@dataclass(frozen=True)
class RowsSummary:
    """``dropped`` rows had missing or unknown values and are not among ``n_rows``."""

    n_rows: int
    n_distinct_rows: int
    dropped: int
    n_variables: int

    @classmethod
    def of(cls, rows: UniqueRows) -> RowsSummary:
        return cls(rows.n_rows, rows.n_distinct, rows.dropped_rows, len(rows.domain))

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)
