"""Wald tests: whether parameters are zero, or equal in groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import block_diag
from scipy.special import chdtrc

from mrfit._typing import Floats, Indices
from mrfit.core.linear_systems import divided


@dataclass(frozen=True)
class WaldTest:
    """Wald test of a set of parameters: whether all are zero, or equal in all groups of rows.

    Attributes
    ----------
    variables : tuple of str
        Variables of the interaction.
    degrees : int
        Degrees of freedom.
    statistic : float
        w' V^-1 w, which is compared with chi-square.
    p : float
        p value; NaN, like the statistic, if a parameter of the set has no finite optimum.
    adjusted : float
        Smallest false discovery rate at which the test is significant, among all tests made with it (Benjamini and
        Hochberg 1995).
    """

    variables: tuple[str, ...]
    degrees: int
    statistic: float
    p: float
    adjusted: float

    def to_dict(self) -> dict[str, Any]:
        """Return the test as plain values, for JSON."""
        return {
            "variables": list(self.variables),
            "degrees": self.degrees,
            "statistic": self.statistic,
            "p": self.p,
            "adjusted": self.adjusted,
        }


def wald_tests(w: Floats, covariance: Floats, sets: Sequence[tuple[tuple[str, ...], Indices]]) -> tuple[WaldTest, ...]:
    """Return one test for every set of variables, given with the numbers of its parameters."""
    statistics = [_statistic(w[own], covariance[np.ix_(own, own)]) for _, own in sets]
    return _tests([names for names, _ in sets], [len(own) for _, own in sets], statistics)


def equality_tests(
    w: Sequence[Floats], covariances: Sequence[Floats], sets: Sequence[tuple[tuple[str, ...], Indices]]
) -> tuple[WaldTest, ...]:
    """Test whether the parameters of each set are equal in groups of independent rows.

    For two groups the statistic is (w1 - w2)' (V1 + V2)^-1 (w1 - w2). For more it uses the differences from the first
    group, which have V1 in common.
    """
    statistics = []
    for _, own in sets:
        first, *others = (covariance[np.ix_(own, own)] for covariance in covariances)
        shared = np.kron(np.ones((len(others),) * 2), first)
        difference = np.concatenate([each[own] - w[0][own] for each in w[1:]])
        statistics.append(_statistic(difference, shared + block_diag(*others)))
    return _tests([names for names, _ in sets], [(len(w) - 1) * len(own) for _, own in sets], statistics)


def _tests(sets: list[tuple[str, ...]], degrees: list[int], statistics: list[float]) -> tuple[WaldTest, ...]:
    p = chdtrc(np.array(degrees, float), np.array(statistics, float))
    adjusted = adjusted_p(p)
    return tuple(
        WaldTest(names, degrees[k], statistics[k], float(p[k]), float(adjusted[k])) for k, names in enumerate(sets)
    )


def _statistic(w: Floats, covariance: Floats) -> float:
    return float(w @ divided(covariance, w)) if np.isfinite(covariance).all() else np.nan


def adjusted_p(p: Floats) -> Floats:
    """Return the false discovery rates at which each test is significant; NaN means no test."""
    adjusted = np.full(len(p), np.nan)
    known = np.flatnonzero(~np.isnan(p))
    order = known[np.argsort(-p[known], kind="stable")]  # the largest first
    rates = p[order] * len(known) / np.arange(len(known), 0, -1)
    adjusted[order] = np.minimum(np.minimum.accumulate(rates), 1.0)
    return adjusted
