"""Evaluation of the nodes of a tree: products of tables summed over some of their axes, and derivatives.

Tables are scaled to a largest value of 1. The scale of a node's output is stored separately and applied where the
output is read.
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
    describe,
    describe_all,
    four,
    make_work_arrays,
    place_in_memory,
    skip,
)
from mrfit._kernels.machine_code.compiled import njit

_EXACT = {"contract"}
_REORDERED = {"contract", "reassoc", "nsz"}


@njit(cache=True, nogil=True, error_model="numpy", fastmath=_EXACT)
def _times(out, left, values, base, kind, piece, offsets):
    """Compute out = left * table."""
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
    """Add left * table to ``out``."""
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
    """Add number * left * right to a table that is stored in the block in pieces."""
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
    """Return the sum of left * right over a block."""
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


# -- forward pass ------------------------------------------------------------------------------------------------------


@njit(cache=True, nogil=True, error_model="numpy")
def _add_product(total, values, n_inputs, work):
    """Add the product of all inputs in a block to ``total``."""
    # Inputs that are one number in this block go into a common factor. The last of the others is multiplied and added
    # in one loop, which saves a pass over memory.
    number, last = 1.0, -1
    for k in range(n_inputs):
        number *= work.scale[k]
        if work.kinds[k] == NUMBER:
            number *= values[work.base[k]]
        else:
            last = k
    if number == 0.0:
        return
    if last < 0:
        for b in range(len(total)):
            total[b] += number
        return
    product = work.products[0, : len(total)]
    _fill(product, number)
    for k in range(last):
        if work.kinds[k] != NUMBER:
            _times(product, product, values, work.base[k], work.kinds[k], work.pieces[k], work.offsets[k])
    _add_times(total, product, values, work.base[last], work.kinds[last], work.pieces[last], work.offsets[last])


@njit(cache=True, nogil=True, error_model="numpy", fastmath=_REORDERED)
def _fold(values, at, n_kept, total):
    """Write a block to an output, summed over its part of the removed axes."""
    for s in range(n_kept):
        values[at + s] = total[s]
    for first in range(n_kept, len(total), n_kept):
        for s in range(n_kept):
            values[at + s] += total[first + s]


@njit(cache=True, nogil=True, error_model="numpy")
def _forward_tiny(nodes, clique, values, at, work):
    more = True
    while more:
        total, inner = 0.0, True
        while inner:
            x = 1.0
            for k in range(clique.n_inputs):
                x *= work.scale[k] * values[work.base[k]]
            total += x
            inner = advance(nodes, clique, work, 0, clique.n_removed, False)
        values[at] = total
        at += 1
        more = advance(nodes, clique, work, clique.n_removed, clique.n_axes, False)


@njit(cache=True, nogil=True, error_model="numpy")
def _forward_node(nodes, node, table, values, scale, work, from_state):
    """Compute the output from a state of the first retained axis on; ``nodes`` gives the number of its states."""
    clique, at = clique_of(nodes, node), nodes.table_start[table]
    begin(nodes, clique, work)
    if from_state > 0:
        at += from_state * (clique.n_kept // nodes.axis_states[clique.axis + clique.n_removed])
        skip(nodes, clique, work, from_state)
    for k in range(clique.n_inputs):
        work.scale[k] = scale[nodes.inputs[clique.input + k]]
    if clique.n_cells <= TINY:
        _forward_tiny(nodes, clique, values, at, work)
        return
    describe_all(nodes, clique, work)
    total, n_kept, more = work.total[: clique.cells], min(clique.cells, clique.n_kept), True
    while more:
        _fill(total, 0.0)
        inner = True
        while inner:
            _add_product(total, values, clique.n_inputs, work)
            inner = advance(nodes, clique, work, 0, min(clique.first, clique.n_removed), False)
        _fold(values, at, n_kept, total)
        at += n_kept
        more = advance(nodes, clique, work, clique.n_removed, clique.first, False)


@njit(cache=True, nogil=True, error_model="numpy")
def forward(nodes, first, last, values, scale, n_rows, log_scale, smallest):
    """Compute the outputs of nodes first .. last - 1 into ``values``, their scales, and the scales taken out of rows.

    ``values`` begins with the leaves, whose largest values are 1. Tables with an axis of rows (the last and fastest
    axis) are scaled row by row, others as a whole. ``log_scale`` of each row grows by the logarithms of all scales.
    ``smallest`` falls to the smallest of the largest values. While it is far above the smallest double, nothing was
    lost; zero means that no state is possible, or that all states underflowed.
    """
    n_leaves, work = len(scale) - len(nodes.n_removed), make_work_arrays(nodes)
    for node in range(first, last):
        _forward_node(nodes, node, n_leaves + node, values, scale, work, 0)
        if not scale_output(nodes, n_leaves + node, values, scale, n_rows, log_scale, smallest):
            return


@njit(cache=True, nogil=True, error_model="numpy")
def forward_share(nodes, node, table, values, scale, from_state):
    """Compute a part of the output of one node, before it is scaled."""
    _forward_node(nodes, node, table, values, scale, make_work_arrays(nodes), from_state)


@njit(cache=True, nogil=True, error_model="numpy")
def scale_output(nodes, table, values, scale, n_rows, log_scale, smallest):
    """Scale an output; return False if nothing is left of it."""
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


# -- backward pass -----------------------------------------------------------------------------------------------------


@njit(cache=True, nogil=True, error_model="numpy")
def _vector(table, k, work, buffer):
    """Return input k in a block: a view if it is one run, else a copy."""
    if work.kinds[k] == RUNS and work.pieces[k] == len(buffer):
        return table[work.base[k] : work.base[k] + len(buffer)]
    ones = work.ones[: len(buffer)]
    _times(buffer, ones, table, work.base[k], work.kinds[k], work.pieces[k], work.offsets[k])
    return buffer


@njit(cache=True, nogil=True, error_model="numpy")
def _backward_block(clique, values, adjoints, work):
    """Add to the adjoint of every input, in one block, the product of all other inputs and the adjoint of the output.

    It multiplies the product of the inputs before and of those after an input. Nothing is divided, so zeros need no
    care. The adjoint of the output comes before all inputs.
    """
    n_inputs, cells, output = clique.n_inputs, clique.cells, clique.n_inputs
    ones = work.ones[:cells]
    number, vector, first = work.scale[output], -1, ones  # prefix product: a number, and a row of ``products`` if any
    if work.kinds[output] == NUMBER:
        number *= adjoints[work.base[output]]
    else:
        first, vector = _vector(adjoints, output, work, work.products[output, :cells]), output
    for k in range(n_inputs):
        work.before[k], work.vector[k] = number, vector
        number *= work.scale[k]
        if work.kinds[k] == NUMBER:
            number *= values[work.base[k]]
        elif k < n_inputs - 1:
            left = ones if vector < 0 else first if vector == output else work.products[vector, :cells]
            product = work.products[k, :cells]
            _times(product, left, values, work.base[k], work.kinds[k], work.pieces[k], work.offsets[k])
            vector = k
    after, number, has_after = ones, 1.0, False
    for k in range(n_inputs - 1, -1, -1):
        base, kind, vector = work.base[k], work.kinds[k], work.vector[k]
        adjoint = base + work.shift[k]
        before = ones if vector < 0 else first if vector == output else work.products[vector, :cells]
        multiple = number * work.before[k]
        if multiple != 0.0:
            if kind == NUMBER:
                adjoints[adjoint] += multiple * _dot(before, after)
            else:
                # The same cell of an input may stand for many cells of the block: its adjoint is their sum.
                _scatter(adjoints, adjoint, kind, work.pieces[k], work.offsets[k], multiple, before, after)
        number *= work.scale[k]
        if kind == NUMBER:
            number *= values[base]
        elif k > 0 and not has_after:
            after, has_after = _vector(values, k, work, work.total[:cells]), True
        elif k > 0:
            _times(work.total[:cells], after, values, base, kind, work.pieces[k], work.offsets[k])
            after = work.total[:cells]


@njit(cache=True, nogil=True, error_model="numpy")
def _backward_tiny(nodes, clique, values, adjoints, work):
    n, more = clique.n_inputs, True
    while more:
        x = work.scale[n] * adjoints[work.base[n]]
        for k in range(n):
            work.before[k] = x
            x *= work.scale[k] * values[work.base[k]]
        x = 1.0
        for k in range(n - 1, -1, -1):
            adjoints[work.base[k] + work.shift[k]] += work.before[k] * x
            x *= work.scale[k] * values[work.base[k]]
        more = advance(nodes, clique, work, 0, clique.n_axes, True)


@njit(cache=True, nogil=True, error_model="numpy")
def fill_adjoint(nodes, table, adjoints, number):
    first, size = nodes.adjoint_start[table], nodes.table_start[table + 1] - nodes.table_start[table]
    for at in range(first, first + size):
        adjoints[at] = number


@njit(cache=True, nogil=True, error_model="numpy")
def _backward_node(nodes, node, table, values, scale, adjoints, adjoint_scale, work, from_state):
    """Propagate from a state of the first retained axis on; the adjoints of inputs start at zero."""
    clique = clique_of(nodes, node)
    begin(nodes, clique, work)
    begin_output(nodes, clique, nodes.adjoint_start[table], work)
    if from_state > 0:
        work.base[clique.n_inputs] += from_state * work.output_strides[clique.n_removed]
        skip(nodes, clique, work, from_state)
    for k in range(clique.n_inputs):
        t = nodes.inputs[clique.input + k]
        work.scale[k], work.shift[k] = scale[t], nodes.adjoint_start[t] - nodes.table_start[t]
    work.scale[clique.n_inputs] = adjoint_scale[table]
    if clique.n_cells <= TINY:
        _backward_tiny(nodes, clique, values, adjoints, work)
        return
    describe_all(nodes, clique, work)
    describe(nodes, clique, work, clique.n_inputs, work.output_strides, clique.first)
    more = True
    while more:
        inner = True
        while inner:
            _backward_block(clique, values, adjoints, work)
            inner = advance(nodes, clique, work, 0, min(clique.first, clique.n_removed), True)
        more = advance(nodes, clique, work, clique.n_removed, clique.first, True)


@njit(cache=True, nogil=True, error_model="numpy")
def backward(nodes, first, last, values, scale, n_rows, adjoints, adjoint_scale):
    """Compute the derivatives of Z in the inputs of nodes last - 1 .. first, each up to a factor (one per row).

    It uses the results of `forward`. The last entry of ``adjoint_start`` is the length of ``adjoints``. Adjoints of
    leaves come first, and those of roots are ones.
    """
    n_leaves, work = len(scale) - len(nodes.n_removed), make_work_arrays(nodes)
    for node in range(last - 1, first - 1, -1):
        begin_adjoints(nodes, node, n_leaves + node, adjoints)
        _backward_node(nodes, node, n_leaves + node, values, scale, adjoints, adjoint_scale, work, 0)
        scale_adjoints(nodes, node, n_leaves, n_rows, adjoints, adjoint_scale)


@njit(cache=True, nogil=True, error_model="numpy")
def backward_share(nodes, node, table, values, scale, adjoints, adjoint_scale, from_state):
    """Compute a part of what one node adds to the adjoints of its inputs."""
    _backward_node(nodes, node, table, values, scale, adjoints, adjoint_scale, make_work_arrays(nodes), from_state)


@njit(cache=True, nogil=True, error_model="numpy")
def begin_adjoints(nodes, node, table, adjoints):
    """Set the adjoints of a node's inputs to zero, and that of its output to one if it is a root."""
    if nodes.is_root[table]:
        fill_adjoint(nodes, table, adjoints, 1.0)
    for at in range(nodes.input_start[node], nodes.input_start[node + 1]):
        fill_adjoint(nodes, nodes.inputs[at], adjoints, 0.0)


@njit(cache=True, nogil=True, error_model="numpy")
def scale_adjoints(nodes, node, n_leaves, n_rows, adjoints, adjoint_scale):
    """Scale the adjoints of a node's inputs; leaves are left as they are, since `leaf_marginals` normalises them."""
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
    """Multiply leaves by their derivatives, each scaled to a sum of 1 (in each row): the marginals (Darwiche 2003)."""
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
