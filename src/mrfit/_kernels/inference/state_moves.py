"""Moves that raise the sum of all tables at a joint state: single variables, pairs, trees, and annealing.

Every factor stores the number of the cell that the state selects in its table. A variable's values are then read at a
stride, for any order of the factor. Work counts the cells read: budgets of work, unlike seconds, are the same on every
machine.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mrfit._kernels.inference.elimination import _random
from mrfit._kernels.machine_code.compiled import njit

_GAIN = 1e-12  # of the largest entry: smaller gains are rounding


class Terms(NamedTuple):
    """Fields and tables of finite numbers, and the positions of variables in them.

    The entries of variable i from ``place_start[i]`` on are its occurrences in factors; each has the ``factor`` and the
    ``stride`` there.
    """

    states: np.ndarray
    field_start: np.ndarray
    field: np.ndarray
    table_start: np.ndarray
    table: np.ndarray
    scope_start: np.ndarray
    scope: np.ndarray
    place_start: np.ndarray
    factor: np.ndarray
    stride: np.ndarray


@njit(cache=True, nogil=True, error_model="numpy")
def pick_cells(terms, state, cell):
    """Fill ``cell`` with the cell that a state selects in each table; return the sum of all terms there."""
    total = 0.0
    for f in range(len(cell)):
        cell[f] = terms.table_start[f]
    for i in range(len(state)):
        total += terms.field[terms.field_start[i] + state[i]]
        for k in range(terms.place_start[i], terms.place_start[i + 1]):
            cell[terms.factor[k]] += state[i] * terms.stride[k]
    for f in range(len(cell)):
        total += terms.table[cell[f]]
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def _weigh(terms, state, cell, i, out):
    """Sum the terms of a variable for each of its states, with all others fixed."""
    n, begin, x = terms.states[i], terms.field_start[i], state[i]
    factor, stride, table = terms.factor, terms.stride, terms.table
    for s in range(n):
        out[s] = terms.field[begin + s]
    for k in range(terms.place_start[i], terms.place_start[i + 1]):
        step = stride[k]
        at = cell[factor[k]] - x * step
        for s in range(n):
            out[s] += table[at + s * step]


@njit(cache=True, nogil=True, error_model="numpy")
def _put(terms, state, cell, i, s):
    change = s - state[i]
    if change != 0:
        for k in range(terms.place_start[i], terms.place_start[i + 1]):
            cell[terms.factor[k]] += change * terms.stride[k]
        state[i] = s


@njit(cache=True, nogil=True, error_model="numpy")
def _best(values, n, x):
    """Return the state with the largest value; ties keep the current state ``x``."""
    best = x
    for s in range(n):
        if values[s] > values[best]:
            best = s
    return best


@njit(cache=True, nogil=True, error_model="numpy")
def _move_singles(terms, state, cell, least, out):
    """Move variables to their best state given all others, until none gains; return the work."""
    work, moved = 0, True
    while moved:
        moved = False
        for i in range(len(state)):
            n, x = terms.states[i], state[i]
            _weigh(terms, state, cell, i, out)
            work += n * (1 + terms.place_start[i + 1] - terms.place_start[i])
            s = _best(out, n, x)
            if out[s] > out[x] + least:
                _put(terms, state, cell, i, s)
                moved = True
    return work


@njit(cache=True, nogil=True, error_model="numpy")
def _move_pair(terms, state, cell, i, s, loss, least, out):
    """Move a variable to a worse state and one neighbour in a factor to its best state for that, if both together gain.

    Returns whether they gain (otherwise nothing changes), and the work.
    """
    x, work = state[i], 0
    _put(terms, state, cell, i, s)
    for k in range(terms.place_start[i], terms.place_start[i + 1]):
        f = terms.factor[k]
        for e in range(terms.scope_start[f], terms.scope_start[f + 1]):
            j = terms.scope[e]
            if j == i:
                continue
            n, y = terms.states[j], state[j]
            _weigh(terms, state, cell, j, out)
            work += n * (1 + terms.place_start[j + 1] - terms.place_start[j])
            t = _best(out, n, y)
            if out[t] - out[y] > loss + least:
                _put(terms, state, cell, j, t)
                return True, work
    _put(terms, state, cell, i, x)
    return False, work


@njit(cache=True, nogil=True, error_model="numpy")
def _move_pairs(terms, state, cell, least, budget, values, out):
    """Move pairs of variables that share a factor, until a pass over all gains nothing or the budget is spent."""
    work, moved = 0, True
    while moved and work < budget:
        moved = False
        for i in range(len(state)):
            n = terms.states[i]
            _weigh(terms, state, cell, i, values)
            for s in range(n):
                x = state[i]
                if s != x and work < budget:
                    gained, spent = _move_pair(terms, state, cell, i, s, values[x] - values[s], least, out)
                    work += spent
                    if gained:
                        moved = True
                        work += _move_singles(terms, state, cell, least, out)
                        _weigh(terms, state, cell, i, values)
    return work


@njit(cache=True, nogil=True, error_model="numpy")
def _root(parent, i):
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


@njit(cache=True, nogil=True, error_model="numpy")
def _choose_forest(terms, order, free, n_free, parent, seen_by, seen_at):
    """Choose variables between which, all others fixed, the factors form a forest of pairs, greedily in order.

    ``free`` is 1 for these variables; ``n_free`` counts them for each factor.
    """
    for i in range(len(order)):
        free[i], parent[i], seen_by[i] = 0, i, -1
    for f in range(len(n_free)):
        n_free[f] = 0
    for i in order:
        fits = True
        for k in range(terms.place_start[i], terms.place_start[i + 1]):
            f = terms.factor[k]
            if n_free[f] == 0:
                continue
            j = _other(terms, free, f, i)
            root = _root(parent, j)
            if n_free[f] > 1 or (seen_by[root] == i and seen_at[root] != j):
                fits = False
                break
            seen_by[root], seen_at[root] = i, j
        if fits:
            free[i] = 1
            for k in range(terms.place_start[i], terms.place_start[i + 1]):
                f = terms.factor[k]
                if n_free[f] == 1:
                    parent[_root(parent, _other(terms, free, f, i))] = _root(parent, i)
                n_free[f] += 1


@njit(cache=True, nogil=True, error_model="numpy")
def _other(terms, free, f, i):
    """Return the other free variable of a factor; -1 if it has no other."""
    for e in range(terms.scope_start[f], terms.scope_start[f + 1]):
        j = terms.scope[e]
        if j != i and free[j]:
            return j
    return -1


@njit(cache=True, nogil=True, error_model="numpy")
def _stride_in(terms, f, i):
    for k in range(terms.place_start[i], terms.place_start[i + 1]):
        if terms.factor[k] == f:
            return terms.stride[k]
    return 0


@njit(cache=True, nogil=True, error_model="numpy")
def _visit_forest(terms, free, n_free, parent, order):
    """Write the free variables into ``order``, each after its parent (-1: a root); return their number."""
    n = 0
    for i in range(len(free)):
        parent[i] = -2
    for root in range(len(free)):
        if not free[root] or parent[root] != -2:
            continue
        parent[root], at = -1, n
        order[n] = root
        n += 1
        while at < n:
            i = order[at]
            at += 1
            for k in range(terms.place_start[i], terms.place_start[i + 1]):
                f = terms.factor[k]
                if n_free[f] == 2:
                    j = _other(terms, free, f, i)
                    if parent[j] == -2:
                        parent[j] = i
                        order[n] = j
                        n += 1
    return n


@njit(cache=True, nogil=True, error_model="numpy")
def _move_forest(terms, state, cell, random, buffers):
    """Move a random forest of variables to its best joint state, all others fixed; return the work."""
    order, free, n_free, parent, seen_by, seen_at, value, choice, pair = buffers
    n = len(state)
    for i in range(n - 1, 0, -1):
        j = int(_random(random) * (i + 1))
        order[i], order[j] = order[j], order[i]
    _choose_forest(terms, order, free, n_free, parent, seen_by, seen_at)
    visited, work = seen_at, 0
    n_visited = _visit_forest(terms, free, n_free, parent, visited)
    for at in range(n_visited):
        i = visited[at]
        for s in range(terms.states[i]):
            value[i, s] = terms.field[terms.field_start[i] + s]
    for at in range(n_visited - 1, -1, -1):
        i, p = visited[at], parent[visited[at]]
        c, x = terms.states[i], state[i]
        if p >= 0:
            for t in range(terms.states[p]):
                for s in range(c):
                    pair[t, s] = 0.0
        for k in range(terms.place_start[i], terms.place_start[i + 1]):
            f, step = terms.factor[k], terms.stride[k]
            begin = cell[f] - x * step
            if n_free[f] == 1:
                for s in range(c):
                    value[i, s] += terms.table[begin + s * step]
                work += c
            elif p >= 0 and _other(terms, free, f, i) == p:
                far = _stride_in(terms, f, p)
                begin -= state[p] * far
                for t in range(terms.states[p]):
                    for s in range(c):
                        pair[t, s] += terms.table[begin + t * far + s * step]
                work += c * terms.states[p]
        if p >= 0:
            for t in range(terms.states[p]):
                best = x if t == state[p] else 0
                for s in range(c):
                    if pair[t, s] + value[i, s] > pair[t, best] + value[i, best]:
                        best = s
                choice[i, t] = best
                value[p, t] += pair[t, best] + value[i, best]
    for at in range(n_visited):
        i = visited[at]
        if parent[i] < 0:
            _put(terms, state, cell, i, _best(value[i], terms.states[i], state[i]))
        else:
            _put(terms, state, cell, i, choice[i, state[parent[i]]])
    return work + 2 * len(terms.scope) + n


@njit(cache=True, nogil=True, error_model="numpy")
def _forest_buffers(terms):
    """Return the buffers of `_move_forest`."""
    n, widest = len(terms.states), 1
    for c in terms.states:
        widest = max(widest, c)
    order, free, parent = np.arange(n), np.zeros(n, np.int64), np.empty(n, np.int64)
    seen_by, seen_at = np.empty(n, np.int64), np.empty(n, np.int64)
    n_free = np.empty(len(terms.table_start) - 1, np.int64)
    value, choice = np.empty((n, widest)), np.empty((n, widest), np.int64)
    return order, free, n_free, parent, seen_by, seen_at, value, choice, np.empty((widest, widest))


@njit(cache=True, nogil=True, error_model="numpy")
def _scale(terms):
    """Return the largest absolute entry of all terms."""
    top = 0.0
    for value in terms.field:
        top = max(top, abs(value))
    for value in terms.table:
        top = max(top, abs(value))
    return top


@njit(cache=True, nogil=True, error_model="numpy")
def climb(terms, state, random, patience, budget):
    """Raise a state by moves of single variables, pairs and random forests.

    It ends after ``patience`` forests in a row without gain, or when the budget is spent. Returns the sum of all terms
    and the work.
    """
    cell, least = np.empty(len(terms.table_start) - 1, np.int64), _GAIN * (1.0 + _scale(terms))
    buffers = _forest_buffers(terms)
    widest = buffers[-1].shape[0]
    values, out = np.empty(widest), np.empty(widest)
    pick_cells(terms, state, cell)
    work = _move_singles(terms, state, cell, least, out)
    work += _move_pairs(terms, state, cell, least, budget - work, values, out)
    score, failures = pick_cells(terms, state, cell), 0
    while failures < patience and work < budget:
        work += _move_forest(terms, state, cell, random, buffers)
        raised = pick_cells(terms, state, cell)
        failures += 1
        if raised > score + least:
            failures = 0
            work += _move_singles(terms, state, cell, least, out)
            work += _move_pairs(terms, state, cell, least, budget - work, values, out)
            raised = pick_cells(terms, state, cell)
        score = raised
    return score, work


@njit(cache=True, nogil=True, error_model="numpy")
def anneal(terms, state, random, hottest, coldest, n_sweeps):
    """Run sweeps of Gibbs sampling at temperatures that fall geometrically; return the work."""
    cell, n = np.empty(len(terms.table_start) - 1, np.int64), len(state)
    widest, work = 1, 0
    for i in range(n):
        widest = max(widest, terms.states[i])
        work += terms.states[i] * (1 + terms.place_start[i + 1] - terms.place_start[i])
    out = np.empty(widest)
    pick_cells(terms, state, cell)
    cooler = (coldest / hottest) ** (1.0 / max(n_sweeps - 1, 1))
    temperature = hottest
    for _ in range(n_sweeps):
        for i in range(n):
            c = terms.states[i]
            if c > 1:
                _weigh(terms, state, cell, i, out)
                _put(terms, state, cell, i, _draw(out, c, temperature, random))
        temperature *= cooler
    return work * n_sweeps


@njit(cache=True, nogil=True, error_model="numpy")
def _draw(values, n, temperature, random):
    """Draw a state with probability proportional to exp(value / temperature)."""
    top, total = values[0], 0.0
    for s in range(1, n):
        top = max(top, values[s])
    for s in range(n):
        values[s] = np.exp((values[s] - top) / temperature)
        total += values[s]
    u = _random(random) * total
    for s in range(n - 1):
        u -= values[s]
        if u < 0.0:
            return s
    return n - 1
