"""Record of a study of sample size and power."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mrfit.analysis.sample_size.power import PowerPoint, SampleSizeStudy


@dataclass(frozen=True, eq=False)
class PowerSummary:
    """``needed`` rows for the ``wanted`` sensitivity; None if it is beyond those tried."""

    power: SampleSizeStudy
    wanted: float
    needed: float | None

    @classmethod
    def of(cls, power: SampleSizeStudy, wanted: float) -> PowerSummary:
        return cls(power, wanted, power.rows_for(wanted))

    @property
    def failures(self) -> dict[str, int]:
        """Number of tables of any size that could not be learned from, by reason."""
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
