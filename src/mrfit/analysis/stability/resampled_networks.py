"""Networks of resamples, and the distribution of each edge weight over them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mrfit._typing import Floats, Indices
from mrfit.core.cluster import mapped
from mrfit.core.errors import InputError, MrfitError
from mrfit.data.unique_rows import UniqueRows

# The weight of every pair of variables, in the order of `pairs_of`; zero where they are not joined.
Weigh = Callable[[UniqueRows], Floats]

_HUGE = 1e300  # in the place of infinity, between which quantiles can be taken
_MOST = 2**27  # weights, 1 GB


def pairs_of(n_variables: int) -> Indices:
    """All pairs a < b, (pairs, 2)."""
    return np.stack(np.triu_indices(n_variables, 1), axis=1)


def check_memory(n_resamples: int, n_pairs: int) -> None:
    if n_resamples * n_pairs > _MOST:
        raise InputError(
            f"{n_resamples:,} resamples of {n_pairs:,} pairs take {8e-9 * n_resamples * n_pairs:.1f} GB; the "
            f"limit is {8e-9 * _MOST:.1f}. Use fewer resamples or columns."
        )


def weights_of_tables(
    weigh: Weigh,
    table: Callable[[int], UniqueRows],
    shape: tuple[int, int],
    *,
    jobs: int = 1,
    callback: Callable[[int], None] | None = None,
) -> tuple[Floats, dict[str, int]]:
    """Weights of all pairs from each of many tables, (tables, pairs), NaN where learning failed; and why it did."""
    found = mapped(
        _weighed,
        range(shape[0]),
        shared=(weigh, table),
        jobs=jobs,
        name=lambda b: f"table {b + 1}",
        callback=None if callback is None else lambda _: callback(1),
    )
    nothing = np.full(shape[1], np.nan)
    weights = np.stack([nothing if each is None else each for each, _ in found]).reshape(shape)
    return weights, dict(Counter(reason for _, reason in found if reason))


def _weighed(weigh: Weigh, table: Callable[[int], UniqueRows], b: int) -> tuple[Floats | None, str]:
    """Weights from one table, or the reason why learning failed."""
    try:
        return weigh(table(b)), ""
    except MrfitError as error:
        return None, str(error)


@dataclass(frozen=True)
class Edge:
    """Pair of variables over all samples of the rows.

    Attributes
    ----------
    source, target : str
        Names of the variables.
    sample : float
        Edge weight in the whole table.
    inclusion : float
        Share of samples that have the edge.
    mean, sd : float
        Mean and standard deviation of the weight over samples where it is finite; NaN if it never is.
    low, high : float
        Ends of the percentile interval of the weight. It is no confidence interval where weights are shrunken.
    zeros : float
        Share of samples in which the weight is zero.
    infinite : float
        Share of samples in which the weight is infinite.
    """

    source: str
    target: str
    sample: float  # its weight in the whole table
    inclusion: float  # share of resamples in which it is there
    mean: float
    sd: float
    low: float
    high: float
    zeros: float  # share of resamples in which its weight is zero
    infinite: float

    def to_dict(self) -> dict[str, Any]:
        return dict(self.__dict__)


@dataclass(frozen=True, eq=False)
class Networks:
    """Weights of all pairs of variables, from the whole table and from every sample of its rows.

    Attributes
    ----------
    names : tuple of str
        Variables.
    sample : array of shape (n_pairs,)
        Weights in the whole table.
    weights : array of shape (n_samples, n_pairs)
        Weights in the samples; NaN where learning failed.
    failures : dict of str to int
        Reasons why learning failed, and how often.
    """

    names: tuple[str, ...]
    sample: Floats
    weights: Floats
    failures: dict[str, int]

    @classmethod
    def learned(
        cls,
        weigh: Weigh,
        rows: UniqueRows,
        resamples: Floats,
        *,
        jobs: int = 1,
        callback: Callable[[int], None] | None = None,
    ) -> Networks:
        """Learn from every resample; what fails there is counted, what fails on the whole table is an error.

        ``callback`` gets the number of resamples that have just been learned from, in any thread. The result does not
        depend on ``jobs``.
        """
        n_pairs = len(pairs_of(len(rows.domain)))
        check_memory(len(resamples), n_pairs)
        sample = weigh(rows)
        weights, failures = weights_of_tables(
            weigh, lambda b: rows.reweighted(resamples[b]), (len(resamples), n_pairs), jobs=jobs, callback=callback
        )
        return cls(rows.domain.names, sample, weights, failures)

    @cached_property
    def known(self) -> Floats:
        """Weights of the resamples that did not fail."""
        known = self.weights[~np.isnan(self.weights).any(axis=1)]
        if not len(known):
            reason = max(self.failures, key=lambda reason: self.failures[reason])
            raise InputError(f"Learning failed in each of {len(self.weights)} resamples: {reason}")
        return known

    @property
    def n_failed(self) -> int:
        return sum(self.failures.values())

    @property
    def inclusion(self) -> Floats:
        """Share of resamples in which each pair is joined."""
        return np.asarray((self.known != 0).mean(axis=0), np.float64)

    def edges(self, level: float = 0.95) -> tuple[Edge, ...]:
        """All pairs that are joined in the whole table or in a resample, the most frequent first."""
        low, high = self.quantiles(level)
        finite = np.where(np.isfinite(self.known), self.known, np.nan)
        n_finite = np.isfinite(finite).sum(axis=0)
        mean = np.where(n_finite > 0, np.nansum(finite, axis=0) / np.maximum(n_finite, 1), np.nan)
        sd = np.sqrt(np.nansum((finite - mean) ** 2, axis=0) / np.maximum(n_finite - 1, 1))
        inclusion, infinite = self.inclusion, np.isinf(self.known).mean(axis=0)
        order = np.lexsort((-np.abs(mean), -inclusion))
        pairs = pairs_of(len(self.names))
        return tuple(
            Edge(
                self.names[pairs[k, 0]], self.names[pairs[k, 1]], float(self.sample[k]), float(inclusion[k]),
                float(mean[k]), float(sd[k]), float(low[k]), float(high[k]), float(1.0 - inclusion[k]),
                float(infinite[k]),
            )
            for k in order.tolist()
            if inclusion[k] > 0 or self.sample[k] != 0
        )  # fmt: skip

    def quantiles(self, level: float) -> tuple[Floats, Floats]:
        """Ends of the middle share ``level`` of the weights of each pair."""
        return middle(self.known, level)

    def differences(self, level: float = 0.95) -> NDArray[np.bool_]:
        """Whether two edges differ: the range of the difference of their weights excludes zero, (pairs, pairs)."""
        differ = np.zeros((self.known.shape[1],) * 2, bool)
        finite = np.clip(self.known, -_HUGE, _HUGE)
        for k in range(len(differ)):
            low, high = middle(finite[:, [k]] - finite[:, k + 1 :], level)
            differ[k, k + 1 :] = (low > 0) | (high < 0)
        return differ | differ.T


def middle(weights: Floats, level: float) -> tuple[Floats, Floats]:
    """Ends of the middle share ``level`` along the first axis, by the sixth of Hyndman and Fan (1996)."""
    check_level(level)
    ends = [(1.0 - level) / 2.0, (1.0 + level) / 2.0]
    low, high = np.quantile(np.clip(weights, -_HUGE, _HUGE), ends, axis=0, method="weibull")
    return _with_infinity(low), _with_infinity(high)


def check_level(level: float) -> None:
    """Refuse shares of resamples that are none."""
    if not 0.0 < level < 1.0:
        raise InputError(f"The level of intervals lies between 0 and 1; got {level:g}. Use 0.95, say.")


def _with_infinity(end: Floats) -> Floats:
    return np.asarray(np.where(np.abs(end) >= 0.01 * _HUGE, np.copysign(np.inf, end), end), np.float64)
