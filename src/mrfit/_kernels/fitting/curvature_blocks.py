"""The Hessian of each variable's loss as a block over all its slots, in the layout of `cells`.

A row of a block belongs to one feature: the curvature of the cells in which it is active, summed by the other features
active in them. It takes one look at every cell to find these cells, and the adjoint of a product with the bit matrix
over them alone.
"""

from __future__ import annotations

import numpy as np

from mrfit._kernels.fitting.cells import BLOCK, PRODUCT, pointwise
from mrfit._kernels.fitting.prefix_tree import fold_nodes
from mrfit._kernels.machine_code.compiled import njit


@njit(cache=True, nogil=True)
def curvature_blocks(loss, cells, first, last, expected, entry_start, entries):
    """Fill the blocks of variables first .. last - 1, each a square of all its slots, row after row.

    ``expected`` was filled by `sweep` in EXPANSION.
    """
    for i in range(first, last):
        n_free, width = cells.n_free[i], 1 + cells.n_features[i]
        n_cells = cells.cell_start[i + 1] - cells.cell_start[i]
        curvature, members, row = np.empty((n_free, n_cells)), np.empty(n_cells, np.int32), np.empty(width)
        block = entries[entry_start[i] : entry_start[i + 1]]
        for t in range(n_free):
            _fill_curvature(loss, cells, i, t, expected, curvature)
            chunk_slot = slot = 1
            for g in range(cells.chunk_start[i], cells.chunk_start[i + 1]):
                for k in range(cells.run_start[g], cells.run_start[g + 1] - 1):
                    n = _find_members(cells, g, k, members)
                    for s in range(t, n_free):
                        _sum_by_features(cells, i, g, members[:n], curvature[s], row, chunk_slot)
                        _place(n_free, width, s, t, slot, row, chunk_slot, block)
                    slot += 1
                chunk_slot = slot
            for s in range(t, n_free):
                _place_constant(n_free, width, s, t, curvature[s].sum(), row, block)


@njit(cache=True, nogil=True)
def _fill_curvature(loss, cells, i, t, expected, curvature):
    """Fill curvature[s, c]: the second derivative in the potentials of states s and t of every cell."""
    n_free, n_cells = curvature.shape
    z, r = np.zeros(n_free * BLOCK), np.empty(n_free * BLOCK)
    scratch0, scratch1 = np.empty(BLOCK), np.empty(BLOCK)
    for block in range(0, n_cells, BLOCK):
        m = min(BLOCK, n_cells - block)
        at, cell = cells.count_start[i] + n_free * block, cells.cell_start[i] + block
        z[: t * m] = 0.0
        z[t * m : (t + 1) * m] = 1.0
        z[(t + 1) * m :] = 0.0
        pointwise(loss, PRODUCT, n_free, m, z, r, cells.counts, expected, at, cells.total, cell, scratch0, scratch1)
        for s in range(n_free):
            curvature[s, block : block + m] = r[s * m : (s + 1) * m]


@njit(cache=True, nogil=True)
def _find_members(cells, g, k, members):
    """Find the cells in which a feature (nodes runs[k] .. runs[k + 1] - 1 of chunk g) is active; return their number.

    The feature is active in these nodes and in all their descendants.
    """
    low, high = cells.node_start[g], cells.node_start[g + 1]
    holds, up = np.zeros(high - low, np.int64), cells.parent[low:high]
    holds[cells.runs[k] : cells.runs[k + 1]] = 1
    for node in range(cells.runs[k + 1], high - low):
        holds[node] = holds[up[node]]
    code, n = cells.codes[cells.code_start[g] : cells.code_start[g] + len(members)], 0
    for c in range(len(members)):
        members[n] = c
        n += holds[code[c]]
    return n


@njit(cache=True, nogil=True)
def _sum_by_features(cells, i, first_chunk, members, values, row, slot):
    """Fill row[slot ...] with the sum of values over the members in which each feature from a chunk on is active."""
    for g in range(first_chunk, cells.chunk_start[i + 1]):
        low, n_features = cells.node_start[g], cells.run_start[g + 1] - cells.run_start[g] - 1
        bins, code = np.zeros(cells.node_start[g + 1] - low), cells.codes[cells.code_start[g] :]
        for k in range(len(members)):
            c = np.uint32(members[k])
            bins[code[c]] += values[c]
        fold_nodes(cells.parent, low, cells.runs, cells.run_start[g], n_features, bins, 0, row, slot)
        slot += n_features


@njit(cache=True, nogil=True)
def _place(n_free, width, s, t, a, row, first, block):
    """Write the entries of slot a with slots first, first + 1, ..., for states s and t, in both orders."""
    size = n_free * width
    for b in range(first, width):
        x = row[b]
        block[(s * width + a) * size + t * width + b] = x
        block[(s * width + b) * size + t * width + a] = x
        block[(t * width + a) * size + s * width + b] = x
        block[(t * width + b) * size + s * width + a] = x


@njit(cache=True, nogil=True)
def _place_constant(n_free, width, s, t, total, row, block):
    """Write the entries of the constant; those with a feature equal the feature's entry with itself."""
    row[0] = total
    for b in range(1, width):
        row[b] = block[(s * width + b) * n_free * width + t * width + b]
    _place(n_free, width, s, t, 0, row, 0, block)
