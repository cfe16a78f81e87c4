"""Reduced parameters: one unknown for each group of equal parameters."""

from __future__ import annotations

import numpy as np

from mrfit._typing import Floats
from mrfit.parameterizations.groups import Groups


class Unknowns:
    """w = S v: one unknown for each group that is not pinned and for each parameter not tied at all.

    S has one 1 in each row, or none where a group is pinned to zero; products with it are lookups, with its transpose
    sums over groups. ``of_parameter`` is the place of that 1, -1 for none.
    """

    def __init__(self, groups: Groups) -> None:
        tied, learned = groups.assignment >= 0, ~groups.pinned  # type: ignore[operator]
        # Groups with a center to learn, in order, then the untied parameters.
        number = np.where(learned, np.cumsum(learned) - 1, -1)
        self.of_parameter = np.empty(len(tied), np.int64)
        self.of_parameter[tied] = number[groups.assignment[tied]]
        self.of_parameter[~tied] = int(learned.sum()) + np.arange(int((~tied).sum()))
        self._learned = learned
        self.n = int(learned.sum()) + int((~tied).sum())
        self.sizes = self.sums(np.ones(len(tied)))

    def full(self, v: Floats) -> Floats:
        """All parameters from the unknowns."""
        return np.append(v, 0.0)[self.of_parameter]

    def means(self, w: Floats) -> Floats:
        """The unknowns nearest to ``w``: group means, and the untied parameters themselves."""
        return self.sums(w) / np.maximum(self.sizes, 1.0)

    def sums(self, g: Floats) -> Floats:
        """S' g, as a gradient becomes one of the unknowns."""
        kept = self.of_parameter >= 0
        return np.asarray(np.bincount(self.of_parameter[kept], g[kept], minlength=self.n), np.float64)

    def centers(self, v: Floats) -> Floats:
        """The value of every group."""
        centers = np.zeros(len(self._learned))
        centers[self._learned] = v[: int(self._learned.sum())]
        return centers
