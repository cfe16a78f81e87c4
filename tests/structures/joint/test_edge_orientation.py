"""Edges with owners: every graph that can be dealt within the bound is reached, and no other."""

from __future__ import annotations

from itertools import chain, combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mrfit.structures.joint.edge_orientation import OwnedEdges

N = 6
PAIRS = list(combinations(range(N), 2))


def _can_be_dealt(edges: list[tuple[int, int]], bound: int) -> bool:
    """Whether an orientation exists (Hakimi 1965): no set of variables holds more edges than bound times size."""
    parts = chain.from_iterable(combinations(range(N), k) for k in range(1, N + 1))
    return all(sum(a in part and b in part for a, b in edges) <= bound * len(part) for part in map(set, parts))


def _check(graph: OwnedEdges, bound: int) -> None:
    """Every edge has one owner, one of its ends, and nobody has too many."""
    owners = graph.owners()
    assert (owners.sum(axis=1) == graph.n_owned).all()
    assert graph.n_owned.max() <= bound
    assert not (owners & owners.T).any()
    np.testing.assert_array_equal(owners | owners.T, graph.adjacency())


@given(order=st.permutations(PAIRS), bound=st.integers(1, 3))
def test_an_edge_enters_where_owners_can_be_found_and_nowhere_else(order: list[tuple[int, int]], bound: int) -> None:
    graph, entered = OwnedEdges.none(N, bound).joined(np.array(order), limit=N)
    _check(graph, bound)
    dealt: list[tuple[int, int]] = []
    for edge, came_in in zip(order, entered.tolist(), strict=True):
        assert came_in == _can_be_dealt([*dealt, edge], bound)
        dealt += [edge] if came_in else []
    np.testing.assert_array_equal(graph.edges, dealt)


@given(order=st.permutations(PAIRS), leaving=st.sets(st.integers(0, 20)), bound=st.integers(1, 2))
def test_places_of_edges_that_leave_are_free_again(order: list[tuple[int, int]], leaving: set[int], bound: int) -> None:
    graph, _ = OwnedEdges.none(N, bound).joined(np.array(order), limit=N)
    out = np.isin(np.arange(len(graph)), sorted(leaving))
    smaller = graph.without(out)
    _check(smaller, bound)
    assert len(smaller) == len(graph) - out.sum()
    again, _ = smaller.joined(graph.edges[out], limit=N)
    _check(again, bound)
    assert len(again) == len(graph)


def test_an_edge_waits_when_both_its_ends_have_met_the_limit() -> None:
    graph, entered = OwnedEdges.none(4, 3).joined(np.array([(0, 1), (0, 2), (1, 2), (2, 3), (0, 3)]), limit=1)
    assert entered.tolist() == [True, True, False, True, False]
    _check(graph, 3)


def test_required_edges_enter_without_an_owner() -> None:
    graph, entered = OwnedEdges.none(4, 1).joined(np.array(list(combinations(range(4), 2))), limit=6, required=True)
    assert entered.all()
    assert len(graph) == 6
    assert graph.owners().sum() == 4


@pytest.mark.parametrize("n", [1, 2])
def test_few_variables(n: int) -> None:
    edges = np.array([(0, 1)][: n - 1], np.int64).reshape(-1, 2)
    graph, _ = OwnedEdges.none(n, 5).joined(edges, limit=1)
    assert len(graph) == n - 1
