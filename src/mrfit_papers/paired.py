"""Differences between methods on the same splits of a table, with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit


@dataclass(frozen=True)
class Paired:
    """The mean of a difference over splits, and half the lengths of its 95 % intervals.

    ``half`` is that of a t interval, as if splits were independent. They are not: every row is a training row in some
    and a test row in others, so that the interval is too short. ``corrected`` takes the variance of the mean as (1 /
    splits + test rows / training rows) times that of one split (Nadeau and Bengio 2003).
    """

    mean: float
    half: float
    corrected: float
    n: int
    n_worse: int  # splits in which it is positive

    @classmethod
    def of(cls, ours: Sequence[float], others: Sequence[float], *, test_share: float = 1.0) -> Paired:
        """Return our values minus the others'; ``test_share`` is the ratio of test rows to training rows."""
        difference = np.subtract(ours, others)
        n = len(difference)
        if n < 2:
            return cls(float(difference.mean()), np.inf, np.inf, n, int(np.count_nonzero(difference > 0)))
        deviation, quantile = float(difference.std(ddof=1)), float(stdtrit(n - 1, 0.975))
        half, corrected = (quantile * deviation * np.sqrt(share) for share in (1 / n, 1 / n + test_share))
        return cls(float(difference.mean()), float(half), float(corrected), n, int(np.count_nonzero(difference > 0)))

    @property
    def is_clear(self) -> bool:
        """Whether the corrected interval lies on one side of zero."""
        return bool(abs(self.mean) > self.corrected)
