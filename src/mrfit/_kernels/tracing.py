"""Go back through the nodes of a tree and choose states: the best ones, or at random."""

from __future__ import annotations

import numpy as np

from mrfit._kernels.compiled import njit
from mrfit._kernels.contraction import advance, clique_of

_MIX = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))
_SHIFT = (np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11))


@njit(cache=True, nogil=True, error_model="numpy")
def _uniform(counter):
    """A number from [0, 1) for each value of a counter (splitmix64, Steele, Lea and Flood 2014)."""
    x = counter * _MIX[0]
    x = (x ^ (x >> _SHIFT[0])) * _MIX[1]
    x = (x ^ (x >> _SHIFT[1])) * _MIX[2]
    x ^= x >> _SHIFT[2]
    return (x >> _SHIFT[3]) * 2.0**-53


@njit(cache=True, nogil=True, error_model="numpy")
def _stand_at(nodes, clique, axes, states, base):
    """Where the inputs of a clique stand, given the states of what is not removed."""
    for k in range(len(clique.inputs)):
        at = nodes.table_start[clique.inputs[k]]
        for axis in range(clique.n_removed, len(axes)):
            at += clique.strides[k, axis] * states[axes[axis]]
        base[k] = at


@njit(cache=True, nogil=True, error_model="numpy")
def _write(chosen, clique, axes, states):
    """The states of what is removed, from the number of a cell."""
    for axis in range(clique.n_removed - 1, -1, -1):
        states[axes[axis]] = chosen % clique.states[axis]
        chosen //= clique.states[axis]


@njit(cache=True, nogil=True, error_model="numpy")
def trace_best(nodes, values, states):
    """One state of each variable, by places, whose product is the largest; ``values`` are those of maxima."""
    for node in range(len(nodes.n_removed) - 1, -1, -1):
        clique, axes = clique_of(nodes, node), nodes.axes[nodes.axis_start[node] : nodes.axis_start[node + 1]]
        base, counter = np.empty(len(clique.inputs), np.int64), np.zeros(len(axes), np.int64)
        _stand_at(nodes, clique, axes, states, base)
        best, most, cell, more = 0, -np.inf, 0, True
        while more:
            x = 0.0
            for at in base:
                x += values[at]
            if x > most:
                best, most = cell, x
            cell += 1
            more = advance(counter, clique.states, clique.strides, base, 0, clique.n_removed)
        _write(best, clique, axes, states)


@njit(cache=True, nogil=True, error_model="numpy")
def draw(nodes, values, start, first, states):
    """Rows of states, by places, each drawn from the distribution; ``values`` are those of sums.

    Row r takes its random numbers from where a counter beginning at ``start`` is in row ``first + r``: it is the same
    however rows are dealt out.
    """
    n_cells, n_axes, n_inputs = 1, 1, 1
    for node in range(len(nodes.n_removed)):
        clique, cells = clique_of(nodes, node), 1
        for axis in range(clique.n_removed):
            cells *= clique.states[axis]
        n_cells, n_axes = max(n_cells, cells), max(n_axes, len(clique.states))
        n_inputs = max(n_inputs, len(clique.inputs))
    cumulated, counter, room = np.empty(n_cells), np.zeros(n_axes, np.int64), np.empty(n_inputs, np.int64)
    for row in range(len(states)):
        number = np.uint64(start) + np.uint64(first + row) * np.uint64(len(nodes.n_removed) + 1)
        for node in range(len(nodes.n_removed) - 1, -1, -1):
            clique, axes = clique_of(nodes, node), nodes.axes[nodes.axis_start[node] : nodes.axis_start[node + 1]]
            base = room[: len(clique.inputs)]
            _stand_at(nodes, clique, axes, states[row], base)
            total, cell, more = 0.0, 0, clique.n_removed > 0
            while more:
                x = 1.0
                for at in base:
                    x *= values[at]
                total += x
                cumulated[cell] = total
                cell += 1
                more = advance(counter, clique.states, clique.strides, base, 0, clique.n_removed)
            goal, chosen = total * _uniform(number + np.uint64(node)), 0
            while chosen < cell - 1 and cumulated[chosen] <= goal:
                chosen += 1
            _write(chosen, clique, axes, states[row])
