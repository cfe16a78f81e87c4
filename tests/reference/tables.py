"""Counting and information by loops."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable

import numpy as np

from mrfit.data.unique_rows import UniqueRows
from mrfit.parameterizations.canonical import Canonical


def distinct_rows(codes: np.ndarray, sample_weight: np.ndarray) -> list[tuple[tuple[int, ...], float]]:
    """Distinct rows of positive weight in lexicographic order."""
    counter: Counter[tuple[int, ...]] = Counter()
    for row, weight in zip(codes.tolist(), sample_weight.tolist(), strict=True):
        if weight > 0:
            counter[tuple(row)] += weight
    return sorted(counter.items())


def blanket(parameters: Canonical, variable: int) -> list[int]:
    """Variables that share a parameter with ``variable``."""
    scopes = (tuple(i for i, _ in parameters.assignment(k)) for k in range(parameters.n_parameters))
    return sorted({i for scope in scopes if variable in scope for i in scope} - {variable})


def conditional_cells(
    rows: UniqueRows, parameters: Canonical, variable: int
) -> dict[tuple[int, ...], dict[int, float]]:
    """Weight by state of the variable, for each state of its Markov blanket."""
    neighbours = blanket(parameters, variable)
    cells: dict[tuple[int, ...], dict[int, float]] = defaultdict(lambda: defaultdict(float))
    for row, weight in zip(rows.codes.tolist(), rows.sample_weight.tolist(), strict=True):
        cells[tuple(row[i] for i in neighbours)][row[variable]] += weight
    return cells


def mutual_information(rows: UniqueRows, a: int, b: int) -> float:
    """Empirical mutual information of two variables in nats (the entropy if they are one)."""
    joint: defaultdict[tuple[int, int], float] = defaultdict(float)
    first: defaultdict[int, float] = defaultdict(float)
    second: defaultdict[int, float] = defaultdict(float)
    total = sum(rows.sample_weight.tolist())
    for row, weight in zip(rows.codes.tolist(), rows.sample_weight.tolist(), strict=True):
        joint[row[a], row[b]] += weight / total
        first[row[a]] += weight / total
        second[row[b]] += weight / total
    return sum(p * math.log(p / (first[x] * second[y])) for (x, y), p in joint.items())


def classes(keys: Iterable[object]) -> list[int]:
    """Number the distinct keys in the order they are met."""
    numbers: dict[object, int] = {}
    return [numbers.setdefault(key, len(numbers)) for key in keys]
