"""Pairs that can be joined without making the cliques of a graph too large.

Variables are eliminated in an order; ``above[k]`` are the later positions in it that are joined to position k at its
elimination. A further pair changes these sets along a single path, from the earlier of the two upwards, so its cost can
be computed without elimination.
"""

from __future__ import annotations

import numpy as np

from mrfit._kernels.arithmetic.bits import drop, lowest, members, n_ones, n_words, put
from mrfit._kernels.inference.elimination import FILL, eliminate
from mrfit._kernels.machine_code.compiled import njit

_ONE = np.uint64(1)
_WORK = 2e7  # budget for fresh orders, each of which takes about the square of the number of variables
_FEWEST_TRIALS = 50  # least number of fresh orders


@njit(cache=True, nogil=True)
def _first(sets, row):
    for i in range(sets.shape[1]):
        if sets[row, i] != 0:
            return 64 * i + lowest(sets[row, i])
    return -1


@njit(cache=True, nogil=True)
def _n_outside(sets, row, others, other):
    """Count the members of one set that are not in another."""
    count = 0
    for i in range(sets.shape[1]):
        count += n_ones(sets[row, i] & ~others[other, i])
    return count


@njit(cache=True, nogil=True)
def _product(sets, row, but, row_but, n_states):
    """Return the product of the numbers of states of the members of one set that are not in another."""
    product = 1.0
    for i in range(sets.shape[1]):
        word = sets[row, i] & ~but[row_but, i]
        while word != 0:
            product *= n_states[64 * i + lowest(word)]
            word &= word - _ONE
    return product


@njit(cache=True, nogil=True)
def triangulated(graph, order):
    """Return the set above every position, and the position of every variable."""
    n = len(order)
    above, position, near = np.zeros((n, n_words(n)), np.uint64), np.empty(n, np.int64), np.empty(n, np.int64)
    position[order] = np.arange(n)
    for k in range(n):
        for at in range(members(graph, order[k], near)):
            if position[near[at]] > k:
                put(above, k, position[near[at]])
    for k in range(n):
        parent = _first(above, k)
        if parent >= 0:
            above[parent] |= above[k]
            drop(above, parent, parent)
    return above, position


@njit(cache=True, nogil=True)
def clique_cells(above, n_states):
    """Return the cells of the clique of every position; ``n_states`` is by position."""
    none, cells = np.zeros((1, above.shape[1]), np.uint64), np.empty(len(above))
    for k in range(len(above)):
        cells[k] = n_states[k] * _product(above, k, none, 0, n_states)
    return cells


@njit(cache=True, nogil=True)
def _join(above, cells, n_states, first, second, write):
    """Return the cells that all cliques gain together if two positions are joined; ``write`` joins them."""
    more = np.zeros((1, above.shape[1]), np.uint64)
    k, gain = min(first, second), 0.0
    put(more, 0, max(first, second))
    while True:
        # ``more`` are the later positions that the new pair adds above k. Elimination passes them to the parent, the
        # first of the set above k, and so on upwards until nothing is new.
        if _n_outside(more, 0, above, k) == 0:
            return gain
        times = _product(more, 0, above, k, n_states)
        gain += (times - 1.0) * cells[k]
        for i in range(above.shape[1]):
            more[0, i] |= above[k, i]
        if write:
            above[k] = more[0]
            cells[k] *= times
        k = _first(more, 0)
        drop(more, 0, k)


@njit(cache=True, nogil=True)
def admit(graph, pairs, n_states, limit, most, most_each, order, answers):
    """Join pairs in ``graph``, in order, until ``most`` are joined, with at most ``most_each`` at any variable.

    ``answers`` becomes 1 for joined pairs, and -1 for pairs with which the cliques would exceed ``limit`` cells in
    total: in the present order, and for the first such pairs also in a fresh order of least fill. ``order`` satisfies
    the limit, before and after.
    """
    above, position = triangulated(graph, order)
    by_position = n_states[order]
    cells = clique_cells(above, by_position)
    random, trial = np.ones(1, np.uint64), np.empty_like(order)
    n_new, n_trials = np.zeros(len(graph), np.int64), max(_FEWEST_TRIALS, _WORK / len(graph) ** 2)
    for k in range(len(pairs)):
        a, b = pairs[k]
        if most == 0 or n_new[a] == most_each or n_new[b] == most_each:
            continue
        put(graph, a, b)
        put(graph, b, a)
        # Asked first without writing: most pairs of a large graph do not fit, and undoing a join would cost a copy.
        fits = cells.sum() + _join(above, cells, by_position, position[a], position[b], False) <= limit
        if fits:
            _join(above, cells, by_position, position[a], position[b], True)
        elif n_trials > 0:
            # A fresh order may fit where the present one does not; it costs an elimination, hence the limited number.
            n_trials -= 1
            fits = eliminate(graph.copy(), n_states, FILL, False, False, random, limit, trial)[0] <= limit
            if fits:
                order[:] = trial
                above, position = triangulated(graph, order)
                by_position = n_states[order]
                cells = clique_cells(above, by_position)
        if fits:
            answers[k] = 1
            n_new[a] += 1
            n_new[b] += 1
            most -= 1
        else:
            answers[k] = -1
            drop(graph, a, b)
            drop(graph, b, a)
