"""A product of tables, from its definition: loops over all joint states."""

from __future__ import annotations

import math
from itertools import product

import numpy as np

from mrfit.core.factors import Factors


def log_potential(factors: Factors, x: tuple[int, ...]) -> float:
    """Sum of every table at one joint state."""
    total = 0.0
    for scope, table in zip(factors.scopes, factors.tables, strict=True):
        states = list(product(*(range(factors.shape[i]) for i in scope)))  # in C order of the scope as listed
        total += float(table[states.index(tuple(x[i] for i in scope))])
    return total


def probabilities(factors: Factors) -> tuple[float, dict[tuple[int, ...], float]]:
    """log Z, and p of every joint state; where none is possible, minus infinity and nothing."""
    q = {x: log_potential(factors, x) for x in product(*map(range, factors.shape))}
    top = max(q.values())
    if top == -math.inf:
        return top, {}
    log_z = top + math.log(math.fsum(math.exp(value - top) for value in q.values()))
    return log_z, {x: math.exp(value - log_z) for x, value in q.items()}


def marginal(factors: Factors, p: dict[tuple[int, ...], float], scope: tuple[int, ...]) -> np.ndarray:
    """Flat, in C order of the scope as listed."""
    cells = product(*(range(factors.shape[i]) for i in scope))
    return np.array([math.fsum(p[x] for x in p if all(x[i] == s for i, s in zip(scope, cell, strict=True)))
                     for cell in cells])  # fmt: skip
