"""The forest within a structure that says most about the rows, with parameters in closed form (Chow and Liu 1968)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import minimum_spanning_tree

from mrfit.data.unique_rows import UniqueRows
from mrfit.inference.tree_states import TreeStates
from mrfit.parameterizations.parameterization import Parameterization

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

_PSEUDO_COUNT = 0.3  # rows, dealt evenly to the states of every pair, so that all tables have the same margins


def forest_parameters(states: TreeStates, rows: UniqueRows) -> Floats | None:
    """Parameters of the maximum likelihood forest of a structure of pairs; None for other structures.

    log p(x) = sum over variables of log p(x_i) + sum over edges of log p(x_i, x_j) - log p(x_i) - log p(x_j), from
    smoothed tables.
    """
    parameters = states.parameters
    if parameters.word not in ("canonical", "spectral") or not _is_of_pairs(parameters):
        return None
    canonical, shares = parameters.canonical, states.shares(rows)
    tables = [(block, own, _smoothed(parameters, block, shares, rows)) for block, own, _ in canonical.alike()]
    inside = _spanning([(block, _information(p)) for block, _, p in tables if p.ndim == 3], len(rows.domain))
    first_single, w = canonical.first_parameter[1], np.zeros(canonical.n_parameters)
    for block, own, p in tables:
        if p.ndim == 2:
            _add(w, own, np.log(p[:, 1:] / p[:, :1]))
            continue
        chosen = inside[block[:, 0], block[:, 1]]
        more = _excess(p[chosen])
        first, second = first_single[block[chosen]].T
        _add(w, own[chosen], more[:, 1:, 1:] - more[:, 1:, :1] - more[:, :1, 1:] + more[:, :1, :1])
        _add(w, first, more[:, 1:, 0] - more[:, :1, 0])
        _add(w, second, more[:, 0, 1:] - more[:, 0, :1])
    return parameters.from_canonical(canonical, w)


def _add(w: Floats, own: Indices, values: Floats) -> None:
    """Add the values of every scope to its parameters, which begin at ``own``."""
    flat = values.reshape(len(own), -1) if len(own) else np.empty((0, 0))
    np.add.at(w, own[:, None] + np.arange(flat.shape[1]), flat)


def _is_of_pairs(parameters: Parameterization) -> bool:
    structure = parameters.structure
    return structure.order == 2 and len(structure.blocks.get(1, ())) == structure.n_variables


def _smoothed(parameters: Parameterization, block: Indices, shares: Floats, rows: UniqueRows) -> Floats:
    """The tables of scopes of one shape: (scopes, states of the first, states of the second)."""
    shape = tuple(parameters.domain.shape[i] for i in block[0])
    n_cells = int(np.prod(shape))
    share = shares[parameters.first_cells(block)[:, None] + np.arange(n_cells)]
    smoothed = (rows.total_weight * share + _PSEUDO_COUNT / n_cells) / (rows.total_weight + _PSEUDO_COUNT)
    return np.asarray(smoothed.reshape(-1, *shape), np.float64)


def _excess(p: Floats) -> Floats:
    """log p(x_i, x_j) - log p(x_i) - log p(x_j)."""
    return np.asarray(np.log(p / (p.sum(axis=2, keepdims=True) * p.sum(axis=1, keepdims=True))), np.float64)


def _information(p: Floats) -> Floats:
    return np.asarray((p * _excess(p)).sum(axis=(1, 2)), np.float64)


def _spanning(weighted: list[tuple[Indices, Floats]], n: int) -> NDArray[np.bool_]:
    """Which pairs are in the forest with the largest sum of weights, as a matrix."""
    kept = np.zeros((n, n), bool)
    if weighted:
        pairs = np.concatenate([block for block, _ in weighted])
        weight = np.concatenate([each for _, each in weighted])
        # The weights are positive but for rounding; zeros would not be edges.
        graph = sparse.csr_array((-np.maximum(weight, 1e-300), tuple(pairs.T)), shape=(n, n))
        kept[minimum_spanning_tree(graph).nonzero()] = True
    return kept
