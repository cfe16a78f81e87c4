"""Mutual information of all pairs of variables, and the tree that holds most of it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mrfit._kernels.pair_counts import maximum_spanning_tree
from mrfit.data.unique_rows import UniqueRows
from mrfit.structure.pair_tables import PairTables
from mrfit.structure.structure import Structure

Floats = NDArray[np.float64]


def pairwise_mutual_information(rows: UniqueRows, *, uniform_weight: float = 0.0) -> Floats:
    """Empirical mutual information in nats, shape (variables, variables); entropies on the diagonal.

    ``uniform_weight`` rows more are dealt evenly to all joint states; what is on the diagonal is without meaning then.
    """
    rows.check_complete("mutual information")
    tables = PairTables.of_rows(rows)
    return information_of(tables.smoothed(uniform_weight / rows.total_weight) if uniform_weight else tables)


def information_of(tables: PairTables) -> Floats:
    """Mutual information of all pairs, from their tables."""
    information = np.empty((tables.n_variables, tables.n_variables))
    for first, last, joint in tables.blocks():
        independent = np.outer(tables.singles[tables.states_of(first, last)], tables.singles)
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = np.where(joint > 0, joint * np.log(joint / independent), 0.0)
        information[first:last] = tables.summed(terms, first, last)
    return np.maximum(information, 0.0, out=information)


def maximum_information_tree(rows: UniqueRows, *, uniform_weight: float = 0.0) -> Structure:
    """The tree with most mutual information (Chow and Liu 1968), as a pairwise structure.

    ``uniform_weight`` as for `pairwise_mutual_information`.
    """
    information = pairwise_mutual_information(rows, uniform_weight=uniform_weight)
    edges = np.empty((len(information) - 1, 2), np.int64)
    maximum_spanning_tree(information, edges)
    return Structure.from_edges(len(rows.domain), [(int(a), int(b)) for a, b in edges])
