"""Features of all joint states as one dense matrix, and the exact likelihood of a table, from their definitions."""

from __future__ import annotations

from itertools import product
from math import prod

import numpy as np
from scipy.linalg import helmert

from mrfit.data.unique_rows import UniqueRows
from mrfit.objectives.objective import Expansion, Objective
from mrfit.parameterizations.canonical import Canonical
from mrfit.parameterizations.ordered import Ordered
from mrfit.parameterizations.parameterization import Parameterization

Scope = tuple[int, ...]


def joint_states(shape: tuple[int, ...]) -> np.ndarray:
    """Every joint state as a row of codes, in C order."""
    return np.indices(shape).reshape(len(shape), prod(shape)).T.astype(np.uint8)


def scopes_of(parameters: Parameterization) -> list[Scope]:
    """The scope of every parameter."""
    return [scope for scope in _scopes(parameters) for _ in range(_features(parameters, scope).shape[1])]


def feature_matrix(parameters: Parameterization) -> np.ndarray:
    """Features of all joint states, shape (states, parameters): scope after scope, states of each in C order."""
    columns = [_features(parameters, scope) for scope in _scopes(parameters)]
    return np.hstack([np.zeros((prod(parameters.domain.shape), 0)), *columns])


def _scopes(parameters: Parameterization) -> list[Scope]:
    shape = parameters.domain.shape
    return [scope for scope in parameters.structure.scopes if all(shape[i] > 1 for i in scope)]


def _features(parameters: Parameterization, scope: Scope) -> np.ndarray:
    shape = parameters.domain.shape
    x = joint_states(shape)[:, list(scope)]
    c = [shape[i] for i in scope]
    if parameters.word == "spectral":
        one = [np.sqrt(k) * -helmert(k).T for k in c]  # (states, contrasts); scipy compares the other way round
        each = [[matrix[x[:, j], k] for k in range(matrix.shape[1])] for j, matrix in enumerate(one)]
        return np.stack([np.prod(chosen, axis=0) for chosen in product(*each)], axis=1)
    if parameters.word == "centred":
        return _centred(x, c)
    if parameters.word == "ising" and len(scope) > 1:
        return (x == x[:, :1]).all(axis=1, keepdims=True).astype(float)
    if isinstance(parameters, Ordered):
        own = {i: np.array(scores) - scores[0] for i, scores in parameters.scores}
        ordered = parameters.ordered if len(scope) > 1 else ()
        by_score = [own.get(i, np.arange(k)) if i in ordered else None for i, k in zip(scope, c, strict=True)]
        return _scored(x, by_score, c)
    return (x[:, None] == np.array(_events(parameters, scope))).all(axis=2).astype(float)


def _scored(x: np.ndarray, by_score: list[np.ndarray | None], c: list[int]) -> np.ndarray:
    """Products of the scores of variables that have some, and of indicators of states but the first of others."""
    each = [
        [x[:, j] == s for s in range(1, c[j])] if scores is None else [scores[x[:, j]]]
        for j, scores in enumerate(by_score)
    ]
    return np.stack([np.prod(np.array(chosen, float), axis=0) for chosen in product(*each)], axis=1)


def _centred(x: np.ndarray, c: list[int]) -> np.ndarray:
    """Products of contrasts of at least two variables, orthonormal over the states of the scope; or of a single one."""
    one = [np.column_stack([np.full(k, k**-0.5), -helmert(k).T]) for k in c]  # orthonormal columns
    scale = np.sqrt(c[0]) if len(c) == 1 else 1.0
    kept = [digits for digits in product(*map(range, c)) if np.count_nonzero(digits) >= min(2, len(c))]
    columns = [
        np.prod([m[x[:, j], d] for j, (m, d) in enumerate(zip(one, digits, strict=True))], axis=0) for digits in kept
    ]
    return scale * np.stack(columns, axis=1) if columns else np.zeros((len(x), 0))


def _events(parameters: Parameterization, scope: Scope) -> list[tuple[int, ...]]:
    """The states at which each indicator of a scope is one."""
    c = [parameters.domain.shape[i] for i in scope]
    if isinstance(parameters, Canonical):
        silent = parameters.reference or (0,) * len(parameters.domain)
        return list(product(*([s for s in range(k) if s != silent[i]] for i, k in zip(scope, c, strict=True))))
    if parameters.word == "full":
        return list(product(*map(range, c)))
    if parameters.word == "generalized-ising":
        return [(s,) * len(scope) for s in range(min(c))]
    assert parameters.word == "ising"
    return [(s,) for s in range(1, c[0])]


class DenseLikelihood(Objective):
    """log Z(w) - w . (mean of the features), with all joint states in one matrix."""

    def __init__(self, features: np.ndarray, rows: UniqueRows) -> None:
        self.features, self.n_parameters = features, features.shape[1]
        at = np.ravel_multi_index(tuple(rows.codes.T.astype(int)), rows.domain.shape)
        share = np.zeros(len(features))
        np.add.at(share, at, rows.sample_weight / rows.total_weight)
        self.observed = features.T @ share

    def log_probabilities(self, w: np.ndarray) -> np.ndarray:
        q = self.features @ w
        return q - q.max() - np.log(np.exp(q - q.max()).sum())

    def value_and_gradient(self, w: np.ndarray) -> tuple[float, np.ndarray]:
        q, log_p = self.features @ w, self.log_probabilities(w)
        return float(q[0] - log_p[0] - self.observed @ w), np.exp(log_p) @ self.features - self.observed

    def covariance(self, w: np.ndarray) -> np.ndarray:
        p = np.exp(self.log_probabilities(w))
        centred = self.features - p @ self.features
        return (centred.T * p) @ centred

    def expand(self, w: np.ndarray) -> Expansion:
        value, gradient = self.value_and_gradient(w)
        return Expansion(value, gradient, lambda: np.diag(self.covariance(w)), lambda v: self.covariance(w) @ v)
