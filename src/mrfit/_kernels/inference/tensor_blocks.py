"""How the nodes of a tree go over their cliques: in blocks of consecutive cells.

An odometer runs over the axes that are kept, inside it one over those that are removed, inside it the block. In a
block an input is a number, or pieces of equal length, each a run of memory or one number; only where pieces are short
is it read cell by cell. The table of a clique itself is never written.

Nodes are many and mostly tiny, so what belongs to one is reached by places in the arrays of all: a slice costs more
than the work on a small table.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mrfit._kernels.machine_code.compiled import njit

BLOCK = 512  # most cells of a block, if one axis alone does not have more
_NARROW = 64  # cells of an output below which blocks reach into the axes that are removed
_SHORTEST = 8  # piece that is worth a loop of its own
_LONG = 32  # run that is: shorter ones are taken in fours
TINY = 16  # cells of cliques that are gone through one by one

# How an input stands in a block: one number, runs of memory, runs of four, steps of one number, cell by cell.
NUMBER, RUNS, FOURS, STEPS, CELLS = 0, 1, 2, 3, 4

ONE, TWO, THREE = np.uint64(1), np.uint64(2), np.uint64(3)


class Clique(NamedTuple):
    """One node: where its lists begin in those of all, their lengths, and its blocks."""

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


class Room(NamedTuple):
    """To work in: as large as the largest node needs it, and one more input for the adjoint of an output."""

    kinds: np.ndarray
    pieces: np.ndarray
    base: np.ndarray
    shift: np.ndarray  # from a place in a table to that in its adjoint
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
def make_room(nodes):
    cells, n_inputs, n_axes = 1, 1, 1
    for node in range(len(nodes.n_removed)):
        clique = clique_of(nodes, node)
        cells, n_inputs = max(cells, clique.cells), max(n_inputs, clique.n_inputs + 1)
        n_axes = max(n_axes, clique.n_axes)
    return Room(
        np.empty(n_inputs, np.int64), np.empty(n_inputs, np.int64), np.empty(n_inputs, np.int64),
        np.empty(n_inputs, np.int64), np.empty(n_inputs),
        np.zeros(n_axes, np.int64), np.empty(n_axes, np.int64), np.empty((n_inputs, cells), np.int64),
        np.empty((n_inputs, cells)), np.empty(cells), np.ones(cells), np.empty(n_inputs), np.empty(n_inputs, np.int64),
    )  # fmt: skip


@njit(cache=True, nogil=True, error_model="numpy")
def begin(nodes, clique, room):
    """Where the inputs of a clique begin."""
    for k in range(clique.n_inputs):
        room.base[k] = nodes.table_start[nodes.inputs[clique.input + k]]


@njit(cache=True, nogil=True, error_model="numpy")
def skip(nodes, clique, room, n_states):
    """Begin so many states of the first axis that is kept later."""
    for k in range(clique.n_inputs):
        room.base[k] += n_states * nodes.strides[clique.stride + k * clique.n_axes + clique.n_removed]


@njit(cache=True, nogil=True, error_model="numpy")
def begin_output(nodes, clique, start, room):
    """The output as one more input, the last: where it begins, and its strides."""
    room.base[clique.n_inputs] = start
    step = 1
    for axis in range(clique.n_axes - 1, -1, -1):
        kept = axis >= clique.n_removed
        room.output_strides[axis] = step if kept else 0
        step *= nodes.axis_states[clique.axis + axis] if kept else 1


@njit(cache=True, nogil=True, error_model="numpy")
def advance(nodes, clique, room, first, last, with_output):
    """The next state of the axes first .. last - 1, and the places of all inputs in it; False after the last."""
    n = clique.n_inputs
    for axis in range(last - 1, first - 1, -1):
        room.counter[axis] += 1
        states = nodes.axis_states[clique.axis + axis]
        steps = 1
        if room.counter[axis] == states:
            room.counter[axis] = 0
            steps = 1 - states
        at = clique.stride + axis
        for k in range(n):
            room.base[k] += steps * nodes.strides[at]
            at += clique.n_axes
        if with_output:
            room.base[n] += steps * room.output_strides[axis]
        if steps == 1:
            return True
    return False


@njit(cache=True, nogil=True, error_model="numpy")
def _pieces(states, at, n, strides, begin):
    """The length of the longest pieces in which a table is a run of memory, and of those in which it is one number."""
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
def stand(nodes, clique, room, k, strides, begin):
    """How input k stands in the blocks of a clique; the strides of a block's axes begin there in ``strides``."""
    states, at, n = nodes.axis_states, clique.axis + clique.first, clique.n_axes - clique.first
    run, step = _pieces(states, at, n, strides, begin)
    kind, piece, joined = (RUNS, run, run) if run >= step else (STEPS, step, step)
    offsets, n_pieces = room.offsets, 1
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
    room.kinds[k] = NUMBER if kind == STEPS and n_pieces == 1 else kind
    room.pieces[k] = piece


@njit(cache=True, nogil=True, error_model="numpy")
def stand_all(nodes, clique, room):
    """How all inputs of a clique stand in its blocks."""
    for k in range(clique.n_inputs):
        stand(nodes, clique, room, k, nodes.strides, clique.stride + k * clique.n_axes + clique.first)


@njit(cache=True, nogil=True, error_model="numpy")
def place_in_memory(base, offset):
    """Unsigned, so that no code is made for places counted from the end."""
    return np.uint64(base) + np.uint64(offset)


@njit(cache=True, nogil=True, error_model="numpy")
def four(values, base, offset):
    at = place_in_memory(base, offset)
    return values[at], values[at + ONE], values[at + TWO], values[at + THREE]
