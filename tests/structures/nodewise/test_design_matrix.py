"""Rows as columns that are on or off."""

from __future__ import annotations

import numpy as np
import pytest

from mrfit._kernels.structure.nodewise import LANES
from mrfit.structures.nodewise.design_matrix import IndicatorTable
from populations import SHAPES, random_rows
from reference.nodewise import dense_columns


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
def test_sums_over_columns_are_a_matrix_product(shape: tuple[int, ...], rng: np.random.Generator) -> None:
    rows = random_rows(rng, shape, 40, fractional=True)
    for lanes in (0, 1, 5, 20, LANES, LANES + 3, 2 * LANES + 20):
        values = rng.random((lanes, rows.n_distinct))
        np.testing.assert_allclose(IndicatorTable.of(rows).times(values), (values @ dense_columns(rows)).T, rtol=1e-12)


def test_sums_over_variables_leave_one_state_at_zero(rng: np.random.Generator) -> None:
    """Also at both ends, where there are no columns to start from."""
    rows = random_rows(rng, (1, 3, 1, 2, 1), 20)
    np.testing.assert_array_equal(IndicatorTable.of(rows).group_sums(np.array([1.0, 2.0, 4.0])), [0, 3, 0, 4, 0])


def test_standard_deviations_are_of_not_being_in_the_first_state(rng: np.random.Generator) -> None:
    rows = random_rows(rng, (2, 3, 1), 50)
    repeated = np.repeat(rows.codes > 0, rows.sample_weight.astype(int), axis=0)
    np.testing.assert_allclose(IndicatorTable.of(rows).standard_deviations, repeated.std(axis=0), atol=1e-12)
