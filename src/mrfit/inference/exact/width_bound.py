"""A lower bound on treewidth, which rejects graphs that are too wide without a search for an order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from heapq import heapify, heappop, heappush
from itertools import accumulate, combinations
from operator import mul

from mrfit._typing import Scope

Neighbours = dict[int, set[int]]


def is_too_wide(shape: Sequence[int], scopes: Iterable[Scope], max_cells: float) -> bool:
    """Return True if every order makes a clique of more than ``max_cells`` cells; False proves nothing.

    The largest clique has at least `least_width` + 1 variables, at best those with fewest states.
    """
    cells = accumulate(sorted(n_states for n_states in shape if n_states > 1), mul)
    too_wide = next((width for width, n_cells in enumerate(cells) if n_cells > max_cells), None)
    if too_wide is None:
        return False
    return least_width(_neighbours(shape, scopes), enough=too_wide) >= too_wide


def least_width(near: Neighbours, *, enough: int) -> int:
    """Return a lower bound on the width of every order of elimination; stop at a bound of ``enough``.

    If every vertex of a minor of the graph has d neighbours or more, the width of both is at least d. Minors come from
    contracting the vertex of least degree with the neighbour that shares fewest neighbours with it (contraction
    degeneracy by least-c; Bodlaender and Koster 2011, Treewidth computations II). ``near`` is modified.
    """
    least = 0
    by_degree = [(len(others), v) for v, others in near.items()]
    heapify(by_degree)
    while by_degree and least < enough:
        degree, v = heappop(by_degree)
        if v not in near or degree != len(near[v]):  # an outdated entry of the heap
            continue
        least = max(least, degree)
        for u in _contract(near, v):
            heappush(by_degree, (len(near[u]), u))
    return least


def _contract(near: Neighbours, v: int) -> set[int]:
    """Contract a vertex with one of its neighbours; return all vertices whose degree has changed."""
    own = near.pop(v)
    for u in own:
        near[u].discard(v)
    if own:
        joined = min(own, key=lambda u: (len(near[u] & own), u))
        for u in own - near[joined] - {joined}:
            near[joined].add(u)
            near[u].add(joined)
    return own


def _neighbours(shape: Sequence[int], scopes: Iterable[Scope]) -> Neighbours:
    near: Neighbours = {v: set() for v, n_states in enumerate(shape) if n_states > 1}
    for scope in scopes:
        for a, b in combinations((v for v in scope if v in near), 2):
            near[a].add(b)
            near[b].add(a)
    return near
