"""Mutual information and the tree that holds most of it."""

from __future__ import annotations

import tracemalloc
from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mrfit.core.errors import InputError
from mrfit.data.unique_rows import UniqueRows
from mrfit.structures.mutual_information import maximum_information_tree, pairwise_mutual_information
from mrfit.structures.structure import Structure
from populations import SHAPES, domain_of, random_codes, random_rows
from reference.tables import mutual_information


@given(
    st.lists(st.integers(1, 4), min_size=1, max_size=5), st.integers(1, 40), st.booleans(), st.integers(0, 2**32 - 1)
)
def test_information_equals_the_loops(shape: list[int], n_rows: int, fractional: bool, seed: int) -> None:
    """All pairs, and entropies on the diagonal."""
    rows = random_rows(np.random.default_rng(seed), tuple(shape), n_rows, fractional=fractional)
    found = pairwise_mutual_information(rows)
    n = len(shape)
    expected = [[mutual_information(rows, a, b) for b in range(n)] for a in range(n)]
    np.testing.assert_allclose(found, expected, atol=1e-10)
    np.testing.assert_allclose(found, found.T, atol=1e-12)
    assert (found >= 0).all()


def test_states_that_never_occur_together_leave_no_dust(rng: np.random.Generator) -> None:
    """Weights of very different size: differences of sums must not become probabilities."""
    codes = rng.integers(0, 3, (60, 5)).astype(np.uint8)
    rows = UniqueRows.from_codes(domain_of((3,) * 5), codes, 10.0 ** rng.uniform(-8, 8, 60))
    expected = [[mutual_information(rows, a, b) for b in range(5)] for a in range(5)]
    np.testing.assert_allclose(pairwise_mutual_information(rows), expected, atol=1e-9)


def _peak(rows: UniqueRows) -> int:
    """Most bytes held at once beside the rows."""
    tracemalloc.start()
    pairwise_mutual_information(rows)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def test_memory_does_not_grow_with_the_rows(rng: np.random.Generator) -> None:
    """All that is made beside them are tables over pairs of states."""
    shape = (2, 3, 2, 4, 2)
    small, large = (
        UniqueRows(domain_of(shape), random_codes(rng, shape, n), rng.uniform(0.5, 2.0, n), n) for n in (1_000, 200_000)
    )
    _peak(small)  # compiles
    assert _peak(large) <= _peak(small) + 1_000
    assert _peak(large) < large.codes.nbytes / 10


def test_information_in_blocks_of_variables_is_the_same(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Results agree to the last bit, however many variables a block has."""
    rows = random_rows(rng, (2, 3, 1, 4, 2, 5), 300, fractional=True)
    whole = pairwise_mutual_information(rows)
    for n_bytes in (1, 8 * 17 * 5, 8 * 17 * 9):
        monkeypatch.setattr("mrfit.structures.pair_tables._BLOCK_BYTES", n_bytes)
        np.testing.assert_array_equal(pairwise_mutual_information(rows), whole)


def test_tables_too_large_for_memory_are_forecast_and_refused() -> None:
    """The check comes before any allocation."""
    n = 20_000
    rows = UniqueRows(domain_of((2,) * n), np.zeros((2, n), np.uint8), np.ones(2), 2)
    tracemalloc.start()
    with pytest.raises(InputError, match=r"20,000 variables with 40,000 states takes 6\.4 GB; the limit is 4 GB\. Use"):
        maximum_information_tree(rows)
    assert tracemalloc.get_traced_memory()[1] < 1e7
    tracemalloc.stop()


def test_of_equal_trees_one_is_taken_on_every_machine() -> None:
    """Independent columns: nothing to choose by, so all hang on the first."""
    codes = np.array([[a, b, c, d] for a in (0, 1) for b in (0, 1) for c in (0, 1) for d in (0, 1)], np.uint8)
    rows = UniqueRows.from_codes(domain_of((2,) * 4), codes, np.ones(16))
    assert maximum_information_tree(rows) == Structure.from_edges(4, [(0, 1), (0, 2), (0, 3)])


def _best_tree_weight(information: np.ndarray) -> float:
    """The best of all spanning trees of a small graph, one by one."""
    n, best = len(information), -np.inf
    for edges in combinations(combinations(range(n), 2), n - 1):
        if nx.is_tree(graph := nx.Graph(edges)) and len(graph) == n:
            best = max(best, sum(information[a, b] for a, b in edges))
    return best


@pytest.mark.parametrize("shape", [(2,) * 5, (2, 3, 4, 2, 3), (2, 1, 2, 3, 2)])
def test_the_tree_is_the_best_of_all(shape: tuple[int, ...]) -> None:
    """All 125 trees on five variables; a constant column hangs on somewhere."""
    for seed in range(5):
        rows = random_rows(np.random.default_rng(seed), shape, 40, fractional=True)
        tree = maximum_information_tree(rows)
        assert nx.is_tree(tree.to_graph(rows.domain))
        assert tree.order == 2
        information = pairwise_mutual_information(rows)
        found = sum(information[a, b] for a, b in tree.blocks[2])
        assert found == pytest.approx(_best_tree_weight(information), abs=1e-12)


def test_a_chain_of_copies_is_found(rng: np.random.Generator) -> None:
    """Each column a noisy copy of the one before."""
    columns = [rng.integers(0, 2, 4000)]
    for _ in range(4):
        columns.append(np.where(rng.random(4000) < 0.1, 1 - columns[-1], columns[-1]))
    rows = UniqueRows.from_codes(domain_of((2,) * 5), np.stack(columns, axis=1).astype(np.uint8), np.ones(4000))
    assert maximum_information_tree(rows) == Structure.from_edges(5, [(0, 1), (1, 2), (2, 3), (3, 4)])


@pytest.mark.parametrize("shape", SHAPES)
def test_a_tree_on_every_shape(shape: str, rng: np.random.Generator) -> None:
    """One variable has no edges; one state is no obstacle."""
    rows = random_rows(rng, SHAPES[shape], 20)
    tree = maximum_information_tree(rows)
    assert len(tree.edges) == len(rows.domain) - 1


def test_columns_that_never_change(rng: np.random.Generator) -> None:
    """States that do not occur and columns that are all one value still give a tree."""
    codes = random_codes(rng, (2, 2, 2, 2), 30)
    codes[:, 1], codes[:, 2] = 0, 1
    rows = UniqueRows.from_codes(domain_of((2, 3, 2, 2)), codes, np.ones(30))
    information = pairwise_mutual_information(rows)
    np.testing.assert_allclose(information[[1, 2]], 0.0, atol=1e-12)
    assert nx.is_tree(maximum_information_tree(rows).to_graph(rows.domain))


def test_first_states_that_never_occur_have_no_information() -> None:
    """Their weights are differences of sums, which leave dust where there should be nothing."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        codes = rng.integers(1, 4, (200, 3)).astype(np.uint8)
        rows = UniqueRows.from_codes(domain_of((4, 4, 4)), codes, rng.uniform(0.1, 3.0, 200))
        expected = [[mutual_information(rows, a, b) for b in range(3)] for a in range(3)]
        np.testing.assert_allclose(pairwise_mutual_information(rows), expected, atol=1e-12)
