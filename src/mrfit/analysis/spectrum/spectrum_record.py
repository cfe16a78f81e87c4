"""Record of a spectrum, and of the cost of ignoring large interactions."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from mrfit.analysis.spectrum.interaction_spectrum import OrderCost, OrderSize, Spectrum
from mrfit.data.unique_rows import UniqueRows


@dataclass(frozen=True)
class SpectrumSummary:
    """``orders`` are the sizes of interactions, ``ignoring`` what leaving out the larger ones costs, if asked for."""

    n_rows: int
    columns: tuple[str, ...]
    estimator: str
    strength: float
    held_out_ll: float
    duality_gap: float | None
    orders: tuple[OrderSize, ...]
    ignoring: tuple[OrderCost, ...]

    @classmethod
    def of(cls, found: Spectrum, costs: tuple[OrderCost, ...], rows: UniqueRows) -> SpectrumSummary:
        gap = found.fit.solution.gap
        own = found.estimator, found.strength, found.held_out, gap, found.sizes
        return cls(rows.n_rows, rows.domain.names, *own, costs)

    def to_dict(self) -> dict[str, Any]:
        return {
            **asdict(self),
            "penalty_strength": self.strength,
            "columns": list(self.columns),
            "orders": [asdict(size) for size in self.orders],
            "ignoring": [{**asdict(cost), "penalty_strength": cost.strength} for cost in self.ignoring],
        }
