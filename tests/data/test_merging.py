"""Parts of a table as one, and the same rows with other weights."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mrfit.core.domain import Domain
from mrfit.core.errors import DataError
from mrfit.data.dataset import Dataset
from mrfit.data.unique_rows import UniqueRows
from populations import random_rows


@given(st.integers(0, 2**32 - 1), st.booleans())
def test_any_split_in_any_order_gives_the_rows_of_the_whole(seed: int, fractional: bool) -> None:
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 3, (40, 3)).astype(np.uint8)
    weight = rng.integers(1, 64, 40) / (16.0 if fractional else 1.0)  # sums of these are exact
    domain = Domain.from_states({name: ["0", "1", "2"] for name in "abc"})
    whole = UniqueRows.from_codes(domain, codes, weight)
    part_of = rng.integers(0, 3, 40)
    parts = [
        UniqueRows.from_codes(domain, codes[part_of == k], weight[part_of == k])
        for k in range(3)
        if (part_of == k).any()
    ]
    for order in permutations(parts):
        merged = UniqueRows.merged(order)
        assert merged == whole
        assert hash(merged) == hash(whole)
        assert (merged.n_rows, merged.dropped_rows) == (40, 0)
        assert merged.effective_rows == pytest.approx(whole.effective_rows)


def test_states_that_only_some_parts_have_are_united() -> None:
    tables = [{"a": ["3", "1"], "b": ["x", "y"]}, {"b": ["w", "y", "y"], "a": ["10", "1", "2"]}]
    parts = [UniqueRows.of(Dataset.from_table(table)) for table in tables]
    whole = UniqueRows.of(Dataset.from_table({"a": ["3", "1", "10", "1", "2"], "b": ["x", "y", "w", "y", "y"]}))
    assert UniqueRows.merged(parts) == whole
    assert UniqueRows.merged(parts[::-1]).recoded(whole.domain) == whole
    assert UniqueRows.merged(parts).domain.to_states() == {"a": ["1", "2", "3", "10"], "b": ["w", "x", "y"]}


def test_a_declared_order_is_kept_and_new_states_follow() -> None:
    low = UniqueRows.of(Dataset.from_table({"a": ["low", "high"]}, states={"a": ["low", "high"]}))
    extreme = UniqueRows.of(Dataset.from_table({"a": ["extreme", "low"]}))
    assert UniqueRows.merged([low, extreme]).domain.to_states() == {"a": ["low", "high", "extreme"]}


def test_parts_with_other_columns_are_refused() -> None:
    parts = [UniqueRows.of(Dataset.from_table({name: [0, 1], "b": [1, 1]})) for name in "ac"]
    with pytest.raises(DataError, match="The columns of part 2 differ from those of the first in 'a', 'c'"):
        UniqueRows.merged(parts)
    with pytest.raises(DataError, match="no parts"):
        UniqueRows.merged([])


def test_other_weights_on_the_same_rows(rng: np.random.Generator) -> None:
    rows = random_rows(rng, (2, 3), 50)
    assert rows.reweighted(rows.sample_weight) == rows
    assert rows.reweighted(2.0 * rows.sample_weight).effective_rows == pytest.approx(2.0 * rows.effective_rows)
    one = np.zeros(rows.n_distinct)
    one[1] = 2.5
    chosen = rows.reweighted(one)
    np.testing.assert_array_equal(chosen.codes, rows.codes[1:2])
    assert chosen.total_weight == 2.5
    for wrong in (-one, one[1:], np.zeros(rows.n_distinct)):
        with pytest.raises(DataError, match="sample_weight"):
            rows.reweighted(wrong)


def test_equality_is_of_rows_and_weights(rng: np.random.Generator) -> None:
    rows = random_rows(rng, (2, 2), 30)
    again = UniqueRows.from_codes(rows.domain, rows.codes[::-1].copy(), rows.sample_weight[::-1].copy())
    assert again == rows
    assert rows != rows.reweighted(rows.sample_weight + 1.0)
    assert rows != rows.on_columns([0])
    assert rows != "rows"
    assert repr(rows) == f"<UniqueRows: 30 rows, {rows.n_distinct} distinct, 2 variables>"
