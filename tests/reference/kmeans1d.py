"""Optimal one-dimensional k-means from its definition: a table of all interval costs and the O(m^2 k) recurrence.

Costs are exact fractions, or floats for cases too large for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, pairwise
from typing import Any

import numpy as np


def exact_costs(x: Sequence[float], weight: Sequence[float]) -> np.ndarray:
    """cost[i, j] of the cluster of items i .. j-1 of ascending values as a fraction, infinite unless i < j."""
    m = len(x)
    moments = np.array([[w, w * v, w * v * v] for v, w in zip(map(Fraction, x), map(Fraction, weight), strict=True)])
    cost = np.full((m + 1, m + 1), np.inf, object)
    for i in range(m):
        sums = np.array([Fraction(0)] * 3)
        for j in range(i + 1, m + 1):
            sums = sums + moments[j - 1]
            cost[i, j] = sums[2] - sums[1] ** 2 / sums[0]
    return cost


def float_costs(x: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Costs of all clusters in floating point, by two passes over every cluster."""
    m = len(x)
    cost = np.full((m + 1, m + 1), np.inf)
    for i in range(m):
        for j in range(i + 1, m + 1):
            beyond = x[i:j] - x[i]
            mean = weight[i:j] @ beyond / weight[i:j].sum()
            cost[i, j] = weight[i:j] @ (beyond - mean) ** 2
    return cost


def least_costs(cost: np.ndarray) -> list[Any]:
    """The least cost of exactly k = 1 .. m clusters: best(k, j) = min over i of best(k - 1, i) + cost[i, j]."""
    best = [cost[0]]
    for _ in range(len(cost) - 2):
        best.append((best[-1][:, None] + cost).min(axis=0))
    return [row[-1] for row in best]


def least_cost_of_all_partitions(cost: np.ndarray, k: int) -> Any:
    """Least cost for one k, by listing every way to cut."""
    m = len(cost) - 1
    ways = ((0, *inner, m) for inner in combinations(range(1, m), k - 1))
    return min(sum(cost[i, j] for i, j in pairwise(way)) for way in ways)


def cost_of_assignment(values: Sequence[float], weight: Sequence[float], assignment: Sequence[int]) -> Fraction:
    """Exact weighted sum of squared distances to the exact means."""
    total = Fraction(0)
    for c in set(assignment):
        members = [(Fraction(v), Fraction(w)) for v, w, a in zip(values, weight, assignment, strict=True) if a == c]
        mass = sum(w for _, w in members)
        if mass:
            mean = sum(w * v for v, w in members) / mass
            total += sum(w * (v - mean) ** 2 for v, w in members)
    return total
