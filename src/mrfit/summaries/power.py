"""What there is to say about how many rows it takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mrfit.learning.power import Power, PowerPoint


@dataclass(frozen=True, eq=False)
class PowerSummary:
    """``needed`` rows for the ``wanted`` sensitivity; None if it is beyond those tried."""

    power: Power
    wanted: float
    needed: float | None

    @classmethod
    def of(cls, power: Power, wanted: float) -> PowerSummary:
        return cls(power, wanted, power.rows_for(wanted))

    @property
    def failures(self) -> dict[str, int]:
        """Over all tables."""
        total: dict[str, int] = {}
        for point in self.power.points:
            for reason, times in point.failures.items():
                total[reason] = total.get(reason, 0) + times
        return total

    def to_dict(self) -> dict[str, Any]:
        return {
            "repetitions": self.power.repetitions,
            "exact": not self.power.remarks,
            "remarks": list(self.power.remarks),
            "points": [_point(point) for point in self.power.points],
            "wanted_sensitivity": self.wanted,
            "rows_needed": self.needed,
            "edge_weight": self.power.unit,
            "edges": [
                {
                    "source": a,
                    "target": b,
                    "weight": weight,
                    "has_sign": self.power.has_sign[k],
                    "found": [float(p.found[k]) for p in self.power.points],
                }
                for k, (a, b, weight) in enumerate(self.power.edges)
            ],
        }


def _point(point: PowerPoint) -> dict[str, Any]:
    return {
        "rows": point.n_rows,
        "sensitivity": point.sensitivity.to_dict(),
        "specificity": point.specificity.to_dict(),
        "correlation": point.correlation.to_dict(),
        "n_failed": sum(point.failures.values()),
        "failures": dict(point.failures),
    }
