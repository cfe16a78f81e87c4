"""Differences between the networks of groups, and the differences that a random assignment of rows would give.

After van Borkulo et al. (2022) for two groups. For more, the difference of numbers is the largest less the smallest.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mrfit._typing import Floats
from mrfit.analysis.stability.case_dropping import incidence
from mrfit.analysis.stability.resampled_networks import Networks

_TIE = 1.0 - 1e-9  # of sums of the same numbers in another order


@dataclass(frozen=True, eq=False)
class Differences:
    """Differences between one network for each group; a leading axis holds many such sets of networks.

    Parameters
    ----------
    largest
        M: largest difference of an edge weight.
    total
        S: difference of the sums of absolute edge weights (global strength).
    edges, strengths
        Difference of each edge weight, and of each variable's sum of absolute edge weights.
    """

    largest: Floats
    total: Floats
    edges: Floats
    strengths: Floats

    @classmethod
    def of(cls, weights: Floats, n_variables: int) -> Differences:
        """Return the differences of ``weights``, (..., groups, pairs); infinite weights of one sign do not differ."""
        size, edges = np.abs(weights), _spread(weights)
        return cls(
            largest=edges.max(axis=-1, initial=0.0),
            total=_spread(size.sum(axis=-1)[..., None])[..., 0],
            edges=edges,
            strengths=_spread(_products(size, incidence(n_variables))),
        )


@dataclass(frozen=True, eq=False)
class PermutationTest:
    """Permutation test: differences of the groups beside those of groups drawn by lot.

    Each p value is (1 + permutations with as large a difference) / (1 + ``n``).

    Attributes
    ----------
    observed : Differences
        Differences of the groups.
    permuted : Differences
        Differences in each permutation.
    n : int
        Permutations that did not fail.
    failures : dict of str to int
        Reasons why learning failed, and how often.
    """

    observed: Differences
    permuted: Differences
    n: int
    failures: dict[str, int]

    @classmethod
    def of(cls, observed: Floats, networks: Networks) -> PermutationTest:
        """``networks`` are those of all groups of the first permutation, then of the second, and so on."""
        n_groups, n_variables = len(observed), len(networks.names)
        sets = networks.weights.reshape(-1, n_groups, observed.shape[1])
        known = sets[~np.isnan(sets).any(axis=(1, 2))]
        differences = Differences.of(known, n_variables)
        return cls(Differences.of(observed, n_variables), differences, len(known), networks.failures)

    @property
    def p_largest(self) -> float:
        """p value of the edge weight that differs most."""
        return float(_p(self.observed.largest, self.permuted.largest))

    @property
    def p_total(self) -> float:
        """p value of the sums of absolute edge weights."""
        return float(_p(self.observed.total, self.permuted.total))

    @property
    def p_edges(self) -> Floats:
        """p value of each pair, not adjusted for their number."""
        return _p(self.observed.edges, self.permuted.edges)

    @property
    def p_strengths(self) -> Floats:
        """p value of each variable's node strength, not adjusted for their number."""
        return _p(self.observed.strengths, self.permuted.strengths)


def _spread(values: Floats) -> Floats:
    """The largest less the smallest over groups, the last axis but one."""
    high, low = values.max(axis=-2), values.min(axis=-2)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(high == low, 0.0, high - low), np.float64)


def _products(size: Floats, matrix: Floats) -> Floats:
    """size @ matrix of zeros and ones, where zero times infinity is zero."""
    if np.isfinite(size).all():
        return np.asarray(size @ matrix, np.float64)
    finite = np.where(np.isfinite(size), size, 0.0) @ matrix
    return np.asarray(np.where(np.isinf(size).astype(float) @ matrix > 0, np.inf, finite), np.float64)


def _p(observed: Floats, permuted: Floats) -> Floats:
    as_large = (permuted >= _TIE * observed).sum(axis=0)
    return np.asarray((1 + as_large) / (1 + len(permuted)), np.float64)
