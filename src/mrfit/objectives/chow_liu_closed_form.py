"""The maximum likelihood forest within a structure, with parameters in closed form (Chow and Liu 1968)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import minimum_spanning_tree

from mrfit._typing import Floats, Indices
from mrfit.data.unique_rows import UniqueRows
from mrfit.inference.exact.row_tables import RowTables
from mrfit.objectives.decomposable_closed_form import product_parameters
from mrfit.parameterizations.parameterization import Parameterization
from mrfit.structures.structure import Structure

_UNIFORM_WEIGHT = 0.3  # rows spread over all states, so that no state is impossible


def forest_parameters(parameters: Parameterization, rows: UniqueRows) -> Floats | None:
    """Return parameters of the maximum likelihood forest of a structure, zero for other scopes; None if not possible.

    log p(x) = sum over edges of log p(x_i, x_j) + sum over variables of (1 - neighbours) * log p(x_i). It needs a
    minimal parameterization and a structure with all single variables.
    """
    blocks = parameters.structure.blocks
    if not parameters.is_minimal or len(blocks.get(1, ())) < len(rows.domain) or 2 not in blocks:
        return None
    of_pairs = parameters.on(Structure(len(rows.domain), {1: blocks[1], 2: blocks[2]}))
    tables = RowTables(of_pairs)
    shares = tables.smoothed(tables.shares(rows), rows.total_weight, _UNIFORM_WEIGHT)
    inside = _spanning(blocks[2], _information(of_pairs, shares), len(rows.domain))
    n_neighbours = np.bincount(blocks[2][inside].ravel(), minlength=len(rows.domain))
    w = product_parameters(of_pairs, shares, {1: 1 - n_neighbours, 2: inside.astype(np.int64)})
    return parameters.spread(of_pairs, w)


def _information(parameters: Parameterization, shares: Floats) -> Floats:
    """Return the mutual information of every pair of the structure; zero where a variable has one state."""
    out = np.zeros(len(parameters.structure.blocks[2]))
    for block, _, _ in parameters.canonical.alike():
        if block.shape[1] == 2:
            c, d = (parameters.domain.shape[i] for i in block[0].tolist())
            p = shares[parameters.first_cells(block)[:, None] + np.arange(c * d)].reshape(-1, c, d)
            product = p.sum(axis=2, keepdims=True) * p.sum(axis=1, keepdims=True)
            out[parameters.structure.find(block)] = (p * np.log(p / product)).sum(axis=(1, 2))
    return out


def _spanning(edges: Indices, weight: Floats, n: int) -> NDArray[np.bool_]:
    """Return the mask of edges in the forest of largest total weight; edges of weight zero are left out."""
    # Weights are positive except for rounding, and zeros are no edges to scipy.
    graph = sparse.csr_array((-np.where(weight == 0, 0.0, np.maximum(weight, 1e-300)), tuple(edges.T)), shape=(n, n))
    graph.eliminate_zeros()
    tree = minimum_spanning_tree(graph).tocsr()
    return np.asarray(tree[edges[:, 0], edges[:, 1]] != 0).ravel()
