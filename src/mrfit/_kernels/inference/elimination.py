"""Elimination orders of a graph's variables, compared by the total cells of their cliques."""

from __future__ import annotations

import numpy as np

from mrfit._kernels.arithmetic.bits import drop, has, lowest, members, n_ones, n_words, put
from mrfit._kernels.machine_code.compiled import njit

# The criterion for the next variable, which is minimised: pairs of neighbours without an edge, the same weighted by
# their states, cells of the clique; or none, if the order is given.
FILL, WEIGHTED_FILL, CELLS, GIVEN = 0, 1, 2, 3

_POOL = 10  # kinds of orders, which are random from the fourth on
_PATIENCE = 10  # stop after this multiple of the number of orders that the best one took
_NOISE = 0.3  # scores are multiplied by a random number from 1 to 1 + _NOISE
_ONE = np.uint64(1)
_SHIFTS = (np.uint64(13), np.uint64(7), np.uint64(17))


@njit(cache=True, nogil=True)
def _random(state):
    """Return a uniform number from [0, 1), by xorshift (Marsaglia 2003)."""
    x = state[0]
    x ^= x << _SHIFTS[0]
    x ^= x >> _SHIFTS[1]
    x ^= x << _SHIFTS[2]
    state[0] = x
    return (x >> np.uint64(11)) * 2.0**-53


@njit(cache=True, nogil=True)
def _missing(graph, v, near, n_near, n_states, weighted):
    """Count the pairs of neighbours of ``v`` without an edge, each once or by the product of their states."""
    total = 0.0
    for a in range(n_near):
        u = near[a]
        for i in range(graph.shape[1]):
            word = graph[v, i] & ~graph[u, i]
            if not weighted:
                total += n_ones(word)
                continue
            while word != 0:
                total += n_states[u] * n_states[64 * i + lowest(word)]
                word &= word - _ONE
        # Every missing pair is met from both of its ends, hence the half below.
        total -= n_states[u] * n_states[u] if weighted else 1.0  # u itself, which is not its own neighbour
    return 0.5 * total


@njit(cache=True, nogil=True)
def _clique_cells(v, near, n_near, n_states):
    cells = n_states[v]
    for a in range(n_near):
        cells *= n_states[near[a]]
    return cells


@njit(cache=True, nogil=True)
def _score(graph, v, near, n_near, n_states, rule):
    if rule == CELLS:
        return _clique_cells(v, near, n_near, n_states)
    return _missing(graph, v, near, n_near, n_states, rule == WEIGHTED_FILL)


@njit(cache=True, nogil=True)
def _least(score, is_left, noise, ties, random):
    """Return the variable of least score; noise blurs scores, and ties are decided at random or by number."""
    best, least, n_equal = -1, np.inf, 1
    for v in range(len(score)):
        if not is_left[v]:
            continue
        s = score[v] * (1.0 + _NOISE * _random(random)) if noise else score[v]
        if s < least or best < 0:
            best, least, n_equal = v, s, 1
        elif ties and s == least:
            n_equal += 1
            # The n-th of equal scores replaces the choice with probability 1 / n, so that each is equally likely.
            if _random(random) * n_equal < 1.0:
                best = v
    return best


@njit(cache=True, nogil=True)
def _join(graph, near, n_near, n_states, score, rule):
    """Join all neighbours of a variable; update the scores of common neighbours for each new edge."""
    n_words = graph.shape[1]
    work = 0
    for a in range(n_near):
        u = near[a]
        for b in range(a):
            t = near[b]
            if has(graph, u, t):
                continue
            # The new edge u - t fills a gap of each common neighbour of u and t. The scores of the neighbours of the
            # eliminated variable change in more ways and are computed afresh by the caller.
            if rule in (FILL, WEIGHTED_FILL):
                worth = n_states[u] * n_states[t] if rule == WEIGHTED_FILL else 1.0
                for i in range(n_words):
                    word = graph[u, i] & graph[t, i]
                    while word != 0:
                        score[64 * i + lowest(word)] -= worth
                        word &= word - _ONE
                work += n_words
            put(graph, u, t)
            put(graph, t, u)
    return work + n_near * n_near


@njit(cache=True, nogil=True)
def eliminate(graph, n_states, rule, noise, ties, random, limit, order):
    """Eliminate all variables of ``graph``, which is overwritten, and write their order.

    Returns the cells of all cliques, infinite as soon as they exceed ``limit``, and the number of memory words read: a
    measure of time that is the same on every machine.
    """
    n = graph.shape[0]
    is_left, score = np.ones(n, np.bool_), np.zeros(n)
    near, nearer = np.empty(n, np.int64), np.empty(n, np.int64)
    work = n * graph.shape[1]
    if rule != GIVEN:
        for v in range(n):
            n_near = members(graph, v, near)
            score[v] = _score(graph, v, near, n_near, n_states, rule)
            work += n_near * graph.shape[1]
    total = 0.0
    for step in range(n):
        v = order[step] if rule == GIVEN else _least(score, is_left, noise, ties, random)
        order[step], is_left[v] = v, False
        n_near = members(graph, v, near)
        total += _clique_cells(v, near, n_near, n_states)
        if total > limit:
            return np.inf, work
        for a in range(n_near):
            # `near` becomes a clique: with v it is the clique that v is eliminated in.
            drop(graph, near[a], v)
        work += _join(graph, near, n_near, n_states, score, rule) + n
        if rule != GIVEN:
            for a in range(n_near):
                u = near[a]
                n_nearer = members(graph, u, nearer)
                score[u] = _score(graph, u, nearer, n_nearer, n_states, rule)
                work += graph.shape[1] * (1 if rule == CELLS else n_nearer)
        _clear(graph, v)
    return total, work


@njit(cache=True, nogil=True)
def _clear(graph, v):
    for i in range(graph.shape[1]):
        graph[v, i] = 0


@njit(cache=True, nogil=True)
def _degree(graph, v):
    count = 0
    for i in range(graph.shape[1]):
        count += n_ones(graph[v, i])
    return count


@njit(cache=True, nogil=True)
def by_breadth(graph, start, order):
    """Order variables breadth first from ``start``, least degree first (Cuthill and McKee 1969); all components."""
    n = graph.shape[0]
    seen, near = np.zeros(n, np.bool_), np.empty(n, np.int64)
    first, last = 0, 0
    for root in range(n):
        v = (start + root) % n
        if seen[v]:
            continue
        order[last], seen[v] = v, True
        last += 1
        while first < last:
            n_near = members(graph, order[first], near)
            first += 1
            begin = last
            for a in range(n_near):
                u = near[a]
                if seen[u]:
                    continue
                seen[u] = True
                degree, at = _degree(graph, u), last
                while at > begin and _degree(graph, order[at - 1]) > degree:
                    order[at] = order[at - 1]
                    at -= 1
                order[at] = u
                last += 1


@njit(cache=True, nogil=True)
def by_frontier(graph, start, random, order):
    """Order variables by a sweep: next is the neighbour of finished variables that brings the fewest new neighbours."""
    n = graph.shape[0]
    words = graph.shape[1]
    is_done, in_front = np.zeros(n, np.bool_), np.zeros(n, np.bool_)
    reached = np.zeros((1, words), np.uint64)  # finished or in front
    near = np.empty(n, np.int64)
    for step in range(n):
        best, least, n_equal = -1, n + 1, 1
        for v in range(n):
            if not in_front[v] or is_done[v]:
                continue
            new = 0
            for i in range(words):
                new += n_ones(graph[v, i] & ~reached[0, i])
            if new < least:
                best, least, n_equal = v, new, 1
            elif new == least:
                n_equal += 1
                if _random(random) * n_equal < 1.0:
                    best = v
        if best < 0:  # the first of a component
            best = start
            while is_done[best]:
                best = (best + 1) % n
            put(reached, 0, best)
        order[step], is_done[best] = best, True
        n_near = members(graph, best, near)
        for a in range(n_near):
            in_front[near[a]] = True
            put(reached, 0, near[a])


@njit(cache=True, nogil=True)
def _reverse(order):
    for k in range(len(order) // 2):
        order[k], order[-1 - k] = order[-1 - k], order[k]


@njit(cache=True, nogil=True)
def _attempt(kind, graph, n_states, random, limit, order):
    """Try one order of the pool; the best kind differs between images, pedigrees and learned networks."""
    rule, noise = FILL, kind in (4, 8, 9)
    if kind in (1, 2):
        rule = GIVEN
        by_breadth(graph, _far_from(graph, 0), order)
        if kind == 2:
            _reverse(order)
    elif kind == 5:
        rule = GIVEN
        by_frontier(graph, int(_random(random) * graph.shape[0]), random, order)
    elif kind in (6, 8):
        rule = CELLS
    elif kind in (7, 9):
        rule = WEIGHTED_FILL
    return eliminate(graph.copy(), n_states, rule, noise, kind != 0, random, limit, order)


@njit(cache=True, nogil=True)
def _far_from(graph, start):
    """Return a peripheral variable of the graph: two breadth-first searches from any variable end there."""
    order = np.empty(graph.shape[0], np.int64)
    by_breadth(graph, start, order)
    by_breadth(graph, order[-1], order)
    return order[-1]


@njit(cache=True, nogil=True)
def _best_of_pool(graph, n_states, seed, work_a_cell, most_work, hopeless):
    """Return the best of a pool of orders, its cells, and the number of orders tried."""
    n = graph.shape[0]
    order, best = np.arange(n), np.arange(n)
    random = np.empty(1, np.uint64)
    random[0] = np.uint64(seed) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(0xD1B54A32D192ED03)
    least, spent, number, last_gain, best_kind = np.inf, 0.0, 0, 0, 0
    while number == 0 or (spent < min(work_a_cell * least, most_work) and number < _PATIENCE * (last_gain + _POOL)):
        if number >= _POOL and least > hopeless:
            break
        kind = number if number < _POOL else 3 + number % (_POOL - 3)
        if number >= _POOL and number % 2 and best_kind >= 3:
            kind = best_kind  # repeat the best kind with other random numbers
        # An order is given up as soon as it has more cells than the best. The search ends by words of memory read, not
        # by time, so that every machine finds the same order, and with it the same last digits.
        total, work = _attempt(kind, graph, n_states, random, least, order)
        spent += work
        number += 1
        if number == 1 or total < least:
            least, last_gain, best_kind = total, number, kind
            for k in range(n):
                best[k] = order[k]
    return best, least, number


@njit(cache=True, nogil=True)
def neighbours_in(scope_start, scope_variables, n_states):
    """Return the neighbours of variables with several states, by shared scopes: the list starts, and all lists."""
    n = len(n_states)
    n_scopes = np.zeros(n + 1, np.int64)
    for v in scope_variables:
        n_scopes[v + 1] += 1
    first = np.cumsum(n_scopes)
    scopes, filled = np.empty(len(scope_variables), np.int64), first[:-1].copy()
    for scope in range(len(scope_start) - 1):
        for at in range(scope_start[scope], scope_start[scope + 1]):
            v = scope_variables[at]
            scopes[filled[v]] = scope
            filled[v] += 1
    starts, found, seen = np.zeros(n + 1, np.int64), [np.int64(0)], np.full(n, -1)
    found.pop()
    for v in range(n):
        seen[v] = v
        if n_states[v] > 1:
            for at in range(first[v], first[v + 1]):
                scope = scopes[at]
                for other in range(scope_start[scope], scope_start[scope + 1]):
                    u = scope_variables[other]
                    if seen[u] != v and n_states[u] > 1:
                        seen[u] = v
                        found.append(u)
        starts[v + 1] = len(found)
    return starts, np.array(found, np.int64)


@njit(cache=True, nogil=True)
def _without_leaves(starts, neighbours, n_states, order):
    """Eliminate variables with at most one remaining neighbour repeatedly; return their number, and who remains.

    Starting with them is optimal, and nothing remains of a tree.
    """
    n, count = len(n_states), 0
    degree, is_left = np.diff(starts), n_states > 1
    for v in range(n):
        if is_left[v] and degree[v] <= 1:
            is_left[v] = False
            order[count] = v
            count += 1
    first = 0
    while first < count:
        v = order[first]
        first += 1
        for at in range(starts[v], starts[v + 1]):
            u = neighbours[at]
            degree[u] -= 1
            if is_left[u] and degree[u] <= 1:
                is_left[u] = False
                order[count] = u
                count += 1
    return count, is_left


@njit(cache=True, nogil=True)
def best_order(starts, neighbours, n_states, seed, work_a_cell, most_work, hopeless):
    """Return an order of all variables with several states, and the number of orders tried.

    The search goes on until it has done ``work_a_cell`` words of work for each cell of the best order, so that it takes
    no more time than the use of the order; or ``most_work``; or until none of the pool comes below ``hopeless`` cells;
    or for ten times as many orders as it took to find the best.
    """
    order = np.empty(len(n_states), np.int64)
    # Bit sets of the whole graph would take the square of the number of variables; what remains after leaves, the core,
    # is often a small part of it.
    count, is_left = _without_leaves(starts, neighbours, n_states, order)
    core = np.flatnonzero(is_left)
    if len(core) == 0:
        return order[:count], 1
    number = np.empty(len(n_states), np.int64)
    number[core] = np.arange(len(core))
    graph = np.zeros((len(core), n_words(len(core))), np.uint64)
    for k, v in enumerate(core):
        for at in range(starts[v], starts[v + 1]):
            if is_left[neighbours[at]]:
                put(graph, k, number[neighbours[at]])
    best, _, n_tried = _best_of_pool(graph, n_states[core].astype(np.float64), seed, work_a_cell, most_work, hopeless)
    for k in best:
        order[count] = core[k]
        count += 1
    return order[:count], n_tried
