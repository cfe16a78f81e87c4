"""Run the nodes of a tree: products of tables summed over some of their axes, and the derivatives of that.

A node goes over its clique in blocks of consecutive cells: an odometer over the axes that are kept, inside it one over
those that are summed out, inside it the block. In a block an input is a number, or pieces of equal length, each a run
of memory or one number; only where pieces are short is it read cell by cell. The table of the clique itself is never
written. Tables are scaled to a largest value of 1; the scale of a node's output is kept beside it and applied where the
output is read.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mrfit._kernels.compiled import njit

BLOCK = 512  # most cells of a block, if one axis alone does not have more
_NARROW = 64  # cells of an output below which blocks reach into the axes that are summed out

_SHORTEST = 8  # piece that is worth a loop of its own

NUMBER, RUNS, STEPS, CELLS = 0, 1, 2, 3  # how an input stands in a block: runs of memory, steps of one number, cells

_EXACT = {"contract"}
_REORDERED = {"contract", "reassoc", "nsz"}


@njit(cache=True, nogil=True, error_model="numpy")
def _first_block_axis(states, n_removed):
    """The axes from this one on make a block: some of those that are kept, or all and some that are summed out."""
    n_axes, kept = len(states), 1
    for axis in range(n_removed, n_axes):
        kept *= states[axis]
    stop = n_removed if kept >= _NARROW else 0
    first, cells = n_axes, 1
    while first > stop and (cells * states[first - 1] <= BLOCK or first == n_axes):
        first -= 1
        cells *= states[first]
    return first, cells


@njit(cache=True, nogil=True, error_model="numpy")
def _pieces(states, strides):
    """The length of the longest pieces in which a table is a run of memory, and of those in which it is one number."""
    run, step, n_axes = 1, 1, len(states)
    for axis in range(n_axes - 1, -1, -1):
        if strides[axis] != run:
            break
        run *= states[axis]
    for axis in range(n_axes - 1, -1, -1):
        if strides[axis] != 0:
            break
        step *= states[axis]
    return run, step


@njit(cache=True, nogil=True, error_model="numpy")
def _stand(states, strides, offsets):
    """How a table stands in a block of these axes, the length of its pieces, and in ``offsets`` where they begin."""
    run, step = _pieces(states, strides)
    kind, piece = (RUNS, run) if run >= step else (STEPS, step)
    if piece < _SHORTEST and piece < offsets.size:
        kind, piece = CELLS, 1
    offsets[0] = 0
    cells, n_pieces = 1, 1
    for axis in range(len(states) - 1, -1, -1):
        cells *= states[axis]
        if cells <= piece:
            continue
        for s in range(1, states[axis]):
            for k in range(n_pieces):
                offsets[s * n_pieces + k] = offsets[k] + s * strides[axis]
        n_pieces *= states[axis]
    if kind == STEPS and n_pieces == 1:
        kind = NUMBER
    return kind, piece


@njit(cache=True, nogil=True, error_model="numpy")
def advance(counter, states, strides, base, first, last):
    """The next state of the axes first .. last - 1, and the places of all inputs in it; False after the last."""
    for axis in range(last - 1, first - 1, -1):
        counter[axis] += 1
        if counter[axis] < states[axis]:
            for k in range(len(base)):
                base[k] += strides[k, axis]
            return True
        counter[axis] = 0
        for k in range(len(base)):
            base[k] -= strides[k, axis] * (states[axis] - 1)
    return False


@njit(cache=True, nogil=True, error_model="numpy", fastmath=_EXACT)
def _put(out, number, values, base, kind, piece, offsets):
    """out = number * table."""
    if kind == CELLS:
        for b in range(len(out)):
            out[b] = number * values[base + offsets[b]]
        return
    for k in range(len(out) // piece):
        at, begin = base + offsets[k], k * piece
        if kind == RUNS:
            for b in range(begin, begin + piece):
                out[b] = number * values[at + b - begin]
        else:
            x = values[at]
            for b in range(begin, begin + piece):
                out[b] = number * x


@njit(cache=True, nogil=True, error_model="numpy", fastmath=_EXACT)
def _times(out, left, values, base, kind, piece, offsets):
    """out = left * table."""
    if kind == CELLS:
        for b in range(len(out)):
            out[b] = left[b] * values[base + offsets[b]]
        return
    for k in range(len(out) // piece):
        at, begin = base + offsets[k], k * piece
        if kind == RUNS:
            for b in range(begin, begin + piece):
                out[b] = left[b] * values[at + b - begin]
        else:
            x = values[at]
            for b in range(begin, begin + piece):
                out[b] = left[b] * x


@njit(cache=True, nogil=True, error_model="numpy", fastmath=_EXACT)
def _add_times(out, left, values, base, kind, piece, offsets):
    """out += left * table."""
    if kind == CELLS:
        for b in range(len(out)):
            out[b] += left[b] * values[base + offsets[b]]
        return
    for k in range(len(out) // piece):
        at, begin = base + offsets[k], k * piece
        if kind == RUNS:
            for b in range(begin, begin + piece):
                out[b] += left[b] * values[at + b - begin]
        else:
            x = values[at]
            for b in range(begin, begin + piece):
                out[b] += left[b] * x


@njit(cache=True, nogil=True, error_model="numpy", fastmath=_EXACT)
def _add_multiple(out, number, values, base, kind, piece, offsets):
    """out += number * table."""
    if kind == CELLS:
        for b in range(len(out)):
            out[b] += number * values[base + offsets[b]]
        return
    for k in range(len(out) // piece):
        at, begin = base + offsets[k], k * piece
        if kind == RUNS:
            for b in range(begin, begin + piece):
                out[b] += number * values[at + b - begin]
        else:
            x = values[at]
            for b in range(begin, begin + piece):
                out[b] += number * x


@njit(cache=True, nogil=True, error_model="numpy", fastmath=_REORDERED)
def _scatter(out, base, kind, piece, offsets, product):
    """Add a block to a table that stands in it in pieces."""
    if kind == CELLS:
        for b in range(len(product)):
            out[base + offsets[b]] += product[b]
        return
    for k in range(len(product) // piece):
        at, begin = base + offsets[k], k * piece
        if kind == RUNS:
            for b in range(begin, begin + piece):
                out[at + b - begin] += product[b]
        else:
            total = 0.0
            for b in range(begin, begin + piece):
                total += product[b]
            out[at] += total


@njit(cache=True, nogil=True, error_model="numpy", fastmath=_EXACT)
def _multiply(out, number, left, right, has_left, has_right):
    """out = number * left * right, of those that there are."""
    if has_left and has_right:
        for b in range(len(out)):
            out[b] = number * left[b] * right[b]
    elif has_left or has_right:
        only = left if has_left else right
        for b in range(len(out)):
            out[b] = number * only[b]
    else:
        for b in range(len(out)):
            out[b] = number


@njit(cache=True, nogil=True, error_model="numpy", fastmath=_REORDERED)
def _dot(left, right, has_left, has_right):
    """The sum of left * right over a block."""
    total = 0.0
    if has_left and has_right:
        for b in range(len(left)):
            total += left[b] * right[b]
    elif has_left or has_right:
        only = left if has_left else right
        for b in range(len(left)):
            total += only[b]
    else:
        total = float(len(left))
    return total


@njit(cache=True, nogil=True, error_model="numpy", fastmath=_REORDERED)
def _largest(values):
    most = 0.0
    for x in values:
        most = max(most, x)
    return most


class Room(NamedTuple):
    """To work in: as large as the largest node needs it."""

    kinds: np.ndarray
    pieces: np.ndarray
    base: np.ndarray
    scale: np.ndarray
    counter: np.ndarray
    offsets: np.ndarray  # (inputs, cells of a block)
    products: np.ndarray  # (inputs, cells of a block)
    total: np.ndarray
    before: np.ndarray
    vector: np.ndarray


class Clique(NamedTuple):
    """One node, cut out of all."""

    states: np.ndarray
    n_removed: int
    inputs: np.ndarray
    strides: np.ndarray  # (inputs, axes)
    first: int  # axis of a block
    cells: int  # of a block


@njit(cache=True, nogil=True, error_model="numpy")
def clique_of(nodes, node):
    states = nodes.axis_states[nodes.axis_start[node] : nodes.axis_start[node + 1]]
    inputs = nodes.inputs[nodes.input_start[node] : nodes.input_start[node + 1]]
    strides = nodes.strides[nodes.stride_start[node] : nodes.stride_start[node + 1]].reshape(len(inputs), len(states))
    first, cells = _first_block_axis(states, nodes.n_removed[node])
    return Clique(states, nodes.n_removed[node], inputs, strides, first, cells)


@njit(cache=True, nogil=True, error_model="numpy")
def make_room(nodes):
    """For all nodes, and one more input than any has."""
    cells, n_inputs, n_axes = 1, 1, 1
    for node in range(len(nodes.n_removed)):
        clique = clique_of(nodes, node)
        cells, n_inputs = max(cells, clique.cells), max(n_inputs, len(clique.inputs) + 1)
        n_axes = max(n_axes, len(clique.states))
    return Room(
        np.empty(n_inputs, np.int64), np.empty(n_inputs, np.int64), np.empty(n_inputs, np.int64), np.empty(n_inputs),
        np.zeros(n_axes, np.int64), np.empty((n_inputs, cells), np.int64), np.empty((n_inputs + 1, cells)),
        np.empty(cells), np.empty(n_inputs), np.empty(n_inputs, np.int64),
    )  # fmt: skip


@njit(cache=True, nogil=True, error_model="numpy")
def place_inputs(nodes, clique, scale, room, behind):
    """Where the inputs of a clique begin and how they stand in a block, ``behind`` others that are not its own."""
    for k in range(len(clique.inputs)):
        t = clique.inputs[k]
        room.base[behind + k], room.scale[behind + k] = nodes.table_start[t], scale[t]
        room.kinds[behind + k], room.pieces[behind + k] = _stand(
            clique.states[clique.first :], clique.strides[k, clique.first :], room.offsets[behind + k, : clique.cells]
        )


@njit(cache=True, nogil=True, error_model="numpy")
def _add_product(total, values, n_inputs, room):
    """Add the product of all inputs in a block to ``total``."""
    number, n_left, cells = 1.0, 0, len(total)
    for k in range(n_inputs):
        number *= room.scale[k]
        if room.kinds[k] == NUMBER:
            number *= values[room.base[k]]
        else:
            n_left += 1
    if number == 0.0:
        return
    n_done, product = 0, room.products[0, :cells]
    for k in range(n_inputs):
        kind = room.kinds[k]
        if kind == NUMBER:
            continue
        n_done += 1
        if n_done == n_left and n_left == 1:
            _add_multiple(total, number, values, room.base[k], kind, room.pieces[k], room.offsets[k])
        elif n_done == n_left:
            _add_times(total, product, values, room.base[k], kind, room.pieces[k], room.offsets[k])
        elif n_done == 1:
            _put(product, number, values, room.base[k], kind, room.pieces[k], room.offsets[k])
        else:
            _times(product, product, values, room.base[k], kind, room.pieces[k], room.offsets[k])
    if n_left == 0:
        for b in range(cells):
            total[b] += number


@njit(cache=True, nogil=True, error_model="numpy", fastmath=_REORDERED)
def _fold(out, total):
    """Sum a block that reaches into what is summed out."""
    n_kept = len(out)
    for s in range(n_kept):
        out[s] = total[s]
    for begin in range(n_kept, len(total), n_kept):
        for s in range(n_kept):
            out[s] += total[begin + s]


@njit(cache=True, nogil=True, error_model="numpy")
def _forward_node(nodes, node, out, values, scale, room):
    clique = clique_of(nodes, node)
    place_inputs(nodes, clique, scale, room, 0)
    n_inputs, n_removed, first = len(clique.inputs), clique.n_removed, clique.first
    base, total = room.base[:n_inputs], room.total[: clique.cells]
    n_kept = min(clique.cells, len(out))
    at, more = 0, True
    while more:
        total[:] = 0.0
        inner = True
        while inner:
            _add_product(total, values, n_inputs, room)
            inner = advance(room.counter, clique.states, clique.strides, base, 0, min(first, n_removed))
        _fold(out[at : at + n_kept], total)
        at += n_kept
        more = advance(room.counter, clique.states, clique.strides, base, n_removed, first)


@njit(cache=True, nogil=True, error_model="numpy")
def forward(nodes, values, scale, n_rows, log_scale):
    """Compute the output of every node into ``values``, its scale into ``scale``, and what was taken out of each row.

    ``values`` begins with the leaves, whose largest values are 1. Tables with an axis of rows (the last one, and the
    fastest) are scaled row by row, others as a whole. ``log_scale`` of each row grows by the logarithms of all scales.
    Returns for each row the smallest of the largest values: as long as it is far above the smallest number there is,
    nothing was lost; zero says that no state is possible, or that all were lost.
    """
    n_nodes = len(nodes.n_removed)
    n_leaves = len(scale) - n_nodes
    room, smallest = make_room(nodes), np.ones(n_rows)
    for node in range(n_nodes):
        t = n_leaves + node
        out = values[nodes.table_start[t] : nodes.table_start[t + 1]]
        _forward_node(nodes, node, out, values, scale, room)
        if nodes.has_rows[t]:
            _scale_rows(out, n_rows, log_scale, smallest)
            scale[t] = 1.0
            continue
        most = _largest(out)
        if not 0.0 < most < np.inf:
            smallest[:] = 0.0
            return smallest
        scale[t] = 1.0 / most
        log_scale += np.log(most)
        smallest[:] = np.minimum(smallest, most)
    return smallest


@njit(cache=True, nogil=True, error_model="numpy")
def _scale_rows(out, n_rows, log_scale, smallest):
    """Divide every row of a table by its largest value."""
    most, table = np.zeros(n_rows), out.reshape(-1, n_rows)
    for cell in range(len(table)):
        for row in range(n_rows):
            most[row] = max(most[row], table[cell, row])
    for row in range(n_rows):
        if 0.0 < most[row] < np.inf:
            log_scale[row] += np.log(most[row])
            smallest[row] = min(smallest[row], most[row])
        else:
            smallest[row] = 0.0
            most[row] = 1.0
    inverse = 1.0 / most
    for cell in range(len(table)):
        for row in range(n_rows):
            table[cell, row] *= inverse[row]


@njit(cache=True, nogil=True, error_model="numpy")
def _backward_block(values, adjoint, adjoints, n_inputs, cells, room):
    """Add to the adjoint of every input, in one block, the product of all others and of the adjoint of the output.

    Products of those before an input and of those after it: nothing is divided, so zeros need no care. Input 0 is the
    adjoint of the output.
    """
    number, vector = room.scale[0], -1  # of those before: a number, and a row of ``products`` if any
    for k in range(n_inputs + 1):
        table = adjoint if k == 0 else values
        if k > 0:
            room.before[k], room.vector[k] = number, vector
            number *= room.scale[k]
        if room.kinds[k] == NUMBER:
            number *= table[room.base[k]]
        elif k < n_inputs:
            if vector < 0:
                _put(room.products[k, :cells], 1.0, table, room.base[k], room.kinds[k], room.pieces[k], room.offsets[k])
            else:
                _times(
                    room.products[k, :cells], room.products[vector, :cells], table, room.base[k], room.kinds[k],
                    room.pieces[k], room.offsets[k],
                )  # fmt: skip
            vector = k
    after, number, has_after, product = room.total[:cells], 1.0, False, room.products[n_inputs + 1, :cells]
    for k in range(n_inputs, 0, -1):
        base, kind, piece, offsets = room.base[k], room.kinds[k], room.pieces[k], room.offsets[k]
        before, has_before = room.products[max(room.vector[k], 0), :cells], room.vector[k] >= 0
        multiple = number * room.before[k]
        if multiple != 0.0:
            if kind == NUMBER:
                adjoints[base] += multiple * _dot(before, after, has_before, has_after)
            else:
                _multiply(product, multiple, before, after, has_before, has_after)
                _scatter(adjoints, base, kind, piece, offsets, product)
        number *= room.scale[k]
        if kind == NUMBER:
            number *= values[base]
        elif k > 1 and has_after:
            _times(after, after, values, base, kind, piece, offsets)
        elif k > 1:
            _put(after, 1.0, values, base, kind, piece, offsets)
            has_after = True


@njit(cache=True, nogil=True, error_model="numpy")
def _backward_node(nodes, node, out, out_scale, values, scale, adjoints, room):
    """``out`` is where the adjoint of the output begins."""
    clique = clique_of(nodes, node)
    place_inputs(nodes, clique, scale, room, 1)
    n_inputs, n_removed, first, n_axes = len(clique.inputs), clique.n_removed, clique.first, len(clique.states)
    strides = np.zeros((n_inputs + 1, n_axes), np.int64)
    strides[1:] = clique.strides
    step = 1
    for axis in range(n_axes - 1, n_removed - 1, -1):
        strides[0, axis] = step
        step *= clique.states[axis]
    room.base[0], room.scale[0] = out, out_scale
    room.kinds[0], room.pieces[0] = _stand(clique.states[first:], strides[0, first:], room.offsets[0, : clique.cells])
    base, more = room.base[: n_inputs + 1], True
    while more:
        inner = True
        while inner:
            _backward_block(values, adjoints, adjoints, n_inputs, clique.cells, room)
            inner = advance(room.counter, clique.states, strides, base, 0, min(first, n_removed))
        more = advance(room.counter, clique.states, strides, base, n_removed, first)


@njit(cache=True, nogil=True, error_model="numpy")
def backward(nodes, values, scale, n_rows, adjoints):
    """The derivatives of Z in every table, each up to a factor (one a row), from what `forward` left.

    ``adjoints`` holds ones for the roots and zeros for all others.
    """
    n_nodes = len(nodes.n_removed)
    n_leaves = len(scale) - n_nodes
    room, adjoint_scale = make_room(nodes), np.ones(len(scale))
    ignored, unused = np.zeros(n_rows), np.ones(n_rows)
    for node in range(n_nodes - 1, -1, -1):
        t = n_leaves + node
        _backward_node(nodes, node, nodes.table_start[t], adjoint_scale[t], values, scale, adjoints, room)
        for at in range(nodes.input_start[node], nodes.input_start[node + 1]):
            t = nodes.inputs[at]
            table = adjoints[nodes.table_start[t] : nodes.table_start[t + 1]]
            if nodes.has_rows[t]:
                _scale_rows(table, n_rows, ignored, unused)
            elif t >= n_leaves:
                most = _largest(table)
                adjoint_scale[t] = 1.0 / most if most > 0.0 else 0.0


@njit(cache=True, nogil=True, error_model="numpy")
def leaf_marginals(nodes, n_leaves, values, adjoints, n_rows, out):
    """Leaves times their derivatives, each scaled to a sum of 1 (in each row)."""
    total = np.empty(n_rows)
    for t in range(n_leaves):
        begin, end = nodes.table_start[t], nodes.table_start[t + 1]
        rows = n_rows if nodes.has_rows[t] else 1
        total[:rows] = 0.0
        for cell in range(begin, end, rows):
            for row in range(rows):
                out[cell + row] = values[cell + row] * adjoints[cell + row]
                total[row] += out[cell + row]
        for cell in range(begin, end, rows):
            for row in range(rows):
                out[cell + row] /= total[row]
