"""Prefix trees against the bit matrix they store."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mrfit._kernels.cells import BLOCK, gather, scatter
from mrfit._kernels.prefix_tree import MAX_NODES, add, fold_nodes, grow, lookup, node_sums
from mrfit.counts.conditional_cells import ConditionalCells
from mrfit.data.unique_rows import UniqueRows
from mrfit.parameterizations.canonical import Canonical
from populations import SHAPES, STRUCTURES, problems, random_rows
from reference.tables import blanket, conditional_cells

Chunk = tuple[np.ndarray, np.ndarray, np.ndarray]  # node of each cell, parent of each node, nodes of each feature


def _grown(bits: np.ndarray) -> list[Chunk]:
    """All chunks of a bit matrix (cells, features), as the library cuts them."""
    start = np.concatenate([[0], np.cumsum(bits.sum(axis=0))]).astype(np.int64)
    return _cut(start, np.nonzero(bits.T)[1].astype(np.int32), len(bits))


def _cut(start: np.ndarray, members: np.ndarray, n_cells: int) -> list[Chunk]:
    chunks, end = [], 0
    code, parent, runs = (np.empty(size, np.int32) for size in (n_cells, MAX_NODES, len(start)))
    while end < len(start) - 1:
        first, end = end, grow(start, members, end, n_cells, code, parent, runs)
        assert end > first
        used = runs[: end - first + 1].copy()
        assert used[-1] <= MAX_NODES
        chunks.append((code.astype(np.uint16), parent[: used[-1]].astype(np.uint16), used))
    return chunks


def _bits(chunks: list[Chunk], n_cells: int) -> np.ndarray:
    """The matrix again: walk from every cell's node to the root."""
    parts = [np.zeros((n_cells, 0), int)]
    for code, parent, runs in chunks:
        bits = np.zeros((n_cells, len(runs) - 1), int)
        for cell in range(n_cells):
            node = int(code[cell])
            while node != 0:
                bits[cell, np.searchsorted(runs, node, side="right") - 1] += 1
                assert parent[node] < node
                node = int(parent[node])
        parts.append(bits)
    return np.hstack(parts)


def _product_and_adjoint(
    chunks: list[Chunk], w: np.ndarray, r: np.ndarray, *, first: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """B w and B' r for the cells from ``first`` on, by the kernels."""
    code_start, node_start, run_start = (_starts(chunks, part) for part in range(3))
    codes, parent, runs = (_joined(chunks, part) for part in range(3))
    table, bins = np.full(node_start[-1], np.nan), np.zeros(node_start[-1])
    z, gradient = np.zeros(len(r)), np.full(len(w), np.nan)
    widths = np.diff(run_start) - 1
    at = np.concatenate([[0], np.cumsum(widths)])
    for g, width in enumerate(widths):
        node_sums(parent, node_start[g], runs, run_start[g], width, w, at[g], table, node_start[g])
    lookup(codes, code_start, 0, len(chunks), first, len(r), table, node_start, 0, z, 0)
    add(codes, code_start, 0, len(chunks), first, len(r), bins, node_start, 0, r, 0)
    for g, width in enumerate(widths):
        fold_nodes(parent, node_start[g], runs, run_start[g], width, bins, node_start[g], gradient, at[g])
    return z, gradient


def _starts(chunks: list[Chunk], part: int) -> np.ndarray:
    return np.concatenate([[0], np.cumsum([len(chunk[part]) for chunk in chunks])]).astype(np.int64)


def _joined(chunks: list[Chunk], part: int) -> np.ndarray:
    dtype = np.int32 if part == 2 else np.uint16
    return np.concatenate([np.empty(0, dtype), *(chunk[part] for chunk in chunks)])


@given(st.integers(1, 60), st.integers(0, 70), st.sampled_from([0.0, 0.02, 0.3, 0.9, 1.0]), st.integers(0, 2**32 - 1))
@settings(max_examples=60)
def test_trees_store_the_bit_matrix(n_cells: int, n_features: int, density: float, seed: int) -> None:
    """Codes, parents and features give back the bits; product and adjoint are those of the dense matrix."""
    rng = np.random.default_rng(seed)
    bits = rng.random((n_cells, n_features)) < density
    chunks = _grown(bits)
    np.testing.assert_array_equal(_bits(chunks, n_cells), bits)
    w, r = rng.standard_normal(n_features), rng.standard_normal(n_cells)
    z, gradient = _product_and_adjoint(chunks, w, r)
    np.testing.assert_allclose(z, bits @ w, atol=1e-12)
    np.testing.assert_allclose(gradient, bits.T @ r, atol=1e-12)


@pytest.mark.parametrize("n_chunks", [1, 2, 3, 4, 5, 6, 7, 8, 9])
def test_any_number_of_chunks(n_chunks: int, rng: np.random.Generator) -> None:
    """Lookup and add take chunks four, two and one at a time, from any cell on."""
    bits = rng.random((50, 3 * n_chunks)) < 0.5
    chunks = [chunk for g in range(n_chunks) for chunk in _grown(bits[:, 3 * g : 3 * g + 3])]
    assert len(chunks) == n_chunks
    w, r = rng.standard_normal(3 * n_chunks), rng.standard_normal(37)
    z, gradient = _product_and_adjoint(chunks, w, r, first=13)
    np.testing.assert_allclose(z, bits[13:] @ w, atol=1e-12)
    np.testing.assert_allclose(gradient, bits[13:].T @ r, atol=1e-12)


def test_a_chunk_never_outgrows_its_codes() -> None:
    """Seventy thousand features, each with a cell of its own, need more nodes than 16 bits can name."""
    n = 70_000
    chunks = _cut(np.arange(n + 1), np.arange(n, dtype=np.int32), n)
    assert len(chunks) > 1
    assert max(len(parent) for _, parent, _ in chunks) == MAX_NODES
    w = np.arange(n) + 0.5
    z, gradient = _product_and_adjoint(chunks, w, -w)
    np.testing.assert_array_equal(z, w)
    np.testing.assert_array_equal(gradient, -w)


def test_dense_random_bits_stop_at_the_node_limit(rng: np.random.Generator) -> None:
    """Two hundred thousand cells of random bits double the nodes with every feature."""
    bits = rng.random((200_000, 24)) < 0.5
    chunks = _grown(bits)
    assert len(chunks) > 1
    w, r = rng.standard_normal(24), rng.standard_normal(len(bits))
    z, gradient = _product_and_adjoint(chunks, w, r)
    np.testing.assert_allclose(z, bits @ w, atol=1e-11)
    np.testing.assert_allclose(gradient, bits.T @ r, atol=1e-8)


def _variable_chunks(cells: ConditionalCells, i: int) -> list[Chunk]:
    a = cells.arrays
    return [
        (
            a.codes[a.code_start[g] : a.code_start[g + 1]],
            a.parent[a.node_start[g] : a.node_start[g + 1]],
            a.runs[a.run_start[g] : a.run_start[g + 1]],
        )
        for g in range(a.chunk_start[i], a.chunk_start[i + 1])
    ]


def _counts(cells: ConditionalCells, i: int) -> list[list[float]]:
    """Weight by state of every cell of variable i, out of the blocked layout."""
    a = cells.arrays
    total = a.total[a.cell_start[i] : a.cell_start[i + 1]]
    n_free, counts = int(a.n_free[i]), a.counts[a.count_start[i] : a.count_start[i + 1]]
    table = np.empty((len(total), 1 + n_free))
    for first in range(0, len(total), BLOCK):
        width = min(BLOCK, len(total) - first)
        block = counts[n_free * first : n_free * (first + width)].reshape(n_free, width)
        table[first : first + width, 1:] = block.T
    table[:, 0] = total - table[:, 1:].sum(axis=1)
    return table.tolist()


def _check_cells(rows: UniqueRows, parameters: Canonical) -> None:
    cells = ConditionalCells.count(rows, parameters)
    conditionals = parameters.conditionals
    first_indicator = np.concatenate([[0], np.cumsum(parameters.n_free)])
    for i, n_states in enumerate(rows.domain.shape):
        first, last = conditionals.feature_start[i], conditionals.feature_start[i + 1]
        expected = conditional_cells(rows, parameters, i) if n_states > 1 else {}
        neighbours = blanket(parameters, i)
        found = _counts(cells, i)
        bits = _bits(_variable_chunks(cells, i), len(found))
        wanted = {}
        for state, weights in expected.items():
            holds = {first_indicator[j] + s - 1 for j, s in zip(neighbours, state, strict=True) if s > 0}
            spans = ((conditionals.condition_start[f], conditionals.condition_start[f + 1]) for f in range(first, last))
            pattern = tuple(int(holds.issuperset(conditionals.conditions[a:b])) for a, b in spans)
            # Blanket states with the same features are different cells with the same z; sums do not care.
            key = wanted.setdefault(pattern, [])
            key.append([weights.get(s, 0.0) for s in range(n_states)])
        got: dict[tuple[int, ...], list[list[float]]] = {}
        for pattern, weights in zip(map(tuple, bits.tolist()), found, strict=True):
            got.setdefault(pattern, []).append(weights)
        assert got.keys() == wanted.keys()
        for pattern in wanted:
            np.testing.assert_allclose(sorted(got[pattern]), sorted(wanted[pattern]), atol=1e-12)


@given(problems())
@settings(max_examples=60)
def test_cells_are_those_of_a_dictionary(problem: tuple[UniqueRows, Canonical, np.ndarray]) -> None:
    """Patterns and weights of the cells of every variable equal those counted by blanket state."""
    rows, parameters, _ = problem
    _check_cells(rows, parameters)


@pytest.mark.parametrize("structure", STRUCTURES)
@pytest.mark.parametrize("shape", SHAPES)
def test_cells_of_every_structure_on_every_shape(shape: str, structure: str, rng: np.random.Generator) -> None:
    """The named awkward cases."""
    rows = random_rows(rng, SHAPES[shape], 25)
    _check_cells(rows, Canonical(rows.domain, STRUCTURES[structure](len(rows.domain))))


def test_cells_of_more_than_one_block(rng: np.random.Generator) -> None:
    """Thousands of cells in a variable of three states."""
    rows = random_rows(rng, (3, *(2,) * 11), 4000)
    _check_cells(rows, Canonical(rows.domain, STRUCTURES["complete"](12)))


@pytest.mark.parametrize("jobs", [2, 3, 100])
def test_counting_on_threads_gives_the_same_arrays(jobs: int, rng: np.random.Generator) -> None:
    """Bit for bit, for more jobs than variables too."""
    rows = random_rows(rng, SHAPES["mixed"], 100, fractional=True)
    parameters = Canonical(rows.domain, STRUCTURES["order 3"](4))
    alone, shared = (ConditionalCells.count(rows, parameters, jobs=n).arrays for n in (1, jobs))
    for mine, theirs in zip(alone, shared, strict=True):
        np.testing.assert_array_equal(mine, theirs)


@given(problems())
@settings(max_examples=30)
def test_scatter_is_the_adjoint_of_gather(problem: tuple[UniqueRows, Canonical, np.ndarray]) -> None:
    """<gather(w), s> = <w, scatter(s)>, slots without a parameter included."""
    _, parameters, w = problem
    parameter_of_slot = parameters.conditionals.parameter_of_slot
    w_slots, back = np.empty(len(parameter_of_slot)), np.empty(len(w))
    gather(w, parameter_of_slot, w_slots)
    slots = np.cos(np.arange(len(w_slots)))
    scatter(slots, parameter_of_slot, back)
    assert w_slots @ slots == pytest.approx(w @ back, rel=1e-12, abs=1e-12)
