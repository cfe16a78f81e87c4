"""Run the nodes of a tree for maxima: sums of logarithms, and the largest over some of their axes.

The same blocks as in `contraction`. Logarithms need no scale, and maxima lose nothing.
"""

from __future__ import annotations

import numpy as np

from mrfit._kernels.compiled import njit
from mrfit._kernels.contraction import CELLS, NUMBER, RUNS, advance, clique_of, make_room, place_inputs


@njit(cache=True, nogil=True, error_model="numpy")
def _put(out, number, values, base, kind, piece, offsets):
    """out = number + table."""
    if kind == CELLS:
        for b in range(len(out)):
            out[b] = number + values[base + offsets[b]]
        return
    for k in range(len(out) // piece):
        at, begin = base + offsets[k], k * piece
        if kind == RUNS:
            for b in range(begin, begin + piece):
                out[b] = number + values[at + b - begin]
        else:
            x = values[at]
            for b in range(begin, begin + piece):
                out[b] = number + x


@njit(cache=True, nogil=True, error_model="numpy")
def _plus(out, values, base, kind, piece, offsets):
    """out += table."""
    if kind == CELLS:
        for b in range(len(out)):
            out[b] += values[base + offsets[b]]
        return
    for k in range(len(out) // piece):
        at, begin = base + offsets[k], k * piece
        if kind == RUNS:
            for b in range(begin, begin + piece):
                out[b] += values[at + b - begin]
        else:
            x = values[at]
            for b in range(begin, begin + piece):
                out[b] += x


@njit(cache=True, nogil=True, error_model="numpy")
def _raise_to(total, product):
    for b in range(len(total)):
        total[b] = product[b] if product[b] > total[b] else total[b]


@njit(cache=True, nogil=True, error_model="numpy")
def _raise_to_product(total, values, n_inputs, room):
    """Raise every cell of ``total`` to the sum of all inputs in a block."""
    number = 0.0
    for k in range(n_inputs):
        if room.kinds[k] == NUMBER:
            number += values[room.base[k]]
    if number == -np.inf:
        return
    product, is_begun = room.products[0, : len(total)], False
    for k in range(n_inputs):
        if room.kinds[k] == NUMBER:
            continue
        if is_begun:
            _plus(product, values, room.base[k], room.kinds[k], room.pieces[k], room.offsets[k])
        else:
            _put(product, number, values, room.base[k], room.kinds[k], room.pieces[k], room.offsets[k])
            is_begun = True
    if not is_begun:
        product[:] = number
    _raise_to(total, product)


@njit(cache=True, nogil=True, error_model="numpy")
def _fold(out, total):
    """The largest of a block that reaches into what is maximised over."""
    n_kept = len(out)
    for s in range(n_kept):
        out[s] = total[s]
    for begin in range(n_kept, len(total), n_kept):
        for s in range(n_kept):
            out[s] = total[begin + s] if total[begin + s] > out[s] else out[s]


@njit(cache=True, nogil=True, error_model="numpy")
def max_forward(nodes, n_leaves, values):
    """Compute the output of every node into ``values``, which begins with the leaves; all are logarithms."""
    room, scale = make_room(nodes), np.ones(len(nodes.table_start) - 1)
    for node in range(len(nodes.n_removed)):
        clique = clique_of(nodes, node)
        place_inputs(nodes, clique, scale, room, 0)
        n_inputs, n_removed, first = len(clique.inputs), clique.n_removed, clique.first
        base, total = room.base[:n_inputs], room.total[: clique.cells]
        out = values[nodes.table_start[n_leaves + node] : nodes.table_start[n_leaves + node + 1]]
        n_kept = min(clique.cells, len(out))
        at, more = 0, True
        while more:
            total[:] = -np.inf
            inner = True
            while inner:
                _raise_to_product(total, values, n_inputs, room)
                inner = advance(room.counter, clique.states, clique.strides, base, 0, min(first, n_removed))
            _fold(out[at : at + n_kept], total)
            at += n_kept
            more = advance(room.counter, clique.states, clique.strides, base, n_removed, first)
