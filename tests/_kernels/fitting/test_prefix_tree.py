"""Prefix trees against the bit matrix they store."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mrfit._kernels.fitting.prefix_tree import MAX_NODES, add, fold_nodes, grow, lookup, node_sums
from reference.prefix_tree import Chunk, bits_of


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
    np.testing.assert_array_equal(bits_of(chunks, n_cells), bits)
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
