"""The fused pass over conditional cells: value, gradient, Hessian products and diagonal.

For variable i with states 0..S the cells hold z[s, c] = w[s, 0] + sum over features f active in cell c of
w[s, 1 + f], s = 1..S. Every parameter has one *slot* for each variable of its scope; a pass reads parameters
by slot and writes derivatives by slot, so variables are independent, threads never share a sum, and the result
does not depend on how variables are dealt to threads.

Layout of the flat arrays (`CellArrays`), variable i, chunk g, S = n_free[i] states beside the reference:

    total     cells of i at cell_start[i]
    counts    for each block of BLOCK cells an (S, block) array, the first at count_start[i]
    codes     node of every cell at code_start[g], chunks of i are chunk_start[i]:chunk_start[i+1]
    parent    of every node of chunk g at node_start[g]
    runs      nodes by feature of chunk g at run_start[g], one entry more than it has features
    slots     (S, 1 + features of i) at slot_start[i]; column 0 is the constant
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from mrfit._kernels.fitting.logistic import (
    binary_loss,
    curvature_diagonal,
    curvature_times,
    keep_expected,
    multinomial_loss,
)
from mrfit._kernels.fitting.prefix_tree import add, fold_nodes, lookup, node_sums
from mrfit._kernels.fitting.screening_losses import (
    keep_terms,
    screening_curvature_diagonal,
    screening_curvature_times,
    screening_loss,
)
from mrfit._kernels.machine_code.compiled import njit

BLOCK = 1024  # cells whose z, residual and codes stay in the first-level cache between the three steps

CellArrays = namedtuple(
    "CellArrays",
    "n_free n_features cell_start count_start total counts "
    "chunk_start node_start parent run_start runs code_start codes slot_start",
)

GRADIENT, EXPANSION, PRODUCT, DIAGONAL = 0, 1, 2, 3
LOGISTIC, SCREENING = 0, 1  # losses


@njit(cache=True, nogil=True)
def pointwise(loss, mode, n_free, m, z, r, counts, expected, at, total, cell, scratch0, scratch1):
    """Compute one block of m cells between the two matrix products; return its part of the value."""
    if loss == SCREENING:
        return _screened(mode, n_free, m, z, r, counts, expected, at, total, cell, scratch0, scratch1)
    if mode == PRODUCT:
        curvature_times(n_free, m, z, expected, at, total, cell, r, scratch0)
        return 0.0
    if mode == DIAGONAL:
        curvature_diagonal(n_free, m, expected, at, total, cell, r)
        return 0.0
    if n_free == 1:
        value = binary_loss(m, z, counts, at, total, cell, r)
    else:
        value = multinomial_loss(n_free, m, z, counts, at, total, cell, r, scratch0, scratch1)
    if mode == EXPANSION:
        keep_expected(n_free * m, r, counts, at, expected)
    return value


@njit(cache=True, nogil=True)
def _screened(mode, n_free, m, z, r, counts, terms, at, total, cell, scratch0, scratch1):
    """Compute the same for the screening loss."""
    sums_at = len(counts) + cell
    if mode == PRODUCT:
        screening_curvature_times(n_free, m, z, terms, at, sums_at, r, scratch0, scratch1)
        return 0.0
    if mode == DIAGONAL:
        screening_curvature_diagonal(n_free, m, terms, at, sums_at, r)
        return 0.0
    value = screening_loss(n_free, m, z, counts, at, total, cell, r, scratch0, scratch1)
    if mode == EXPANSION:
        keep_terms(n_free, m, r, scratch1, at, sums_at, terms)
    return value


@njit(cache=True, nogil=True)
def _largest(cells, first, last):
    """Return the most states, and the most nodes times states, of any variable: the sizes of the buffers."""
    most_states, most_nodes = 1, 1
    for i in range(first, last):
        low, high = cells.chunk_start[i], cells.chunk_start[i + 1]
        most_states = max(most_states, cells.n_free[i])
        most_nodes = max(most_nodes, cells.n_free[i] * (cells.node_start[high] - cells.node_start[low]))
    return most_states, most_nodes


@njit(cache=True, nogil=True)
def sweep(loss, mode, cells, first, last, w_slots, expected, slots, values):
    """Pass over the cells of variables first .. last - 1 once.

    LOGISTIC: minus the logarithm of each variable's probability given the others. SCREENING: see `screening`.

    GRADIENT: w_slots holds parameters; fills values (by variable) and slots with the gradient.
    EXPANSION: the same, and stores the expected counts of every cell in ``expected`` for the next two; with SCREENING
    it stores terms instead of counts, and after all of them one number for each cell.
    PRODUCT: w_slots holds a direction; fills slots with Hessian times direction.
    DIAGONAL: fills slots with the diagonal of the Hessian.
    """
    counts, total = cells.counts, cells.total
    codes, code_start = cells.codes, cells.code_start
    parent, node_start, runs, run_start = cells.parent, cells.node_start, cells.runs, cells.run_start
    most_states, most_nodes = _largest(cells, first, last)
    buffer = BLOCK * most_states
    z, r = np.empty(buffer), np.empty(buffer)
    scratch0, scratch1 = np.empty(BLOCK), np.empty(BLOCK)
    table, bins = np.empty(most_nodes), np.empty(most_nodes)
    for i in range(first, last):
        n_free, width = cells.n_free[i], 1 + cells.n_features[i]
        low_slot, first_cell = cells.slot_start[i], cells.cell_start[i]
        n_cells = cells.cell_start[i + 1] - first_cell
        low_chunk, high_chunk = cells.chunk_start[i], cells.chunk_start[i + 1]
        base, n_nodes = node_start[low_chunk], node_start[high_chunk] - node_start[low_chunk]
        # 1. Parameter sums of all nodes, state after state.
        if mode != DIAGONAL:
            for s in range(n_free):
                at = low_slot + s * width + 1
                for g in range(low_chunk, high_chunk):
                    spot, n_chunk = s * n_nodes + node_start[g] - base, run_start[g + 1] - run_start[g] - 1
                    node_sums(parent, node_start[g], runs, run_start[g], n_chunk, w_slots, at, table, spot)
                    at += n_chunk
        for k in range(n_free * n_nodes):
            bins[k] = 0.0
        # 2. Block by block: z from the tables, residual from z, residual into the bins.
        value = 0.0
        for block in range(0, n_cells, BLOCK):
            m = min(BLOCK, n_cells - block)
            at, cell = cells.count_start[i] + n_free * block, first_cell + block
            if mode != DIAGONAL:
                for s in range(n_free):
                    for c in range(m):
                        z[s * m + c] = w_slots[low_slot + s * width]
                    shift = s * n_nodes - base
                    lookup(codes, code_start, low_chunk, high_chunk, block, m, table, node_start, shift, z, s * m)
            value += pointwise(loss, mode, n_free, m, z, r, counts, expected, at, total, cell, scratch0, scratch1)
            for s in range(n_free):
                shift = s * n_nodes - base
                add(codes, code_start, low_chunk, high_chunk, block, m, bins, node_start, shift, r, s * m)
        # 3. Node totals to derivatives by slot.
        for s in range(n_free):
            at = low_slot + s * width + 1
            for g in range(low_chunk, high_chunk):
                spot, n_chunk = s * n_nodes + node_start[g] - base, run_start[g + 1] - run_start[g] - 1
                fold_nodes(parent, node_start[g], runs, run_start[g], n_chunk, bins, spot, slots, at)
                at += n_chunk
            # The root of any tree has collected every cell; without features there is a single cell.
            slots[low_slot + s * width] = bins[s * n_nodes] if n_nodes > 0 else r[s]
        values[i] = value


@njit(cache=True, nogil=True)
def gather(w, parameter_of_slot, w_slots):
    """Read parameters by slot; a slot without a parameter (-1: no term for a single variable) reads zero."""
    for k in range(len(parameter_of_slot)):
        p = parameter_of_slot[k]
        w_slots[k] = w[p] if p >= 0 else 0.0


@njit(cache=True, nogil=True)
def scatter(slots, parameter_of_slot, gradient):
    """Apply the adjoint of `gather`."""
    gradient[:] = 0.0
    for k in range(len(parameter_of_slot)):
        if parameter_of_slot[k] >= 0:
            gradient[parameter_of_slot[k]] += slots[k]
