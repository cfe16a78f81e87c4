"""Pairs that may be joined, against elimination from the beginning."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mrfit._kernels.structure.clique_growth import admit, clique_cells, triangulated


def _bits(graph: nx.Graph) -> np.ndarray:
    out = np.zeros((len(graph), -(-len(graph) // 64)), np.uint64)
    for a, b in [*graph.edges, *((b, a) for a, b in graph.edges)]:
        out[a, b // 64] |= np.uint64(1) << np.uint64(b % 64)
    return out


def _cells(graph: nx.Graph, order: np.ndarray, n_states: np.ndarray) -> float:
    """Eliminate one variable after the other, as one would by hand."""
    graph, total = graph.copy(), 0.0
    for v in order.tolist():
        near = list(graph[v])
        total += n_states[v] * np.prod(n_states[near])
        graph.remove_node(v)
        graph.add_edges_from((a, b) for a in near for b in near if a < b)
    return total


def _case(seed: int, n: int) -> tuple[nx.Graph, np.ndarray, np.ndarray, np.random.Generator]:
    rng = np.random.default_rng(seed)
    graph = nx.random_labeled_tree(n, seed=seed) if n > 1 else nx.empty_graph(n)
    graph.add_edges_from(rng.integers(0, n, (n // 3, 2)).tolist())
    graph.remove_edges_from([(v, v) for v in range(n)])
    leaves_first = np.array([*nx.bfs_tree(graph, 0)], np.int64)[::-1].copy()
    return graph, leaves_first, rng.integers(1, 5, n).astype(float), rng


@given(st.integers(0, 2**31), st.integers(1, 80))
def test_cells_of_an_order(seed: int, n: int) -> None:
    graph, order, n_states, _ = _case(seed, n)
    above, place = triangulated(_bits(graph), order)
    assert place[order].tolist() == list(range(n))
    assert clique_cells(above, n_states[order]).sum() == _cells(graph, order, n_states)


@pytest.mark.parametrize("n", [8, 16])
@pytest.mark.parametrize("seed", range(4))
def test_what_is_let_in_fits_and_what_is_not_does_not(seed: int, n: int) -> None:
    graph, order, n_states, rng = _case(seed, n)
    limit, bits, answers = 1.7 * _cells(graph, order, n_states), _bits(graph), set()
    pairs = [(a, b) for a in range(n) for b in range(a) if not graph.has_edge(a, b)]
    for a, b in rng.permutation(pairs).tolist():
        before, answer = order.copy(), np.zeros(1, np.int8)
        admit(bits, np.array([(a, b)]), n_states, limit, 1, 1, order, answer)
        answers.add(int(answer[0]))
        wider = graph.copy()
        wider.add_edge(a, b)
        if answer[0] > 0:
            graph = wider
            assert _cells(graph, order, n_states) <= limit
        else:
            assert np.array_equal(order, before)
            assert _cells(wider, order, n_states) > limit
    assert np.array_equal(bits, _bits(graph))
    assert -1 in answers
    assert 1 in answers


@given(st.integers(0, 2**31), st.integers(3, 40))
def test_many_together_fit_as_well(seed: int, n: int) -> None:
    graph, order, n_states, rng = _case(seed, n)
    limit = 1.5 * _cells(graph, order, n_states)
    pairs = np.array([(a, b) for a in range(n) for b in range(a) if not graph.has_edge(a, b)], np.int64).reshape(-1, 2)
    pairs = pairs[rng.permutation(len(pairs))]
    answers, bits = np.zeros(len(pairs), np.int8), _bits(graph)
    admit(bits, pairs, n_states, limit, n, n, order, answers)
    graph.add_edges_from(pairs[answers > 0].tolist())
    assert np.array_equal(bits, _bits(graph))
    assert _cells(graph, order, n_states) <= limit


def test_not_too_many_at_once_nor_at_one_variable() -> None:
    graph, n_states = nx.path_graph(12), np.full(12, 2.0)
    pairs = np.array([(0, k) for k in range(2, 12)] + [(2, 5), (3, 9), (4, 8)], np.int64)
    answers, order = np.zeros(len(pairs), np.int8), np.arange(12)
    admit(_bits(graph), pairs, n_states, 1e6, 100, 2, order, answers)
    assert np.flatnonzero(answers).tolist() == [0, 1, 10, 11, 12]
    answers[:] = 0
    admit(_bits(graph), pairs, n_states, 1e6, 4, 100, order, answers)
    assert answers.tolist() == [1] * 4 + [0] * 9


def test_a_fresh_order_is_tried() -> None:
    """Two rings, of which the order begins where they meet: another one has room for what it has not."""
    graph = nx.star_graph(8)  # around 0
    n_states, hub_first, answers = np.full(9, 2.0), np.arange(9), np.zeros(1, np.int8)
    assert _cells(graph, hub_first, n_states) > 500
    admit(_bits(graph), np.array([(1, 2)]), n_states, 100.0, 1, 1, hub_first, answers)
    assert answers[0] == 1
    graph.add_edge(1, 2)
    assert _cells(graph, hub_first, n_states) <= 100
