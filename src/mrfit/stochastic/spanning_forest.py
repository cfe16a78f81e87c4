"""Where learning begins: the best forest within a structure, whose parameters are known at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import minimum_spanning_tree

from mrfit.data.unique_rows import UniqueRows
from mrfit.parameterizations.canonical import Canonical
from mrfit.structure.mutual_information import indicator_pair_weights, pairwise_mutual_information

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

_SHIFT = 1.0  # added to mutual informations, which changes no forest: a weight near zero would be no edge
PSEUDO_COUNT = 0.3  # rows added to every pair, spread over its states


def forest_parameters(parameters: Canonical, rows: UniqueRows, *, pseudo_count: float = PSEUDO_COUNT) -> Floats:
    """Canonical parameters of the forest of most mutual information among the pairs of a structure (Chow and Liu 1968).

    Its likelihood is greatest where the marginals of its pairs are those of the data. ``pseudo_count`` rows are added,
    independent and of even states, so that no state is impossible.
    """
    w, singles = np.zeros(parameters.n_parameters), parameters.singles()
    tables = _Tables(rows, pseudo_count)
    for i, mine in enumerate(singles):
        if len(mine):
            w[mine] = _log_odds(tables.single(i))
    if 2 not in parameters.structure.blocks:
        return w
    pairs = parameters.structure.blocks[2]
    firsts = parameters.first_parameter[2]
    for k in _forest(pairs, pairwise_mutual_information(rows)):
        i, j = pairs[k].tolist()
        table = np.log(tables.pair(i, j))
        if min(table.shape) < 2:
            continue
        inner = (table - table[:, :1] - table[:1] + table[0, 0])[1:, 1:]
        w[firsts[k] + np.arange(inner.size)] = inner.ravel()
        # The pair says part of what its ends said alone.
        w[singles[i]] += ((table[:, 0] - table[0, 0])[1:] - _log_odds(tables.single(i)))[: len(singles[i])]
        w[singles[j]] += ((table[0] - table[0, 0])[1:] - _log_odds(tables.single(j)))[: len(singles[j])]
    return w


def _forest(pairs: Indices, information: Floats) -> Indices:
    """Which of the pairs make the spanning forest of most mutual information."""
    n, numbers = len(information), np.arange(len(pairs))
    weights = -(information[pairs[:, 0], pairs[:, 1]] + _SHIFT)
    tree = minimum_spanning_tree(coo_array((weights, (pairs[:, 0], pairs[:, 1])), shape=(n, n)).tocsr()).tocoo()
    keys = pairs @ np.array([n, 1])
    return np.asarray(numbers[np.searchsorted(keys, tree.row.astype(np.int64) * n + tree.col)])


def _log_odds(p: Floats) -> Floats:
    return np.asarray(np.log(p[1:] / p[0]))


class _Tables:
    """Smoothed frequencies of single variables and pairs."""

    def __init__(self, rows: UniqueRows, pseudo_count: float) -> None:
        self._known, self._count = indicator_pair_weights(rows), pseudo_count
        self._shape = rows.domain.shape
        self._firsts = np.concatenate([[0], np.cumsum(np.array(self._shape, np.int64) - 1)])
        self._total = rows.total_weight

    def single(self, i: int) -> Floats:
        return self._smooth(self._with_first(self._column(i)))

    def pair(self, i: int, j: int) -> Floats:
        inner, of_j = self._known[self._of(i), self._of(j)], self._with_first(self._column(j))
        table = np.empty((len(inner) + 1, len(of_j)))
        table[1:, 1:], table[1:, 0] = inner, self._column(i) - inner.sum(axis=1)
        table[0] = of_j - table[1:].sum(axis=0)
        return self._smooth(table)

    def _of(self, i: int) -> slice:
        return slice(self._firsts[i], self._firsts[i + 1])

    def _column(self, i: int) -> Floats:
        return np.asarray(self._known[self._of(i), -1])

    def _with_first(self, counts: Floats) -> Floats:
        return np.concatenate([[self._total - counts.sum()], counts])

    def _smooth(self, counts: Floats) -> Floats:
        counts = np.maximum(counts, 0.0) + self._count / counts.size  # differences of sums leave dust
        return np.asarray(counts / counts.sum())
