"""The forest within a structure that says most about the rows, with parameters in closed form (Chow and Liu 1968)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import minimum_spanning_tree

from mrfit.data.unique_rows import UniqueRows
from mrfit.inference.tree_states import TreeStates
from mrfit.learning.decomposable import product_parameters, smoothed_shares
from mrfit.parameterizations.parameterization import Parameterization

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

_UNIFORM_WEIGHT = 0.3  # rows, so that nothing is impossible


def forest_parameters(states: TreeStates, rows: UniqueRows) -> Floats | None:
    """Parameters of the maximum likelihood forest of a structure of pairs; None for other structures.

    log p(x) = sum over edges of log p(x_i, x_j) + sum over variables of (1 - neighbours) * log p(x_i).
    """
    parameters = states.parameters
    if parameters.word not in ("canonical", "spectral") or not _is_of_pairs(parameters):
        return None
    shares = smoothed_shares(states, rows, _UNIFORM_WEIGHT)
    edges = parameters.structure.blocks[2]
    inside = _spanning(edges, _information(parameters, shares), len(rows.domain))
    n_neighbours = np.bincount(edges[inside].ravel(), minlength=len(rows.domain))
    return product_parameters(parameters, shares, {1: 1 - n_neighbours, 2: inside.astype(np.int64)})


def _is_of_pairs(parameters: Parameterization) -> bool:
    structure = parameters.structure
    return structure.order == 2 and len(structure.blocks.get(1, ())) == structure.n_variables


def _information(parameters: Parameterization, shares: Floats) -> Floats:
    """Mutual information of every pair of the structure; none where a variable has one state."""
    out = np.zeros(len(parameters.structure.blocks[2]))
    for block, _, _ in parameters.canonical.alike():
        if block.shape[1] == 2:
            c, d = (parameters.domain.shape[i] for i in block[0].tolist())
            p = shares[parameters.first_cells(block)[:, None] + np.arange(c * d)].reshape(-1, c, d)
            apart = p.sum(axis=2, keepdims=True) * p.sum(axis=1, keepdims=True)
            out[parameters.structure.find(block)] = (p * np.log(p / apart)).sum(axis=(1, 2))
    return out


def _spanning(edges: Indices, weight: Floats, n: int) -> NDArray[np.bool_]:
    """Which edges are in the forest with the largest sum of weights; none of weight zero."""
    # Weights are positive but for rounding, and zeros are no edges to scipy.
    graph = sparse.csr_array((-np.where(weight == 0, 0.0, np.maximum(weight, 1e-300)), tuple(edges.T)), shape=(n, n))
    graph.eliminate_zeros()
    tree = minimum_spanning_tree(graph).tocsr()
    return np.asarray(tree[edges[:, 0], edges[:, 1]] != 0).ravel()
