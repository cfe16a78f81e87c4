"""Mutual information of all pairs of variables, and the tree with the largest sum of it."""

from __future__ import annotations

import numpy as np

from mrfit._kernels.data.pair_counts import maximum_spanning_tree
from mrfit._typing import Floats
from mrfit.core.cluster import mapped
from mrfit.core.errors import DataError
from mrfit.data.encoding import check_complete
from mrfit.data.partitioned_table import FoldedRows, PartitionedTable
from mrfit.data.unique_rows import UniqueRows
from mrfit.structures.pair_tables import PairTables, pair_weights
from mrfit.structures.structure import Structure


def pairwise_mutual_information(rows: UniqueRows, *, uniform_weight: float = 0.0) -> Floats:
    """Return the empirical mutual information in nats, shape (variables, variables); entropies on the diagonal.

    ``uniform_weight`` further rows are spread evenly over all joint states; the diagonal is then meaningless.
    """
    rows.check_complete("mutual information")
    tables = PairTables.of_rows(rows)
    return information_of(tables.smoothed(uniform_weight / rows.total_weight) if uniform_weight else tables)


def information_of(tables: PairTables) -> Floats:
    """Return the mutual information of all pairs, from their tables."""
    information = np.empty((tables.n_variables, tables.n_variables))
    for first, last, joint in tables.blocks():
        independent = np.outer(tables.singles[tables.states_of(first, last)], tables.singles)
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = np.where(joint > 0, joint * np.log(joint / independent), 0.0)
        information[first:last] = tables.summed(terms, first, last)
    return np.maximum(information, 0.0, out=information)


def maximum_information_tree(rows: UniqueRows, *, uniform_weight: float = 0.0) -> Structure:
    """Return the tree with the most mutual information (Chow and Liu 1968), as a pairwise structure.

    ``uniform_weight`` as in `pairwise_mutual_information`.
    """
    return _spanning_tree(pairwise_mutual_information(rows, uniform_weight=uniform_weight))


def trees_in_parts(parts: PartitionedTable, *, n_folds: int = 0, seed: int = 0) -> list[Structure]:
    """Return the trees of all rows of a table in parts, and of all rows except each fold, in one pass."""
    numbered, shape = list(enumerate(parts.each())), parts.domain.shape
    counted = mapped(_pairs_in_part, numbered, shared=(n_folds, seed), name=lambda each: each[1].called())
    folds = np.sum([[fold for fold, _ in part] for part in counted], axis=0)  # (folds, indicators, indicators)
    dust = 1e-9 * min(least for part in counted for _, least in part)
    whole = folds.sum(axis=0)
    trees = []
    for together in (whole, *(whole - fold for fold in folds[:n_folds])):
        total = float(together[-1, -1])  # the last indicator always holds
        if not total > 0.0:
            raise DataError("Every row has weight zero; at least one needs a positive weight.")
        trees.append(_spanning_tree(information_of(PairTables(shape, together / total, dust / total))))
    return trees


def _pairs_in_part(n_folds: int, seed: int, numbered: tuple[int, PartitionedTable]) -> list[tuple[Floats, float]]:
    """Return for each fold the weights of pairs of indicators, and the least weight of a row."""
    number, part = numbered
    shape, size = part.domain.shape, 1 + sum(part.domain.shape) - len(part.domain)
    found = [(np.zeros((size, size)), np.inf) for _ in range(max(1, n_folds))]
    for codes, weights in FoldedRows(part, number, n_folds=n_folds, seed=seed):
        check_complete(codes, "mutual information")
        for k, sample_weight in enumerate(weights):
            some = sample_weight > 0
            if some.any():
                found[k][0][:] += pair_weights(shape, np.ascontiguousarray(codes[some]), sample_weight[some])
                found[k] = found[k][0], min(found[k][1], float(sample_weight[some].min()))
    return found


def _spanning_tree(information: Floats) -> Structure:
    edges = np.empty((len(information) - 1, 2), np.int64)
    maximum_spanning_tree(information, edges)
    return Structure.from_edges(len(information), [(int(a), int(b)) for a, b in edges])
