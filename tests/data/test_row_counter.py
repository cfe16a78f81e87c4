"""Distinct rows of a stream, chunk by chunk."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mrfit.data import row_counter
from mrfit.data.row_counter import RowCounter
from populations import random_codes, tables
from reference.tables import distinct_rows


def _check(codes: np.ndarray, weight: np.ndarray, size: int) -> RowCounter:
    counter = RowCounter()
    for first in range(0, len(codes), size):
        counter.add(codes[first : first + size], weight[first : first + size])
    assert counter.n_rows == len(codes)
    rows, expected = counter.result(), distinct_rows(codes, weight)
    assert rows.codes().tolist() == [list(row) for row, _ in expected]
    assert rows.sample_weight.tolist() == [count for _, count in expected]
    return counter


@given(tables(), st.integers(1, 20))
def test_rows_counted_in_chunks_are_those_counted_at_once(table: tuple[np.ndarray, tuple[int, ...]], size: int) -> None:
    """Chunks of any length, with weights."""
    codes, _ = table
    _check(codes, 1.0 + np.arange(len(codes)) % 4, size)


@pytest.mark.parametrize("shape", [(2, 3), (5,) * 30], ids=["many duplicates", "none"])
def test_rows_that_do_not_wait_are_the_same(
    shape: tuple[int, ...], rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sorts along the way give the same distinct rows as one sort at the end."""
    monkeypatch.setattr(row_counter, "_BYTES_WAITING", 200)
    codes = random_codes(rng, shape, 400)
    _check(np.concatenate([codes, codes[:100]]), np.ones(500), 7)


def test_codes_that_grow_from_chunk_to_chunk(rng: np.random.Generator) -> None:
    """The first chunk needs no bits at all, the last ones a byte."""
    codes = np.minimum(rng.integers(0, 256, (300, 9)), np.arange(300)[:, None]).astype(np.uint8)
    _check(codes, np.ones(300), 11)


def test_the_order_is_that_of_the_codes_looked_up() -> None:
    counter = RowCounter()
    counter.add(np.array([[0, 1], [1, 0], [0, 0]], np.uint8), np.ones(3))
    swapped = np.arange(256, dtype=np.uint8)
    swapped[:2] = [1, 0]
    assert counter.result([swapped, swapped]).codes().tolist() == [[0, 1], [1, 0], [1, 1]]
