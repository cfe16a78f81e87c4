"""Edges with an owner each, of which a variable owns at most so many."""

from __future__ import annotations

import numpy as np

from mrfit._kernels.machine_code.compiled import njit


@njit(cache=True, nogil=True)
def _make_room(a, b, owned, n_owned, closed, reached_by, slot, queue):
    """Free a place at a or b by handing edges on to their other ends; which of the two has one, or -1.

    A search in breadth over owned edges, from both ends, for a variable with a place free; every edge on the way
    changes hands. Where there is none, all that was reached owns as many edges as it can, all of them within what was
    reached: no edge within can ever enter, and all of it is closed.
    """
    most, head, tail = owned.shape[1], 0, 0
    for v in (a, b):
        if not closed[v] and reached_by[v] == -1:
            reached_by[v] = v
            queue[tail] = v
            tail += 1
    found = -1
    while head < tail and found < 0:
        v = queue[head]
        head += 1
        if n_owned[v] < most:
            found = v
            break
        for k in range(most):
            u = owned[v, k]
            if reached_by[u] == -1 and not closed[u]:
                reached_by[u] = v
                slot[u] = k
                queue[tail] = u
                tail += 1
    end = found
    while end >= 0 and reached_by[end] != end:
        giver = reached_by[end]
        owned[end, n_owned[end]] = giver
        n_owned[end] += 1
        n_owned[giver] -= 1
        owned[giver, slot[end]] = owned[giver, n_owned[giver]]
        end = giver
    for k in range(tail):
        closed[queue[k]] = found < 0
        reached_by[queue[k]] = -1
    return end


@njit(cache=True, nogil=True)
def enter(first, second, limit, owned, n_owned, closed, entered):
    """Let edges in, in their order, as far as every one can have an owner; marks those that ``entered``.

    ``owned[v]`` lists the other ends of the edges that v owns. An edge is passed over where both its ends have met
    ``limit`` edges in this call: what they promise has changed.
    """
    n = len(n_owned)
    met, reached_by, slot = np.zeros(n, np.int64), np.full(n, -1), np.empty(n, np.int64)
    queue, n_entered = np.empty(n, np.int64), 0
    for k in range(len(first)):
        a, b = first[k], second[k]
        entered[k] = False
        if (met[a] >= limit and met[b] >= limit) or (closed[a] and closed[b]):
            continue
        owner = a if n_owned[a] <= n_owned[b] else b
        if n_owned[owner] >= owned.shape[1]:
            owner = _make_room(a, b, owned, n_owned, closed, reached_by, slot, queue)
        if owner < 0:
            continue
        owned[owner, n_owned[owner]] = a + b - owner
        n_owned[owner] += 1
        met[a] += 1
        met[b] += 1
        entered[k] = True
        n_entered += 1
    return n_entered


@njit(cache=True, nogil=True)
def leave(first, second, owned, n_owned):
    """Take edges away from whoever owns them."""
    for k in range(len(first)):
        for a, b in ((first[k], second[k]), (second[k], first[k])):
            for place in range(n_owned[a]):
                if owned[a, place] == b:
                    n_owned[a] -= 1
                    owned[a, place] = owned[a, n_owned[a]]
                    break
