"""Mutual information of all pairs of variables, and the tree that holds most of it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import minimum_spanning_tree

from mrfit.data.unique_rows import UniqueRows
from mrfit.errors import StructureError
from mrfit.structure.structure import Structure

Floats = NDArray[np.float64]

_MOST_PAIRS = 2e8  # of states: 7,000 yes/no variables, 1.6 GB for each table of them


def pairwise_mutual_information(rows: UniqueRows) -> Floats:
    """Empirical mutual information in nats, shape (variables, variables); entropies on the diagonal.

    The joint weights of all pairs of states are one sparse product, so no dense table of rows is made.
    """
    _check_size(rows.domain.shape)
    joint = _joint_weights(rows) / rows.total_weight
    margin = np.diag(joint)
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(joint > 0, joint * np.log(joint / np.outer(margin, margin)), 0.0)
    first_state = np.concatenate([[0], np.cumsum(rows.domain.shape)[:-1]])
    blocks = np.add.reduceat(np.add.reduceat(terms, first_state, axis=0), first_state, axis=1)
    return np.maximum(blocks, 0.0)


def maximum_information_tree(rows: UniqueRows) -> Structure:
    """The tree with most mutual information (Chow and Liu 1968), as a pairwise structure."""
    information = pairwise_mutual_information(rows)
    np.fill_diagonal(information, 0.0)
    # Spanning trees are minimal in the library, and zero means "no edge" there: all lengths are made positive.
    length = information.max() + 1.0 - information
    np.fill_diagonal(length, 0.0)
    edges = np.stack(minimum_spanning_tree(length).nonzero(), axis=1)
    return Structure.from_edges(len(rows.domain), [(int(a), int(b)) for a, b in edges])


def _check_size(shape: tuple[int, ...]) -> None:
    n_pairs = sum(shape) ** 2
    if n_pairs > _MOST_PAIRS:
        raise StructureError(
            f"The mutual information of all pairs of {len(shape):,} variables takes tables of {n_pairs:.2g} pairs of "
            f"states, {8e-9 * n_pairs:.3g} GB each; the limit is {_MOST_PAIRS:.0e}. Use fewer columns, or "
            "name the edges."
        )


def _joint_weights(rows: UniqueRows) -> Floats:
    """Weight of the rows in each pair of states, over all states of all variables, (states, states)."""
    active, shape = rows.active, rows.domain.shape
    n_indicators = len(active.start) - 1
    indicators = sparse.csc_array(
        (np.ones(len(active.rows)), active.rows, active.start), shape=(rows.n_distinct, n_indicators)
    )
    # A column of ones stands for the first states: "variable i in its first state" is one minus its others.
    columns = sparse.hstack([indicators, sparse.csc_array(np.ones((rows.n_distinct, 1)))], format="csr")
    known = columns.T @ (sparse.diags_array(rows.sample_weight) @ columns)
    entries: list[tuple[int, int, float]] = []
    state = 0
    for variable, n_states in enumerate(shape):
        entries.append((state, n_indicators, 1.0))
        for k in range(active.first_indicator[variable], active.first_indicator[variable + 1]):
            entries.append((state, k, -1.0))
            entries.append((state + 1 + k - active.first_indicator[variable], k, 1.0))
        state += n_states
    row, column, value = zip(*entries, strict=True)
    expand = sparse.csr_array((value, (row, column)), shape=(state, n_indicators + 1))
    joint = (expand @ known @ expand.T).toarray()
    # Differences of sums leave dust of 1e-10 where no row is.
    return np.where(joint > 1e-9 * rows.sample_weight.min(), joint, 0.0)
