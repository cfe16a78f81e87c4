"""Iteration of tree nodes over their cliques, in blocks of consecutive cells.

An odometer runs over the retained axes, inside it one over the removed axes, inside it the block. In a block an input
is a number, or pieces of equal length, each a run of memory or one number. Only an input with short pieces is read cell
by cell. The table of a clique itself is never written.

Nodes are many and mostly tiny, so their lists are reached by offsets into joint arrays: a slice would cost more than
the work on a small table.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mrfit._kernels.machine_code.compiled import njit

BLOCK = 512  # most cells of a block, unless a single axis has more
_NARROW = 64  # cells of an output below which blocks extend into the removed axes
_SHORTEST = 8  # shortest piece that gets its own loop
_LONG = 32  # shortest run that gets its own loop; shorter ones are taken in fours
TINY = 16  # largest cliques that are computed cell by cell

# Form of an input in a block: one number, runs of memory, runs of four, steps of one number, or cell by cell.
NUMBER, RUNS, FOURS, STEPS, CELLS = 0, 1, 2, 3, 4

ONE, TWO, THREE = np.uint64(1), np.uint64(2), np.uint64(3)


class Clique(NamedTuple):
    """One node: the offsets of its lists in the joint arrays, their lengths, and its blocks."""

    axis: int
    n_axes: int
    n_removed: int
    input: int
    n_inputs: int
    stride: int
    first: int  # axis of a block
    cells: int  # of a block
    n_cells: int  # of the clique
    n_kept: int  # of the output


class WorkArrays(NamedTuple):
    """Buffers for the largest node, with one more input for the adjoint of an output."""

    kinds: np.ndarray
    pieces: np.ndarray
    base: np.ndarray
    shift: np.ndarray  # from a cell of a table to that of its adjoint
    scale: np.ndarray
    counter: np.ndarray
    output_strides: np.ndarray
    offsets: np.ndarray  # (inputs, cells of a block)
    products: np.ndarray  # (inputs, cells of a block)
    total: np.ndarray
    ones: np.ndarray
    before: np.ndarray
    vector: np.ndarray


@njit(cache=True, nogil=True, error_model="numpy")
def clique_of(nodes, node):
    axis, n_axes = nodes.axis_start[node], nodes.axis_start[node + 1] - nodes.axis_start[node]
    first_input, n_removed = nodes.input_start[node], nodes.n_removed[node]
    n_kept = n_cells = 1
    for k in range(axis + n_removed, axis + n_axes):
        n_kept *= nodes.axis_states[k]
    for k in range(axis, axis + n_removed):
        n_cells *= nodes.axis_states[k]
    stop, first, cells = n_removed if n_kept >= _NARROW else 0, n_axes, 1
    while first > stop and (cells * nodes.axis_states[axis + first - 1] <= BLOCK or first == n_axes):
        first -= 1
        cells *= nodes.axis_states[axis + first]
    return Clique(
        axis, n_axes, n_removed, first_input, nodes.input_start[node + 1] - first_input, nodes.stride_start[node],
        first, cells, n_cells * n_kept, n_kept,
    )  # fmt: skip


@njit(cache=True, nogil=True, error_model="numpy")
def make_work_arrays(nodes):
    cells, n_inputs, n_axes = 1, 1, 1
    for node in range(len(nodes.n_removed)):
        clique = clique_of(nodes, node)
        cells, n_inputs = max(cells, clique.cells), max(n_inputs, clique.n_inputs + 1)
        n_axes = max(n_axes, clique.n_axes)
    return WorkArrays(
        np.empty(n_inputs, np.int64), np.empty(n_inputs, np.int64), np.empty(n_inputs, np.int64),
        np.empty(n_inputs, np.int64), np.empty(n_inputs),
        np.zeros(n_axes, np.int64), np.empty(n_axes, np.int64), np.empty((n_inputs, cells), np.int64),
        np.empty((n_inputs, cells)), np.empty(cells), np.ones(cells), np.empty(n_inputs), np.empty(n_inputs, np.int64),
    )  # fmt: skip


@njit(cache=True, nogil=True, error_model="numpy")
def begin(nodes, clique, work):
    """Set the bases of a clique's inputs to the beginnings of their tables."""
    for k in range(clique.n_inputs):
        work.base[k] = nodes.table_start[nodes.inputs[clique.input + k]]


@njit(cache=True, nogil=True, error_model="numpy")
def skip(nodes, clique, work, n_states):
    """Start ``n_states`` states later on the first retained axis."""
    for k in range(clique.n_inputs):
        work.base[k] += n_states * nodes.strides[clique.stride + k * clique.n_axes + clique.n_removed]


@njit(cache=True, nogil=True, error_model="numpy")
def begin_output(nodes, clique, start, work):
    """Add the output as a last input: its beginning and its strides."""
    work.base[clique.n_inputs] = start
    step = 1
    for axis in range(clique.n_axes - 1, -1, -1):
        kept = axis >= clique.n_removed
        work.output_strides[axis] = step if kept else 0
        step *= nodes.axis_states[clique.axis + axis] if kept else 1


@njit(cache=True, nogil=True, error_model="numpy")
def advance(nodes, clique, work, first, last, with_output):
    """Move to the next state of axes first .. last - 1 and update all bases; return False after the last state."""
    n = clique.n_inputs
    for axis in range(last - 1, first - 1, -1):
        work.counter[axis] += 1
        states = nodes.axis_states[clique.axis + axis]
        steps = 1
        if work.counter[axis] == states:
            work.counter[axis] = 0
            steps = 1 - states
        at = clique.stride + axis
        for k in range(n):
            work.base[k] += steps * nodes.strides[at]
            at += clique.n_axes
        if with_output:
            work.base[n] += steps * work.output_strides[axis]
        if steps == 1:
            return True
    return False


@njit(cache=True, nogil=True, error_model="numpy")
def _pieces(states, at, n, strides, begin):
    """Return the length of the longest pieces in which a table is one run of memory, and in which it is one number."""
    run, step = 1, 1
    for axis in range(n - 1, -1, -1):
        if strides[begin + axis] != run:
            break
        run *= states[at + axis]
    for axis in range(n - 1, -1, -1):
        if strides[begin + axis] != 0:
            break
        step *= states[at + axis]
    return run, step


@njit(cache=True, nogil=True, error_model="numpy")
def describe(nodes, clique, work, k, strides, begin):
    """Describe the form of input k in the blocks of a clique; the strides of the block axes start at strides[begin]."""
    states, at, n = nodes.axis_states, clique.axis + clique.first, clique.n_axes - clique.first
    run, step = _pieces(states, at, n, strides, begin)
    kind, piece, joined = (RUNS, run, run) if run >= step else (STEPS, step, step)
    offsets, n_pieces = work.offsets, 1
    offsets[k, 0] = 0
    if kind == RUNS and piece < min(_LONG, clique.cells) and piece % 4 == 0:
        kind, piece = FOURS, 4
        n_pieces = run // 4
        for four in range(n_pieces):
            offsets[k, four] = 4 * four
    elif piece < min(_SHORTEST, clique.cells):
        kind, piece, joined = CELLS, 1, 1
    cells = 1
    for axis in range(n - 1, -1, -1):
        cells *= states[at + axis]
        if cells <= joined:
            continue
        for s in range(1, states[at + axis]):
            for p in range(n_pieces):
                offsets[k, s * n_pieces + p] = offsets[k, p] + s * strides[begin + axis]
        n_pieces *= states[at + axis]
    work.kinds[k] = NUMBER if kind == STEPS and n_pieces == 1 else kind
    work.pieces[k] = piece


@njit(cache=True, nogil=True, error_model="numpy")
def describe_all(nodes, clique, work):
    """Describe the forms of all inputs of a clique in its blocks."""
    for k in range(clique.n_inputs):
        describe(nodes, clique, work, k, nodes.strides, clique.stride + k * clique.n_axes + clique.first)


@njit(cache=True, nogil=True, error_model="numpy")
def place_in_memory(base, offset):
    """Return the unsigned index base + offset, which saves the code for negative indices."""
    return np.uint64(base) + np.uint64(offset)


@njit(cache=True, nogil=True, error_model="numpy")
def four(values, base, offset):
    at = place_in_memory(base, offset)
    return values[at], values[at + ONE], values[at + TWO], values[at + THREE]
