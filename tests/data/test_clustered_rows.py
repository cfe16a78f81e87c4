"""Rows that belong together."""

from __future__ import annotations

import numpy as np
import pytest

from mrfit import Dataset
from mrfit.core.errors import InputError
from mrfit.data.clustered_rows import ClusteredRows

TABLE = {"a": [0, 0, 1, 1, 0], "b": [0, 1, 1, 1, 0]}
IDS = ["p", "q", "p", "q", "q"]


def test_clusters_hold_their_rows() -> None:
    """Each drawn once is the table; drawn twice, its rows count twice."""
    found = ClusteredRows.of(Dataset.from_table(TABLE), IDS)
    assert found.rows.codes.tolist() == [[0, 0], [0, 1], [1, 1]]
    assert found.weights(np.array([[1.0, 1.0], [2.0, 0.0], [0.0, 2.0]])).tolist() == [[2, 1, 2], [2, 0, 2], [2, 2, 2]]
    np.testing.assert_array_equal(found.weights(np.ones((1, 2)))[0], found.rows.sample_weight)


def test_refusals() -> None:
    dataset = Dataset.from_table(TABLE)
    with pytest.raises(InputError, match="Each of the 5 rows needs the name of its cluster"):
        ClusteredRows.of(dataset, IDS[:3])
    with pytest.raises(InputError, match="one cluster"):
        ClusteredRows.of(dataset, ["p"] * 5)
