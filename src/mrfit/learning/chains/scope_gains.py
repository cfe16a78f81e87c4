"""Exact gain in likelihood of scopes that lie inside cliques."""

from __future__ import annotations

import numpy as np

from mrfit._typing import Floats, Indices
from mrfit.data.unique_rows import UniqueRows
from mrfit.inference.exact.junction_tree import JunctionTree
from mrfit.inference.exact.tree_states import TreeStates
from mrfit.parameterizations.canonical import Canonical
from mrfit.structures.structure import Structure

_SWEEPS = 10  # of proportional fitting: margins of model and data are close


def scope_gains(
    parameters: Canonical, w: Floats, scopes: Indices, rows: UniqueRows, *, order: tuple[int, ...]
) -> Floats:
    """Nats a row that each of ``scopes``, all of one size, gains at most.

    By the divergence of the data's table from the model's, as in `PairGains`: first the model's is moved to the data's
    tables of all smaller scopes, for what they lack would be counted again with each larger one. ``order`` is one of
    elimination in which the scopes are inside cliques.
    """
    structure, size = parameters.structure, scopes.shape[1]
    wider = parameters.on(Structure(structure.n_variables, {**structure.blocks, size: _union(structure, scopes)}))
    states = TreeStates(wider, JunctionTree().plan_scopes(parameters.domain.shape, wider.table_scopes, order=order))
    data, model = states.shares(rows), states.sums(wider.spread(parameters, w))[1]
    gains = np.zeros(len(wider.structure.blocks[size]))
    for block, _, features in wider.alike():
        if block.shape[1] == size:
            cells = wider.first_cells(block)[:, None] + np.arange(len(features))
            shape = (len(block), *(parameters.domain.shape[i] for i in block[0].tolist()))
            gains[wider.structure.find(block)] = _gain(data[cells].reshape(shape), model[cells].reshape(shape))
    return gains[wider.structure.find(scopes)]


def _union(structure: Structure, scopes: Indices) -> Indices:
    size = scopes.shape[1]
    return np.unique(np.concatenate([structure.blocks.get(size, scopes[:0]), scopes]), axis=0)


def _gain(p: Floats, q: Floats) -> Floats:
    """Divergence of tables p from tables q with the margins of p, tables on the first axis."""
    q = np.maximum(q, 1e-300)
    for _ in range(_SWEEPS):
        for axis in range(1, p.ndim):
            wanted, found = p.sum(axis=axis, keepdims=True), q.sum(axis=axis, keepdims=True)
            q = q * np.divide(wanted, found, out=np.zeros_like(found), where=found > 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(p > 0, p * np.log(p / np.maximum(q, 1e-300)), 0.0)
    return np.asarray(terms.sum(axis=tuple(range(1, p.ndim))), np.float64)
