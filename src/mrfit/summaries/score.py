"""What there is to say about the scores of rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class ScoreSummary:
    """The weighted mean of a ``metric`` (pll or ll), in nats; ``dropped`` rows are not among ``rows``."""

    metric: str
    rows: int
    mean: float
    dropped: int = 0

    @classmethod
    def of(
        cls, metric: str, scores: NDArray[np.float64], sample_weight: NDArray[np.float64], *, dropped: int = 0
    ) -> ScoreSummary:
        counted = np.where(sample_weight > 0, scores, 0.0)  # zero times minus infinity is no number
        return cls(metric, len(scores), float(counted @ sample_weight / sample_weight.sum()), dropped)

    def to_dict(self) -> dict[str, Any]:
        return {"rows": self.rows, self.metric: self.mean, "dropped": self.dropped}
