"""Division by positive definite matrices, and inverses of sparse ones."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from mrfit.core.linear_systems import inverse_by_series


def test_a_triangular_matrix_in_any_order(rng) -> None:
    dense = np.diag(rng.uniform(0.5, 2.0, 12))
    dense[rng.integers(0, 6, 8), rng.integers(6, 12, 8)] = rng.normal(size=8)
    order = rng.permutation(12)
    dense = dense[np.ix_(order, order)]
    found = inverse_by_series(sparse.csr_array(dense))
    assert found is not None
    np.testing.assert_allclose(found.toarray() @ dense, np.eye(12), atol=1e-12)


@pytest.mark.parametrize(
    "dense",
    [
        np.ones((2, 3)),
        np.array([[0.0, 1.0], [1.0, 1.0]]),
        np.array([[1.0, 0.5], [0.5, 1.0]]),
        np.eye(40) + np.eye(40, k=1),
    ],
    ids=["not square", "nothing on the diagonal", "round in a circle", "inverse is dense"],
)
def test_others_have_none(dense: np.ndarray) -> None:
    assert inverse_by_series(sparse.csr_array(dense)) is None
