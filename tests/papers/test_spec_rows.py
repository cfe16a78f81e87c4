"""Pooling, cutting in two and splitting the data sets of Buchman et al."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from mrfit.core.domain import Domain
from mrfit_papers.spec_rows import all_rows, binarised, parts_of, thirds


def test_thirds_are_disjoint_and_repeatable(data_dir: Path) -> None:
    train, valid, test = thirds("rochdale", 3)
    assert [part.total_weight for part in (train, valid, test)] == [221, 221, 223]
    again = thirds("rochdale", 3)[0]
    np.testing.assert_array_equal(train.codes, again.codes)
    np.testing.assert_array_equal(train.sample_weight, again.sample_weight)
    total = {
        tuple(row): weight
        for row, weight in zip(all_rows("rochdale").codes, all_rows("rochdale").sample_weight, strict=True)
    }
    for part in (train, valid, test):
        for row, weight in zip(part.codes, part.sample_weight, strict=True):
            total[tuple(row)] -= weight
    assert set(total.values()) == {0.0}


def test_a_seed_shifts_the_splits(data_dir: Path) -> None:
    one, two = thirds("czech", 1, seed=2)[0], thirds("czech", 3)[0]
    np.testing.assert_array_equal(one.sample_weight, two.sample_weight)
    assert not np.array_equal(one.sample_weight, thirds("czech", 1)[0].sample_weight)


def test_all_files_of_a_set_are_pooled(data_dir: Path) -> None:
    assert parts_of("nltcs") == (("nltcs", "train"), ("nltcs", "valid"), ("nltcs", "test"))
    assert all_rows("nltcs").total_weight == 21_574


def test_levels_are_cut_where_that_is_most_even() -> None:
    domain = Domain.from_states({"a": ["0", "1", "2"], "b": ["0", "1", "2"], "c": ["0", "1", "2"]})
    codes = np.array([[0, 0, 0], [0, 1, 1], [1, 2, 1], [2, 2, 2]], np.uint8)
    binary, cut = binarised(domain, codes)
    assert binary.shape == (2, 2, 2)
    np.testing.assert_array_equal(cut, [[0, 0, 0], [0, 0, 1], [1, 1, 1], [1, 1, 1]])  # a at 1, b at 2, c at 1: a tie


def test_flow_is_binary_and_varied(data_dir: Path) -> None:
    rows = all_rows("flow")
    assert set(rows.domain.shape) == {2}
    share = rows.sample_weight @ rows.codes / rows.total_weight
    assert ((share > 0.1) & (share < 0.9)).all()
