"""Rows in words against rows in lists."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mrfit.data.packed_rows import PackedRows, Packing
from populations import random_codes
from reference.tables import distinct_rows

# Awkward for words: constant columns alone and in front, one word filled exactly, one bit more, bytes, many words.
WIDTHS = {
    "constant": (1, 1),
    "bits": (1, 2, 2, 1, 2),
    "one word": (2,) * 64,
    "one bit more": (2,) * 65,
    "full word, then constant": (*(2,) * 64, 1),
    "not cut in two": (*(2,) * 60, 255, 3),
    "bytes": (255,) * 17,
    "mixed": (2, 3, 1, 17, 255, 2, 129, 5) * 9,
}


@pytest.fixture(params=WIDTHS)
def codes(request: pytest.FixtureRequest, rng: np.random.Generator) -> np.ndarray:
    some = random_codes(rng, WIDTHS[request.param], 50)
    return some[rng.integers(0, 50, 120)]


@pytest.mark.parametrize("order", ["C", "F"])
def test_codes_come_back_from_words(codes: np.ndarray, order: str) -> None:
    rows = PackedRows.from_codes(np.asarray(codes, order=order), np.ones(len(codes)))
    np.testing.assert_array_equal(rows.codes(), codes)
    assert len(rows) == len(codes)


def test_distinct_rows_are_those_of_a_counter(codes: np.ndarray, rng: np.random.Generator) -> None:
    """Rows are in lexicographic order, without those of weight zero."""
    weight = rng.integers(0, 4, len(codes)).astype(float)
    rows = PackedRows.from_codes(codes, weight).distinct()
    expected = distinct_rows(codes, weight)
    assert rows.codes().tolist() == [list(row) for row, _ in expected]
    assert rows.sample_weight.tolist() == [total for _, total in expected]


def test_other_codes_are_looked_up(codes: np.ndarray, rng: np.random.Generator) -> None:
    lookups = [rng.permutation(256).astype(np.uint8) for _ in range(codes.shape[1])]
    found = PackedRows.from_codes(codes, np.ones(len(codes))).recoded(lookups).codes()
    np.testing.assert_array_equal(found, np.stack([lookups[j][codes[:, j]] for j in range(codes.shape[1])], axis=1))


def test_joined_parts_may_need_different_widths(codes: np.ndarray) -> None:
    parts = [codes[:1], codes[1:7], codes[7:7], codes[7:]]
    rows = PackedRows.joined([PackedRows.from_codes(part, np.ones(len(part))) for part in parts])
    np.testing.assert_array_equal(rows.codes(), codes)


@given(st.lists(st.integers(0, 8), min_size=1, max_size=200))
def test_codes_stand_side_by_side_in_the_order_of_the_variables(bits: list[int]) -> None:
    """No two share a bit, none leaves its word, and an earlier variable stands higher."""
    word, shift = (place.tolist() for place in Packing(np.array(bits)).places)
    ends = [(-w, s, s + b) for w, s, b in zip(word, shift, bits, strict=True) if b]
    assert all(0 <= low < high <= 64 for _, low, high in ends)
    for (w, low, _), (next_w, _, next_high) in pairwise(ends):
        assert next_w < w or (next_w == w and next_high <= low)


def test_order_is_by_later_words_where_earlier_ones_are_the_same() -> None:
    """Three words, ties in one and in two of them, and equal rows."""
    codes = np.zeros((6, 20), np.uint8)
    codes[:, 0], codes[:, 9], codes[:, 19] = [9, 1, 1, 1, 9, 1], [0, 7, 7, 200, 0, 7], [3, 5, 4, 0, 3, 5]
    codes[0, 5] = codes[4, 5] = 255
    rows = PackedRows.from_codes(codes, np.arange(1.0, 7.0)).distinct()
    assert rows.codes()[:, [0, 9, 19]].tolist() == [[1, 7, 4], [1, 7, 5], [1, 200, 0], [9, 0, 3]]
    assert rows.sample_weight.tolist() == [3.0, 8.0, 4.0, 6.0]
