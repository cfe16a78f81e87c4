"""Evaluation of the nodes of a tree for maxima: sums of logarithms, maximised over some of their axes.

The blocks are those of `contraction`. Logarithms need no scale, and maxima lose no precision.
"""

from __future__ import annotations

import numpy as np

from mrfit._kernels.inference.tensor_blocks import (
    CELLS,
    FOURS,
    NUMBER,
    RUNS,
    advance,
    begin,
    clique_of,
    describe_all,
    four,
    make_work_arrays,
    place_in_memory,
)
from mrfit._kernels.machine_code.compiled import njit


@njit(cache=True, nogil=True, error_model="numpy")
def _plus(out, values, base, kind, piece, offsets):
    """Add a table to ``out``."""
    if kind == CELLS:
        for b in range(len(out)):
            out[b] += values[place_in_memory(base, offsets[b])]
    elif kind == FOURS:
        for b in range(0, len(out), 4):
            x0, x1, x2, x3 = four(values, base, offsets[b >> 2])
            out[b] += x0
            out[b + 1] += x1
            out[b + 2] += x2
            out[b + 3] += x3
    elif kind == RUNS:
        for first in range(0, len(out), piece):
            at = base + offsets[first // piece]
            for b in range(first, first + piece):
                out[b] += values[at + b - first]
    else:
        for first in range(0, len(out), piece):
            x = values[base + offsets[first // piece]]
            for b in range(first, first + piece):
                out[b] += x


@njit(cache=True, nogil=True, error_model="numpy")
def _raise_to(total, product):
    for b in range(len(total)):
        total[b] = product[b] if product[b] > total[b] else total[b]


@njit(cache=True, nogil=True, error_model="numpy")
def _raise_to_product(total, values, n_inputs, work):
    """Raise every cell of ``total`` to the sum of all inputs in a block."""
    number = 0.0
    for k in range(n_inputs):
        if work.kinds[k] == NUMBER:
            number += values[work.base[k]]
    if number == -np.inf:
        return
    product = work.products[0, : len(total)]
    for b in range(len(total)):
        product[b] = number
    for k in range(n_inputs):
        if work.kinds[k] != NUMBER:
            _plus(product, values, work.base[k], work.kinds[k], work.pieces[k], work.offsets[k])
    _raise_to(total, product)


@njit(cache=True, nogil=True, error_model="numpy")
def _fold(values, at, n_kept, total):
    """Write a block to an output, maximised over its part of the removed axes."""
    for s in range(n_kept):
        values[at + s] = total[s]
    for first in range(n_kept, len(total), n_kept):
        for s in range(n_kept):
            x = total[first + s]
            values[at + s] = x if x > values[at + s] else values[at + s]


@njit(cache=True, nogil=True, error_model="numpy")
def max_forward(nodes, n_leaves, values):
    """Compute the output of every node into ``values``, which begins with the leaves; all are logarithms."""
    work = make_work_arrays(nodes)
    for node in range(len(nodes.n_removed)):
        clique, at = clique_of(nodes, node), nodes.table_start[n_leaves + node]
        begin(nodes, clique, work)
        describe_all(nodes, clique, work)
        total, n_kept, more = work.total[: clique.cells], min(clique.cells, clique.n_kept), True
        while more:
            for b in range(clique.cells):
                total[b] = -np.inf
            inner = True
            while inner:
                _raise_to_product(total, values, clique.n_inputs, work)
                inner = advance(nodes, clique, work, 0, min(clique.first, clique.n_removed), False)
            _fold(values, at, n_kept, total)
            at += n_kept
            more = advance(nodes, clique, work, clique.n_removed, clique.first, False)
