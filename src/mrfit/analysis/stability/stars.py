"""The strength at which a network is stable enough (Liu, Roeder and Wasserman 2010)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mrfit._typing import Floats

MOST_UNSTABLE = 0.05
SHARE_OF_ROWS = 10.0  # times the square root of their number is the size of a subsample


def subsample_size(n_rows: int) -> int:
    """10 sqrt(N) rows, at most four fifths of them where there are few."""
    return max(1, min(int(SHARE_OF_ROWS * np.sqrt(n_rows)), int(0.8 * n_rows)))


@dataclass(frozen=True, eq=False)
class Stars:
    """How unstable networks are at every strength.

    Parameters
    ----------
    strengths
        Against the sum over all rows, the strongest first.
    inclusion
        Share of subsamples in which each pair is joined, (strengths, pairs).
    """

    strengths: Floats
    inclusion: Floats

    @property
    def instability(self) -> Floats:
        """Mean over pairs of 2 xi (1 - xi), xi the inclusion; the largest so far, from strong to weak."""
        each = (2.0 * self.inclusion * (1.0 - self.inclusion)).mean(axis=1)
        return np.asarray(np.maximum.accumulate(each), np.float64)

    @property
    def chosen(self) -> int:
        """The weakest strength that is stable enough; the strongest, at which nothing is joined, always is."""
        return int(np.flatnonzero(self.instability <= MOST_UNSTABLE)[-1])

    def to_dict(self) -> dict[str, Any]:
        return {
            "strength": float(self.strengths[self.chosen]),
            "strengths": self.strengths.tolist(),
            "instability": self.instability.tolist(),
        }
