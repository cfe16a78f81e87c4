"""What there is to say about the scores of rows."""

from __future__ import annotations

from dataclasses import dataclass
from math import floor, log10
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class ScoreSummary:
    """The weighted mean of a ``metric`` (pll or ll), in nats; ``dropped`` rows are not among ``rows``.

    ``log_z_error`` is the standard error of log Z where that is an estimate, and of every row's ll: they all share it.
    """

    metric: str
    rows: int
    mean: float
    dropped: int = 0
    log_z_error: float = 0.0

    @classmethod
    def of(
        cls,
        metric: str,
        scores: NDArray[np.float64],
        sample_weight: NDArray[np.float64],
        *,
        dropped: int = 0,
        log_z_error: float = 0.0,
    ) -> ScoreSummary:
        counted = np.where(sample_weight > 0, scores, 0.0)  # zero times minus infinity is no number
        mean = float(counted @ sample_weight / sample_weight.sum())
        return cls(metric, len(scores), mean, dropped, log_z_error)

    @property
    def decimals(self) -> int:
        """As many as the error leaves two digits of, and six where it is exact."""
        if not self.log_z_error:
            return 6
        return min(6, max(0, 1 - floor(log10(self.log_z_error))))

    def to_dict(self) -> dict[str, Any]:
        document = {"rows": self.rows, self.metric: self.mean, "dropped": self.dropped}
        return document | ({"log_z_error": self.log_z_error} if self.metric == "ll" else {})
