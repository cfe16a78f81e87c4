"""Cutting a table into parts."""

from __future__ import annotations

import numpy as np
import pytest

from mrfit.core.errors import InputError
from mrfit.data.folds import folds_of
from mrfit.data.unique_rows import UniqueRows
from populations import domain_of, random_rows


def _weight_of(part: UniqueRows, rows: UniqueRows) -> np.ndarray:
    """The part's weight of every distinct row of the whole."""
    place = {tuple(row): k for k, row in enumerate(rows.codes.tolist())}
    weight = np.zeros(rows.n_distinct)
    for row, own in zip(part.codes.tolist(), part.sample_weight, strict=True):
        weight[place[tuple(row)]] = own
    return weight


@pytest.mark.parametrize("fractional", [False, True], ids=["counts", "weights"])
def test_every_row_is_held_out_once(fractional: bool, rng: np.random.Generator) -> None:
    rows = random_rows(rng, (2, 3, 2), 60, fractional=fractional)
    folds = list(folds_of(rows, 4, np.random.default_rng(0)))
    held_out = np.array([_weight_of(fold.held_out, rows) for fold in folds])
    np.testing.assert_allclose(held_out.sum(axis=0), rows.sample_weight)
    for fold, weight in zip(folds, held_out, strict=True):
        np.testing.assert_allclose(_weight_of(fold.train, rows), rows.sample_weight - weight, atol=1e-12)


def test_counts_are_cut_to_equal_sizes_and_repeated_rows_may_part() -> None:
    codes = np.array([[0, 0], [1, 1]], np.uint8)
    rows = UniqueRows.from_codes(domain_of((2, 2)), codes, np.array([21.0, 9.0]))
    folds = list(folds_of(rows, 4, np.random.default_rng(0)))
    assert [fold.held_out.total_weight for fold in folds] == [8, 8, 7, 7]
    assert sum(fold.held_out.n_distinct > 1 for fold in folds) >= 2


def test_weights_that_are_no_counts_stay_whole(rng: np.random.Generator) -> None:
    rows = random_rows(rng, (2, 3, 2), 60, fractional=True)
    for fold in folds_of(rows, 3, np.random.default_rng(0)):
        weight = _weight_of(fold.held_out, rows)
        np.testing.assert_array_equal(weight[weight > 0], rows.sample_weight[weight > 0])


def test_the_same_seed_deals_the_same_and_another_does_not(rng: np.random.Generator) -> None:
    rows = random_rows(rng, (2, 3, 2), 200)
    one, same, other = (
        [_weight_of(fold.held_out, rows) for fold in folds_of(rows, 3, np.random.default_rng(seed))]
        for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(one, same)
    assert not np.array_equal(one, other)


def test_more_folds_than_rows_are_refused(rng: np.random.Generator) -> None:
    with pytest.raises(InputError, match="5 rows cannot be cut into 6 folds; use fewer"):
        list(folds_of(random_rows(rng, (2, 2, 2), 5), 6, np.random.default_rng(0)))
