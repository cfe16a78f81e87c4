"""Structures: constructors, errors, graphs."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mrfit.core.domain import Domain
from mrfit.core.errors import StructureError
from mrfit.structures.simple import FixedStructure
from mrfit.structures.structure import Structure
from populations import STRUCTURES, domain_of, scopes


@given(st.integers(1, 6).flatmap(lambda n: scopes(n)))
def test_scopes_are_sorted_and_distinct(structure: Structure) -> None:
    """Smaller scopes first, each ascending, none twice; blocks hold scopes of one size."""
    listed = list(structure.scopes)
    assert listed == sorted(set(listed), key=lambda scope: (len(scope), scope))
    assert all(list(scope) == sorted(set(scope)) for scope in listed)
    assert structure.n_scopes == len(listed)
    assert all(block.shape[1] == size and len(block) for size, block in structure.blocks.items())
    assert structure.order == max(map(len, listed), default=0)


@given(st.lists(st.lists(st.integers(0, 5), max_size=4), max_size=5))
def test_a_closed_structure_holds_all_subsets(generators: list[list[int]]) -> None:
    """Generators in any order, with repeats, empty ones included."""
    structure = Structure.from_scopes(6, generators)
    expected = {(i,) for i in range(6)}
    for scope in generators:
        members = sorted(set(scope))
        expected |= {part for size in range(1, len(members) + 1) for part in combinations(members, size)}
    assert set(structure.scopes) == expected


@pytest.mark.parametrize("n", [1, 2, 3, 6])
@pytest.mark.parametrize("order", [1, 2, 3, 5, 50])
def test_up_to_order_holds_all_combinations(n: int, order: int) -> None:
    """An order beyond the number of variables is the saturated model."""
    expected = [part for size in range(1, min(order, n) + 1) for part in combinations(range(n), size)]
    assert list(Structure.up_to_order(n, order).scopes) == expected


def test_the_named_structures() -> None:
    """Independent and complete are orders 1 and 2; scopes are sets."""
    assert Structure.independent(4) == Structure.up_to_order(4, 1)
    assert Structure.complete(4) == Structure.up_to_order(4, 2)
    assert Structure.from_edges(4, combinations(range(4), 2)) == Structure.complete(4)
    assert Structure.from_scopes(3, [(2, 0), (0, 2), (0, 0, 2)]) == Structure.from_edges(3, [(0, 2)])
    assert Structure.from_scopes(3, []) == Structure.independent(3)
    assert Structure.from_scopes(3, [(2, 0, 1)], closed=False).blocks.keys() == {3}


def test_equality_sees_sizes_and_scopes() -> None:
    """Structures over other variables or with other scopes differ."""
    chain = Structure.from_edges(3, [(0, 1), (1, 2)])
    assert chain != Structure.from_edges(4, [(0, 1), (1, 2)])
    assert chain != Structure.from_edges(3, [(0, 1), (0, 2)])
    assert chain != Structure.complete(3)
    assert chain != "chain"


@pytest.mark.parametrize("scope", [(0, 3), (-1, 0), (7,)])
def test_a_variable_out_of_range_is_named(scope: tuple[int, ...]) -> None:
    """The message holds the number and the range."""
    wrong = next(i for i in scope if not 0 <= i < 3)
    with pytest.raises(StructureError, match=rf"variable number {wrong}, .* 0 to 2"):
        Structure.from_scopes(3, [(0, 1), scope])


@pytest.mark.parametrize("order", [0, -2])
def test_an_order_below_one_is_refused(order: int) -> None:
    """The message holds the value."""
    with pytest.raises(StructureError, match=f"at least 1; got {order}"):
        Structure.up_to_order(3, order)


def test_too_many_scopes_are_refused_before_they_are_made() -> None:
    """Four of a thousand variables are forty billion scopes."""
    with pytest.raises(StructureError, match="lower order"):
        Structure.up_to_order(1000, 4)


def test_blocks_are_read_only() -> None:
    """Structures are values."""
    for build in STRUCTURES.values():
        for block in build(5).blocks.values():
            with pytest.raises(ValueError, match="read-only"):
                block[0, 0] = 1


def test_edges_and_degrees_are_those_of_the_primal_graph() -> None:
    """A scope of three is a triangle, each pair once."""
    structure = Structure.from_scopes(5, [(0, 1, 2), (1, 2), (2, 3)], closed=False)
    assert structure.edges.tolist() == [[0, 1], [0, 2], [1, 2], [2, 3]]
    assert structure.degrees.tolist() == [2, 2, 3, 1, 0]
    assert Structure.independent(3).edges.shape == (0, 2)
    assert Structure.independent(3).degrees.tolist() == [0, 0, 0]


@given(st.integers(1, 6).flatmap(lambda n: scopes(n)))
def test_blocks_go_both_ways(structure: Structure) -> None:
    """Blocks of a structure pass the checks for arrays from outside."""
    assert Structure.from_blocks(structure.n_variables, structure.blocks) == structure


@pytest.mark.parametrize(
    ("size", "block"),
    [
        (2, [[0, 3]]),
        (2, [[-1, 0]]),
        (2, [[1, 0]]),
        (2, [[1, 1]]),
        (2, [[1, 2], [0, 1]]),
        (2, [[0, 1], [0, 1]]),
        (2, [[0, 1, 2]]),
        (2, [0, 1]),
        (2, [[0.0, 1.0]]),
        (1, np.empty((0, 1), int)),
        (0, np.empty((1, 0), int)),
    ],
)
def test_wrong_blocks_are_refused(size: int, block: list) -> None:
    """Blocks are out of range, out of order, repeated, of another shape or type, or empty."""
    with pytest.raises(StructureError, match=f"Scopes of size {size}"):
        Structure.from_blocks(3, {size: np.array(block)})


def test_from_adjacency() -> None:
    """Either triangle counts, the diagonal does not."""
    adjacency = np.zeros((4, 4), bool)
    adjacency[2, 0] = adjacency[1, 3] = adjacency[3, 1] = adjacency[1, 1] = True
    assert Structure.from_adjacency(adjacency) == Structure.from_edges(4, [(0, 2), (1, 3)])
    assert Structure.from_adjacency(np.zeros((3, 3), bool)) == Structure.independent(3)


@given(st.integers(1, 6).flatmap(lambda n: st.tuples(st.just(n), st.sets(st.integers(0, n * n - 1)))))
def test_graphs_go_both_ways(drawn: tuple[int, set[int]]) -> None:
    """A pairwise structure is its graph; lone variables stay."""
    n, numbers = drawn
    structure = Structure.from_edges(n, [(k // n, k % n) for k in numbers])
    domain = domain_of((2,) * n)
    graph = structure.to_graph(domain)
    assert list(graph.nodes) == list(domain.names)
    assert Structure.from_graph(graph, domain) == structure


def test_from_graph_ignores_loops_directions_and_node_order() -> None:
    """Nodes are found by name; absent ones are independent."""
    domain = Domain.from_states({"b": "01", "a": "01", "7": "01"})
    assert Structure.from_graph(nx.Graph([("a", "b"), ("a", "a")]), domain) == Structure.from_edges(3, [(0, 1)])
    assert Structure.from_graph(nx.DiGraph([(7, "a"), ("a", 7)]), domain) == Structure.from_edges(3, [(1, 2)])
    assert Structure.from_graph(nx.Graph(), domain) == Structure.independent(3)


def test_from_graph_names_unknown_nodes() -> None:
    """And says what the variables are."""
    with pytest.raises(StructureError, match="'z'; the variables are 'x0', 'x1'"):
        Structure.from_graph(nx.Graph([("x0", "z")]), domain_of((2, 2)))


@pytest.mark.parametrize("size", [30, 60, 2000])
def test_closing_wide_scopes_is_refused(size: int) -> None:
    """Models of other programs may have such scopes; their subsets are counted before they are listed."""
    structure = Structure.from_blocks(size, {size: np.arange(size)[None, :]})
    with pytest.raises(StructureError, match="the limit is"):
        structure.closure()
    with pytest.raises(StructureError, match="the limit is"):
        Structure.from_scopes(size, [range(size)])


def test_closing_few_variables_is_not_refused() -> None:
    """Many scopes share their subsets: no more than all sets of the variables are made."""
    scopes = [scope for scope in Structure.up_to_order(12, 9).scopes if len(scope) > 7]
    assert Structure.from_scopes(12, scopes, closed=False).closure().order == 9


@pytest.mark.parametrize(
    ("n_variables", "edges", "said"),
    [
        (4, 5, "lists of their numbers"),
        ("x", [(0, 1)], "lists of their numbers"),
        (4, [(0, "a")], "lists of their numbers"),
        (4, [(0, 1.5)], "lists of their numbers"),
        (4, [(0, 1, 2)], r"got \(0, 1, 2\)"),
        (4, np.array([[0, 1, 2]]), "An edge joins two variables"),
    ],
)
def test_what_are_no_edges_is_refused_in_one_sentence(n_variables: Any, edges: Any, said: str) -> None:
    with pytest.raises(StructureError, match=said):
        Structure.from_edges(n_variables, edges)


@pytest.mark.parametrize(
    "make", [lambda: Structure([(0, 1)]), lambda: FixedStructure([(0, 1)])], ids=["Structure", "Given"]
)  # type: ignore[arg-type, list-item]
def test_a_list_of_edges_is_no_structure(make: Callable[[], object]) -> None:
    """And the message says how to make one of it."""
    with pytest.raises(StructureError, match=r"Structure\.from_edges\(n_variables, edges\)"):
        make()
