"""Typical numbers of variables off their first state: the range of the data, and what lies outside it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mrfit._typing import Floats

_SPREADS, _MORE = 4.0, 3.0  # standard deviations, and variables, beyond which a sum is not typical
SIDES = ("few", "typical", "many")


@dataclass(frozen=True)
class Typical:
    """Sums within four standard deviations and three of their mean, and what the data have beyond.

    ``shares`` are those of the data with fewer than typical, typical, and more.
    """

    mean: float
    sd: float
    most: int
    shares: tuple[float, float, float]

    @classmethod
    def of(cls, sums: Floats) -> Typical:
        """Return the typical range of ``sums``: the share of rows with 0, 1, ... variables off their first state."""
        number = np.arange(len(sums))
        mean = float(sums @ number)
        sd = float(sums @ (number - mean) ** 2) ** 0.5
        bare = cls(mean, sd, int(np.flatnonzero(sums)[-1]), (0.0, 1.0, 0.0))
        shares = np.bincount(bare.side(number), sums, 3)
        return cls(mean, sd, bare.most, (float(shares[0]), float(shares[1]), float(shares[2])))

    def side(self, sums: NDArray[np.int64]) -> NDArray[np.int64]:
        """0 where a sum is smaller than typical ones, 2 where it is larger, 1 else."""
        beyond = _SPREADS * self.sd + _MORE
        return 1 + (sums > self.mean + beyond).astype(np.int64) - (sums < self.mean - beyond)
