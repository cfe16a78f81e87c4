"""Backward pass over the nodes of a tree that chooses states: the best ones, or random ones."""

from __future__ import annotations

import numpy as np

from mrfit._kernels.inference.tensor_blocks import advance, clique_of, make_work_arrays
from mrfit._kernels.machine_code.compiled import njit

_MIX = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))
_SHIFT = (np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11))


@njit(cache=True, nogil=True, error_model="numpy")
def _uniform(counter):
    """Return a number from [0, 1) for each value of a counter (splitmix64, Steele, Lea and Flood 2014)."""
    x = counter * _MIX[0]
    x = (x ^ (x >> _SHIFT[0])) * _MIX[1]
    x = (x ^ (x >> _SHIFT[1])) * _MIX[2]
    x ^= x >> _SHIFT[2]
    return (x >> _SHIFT[3]) * 2.0**-53


@njit(cache=True, nogil=True, error_model="numpy")
def _set_bases(nodes, clique, states, work):
    """Set the base of each input of a clique, given the states of the axes that are not removed."""
    for k in range(clique.n_inputs):
        at, strides = nodes.table_start[nodes.inputs[clique.input + k]], clique.stride + k * clique.n_axes
        for axis in range(clique.n_removed, clique.n_axes):
            at += nodes.strides[strides + axis] * states[nodes.axes[clique.axis + axis]]
        work.base[k] = at


@njit(cache=True, nogil=True, error_model="numpy")
def _write(chosen, nodes, clique, states):
    """Write the states of the removed axes, decoded from the number of a cell."""
    for axis in range(clique.n_removed - 1, -1, -1):
        n_states = nodes.axis_states[clique.axis + axis]
        states[nodes.axes[clique.axis + axis]] = chosen % n_states
        chosen //= n_states


@njit(cache=True, nogil=True, error_model="numpy")
def trace_best(nodes, values, states):
    """Write rows of states, in elimination order, with the largest product; ``values`` are from maxima."""
    work = make_work_arrays(nodes)
    for row in range(len(states)):
        for node in range(len(nodes.n_removed) - 1, -1, -1):
            clique = clique_of(nodes, node)
            _set_bases(nodes, clique, states[row], work)
            best, most, cell, more = 0, -np.inf, 0, True
            while more:
                x = 0.0
                for k in range(clique.n_inputs):
                    x += values[work.base[k]]
                if x > most:
                    best, most = cell, x
                cell += 1
                more = advance(nodes, clique, work, 0, clique.n_removed, False)
            _write(best, nodes, clique, states[row])


@njit(cache=True, nogil=True, error_model="numpy")
def _most_removed_cells(nodes):
    most = 1
    for node in range(len(nodes.n_removed)):
        clique = clique_of(nodes, node)
        most = max(most, clique.n_cells // clique.n_kept)
    return most


@njit(cache=True, nogil=True, error_model="numpy")
def draw(nodes, values, start, first, states):
    """Draw rows of states, in elimination order, from the distribution; ``values`` are from sums.

    Row r takes its random numbers at row ``first + r`` of a counter that begins at ``start``, so the result does not
    depend on how rows are dealt to threads.
    """
    work, cumulated = make_work_arrays(nodes), np.empty(_most_removed_cells(nodes))
    for row in range(len(states)):
        number = np.uint64(start) + np.uint64(first + row) * np.uint64(len(nodes.n_removed) + 1)
        for node in range(len(nodes.n_removed) - 1, -1, -1):
            clique = clique_of(nodes, node)
            if clique.n_removed == 0:
                continue
            _set_bases(nodes, clique, states[row], work)
            total, cell, more = 0.0, 0, True
            while more:
                x = 1.0
                for k in range(clique.n_inputs):
                    x *= values[work.base[k]]
                total += x
                cumulated[cell] = total
                cell += 1
                more = advance(nodes, clique, work, 0, clique.n_removed, False)
            goal, chosen = total * _uniform(number + np.uint64(node)), 0
            while chosen < cell - 1 and cumulated[chosen] <= goal:
                chosen += 1
            _write(chosen, nodes, clique, states[row])
