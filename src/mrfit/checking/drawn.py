"""Rows of a model in groups that are independent of each other, such as chains."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mrfit.checking.moments import Moments, States, with_first_states

Floats = NDArray[np.float64]

_NOTHING = 1e-6  # of all weight: groups with less are not looked at


@dataclass(frozen=True, eq=False)
class Drawn:
    """Codes of rows, (groups, rows of each, variables), and the share that each group has of the distribution."""

    states: States
    codes: NDArray[Any]
    shares: Floats

    @property
    def ess(self) -> float:
        """How many equal shares they are worth."""
        return float(1.0 / (self.shares**2).sum())

    def moments(self) -> Moments:
        """Frequencies by the shares, with errors from how groups differ.

        An event that no row, or every one, shows has an error too: one row more would have been as likely.
        """
        n_indicators = int(self.states.first_indicator[-1])
        pair, square, cross = (np.zeros((n_indicators, n_indicators)) for _ in range(3))
        own = np.zeros((len(self.shares), n_indicators))
        for group in np.flatnonzero(self.shares > _NOTHING * self.shares.max()):
            share, hot = self.shares[group], self._indicators(int(group))
            # Whole numbers below 2**24: exact, in whatever order they are added.
            both = (hot.T @ hot).astype(np.float64) / len(hot)
            own[group] = np.diagonal(both)
            both *= share
            pair += both
            cross += share * both
            both *= both
            square += both
        beside = square - 2.0 * pair * cross + pair**2 * (self.shares**2).sum()
        single = with_first_states(own, self.states)
        mean = self.shares @ single
        error = np.sqrt(self.shares**2 @ (single - mean) ** 2 * self._correction)
        least = 1.0 / (self.ess * self.codes.shape[1])
        return Moments(
            self.states,
            mean,
            np.minimum(pair, 1.0),
            self._sums(),
            np.hypot(error, least),
            np.sqrt(np.maximum(beside, 0.0) * self._correction + least**2),
        )

    @property
    def _correction(self) -> float:
        """Deviations are from a mean that the groups have themselves."""
        return self.ess / max(self.ess - 1.0, 0.5)

    def _indicators(self, group: int) -> NDArray[np.float32]:
        codes, first = self.codes[group], self.states.first_indicator
        if set(self.states.shape) == {2}:
            return np.asarray(codes, np.float32)
        hot = np.zeros((len(codes), int(first[-1])), np.float32)
        row, i = np.nonzero(codes)
        hot[row, first[i] + codes[row, i] - 1] = 1.0
        return hot

    def _sums(self) -> Floats:
        away = np.count_nonzero(self.codes, axis=2)
        weight = np.repeat(self.shares / self.codes.shape[1], self.codes.shape[1])
        return np.bincount(away.ravel(), weight, self.codes.shape[2] + 1).astype(np.float64)
