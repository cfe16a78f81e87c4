"""The width that a graph has at least, beside that of the best of all orders."""

from __future__ import annotations

from functools import cache
from itertools import combinations

import numpy as np
import pytest

from mrfit.inference.exact.width_bound import is_too_wide, least_width

Edges = list[tuple[int, int]]

GRAPHS: dict[str, tuple[int, Edges, int]] = {  # variables, edges, width
    "empty": (3, [], 0),
    "tree": (6, [(0, 1), (0, 2), (2, 3), (2, 4), (4, 5)], 1),
    "cycle": (6, [(i, (i + 1) % 6) for i in range(6)], 2),
    "complete": (7, list(combinations(range(7), 2)), 6),
    "disconnected": (8, [*combinations(range(4), 2), (4, 5), (6, 7)], 3),
}


def near_of(n: int, edges: Edges) -> dict[int, set[int]]:
    near: dict[int, set[int]] = {v: set() for v in range(n)}
    for a, b in edges:
        near[a].add(b)
        near[b].add(a)
    return near


def width_of(n: int, edges: Edges) -> int:
    """Treewidth by all elimination orders, as a recursion on the variable that is eliminated last."""
    near = near_of(n, edges)

    def degree(gone: frozenset[int], v: int) -> int:
        seen, found, ahead = {v}, set(), [v]
        while ahead:
            for u in near[ahead.pop()] - seen:
                seen.add(u)
                (ahead.append if u in gone else found.add)(u)
        return len(found)

    @cache
    def least(gone: frozenset[int]) -> int:
        return min((max(least(gone - {v}), degree(gone - {v}, v)) for v in gone), default=0)

    return least(frozenset(range(n)))


@pytest.mark.parametrize("name", GRAPHS)
def test_simple_graphs_have_the_width_that_they_have(name: str) -> None:
    n, edges, width = GRAPHS[name]
    assert least_width(near_of(n, edges), enough=n) == width_of(n, edges) == width


def test_no_order_comes_below(rng: np.random.Generator) -> None:
    pairs = list(combinations(range(8), 2))
    for share in (0.2, 0.4, 0.6, 0.8) * 5:
        edges = [pair for pair in pairs if rng.random() < share]
        assert width_of(8, edges) - 2 <= least_width(near_of(8, edges), enough=8) <= width_of(8, edges)


def test_too_wide_is_what_no_clique_could_hold() -> None:
    scopes = [(0, 1, 2), (2, 3), (3, 4), (4, 0)]  # a triple, and a cycle of four that shares a pair of it: width 2
    assert not is_too_wide([2] * 5, scopes, max_cells=8)
    assert is_too_wide([2] * 5, scopes, max_cells=7)
    assert not is_too_wide([2, 3, 4, 2, 2], scopes, max_cells=8)  # it may be of those with two states
    assert is_too_wide([3] * 5, scopes, max_cells=26)
    assert not is_too_wide([2, 2, 2, 1, 1], scopes, max_cells=8)  # variables of one state join nobody
    assert not is_too_wide([], [], max_cells=0)
