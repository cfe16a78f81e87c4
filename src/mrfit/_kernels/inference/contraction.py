"""Run the nodes of a tree: products of tables summed over some of their axes, and the derivatives of that.

Tables are scaled to a largest value of 1; the scale of a node's output is kept beside it and applied where the output
is read.
"""

from __future__ import annotations

import numpy as np

from mrfit._kernels.inference.tensor_blocks import (
    CELLS,
    FOURS,
    NUMBER,
    ONE,
    RUNS,
    THREE,
    TINY,
    TWO,
    advance,
    begin,
    begin_output,
    clique_of,
    four,
    make_room,
    place_in_memory,
    skip,
    stand,
    stand_all,
)
from mrfit._kernels.machine_code.compiled import njit

_EXACT = {"contract"}
_REORDERED = {"contract", "reassoc", "nsz"}


@njit(cache=True, nogil=True, error_model="numpy", fastmath=_EXACT)
def _times(out, left, values, base, kind, piece, offsets):
    """out = left * table."""
    if kind == CELLS:
        for b in range(len(out)):
            out[b] = left[b] * values[place_in_memory(base, offsets[b])]
    elif kind == FOURS:
        for b in range(0, len(out), 4):
            x0, x1, x2, x3 = four(values, base, offsets[b >> 2])
            out[b] = left[b] * x0
            out[b + 1] = left[b + 1] * x1
            out[b + 2] = left[b + 2] * x2
            out[b + 3] = left[b + 3] * x3
    elif kind == RUNS:
        for first in range(0, len(out), piece):
            at = base + offsets[first // piece]
            for b in range(first, first + piece):
                out[b] = left[b] * values[at + b - first]
    else:
        for first in range(0, len(out), piece):
            x = values[base + offsets[first // piece]]
            for b in range(first, first + piece):
                out[b] = left[b] * x


@njit(cache=True, nogil=True, error_model="numpy", fastmath=_EXACT)
def _add_times(out, left, values, base, kind, piece, offsets):
    """out += left * table."""
    if kind == CELLS:
        for b in range(len(out)):
            out[b] += left[b] * values[place_in_memory(base, offsets[b])]
    elif kind == FOURS:
        for b in range(0, len(out), 4):
            x0, x1, x2, x3 = four(values, base, offsets[b >> 2])
            out[b] += left[b] * x0
            out[b + 1] += left[b + 1] * x1
            out[b + 2] += left[b + 2] * x2
            out[b + 3] += left[b + 3] * x3
    elif kind == RUNS:
        for first in range(0, len(out), piece):
            at = base + offsets[first // piece]
            for b in range(first, first + piece):
                out[b] += left[b] * values[at + b - first]
    else:
        for first in range(0, len(out), piece):
            x = values[base + offsets[first // piece]]
            for b in range(first, first + piece):
                out[b] += left[b] * x


@njit(cache=True, nogil=True, error_model="numpy", fastmath=_REORDERED)
def _scatter(out, base, kind, piece, offsets, number, left, right):
    """Add number * left * right to a table that stands in the block in pieces."""
    if kind == CELLS:
        for b in range(len(left)):
            out[place_in_memory(base, offsets[b])] += number * left[b] * right[b]
    elif kind == FOURS:
        for b in range(0, len(left), 4):
            x0, x1, x2, x3 = four(out, base, offsets[b >> 2])
            at = place_in_memory(base, offsets[b >> 2])
            out[at] = x0 + number * left[b] * right[b]
            out[at + ONE] = x1 + number * left[b + 1] * right[b + 1]
            out[at + TWO] = x2 + number * left[b + 2] * right[b + 2]
            out[at + THREE] = x3 + number * left[b + 3] * right[b + 3]
    elif kind == RUNS:
        for first in range(0, len(left), piece):
            at = base + offsets[first // piece]
            for b in range(first, first + piece):
                out[at + b - first] += number * left[b] * right[b]
    else:
        for first in range(0, len(left), piece):
            total = 0.0
            for b in range(first, first + piece):
                total += left[b] * right[b]
            out[base + offsets[first // piece]] += number * total


@njit(cache=True, nogil=True, error_model="numpy", fastmath=_REORDERED)
def _dot(left, right):
    """The sum of left * right over a block."""
    total = 0.0
    for b in range(len(left)):
        total += left[b] * right[b]
    return total


@njit(cache=True, nogil=True, error_model="numpy", fastmath=_REORDERED)
def _largest(values, first, last):
    most = 0.0
    for at in range(first, last):
        most = max(most, values[at])
    return most


@njit(cache=True, nogil=True, error_model="numpy")
def _fill(out, number):
    for b in range(len(out)):
        out[b] = number


# -- there ------------------------------------------------------------------------------------------------------------


@njit(cache=True, nogil=True, error_model="numpy")
def _add_product(total, values, n_inputs, room):
    """Add the product of all inputs in a block to ``total``."""
    number, last = 1.0, -1
    for k in range(n_inputs):
        number *= room.scale[k]
        if room.kinds[k] == NUMBER:
            number *= values[room.base[k]]
        else:
            last = k
    if number == 0.0:
        return
    if last < 0:
        for b in range(len(total)):
            total[b] += number
        return
    product = room.products[0, : len(total)]
    _fill(product, number)
    for k in range(last):
        if room.kinds[k] != NUMBER:
            _times(product, product, values, room.base[k], room.kinds[k], room.pieces[k], room.offsets[k])
    _add_times(total, product, values, room.base[last], room.kinds[last], room.pieces[last], room.offsets[last])


@njit(cache=True, nogil=True, error_model="numpy", fastmath=_REORDERED)
def _fold(values, at, n_kept, total):
    """Write a block to an output, summed over what it has of the axes that are removed."""
    for s in range(n_kept):
        values[at + s] = total[s]
    for first in range(n_kept, len(total), n_kept):
        for s in range(n_kept):
            values[at + s] += total[first + s]


@njit(cache=True, nogil=True, error_model="numpy")
def _forward_tiny(nodes, clique, values, at, room):
    more = True
    while more:
        total, inner = 0.0, True
        while inner:
            x = 1.0
            for k in range(clique.n_inputs):
                x *= room.scale[k] * values[room.base[k]]
            total += x
            inner = advance(nodes, clique, room, 0, clique.n_removed, False)
        values[at] = total
        at += 1
        more = advance(nodes, clique, room, clique.n_removed, clique.n_axes, False)


@njit(cache=True, nogil=True, error_model="numpy")
def _forward_node(nodes, node, table, values, scale, room, from_state):
    """From a state of the first axis that is kept on; as many as ``nodes`` says that it has."""
    clique, at = clique_of(nodes, node), nodes.table_start[table]
    begin(nodes, clique, room)
    if from_state > 0:
        at += from_state * (clique.n_kept // nodes.axis_states[clique.axis + clique.n_removed])
        skip(nodes, clique, room, from_state)
    for k in range(clique.n_inputs):
        room.scale[k] = scale[nodes.inputs[clique.input + k]]
    if clique.n_cells <= TINY:
        _forward_tiny(nodes, clique, values, at, room)
        return
    stand_all(nodes, clique, room)
    total, n_kept, more = room.total[: clique.cells], min(clique.cells, clique.n_kept), True
    while more:
        _fill(total, 0.0)
        inner = True
        while inner:
            _add_product(total, values, clique.n_inputs, room)
            inner = advance(nodes, clique, room, 0, min(clique.first, clique.n_removed), False)
        _fold(values, at, n_kept, total)
        at += n_kept
        more = advance(nodes, clique, room, clique.n_removed, clique.first, False)


@njit(cache=True, nogil=True, error_model="numpy")
def forward(nodes, first, last, values, scale, n_rows, log_scale, smallest):
    """Compute the outputs of nodes first .. last - 1 into ``values``, their scales, and what was taken out of each row.

    ``values`` begins with the leaves, whose largest values are 1. Tables with an axis of rows (the last one, and the
    fastest) are scaled row by row, others as a whole. ``log_scale`` of each row grows by the logarithms of all scales;
    ``smallest`` falls to the smallest of the largest values: as long as it is far above the smallest number there is,
    nothing was lost; zero says that no state is possible, or that all were lost.
    """
    n_leaves, room = len(scale) - len(nodes.n_removed), make_room(nodes)
    for node in range(first, last):
        _forward_node(nodes, node, n_leaves + node, values, scale, room, 0)
        if not scale_output(nodes, n_leaves + node, values, scale, n_rows, log_scale, smallest):
            return


@njit(cache=True, nogil=True, error_model="numpy")
def forward_share(nodes, node, table, values, scale, from_state):
    """A part of the output of one node; its scale is still to be taken."""
    _forward_node(nodes, node, table, values, scale, make_room(nodes), from_state)


@njit(cache=True, nogil=True, error_model="numpy")
def scale_output(nodes, table, values, scale, n_rows, log_scale, smallest):
    """Take the scale of an output; False if there is nothing left of it."""
    first, last = nodes.table_start[table], nodes.table_start[table + 1]
    if nodes.has_rows[table]:
        _scale_rows(values[first:last], n_rows, log_scale, smallest)
        scale[table] = 1.0
        return True
    most = _largest(values, first, last)
    if not 0.0 < most < np.inf:
        for row in range(n_rows):
            smallest[row] = 0.0
        return False
    scale[table] = 1.0 / most
    for row in range(n_rows):
        log_scale[row] += np.log(most)
        smallest[row] = min(smallest[row], most)
    return True


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
    for row in range(n_rows):
        most[row] = 1.0 / most[row]
    for cell in range(len(table)):
        for row in range(n_rows):
            table[cell, row] *= most[row]


# -- and back ---------------------------------------------------------------------------------------------------------


@njit(cache=True, nogil=True, error_model="numpy")
def _vector(table, k, room, buffer):
    """Input k in a block: where it lies if that is one run, else copied."""
    if room.kinds[k] == RUNS and room.pieces[k] == len(buffer):
        return table[room.base[k] : room.base[k] + len(buffer)]
    ones = room.ones[: len(buffer)]
    _times(buffer, ones, table, room.base[k], room.kinds[k], room.pieces[k], room.offsets[k])
    return buffer


@njit(cache=True, nogil=True, error_model="numpy")
def _backward_block(clique, values, adjoints, room):
    """Add to the adjoint of every input, in one block, the product of all others and of the adjoint of the output.

    Products of those before an input and of those after it: nothing is divided, so zeros need no care. What comes
    before all inputs is the adjoint of the output.
    """
    n_inputs, cells, output = clique.n_inputs, clique.cells, clique.n_inputs
    ones = room.ones[:cells]
    number, vector, first = room.scale[output], -1, ones  # of those before: a number, and a row of ``products`` if any
    if room.kinds[output] == NUMBER:
        number *= adjoints[room.base[output]]
    else:
        first, vector = _vector(adjoints, output, room, room.products[output, :cells]), output
    for k in range(n_inputs):
        room.before[k], room.vector[k] = number, vector
        number *= room.scale[k]
        if room.kinds[k] == NUMBER:
            number *= values[room.base[k]]
        elif k < n_inputs - 1:
            left = ones if vector < 0 else first if vector == output else room.products[vector, :cells]
            product = room.products[k, :cells]
            _times(product, left, values, room.base[k], room.kinds[k], room.pieces[k], room.offsets[k])
            vector = k
    after, number, has_after = ones, 1.0, False
    for k in range(n_inputs - 1, -1, -1):
        base, kind, vector = room.base[k], room.kinds[k], room.vector[k]
        adjoint = base + room.shift[k]
        before = ones if vector < 0 else first if vector == output else room.products[vector, :cells]
        multiple = number * room.before[k]
        if multiple != 0.0:
            if kind == NUMBER:
                adjoints[adjoint] += multiple * _dot(before, after)
            else:
                _scatter(adjoints, adjoint, kind, room.pieces[k], room.offsets[k], multiple, before, after)
        number *= room.scale[k]
        if kind == NUMBER:
            number *= values[base]
        elif k > 0 and not has_after:
            after, has_after = _vector(values, k, room, room.total[:cells]), True
        elif k > 0:
            _times(room.total[:cells], after, values, base, kind, room.pieces[k], room.offsets[k])
            after = room.total[:cells]


@njit(cache=True, nogil=True, error_model="numpy")
def _backward_tiny(nodes, clique, values, adjoints, room):
    n, more = clique.n_inputs, True
    while more:
        x = room.scale[n] * adjoints[room.base[n]]
        for k in range(n):
            room.before[k] = x
            x *= room.scale[k] * values[room.base[k]]
        x = 1.0
        for k in range(n - 1, -1, -1):
            adjoints[room.base[k] + room.shift[k]] += room.before[k] * x
            x *= room.scale[k] * values[room.base[k]]
        more = advance(nodes, clique, room, 0, clique.n_axes, True)


@njit(cache=True, nogil=True, error_model="numpy")
def fill_adjoint(nodes, table, adjoints, number):
    first, size = nodes.adjoint_start[table], nodes.table_start[table + 1] - nodes.table_start[table]
    for at in range(first, first + size):
        adjoints[at] = number


@njit(cache=True, nogil=True, error_model="numpy")
def _backward_node(nodes, node, table, values, scale, adjoints, adjoint_scale, room, from_state):
    """From a state of the first axis that is kept on; the adjoints of inputs begin with zeros."""
    clique = clique_of(nodes, node)
    begin(nodes, clique, room)
    begin_output(nodes, clique, nodes.adjoint_start[table], room)
    if from_state > 0:
        room.base[clique.n_inputs] += from_state * room.output_strides[clique.n_removed]
        skip(nodes, clique, room, from_state)
    for k in range(clique.n_inputs):
        t = nodes.inputs[clique.input + k]
        room.scale[k], room.shift[k] = scale[t], nodes.adjoint_start[t] - nodes.table_start[t]
    room.scale[clique.n_inputs] = adjoint_scale[table]
    if clique.n_cells <= TINY:
        _backward_tiny(nodes, clique, values, adjoints, room)
        return
    stand_all(nodes, clique, room)
    stand(nodes, clique, room, clique.n_inputs, room.output_strides, clique.first)
    more = True
    while more:
        inner = True
        while inner:
            _backward_block(clique, values, adjoints, room)
            inner = advance(nodes, clique, room, 0, min(clique.first, clique.n_removed), True)
        more = advance(nodes, clique, room, clique.n_removed, clique.first, True)


@njit(cache=True, nogil=True, error_model="numpy")
def backward(nodes, first, last, values, scale, n_rows, adjoints, adjoint_scale):
    """The derivatives of Z in the inputs of nodes last - 1 .. first, each up to a factor (one a row).

    From what `forward` left. ``adjoints`` has room for as many as the last entry of ``adjoint_start`` says;
    those of leaves begin it, and those of roots are ones.
    """
    n_leaves, room = len(scale) - len(nodes.n_removed), make_room(nodes)
    for node in range(last - 1, first - 1, -1):
        begin_adjoints(nodes, node, n_leaves + node, adjoints)
        _backward_node(nodes, node, n_leaves + node, values, scale, adjoints, adjoint_scale, room, 0)
        scale_adjoints(nodes, node, n_leaves, n_rows, adjoints, adjoint_scale)


@njit(cache=True, nogil=True, error_model="numpy")
def backward_share(nodes, node, table, values, scale, adjoints, adjoint_scale, from_state):
    """A part of what one node adds to the adjoints of its inputs."""
    _backward_node(nodes, node, table, values, scale, adjoints, adjoint_scale, make_room(nodes), from_state)


@njit(cache=True, nogil=True, error_model="numpy")
def begin_adjoints(nodes, node, table, adjoints):
    """Zeros for the inputs of a node, and a one for its output if that is a root."""
    if nodes.is_root[table]:
        fill_adjoint(nodes, table, adjoints, 1.0)
    for at in range(nodes.input_start[node], nodes.input_start[node + 1]):
        fill_adjoint(nodes, nodes.inputs[at], adjoints, 0.0)


@njit(cache=True, nogil=True, error_model="numpy")
def scale_adjoints(nodes, node, n_leaves, n_rows, adjoints, adjoint_scale):
    """Take the scales of the adjoints of a node's inputs."""
    ignored, unused = np.zeros(n_rows), np.ones(n_rows)
    for at in range(nodes.input_start[node], nodes.input_start[node + 1]):
        t = nodes.inputs[at]
        first = nodes.adjoint_start[t]
        last = first + nodes.table_start[t + 1] - nodes.table_start[t]
        if nodes.has_rows[t]:
            _scale_rows(adjoints[first:last], n_rows, ignored, unused)
        elif t >= n_leaves:
            most = _largest(adjoints, first, last)
            adjoint_scale[t] = 1.0 / most if most > 0.0 else 0.0


@njit(cache=True, nogil=True, error_model="numpy")
def leaf_marginals(nodes, n_leaves, values, adjoints, n_rows, out):
    """Leaves times their derivatives, each scaled to a sum of 1 (in each row)."""
    total = np.empty(n_rows)
    for t in range(n_leaves):
        first, last = nodes.table_start[t], nodes.table_start[t + 1]
        rows = n_rows if nodes.has_rows[t] else 1
        for row in range(rows):
            total[row] = 0.0
        for cell in range(first, last, rows):
            for row in range(rows):
                out[cell + row] = values[cell + row] * adjoints[cell + row]
                total[row] += out[cell + row]
        for cell in range(first, last, rows):
            for row in range(rows):
                out[cell + row] /= total[row]
