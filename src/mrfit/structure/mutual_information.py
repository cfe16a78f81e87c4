"""Mutual information of all pairs of variables, and the tree that holds most of it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from mrfit._kernels.pair_counts import count_pairs, maximum_spanning_tree
from mrfit.data.unique_rows import UniqueRows
from mrfit.errors import InputError
from mrfit.structure.structure import Structure

Floats = NDArray[np.float64]

MOST_BYTES = 4e9  # of the tables over all pairs
_BLOCK_BYTES = 2**24  # of joint weights that are looked at together


def pairwise_mutual_information(rows: UniqueRows, *, uniform_weight: float = 0.0) -> Floats:
    """Empirical mutual information in nats, shape (variables, variables); entropies on the diagonal.

    ``uniform_weight`` rows more are dealt evenly to all joint states; what is on the diagonal is without meaning then.

    The rows are gone through once and never copied: beside them there are only tables over all pairs of states and of
    variables, whose size is checked before they are made.
    """
    rows.check_complete("mutual information")
    shape = np.asarray(rows.domain.shape, np.int64)
    _check_size(shape)
    known = _known_weights(rows, shape)
    states = _states_of_indicators(shape)
    first_state = np.concatenate([[0], np.cumsum(shape)])
    total, even = rows.total_weight + uniform_weight, np.repeat(1.0 / shape, shape)
    margin = (states @ known[:, -1] + uniform_weight * even) / total
    dust = 1e-9 * rows.sample_weight.min()  # that differences of sums leave where no row is
    information = np.empty((len(shape), len(shape)))
    for first, last in _blocks(first_state):
        low, high = first_state[first], first_state[last]
        joint = (states @ (states[low:high] @ known).T).T
        joint = np.where(joint > dust, joint, 0.0)
        joint = (joint + uniform_weight * np.outer(even[low:high], even) if uniform_weight else joint) / total
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = np.where(joint > 0, joint * np.log(joint / np.outer(margin[low:high], margin)), 0.0)
        by_variable = np.add.reduceat(terms, first_state[first:last] - low, axis=0)
        information[first:last] = np.add.reduceat(by_variable, first_state[:-1], axis=1)
    return np.maximum(information, 0.0, out=information)


def maximum_information_tree(rows: UniqueRows, *, uniform_weight: float = 0.0) -> Structure:
    """The tree with most mutual information (Chow and Liu 1968), as a pairwise structure.

    ``uniform_weight`` as for `pairwise_mutual_information`.
    """
    information = pairwise_mutual_information(rows, uniform_weight=uniform_weight)
    edges = np.empty((len(information) - 1, 2), np.int64)
    maximum_spanning_tree(information, edges)
    return Structure.from_edges(len(rows.domain), [(int(a), int(b)) for a, b in edges])


def _check_size(shape: NDArray[np.int64]) -> None:
    """Refuse tables over all pairs that would not fit into memory."""
    n_bytes = 8.0 * (float((shape - 1).sum() + 1) ** 2 + float(len(shape)) ** 2)
    if n_bytes > MOST_BYTES:
        raise InputError(
            f"The mutual information of all pairs of {len(shape):,} variables with {shape.sum():,} states takes "
            f"{n_bytes / 1e9:.2g} GB; the limit is {MOST_BYTES / 1e9:.2g} GB. Use fewer columns, or give the edges "
            "in a file."
        )


def _known_weights(rows: UniqueRows, shape: NDArray[np.int64]) -> Floats:
    """Weight of the rows in which two indicators hold, for all states but the first; the last one always holds."""
    first_indicator = np.concatenate([[0], np.cumsum(shape - 1)])
    known = np.empty((first_indicator[-1] + 1, first_indicator[-1] + 1))
    count_pairs(rows.codes, first_indicator, rows.sample_weight, known)
    return known


def _states_of_indicators(shape: NDArray[np.int64]) -> sparse.csr_array:
    """All states as sums of indicators, (states, indicators + 1): the first state is one minus the others."""
    n_states, n_indicators = int(shape.sum()), int((shape - 1).sum())
    is_first = np.zeros(n_states, bool)
    is_first[np.cumsum(shape) - shape] = True
    first, others = np.flatnonzero(is_first), np.flatnonzero(~is_first)
    own_first = np.repeat(first, shape - 1)
    row = np.concatenate([first, others, own_first])
    indicators = np.arange(n_indicators)
    column = np.concatenate([np.full(len(first), n_indicators), indicators, indicators])
    value = np.concatenate([np.ones(n_states), np.full(n_indicators, -1.0)])
    return sparse.csr_array((value, (row, column)), shape=(n_states, n_indicators + 1))


def _blocks(first_state: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Consecutive variables whose joint weights with all states fill a block, at least one at a time."""
    most = max(1, _BLOCK_BYTES // (8 * int(first_state[-1])))
    blocks, first = [], 0
    while first < len(first_state) - 1:
        last = max(first + 1, int(np.searchsorted(first_state, first_state[first] + most, side="right")) - 1)
        blocks.append((first, last))
        first = last
    return blocks
