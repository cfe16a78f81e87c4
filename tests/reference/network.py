"""The pseudo-likelihood by enumeration."""

from __future__ import annotations

import math
from itertools import product

import numpy as np

from mrfit.data.unique_rows import UniqueRows
from mrfit.parameterizations.canonical import Canonical


def assignments(parameters: Canonical) -> list[tuple[tuple[int, int], ...]]:
    """(variable, state) pairs of every parameter, from the definition of canonical coordinates."""
    shape = parameters.domain.shape
    return [
        tuple(zip(scope, states, strict=True))
        for scope in parameters.structure.scopes
        for states in product(*(range(1, shape[i]) for i in scope))
    ]


def features(parameters: Canonical, x: tuple[int, ...]) -> np.ndarray:
    """Features at the joint state x, each 0 or 1."""
    return np.array(
        [all(x[i] == s for i, s in parameters.assignment(k)) for k in range(parameters.n_parameters)], float
    )


def conditional(parameters: Canonical, w: np.ndarray, x: tuple[int, ...], i: int) -> tuple[np.ndarray, np.ndarray]:
    """p(x_i = s | rest of x) for every s, and the features of x with x_i = s."""
    rows = np.array([features(parameters, (*x[:i], s, *x[i + 1 :])) for s in range(parameters.domain.shape[i])])
    log_p = rows @ w
    p = np.exp(log_p - log_p.max())
    return p / p.sum(), rows


def row_pll(parameters: Canonical, w: np.ndarray, x: tuple[int, ...]) -> float:
    """Sum over variables of log p(x_i | rest of x)."""
    total = 0.0
    for i, state in enumerate(x):
        log_p = [float(features(parameters, (*x[:i], s, *x[i + 1 :])) @ w) for s in range(parameters.domain.shape[i])]
        top = max(log_p)
        total += log_p[state] - top - math.log(sum(math.exp(value - top) for value in log_p))
    return total


def rows_of(rows: UniqueRows) -> list[tuple[tuple[int, ...], float]]:
    return [(tuple(x), weight) for x, weight in zip(rows.codes.tolist(), rows.sample_weight.tolist(), strict=True)]


def value(parameters: Canonical, w: np.ndarray, rows: UniqueRows) -> float:
    """Minus the weighted mean pseudo-log-likelihood."""
    table = rows_of(rows)
    return -sum(weight * row_pll(parameters, w, x) for x, weight in table) / sum(weight for _, weight in table)


def gradient(parameters: Canonical, w: np.ndarray, rows: UniqueRows) -> np.ndarray:
    """Expected minus observed features, summed over variables and averaged over rows."""
    total, table = np.zeros(len(w)), rows_of(rows)
    for x, weight in table:
        for i in range(len(x)):
            p, of_state = conditional(parameters, w, x, i)
            total += weight * (p @ of_state - of_state[x[i]])
    return total / sum(weight for _, weight in table)


def hessian(parameters: Canonical, w: np.ndarray, rows: UniqueRows) -> np.ndarray:
    """Covariance of the features under each conditional, summed and averaged like the gradient."""
    total, table = np.zeros((len(w), len(w))), rows_of(rows)
    for x, weight in table:
        for i in range(len(x)):
            p, of_state = conditional(parameters, w, x, i)
            centred = of_state - p @ of_state
            total += weight * (centred.T * p) @ centred
    return total / sum(weight for _, weight in table)
