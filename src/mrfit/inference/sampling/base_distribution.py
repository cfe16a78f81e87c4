"""Distributions that are easy to draw from, as starts of annealing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import breadth_first_order, minimum_spanning_tree

from mrfit._typing import Codes, Floats, Scope
from mrfit.core.factors import Factors

_PRIOR = 0.5  # rows added to every state, so that no state is impossible
_SHIFT = 1.0  # added to mutual informations, which changes no tree: scipy would take a weight of zero as no edge


@dataclass(frozen=True, eq=False)
class BaseDistribution:
    """A tree of conditional distributions: log Z is 0, and samples are drawn root to leaf.

    ``factors`` has a table log p(i) for every root, and a table log p(i | parent), of scope (parent, i), for every
    other variable. Parents come before children.
    """

    word: str
    factors: Factors

    def draw(self, n: int, rng: np.random.Generator) -> Codes:
        shape = self.factors.shape
        codes, u = np.zeros((n, len(shape)), np.int64), rng.random((len(shape), n))
        for scope, table in zip(self.factors.scopes, self.factors.tables, strict=True):
            i = scope[-1]
            cumulated = np.cumsum(np.exp(table).reshape(-1, shape[i]), axis=1)[:, :-1]
            thresholds = cumulated[codes[:, scope[0]] if len(scope) == 2 else 0]
            codes[:, i] = (u[i, :, None] >= thresholds).sum(axis=1)
        return codes


def uniform(shape: tuple[int, ...]) -> BaseDistribution:
    return BaseDistribution(
        "uniform", Factors.from_tables(shape, [((i,), np.full(c, -np.log(c))) for i, c in enumerate(shape)])
    )


def independent(word: str, shape: tuple[int, ...], rows: NDArray[Any]) -> BaseDistribution:
    """Return independent variables with the frequencies of rows of codes."""
    counts = np.array([(rows == s).sum(axis=0) for s in range(max(shape, default=0))]) + _PRIOR  # (states, variables)
    tables = [((i,), np.log(counts[:c, i] / counts[:c, i].sum())) for i, c in enumerate(shape)]
    return BaseDistribution(word, Factors.from_tables(shape, tables))


def tree(word: str, shape: tuple[int, ...], rows: NDArray[Any]) -> BaseDistribution:
    """Return the tree of maximum mutual information in rows of codes (Chow and Liu, 1968)."""
    if not shape:
        return uniform(shape)
    pairs, starts = _pair_frequencies(shape, rows), _starts(shape)
    tables: list[tuple[Scope, Floats]] = []
    for i, parent in _parents(_mutual_information(pairs, starts)):
        own = slice(starts[i], starts[i] + shape[i])
        if parent < 0:
            tables.append(((i,), np.log(np.diag(pairs)[own])))
        else:
            joint = pairs[starts[parent] : starts[parent] + shape[parent], own]
            tables.append(((parent, i), np.log(joint / joint.sum(axis=1, keepdims=True))))
    return BaseDistribution(word, Factors.from_tables(shape, tables))


def _starts(shape: tuple[int, ...]) -> NDArray[np.int64]:
    """Return the position of each variable's first state among the states of all variables."""
    return np.cumsum((0, *shape))[:-1]


def _pair_frequencies(shape: tuple[int, ...], rows: NDArray[Any]) -> Floats:
    """Return p(x_i = s, x_j = t) at [(i, s), (j, t)]; added rows give single variables `_PRIOR` per state."""
    states = np.repeat(np.array(shape), shape)
    hot = np.zeros((len(rows), len(states)), np.float32)  # counts below 2**24 are exact
    np.put_along_axis(hot, rows.astype(np.int64) + _starts(shape), 1.0, axis=1)
    counts = (hot.T @ hot).astype(np.float64)
    # Each variable has its own number of added rows. A pair takes the larger of the two, spread evenly over its cells.
    added = _PRIOR * np.maximum(states[:, None], states[None, :]) / (states[:, None] * states[None, :])
    total = len(rows) + _PRIOR * np.maximum(states[:, None], states[None, :])
    frequencies: Floats = (counts + added) / total
    diagonal = np.arange(len(states))
    frequencies[diagonal, diagonal] = (counts[diagonal, diagonal] + _PRIOR) / (len(rows) + _PRIOR * states)
    return frequencies


def _mutual_information(pairs: Floats, starts: NDArray[np.int64]) -> Floats:
    singles = np.diag(pairs)
    terms = pairs * np.log(pairs / np.outer(singles, singles))
    return np.asarray(np.add.reduceat(np.add.reduceat(terms, starts, axis=0), starts, axis=1))


def _parents(information: Floats) -> list[tuple[int, int]]:
    """Return variables and their parents in a maximum spanning tree, parents first; -1 for the root."""
    information = np.maximum(information, 0.0) + _SHIFT
    np.fill_diagonal(information, 0.0)
    edges = minimum_spanning_tree(-information)
    order, parents = breadth_first_order(edges, 0, directed=False)
    return [(int(i), int(max(parents[i], -1))) for i in order]
