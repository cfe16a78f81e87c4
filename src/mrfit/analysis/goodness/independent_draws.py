"""Rows of a model in groups that are independent of each other, such as chains."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mrfit._typing import Floats
from mrfit.analysis.goodness.row_moments import Moments, States, with_first_states
from mrfit.analysis.goodness.triples import triple_frequencies

_NOTHING = 1e-6  # of all weight: groups with less are not looked at


@dataclass(frozen=True, eq=False)
class Drawn:
    """Codes of rows, (groups, rows of each, variables), and the share that each group has of the distribution."""

    states: States
    codes: NDArray[Any]
    shares: Floats

    @property
    def ess(self) -> float:
        """Effective sample size of the groups: how many groups of equal share would be as informative."""
        return float(1.0 / (self.shares**2).sum())

    def moments(self, *, triples: bool = False) -> Moments:
        """Frequencies weighted by the shares, with errors from the spread over groups; triples only if requested.

        An event that no row, or every one, shows has an error too: one row more would have been as likely.
        """
        n_indicators = int(self.states.first_indicator[-1])
        pair, square, cross = (np.zeros((n_indicators, n_indicators)) for _ in range(3))
        own = np.zeros((len(self.shares), n_indicators))
        threes = np.zeros((3, self.states.n_triples if triples else 0))
        for group in np.flatnonzero(self.shares > _NOTHING * self.shares.max()):
            share, hot = self.shares[group], self.states.hot(self.codes[group])
            # Whole numbers below 2**24: exact, in whatever order they are added.
            both = (hot.T @ hot).astype(np.float64) / len(hot)
            own[group] = np.diagonal(both)
            both *= share
            pair += both
            cross += share * both
            both *= both
            square += both
            if triples:
                alike = np.full(len(hot), 1.0 / len(hot))
                three = triple_frequencies(hot, alike, self.states.variable_of_indicators)
                threes += (share * three, share**2 * three, (share * three) ** 2)
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
            self._error((pair, cross, square), least),
            threes[0] if triples else None,
            self._error((threes[0], threes[1], threes[2]), least),
        )

    def _error(self, sums: tuple[Floats, Floats, Floats], least: float) -> Floats:
        """Standard errors of weighted means over groups.

        ``sums`` are sums over groups of share * frequency, share^2 * frequency and (share * frequency)^2, from which
        the sum of (share * (frequency - mean))^2 follows without a second pass. ``least`` is the error of an event
        never seen.
        """
        mean, cross, square = sums
        beside = square - 2.0 * mean * cross + mean**2 * (self.shares**2).sum()
        return np.asarray(np.sqrt(np.maximum(beside, 0.0) * self._correction + least**2), np.float64)

    @property
    def _correction(self) -> float:
        """Deviations are from a mean that the groups have themselves."""
        return self.ess / max(self.ess - 1.0, 0.5)

    def _sums(self) -> Floats:
        away = np.count_nonzero(self.codes, axis=2)
        weight = np.repeat(self.shares / self.codes.shape[1], self.codes.shape[1])
        return np.bincount(away.ravel(), weight, self.codes.shape[2] + 1).astype(np.float64)
