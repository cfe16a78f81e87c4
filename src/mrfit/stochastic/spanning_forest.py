"""Where learning begins: the best forest within a structure, whose parameters are known at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import minimum_spanning_tree

from mrfit.data.unique_rows import UniqueRows
from mrfit.parameterizations.canonical import Canonical
from mrfit.structure.mutual_information import information_of
from mrfit.structure.pair_tables import PairTables

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
    tables, added = PairTables.of_rows(rows), pseudo_count / rows.total_weight
    log_odds = [_log_odds(_smoothed(tables.single(i), added)) for i in range(len(singles))]
    for mine, odds in zip(singles, log_odds, strict=True):
        w[mine] = odds[: len(mine)]
    if 2 not in parameters.structure.blocks:
        return w
    pairs = parameters.structure.blocks[2]
    firsts = parameters.first_parameter[2]
    for k in _forest(pairs, information_of(tables)):
        i, j = pairs[k].tolist()
        table = np.log(_smoothed(tables.pair(i, j), added))
        if min(table.shape) < 2:
            continue
        inner = (table - table[:, :1] - table[:1] + table[0, 0])[1:, 1:]
        w[firsts[k] + np.arange(inner.size)] = inner.ravel()
        # The pair says part of what its ends said alone.
        w[singles[i]] += (table[:, 0] - table[0, 0])[1:] - log_odds[i]
        w[singles[j]] += (table[0] - table[0, 0])[1:] - log_odds[j]
    return w


def _forest(pairs: Indices, information: Floats) -> Indices:
    """Which of the pairs make the spanning forest of most mutual information."""
    n, numbers = len(information), np.arange(len(pairs))
    weights = -(information[pairs[:, 0], pairs[:, 1]] + _SHIFT)
    tree = minimum_spanning_tree(coo_array((weights, (pairs[:, 0], pairs[:, 1])), shape=(n, n)).tocsr()).tocoo()
    keys = pairs @ np.array([n, 1])
    return np.asarray(numbers[np.searchsorted(keys, tree.row.astype(np.int64) * n + tree.col)])


def _smoothed(table: Floats, added: float) -> Floats:
    return np.asarray((table + added / table.size) / (1.0 + added))


def _log_odds(p: Floats) -> Floats:
    return np.asarray(np.log(p[1:] / p[0]))
