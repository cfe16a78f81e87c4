"""What is said of the rows something was learned from."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from mrfit.data.unique_rows import UniqueRows
from mrfit.learning.partitioned_rows import Rows


@dataclass(frozen=True)
class RowsSummary:
    """``dropped`` rows had missing or unknown values and are not among ``n_rows``.

    How many are distinct nobody knows of a table in parts.
    """

    n_rows: int
    n_distinct_rows: int | None
    dropped: int
    n_variables: int

    @classmethod
    def of(cls, rows: Rows) -> RowsSummary:
        n_distinct = rows.n_distinct if isinstance(rows, UniqueRows) else None
        return cls(rows.n_rows, n_distinct, rows.dropped_rows, len(rows.domain))

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)
