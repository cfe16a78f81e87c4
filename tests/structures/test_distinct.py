"""Distinct rows of whole numbers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from mrfit.structures.distinct import distinct_rows


@given(arrays(np.int64, array_shapes(min_dims=2, max_dims=2, max_side=6), elements=st.integers(-2, 3)))
def test_the_same_as_numpy(rows: np.ndarray) -> None:
    distinct, number = distinct_rows(rows)
    np.testing.assert_array_equal(distinct, np.unique(rows, axis=0))
    np.testing.assert_array_equal(distinct[number], rows)


@pytest.mark.parametrize(
    "rows", [np.empty((0, 3), np.int64), np.full((2, 9), 2**40), np.array([[0, 1], [0, 2]], np.uint8)]
)
def test_awkward_ones(rows: np.ndarray) -> None:
    distinct, number = distinct_rows(rows)
    assert distinct.dtype == np.int64
    np.testing.assert_array_equal(distinct, np.unique(rows, axis=0))
    np.testing.assert_array_equal(distinct[number], rows)
