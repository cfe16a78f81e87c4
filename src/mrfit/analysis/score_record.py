"""Summary of the scores of rows."""

from __future__ import annotations

from dataclasses import dataclass
from math import hypot
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mrfit.core.rounding import with_error
from mrfit.data.row_counter import StreamCounter


@dataclass(frozen=True)
class ScoreSummary:
    """The weighted mean of a ``metric`` (pll or ll), in nats; ``dropped`` rows are not among ``rows``.

    ``log_z_error`` is the standard error of log Z where that is an estimate, and of every row's ll: they all share it.
    ``row_error`` is that of the mean over rows.
    """

    metric: str
    rows: int
    mean: float
    dropped: int = 0
    log_z_error: float = 0.0
    row_error: float = 0.0

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
        effective = StreamCounter().add(sample_weight).n_rows
        row_error = np.nan
        if np.isfinite(mean):
            deviations = counted - mean
            scale = float(np.abs(deviations).max(initial=0.0)) or 1.0  # squares of scores may overflow
            variance = (deviations / scale) ** 2 @ sample_weight / sample_weight.sum()
            row_error = scale * float(np.sqrt(variance / effective))
        return cls(metric, len(scores), mean, dropped, log_z_error, row_error)

    @property
    def standard_error(self) -> float:
        """Standard error of rows and log Z together."""
        return hypot(self.row_error, self.log_z_error)

    def describe(self) -> str:
        """The mean; where log Z is an estimate with one error, and what that is made of."""
        if not self.log_z_error:
            return f"{self.mean:.4f} nats a row"
        parts = f"{self.row_error:.2g} over rows, {self.log_z_error:.2g} of log Z"
        return f"{with_error(self.mean, self.standard_error)} nats a row ({parts})"

    def to_dict(self) -> dict[str, Any]:
        document = {"rows": self.rows, self.metric: self.mean, "dropped": self.dropped}
        if self.metric != "ll":
            return document
        estimated = {"standard_error": self.standard_error, "row_error": self.row_error} if self.log_z_error else {}
        return document | {"log_z_error": self.log_z_error} | estimated
