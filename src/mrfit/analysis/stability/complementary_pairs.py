"""Stability selection by complementary pairs of halves (Meinshausen and Buhlmann 2010; Shah and Samworth 2013).

Each half selects its ``q`` largest edges. An edge is stable if a share ``tau`` of all 2 B halves selects it. The bound
is on the expected number of stable pairs among those that halves select no more often than the average pair.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mrfit._typing import Floats
from mrfit.analysis.stability.resampled_networks import Networks
from mrfit.core.errors import InputError, listed

ASSUMPTIONS = ("none", "unimodal", "r-concave")

_POWERS = (-0.5, -0.25)  # of the r-concave distributions of both halves' selection, and of each half's
_LEAST, _MOST = 1e-5, 1e5  # the shift of such a distribution


@dataclass(frozen=True)
class StablePairs:
    """Stable pairs, and a bound on the expected number of false ones among them.

    Attributes
    ----------
    n_kept : int
        Number of edges that each half selects.
    threshold : float
        Share of halves that must select a stable edge.
    assumption : str
        Assumption of the bound: ``none``, ``unimodal`` or ``r-concave``.
    bound : float
        Largest expected number of false edges.
    shares : array
        Share of halves that select each pair of variables.
    """

    n_kept: int  # edges of each half
    threshold: float
    assumption: str
    bound: float
    shares: Floats  # of halves that keep each pair

    @classmethod
    def of(cls, networks: Networks, *, n_kept: int, threshold: float, assumption: str) -> StablePairs:
        kept = largest(networks.known, n_kept)
        bound = expected_false(kept.shape[1], n_kept, threshold, len(networks.weights) // 2, assumption)
        return cls(n_kept, threshold, assumption, bound, np.asarray(kept.mean(axis=0), np.float64))

    @property
    def stable(self) -> NDArray[np.int64]:
        return np.flatnonzero(self.shares >= self.threshold)


def largest(weights: Floats, n_kept: int) -> NDArray[np.bool_]:
    """The ``n_kept`` largest of every row that are not zero."""
    order = np.argsort(-np.abs(weights), axis=1, kind="stable")[:, :n_kept]
    kept = np.zeros(weights.shape, bool)
    np.put_along_axis(kept, order, True, axis=1)
    return np.asarray(kept & (weights != 0), bool)


def n_kept_for(false_edges: float, n_pairs: int, threshold: float, n_halves: int, assumption: str) -> int:
    """Number of edges that each half may select so that at most ``false_edges`` false ones are expected."""
    n_kept = 0
    while n_kept < n_pairs and _bound(n_pairs, n_kept + 1, threshold, n_halves, assumption) <= false_edges:
        n_kept += 1
    if not n_kept:
        raise InputError(
            f"Among {n_pairs} pairs of variables no more than {false_edges:g} false edges cannot be promised, even if "
            "each half keeps one edge. Allow more of them, or raise the threshold."
        )
    return n_kept


def check_control(threshold: float, assumption: str) -> None:
    """Refuse a threshold or an assumption for which there is no bound."""
    if assumption not in ASSUMPTIONS:
        raise InputError(f"There is no assumption {assumption!r}; choose one of {listed(ASSUMPTIONS)}.")
    if not 0.5 < threshold <= 1.0:
        raise InputError(f"The threshold of stability lies above 0.5 and is at most 1; got {threshold:g}.")


def expected_false(n_pairs: int, n_kept: int, threshold: float, n_halves: int, assumption: str) -> float:
    """Bound the expected number of pairs that are stable by chance."""
    check_control(threshold, assumption)
    return _bound(n_pairs, n_kept, threshold, n_halves, assumption)


def _bound(n_pairs: int, n_kept: int, threshold: float, n_halves: int, assumption: str) -> float:
    square = n_kept**2 / n_pairs
    if assumption == "none":
        return square / (2.0 * threshold - 1.0)
    if assumption == "r-concave":
        return n_pairs * _concave(n_kept / n_pairs, threshold, n_halves)
    step = 1.0 / (2 * n_halves)
    if threshold <= 0.75:
        return square / (2.0 * (2.0 * threshold - 1.0 - step))
    return square * 4.0 * (1.0 - threshold + step) / (1.0 + 2.0 * step)


def _concave(theta: float, threshold: float, n_halves: int) -> float:
    """Bound the chance that a pair that halves select with chance theta is stable (Shah and Samworth 2013, eq. 8)."""
    which = int(np.ceil(round(2 * n_halves * threshold, 10)))
    both = _tail(theta**2, which - n_halves, n_halves, _POWERS[0])
    each = _tail(theta, which, 2 * n_halves, _POWERS[1])
    return min(1.0, both, each)


def _tail(theta: float, which: int, n: int, power: float) -> float:
    """The largest chance of ``which`` of n or more under an r-concave distribution on 0, 1/n, ..., 1 of mean theta.

    It is (a + i)^(1/r) on 0 .. k and something smaller at k + 1; the worst shift a is searched for each k.
    """
    from scipy.optimize import brentq, minimize_scalar

    goal, exponent = theta * n, 1.0 / power
    first = int(np.ceil(2.0 * goal)) + 1
    if which < first:
        return 1.0

    def shift(k: int, upper: float) -> float:
        """The a for which the distribution on 0 .. k has the mean."""
        i = np.arange(k + 1)

        def excess(a: float) -> float:
            mass = (a + i) ** exponent
            return float(i @ mass / mass.sum()) - goal

        return float(brentq(excess, _LEAST, upper, xtol=1e-12))

    def chance(k: int, a: float) -> float:
        i = np.arange(k + 1)
        mass = (a + i) ** exponent
        return float(1.0 - (k + 1 - goal) * mass[:which].sum() / ((k + 1 - i) @ mass))

    shifts = {first - 1: _MOST}
    for k in range(first, n + 1):
        shifts[k] = shift(k, shifts[k - 1])
    worst = 0.0
    for k in range(max(first, which - 1), n):  # a shorter one ends before
        found = minimize_scalar(lambda a, k=k: -chance(k, a), bounds=(shifts[k + 1], shifts[k]), method="bounded")
        worst = max(worst, -float(found.fun), chance(k, shifts[k]), chance(k, shifts[k + 1]))
    return worst
