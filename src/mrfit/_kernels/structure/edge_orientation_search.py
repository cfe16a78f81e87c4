"""Edges with an owner each, such that no variable owns too many."""

from __future__ import annotations

import numpy as np

from mrfit._kernels.machine_code.compiled import njit


@njit(cache=True, nogil=True)
def _free_slot(a, b, owned, n_owned, closed, reached_by, slot, queue):
    """Free a slot at a or b by passing edges on to their other ends; return the one with a free slot, or -1.

    A breadth-first search over owned edges, from both ends, looks for a variable with a free slot; every edge on the
    way changes its owner. If no variable has one, all reached variables own as many edges as they can, all among
    themselves. No edge among them can ever enter, so all of them are closed.
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
    # Walk back from the free slot: each variable on the way takes over the edge through which it was reached.
    end = found
    while end >= 0 and reached_by[end] != end:
        giver = reached_by[end]
        owned[end, n_owned[end]] = giver
        n_owned[end] += 1
        n_owned[giver] -= 1
        owned[giver, slot[end]] = owned[giver, n_owned[giver]]
        end = giver
    for k in range(tail):
        # Without a free slot the reached variables own as many edges as Hakimi's theorem (1965) allows among them.
        closed[queue[k]] = found < 0
        reached_by[queue[k]] = -1
    return end


@njit(cache=True, nogil=True)
def enter(first, second, limit, owned, n_owned, closed, entered):
    """Let edges in, in their order, as long as each can have an owner; mark those that ``entered``.

    ``owned[v]`` lists the other ends of the edges that v owns. An edge is skipped if both its ends have met ``limit``
    edges in this call, because its score has changed since.
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
            owner = _free_slot(a, b, owned, n_owned, closed, reached_by, slot, queue)
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
    """Remove edges from their owners."""
    for k in range(len(first)):
        for a, b in ((first[k], second[k]), (second[k], first[k])):
            for k_owned in range(n_owned[a]):
                if owned[a, k_owned] == b:
                    n_owned[a] -= 1
                    owned[a, k_owned] = owned[a, n_owned[a]]
                    break
