"""Scores of pairs that do not interact, and the threshold that keeps such pairs out.

The score of a pair of variables with c and d states has (c - 1)(d - 1) degrees of freedom, one for each parameter. The
quantile of chi-square is too low where states are rare: a single row in a cell that expects a hundredth of one adds 100
to the score. The moments over permutations of the rows are known exactly, and a gamma distribution with these moments
keeps its level at a hundred rows and five states of very unequal frequency (``python -m benchmarks noise-edges``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaincc, gammainccinv

from mrfit._typing import Floats

_SMALLEST_TAIL = 1e-300  # smaller tail probabilities have no quantile in floating point
_FEWEST_ROWS = 4.0  # below which the variance over permutations is not defined
# A pair is tested in both its regressions, and again as others enter. These tests nearly agree: together they exceed a
# threshold up to a quarter more often than one of them (measured by the benchmark above). With one parameter they do so
# at a hundred rows; the excess falls with the root of the rows, and from 1,500 on nothing is added.
_RETESTED = 0.25
_FEW_ROWS, _MANY_ROWS = 100.0, 1500.0


@dataclass(frozen=True, eq=False)
class NullScores:
    """Mean and variance of the score of independent variables, (variables, variables); see `Regressions.scores`."""

    n_parameters: NDArray[np.int64]
    mean: Floats
    variance: Floats

    @classmethod
    def of(cls, state_weights: Sequence[Floats]) -> NullScores:
        """Compute the moments from the positive weights of all states of all variables.

        Without neighbours the score is Pearson's chi-square of a table, whose margins permutations keep (Dawson 1954).
        """
        n = max((float(weights.sum()) for weights in state_weights), default=0.0)
        n = max(n, _FEWEST_ROWS)
        n_states = np.array([len(weights) for weights in state_weights], np.float64)
        unequal = np.array([n * float((1.0 / weights).sum()) for weights in state_weights]) - n_states**2
        free, corner = n_states - 1.0, np.maximum(unequal, 0.0) / (n - 2.0)
        even = (n - n_states) * free / (n - 1.0) - corner
        variance = 2.0 * n / (n - 3.0) * np.outer(even, even) + n**2 / (n - 1.0) * np.outer(corner, corner)
        n_parameters = np.outer(free, free)
        mean = n / (n - 1.0) * n_parameters
        # Where every row has a state of its own, permutations change nothing.
        return cls(n_parameters.astype(np.int64), mean, np.maximum(variance, 2.0 * n_parameters))

    def surcharge(self, price: float) -> Floats:
        """Surcharge of each pair on ``price``, (variables, variables); zero for pairs of one parameter.

        ``price`` is the threshold of one parameter. A pair of more parameters exceeds its own threshold by chance no
        more often than one parameter exceeds the price.
        """
        many = self.n_parameters > 1
        surcharge = np.zeros(many.shape)
        if many.any():
            tail = _tail(price, _RETESTED)
            mean, variance = self.mean[many], self.variance[many]
            of_few_rows = gammainccinv(mean**2 / variance, tail) * variance / mean
            of_many_rows = 2.0 * gammainccinv(0.5 * self.n_parameters[many], tail)
            surcharge[many] = np.maximum(np.maximum(of_few_rows, of_many_rows) - price, 0.0)
        return surcharge


def surcharge_of_one(price: float, n_rows: float) -> float:
    """Return the surcharge on ``price`` of a pair of one parameter, where either of its two regressions may choose it.

    With few rows the two disagree, and either of them exceeds the price by chance more often than one does.
    """
    few = (max(n_rows, 1.0) ** -0.5 - _MANY_ROWS**-0.5) / (_FEW_ROWS**-0.5 - _MANY_ROWS**-0.5)
    tail = _tail(price, _RETESTED * min(few, 1.0)) if few > 0.0 else 1.0
    return max(2.0 * float(gammainccinv(0.5, tail)) - price, 0.0)


def _tail(price: float, retested: float) -> float:
    """Return the tail of one test: all tests of a pair together then exceed it as often as one exceeds the price."""
    tail = float(gammaincc(0.5, 0.5 * price))
    return max(tail / (1.0 + retested * (1.0 - tail)), _SMALLEST_TAIL)
