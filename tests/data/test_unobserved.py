"""Cells without a value, kept from the reader on, and refused by what cannot do without them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mrfit.analysis.spectrum.interaction_spectrum import interaction_spectrum
from mrfit.core.domain import Domain
from mrfit.core.errors import DataError
from mrfit.data.dataset import Dataset
from mrfit.data.encoding import UNOBSERVED, ParseOptions
from mrfit.data.unique_rows import UniqueRows
from mrfit.learning import Learner
from mrfit.structures.simple import ChowLiuTree, Learned

TABLE = {
    "a": ["x", None, "y", "x", None, "x", None],
    "b": [0, 1, None, 0, 1, 1, 1],
}


def _kept() -> UniqueRows:
    return UniqueRows.of(Dataset.from_table(TABLE, missing="keep"))


def test_unobserved_cells_are_kept_apart_from_all_states() -> None:
    dataset = Dataset.from_table(TABLE, missing="keep")
    assert dataset.domain.to_states() == {"a": ["x", "y"], "b": ["0", "1"]}
    assert dataset.dropped_rows == 0
    expected = [[0, 0], [255, 1], [1, 255], [0, 0], [255, 1], [0, 1], [255, 1]]
    np.testing.assert_array_equal(dataset.codes, expected)
    rows = UniqueRows.of(dataset)
    np.testing.assert_array_equal(rows.codes, [[0, 0], [0, 1], [1, 255], [255, 1]])
    np.testing.assert_array_equal(rows.sample_weight, [2, 1, 1, 3])
    assert not rows.is_complete
    assert UniqueRows.of(Dataset.from_table(TABLE, missing="drop")).is_complete


def test_files_keep_them_too(tmp_path: Any) -> None:
    lines = [
        ",".join("" if value is None else str(value) for value in row) for row in zip(*TABLE.values(), strict=True)
    ]
    (tmp_path / "t.csv").write_text("a,b\n" + "\n".join(lines) + "\n")
    assert UniqueRows.from_file(tmp_path / "t.csv", ParseOptions(missing="keep")) == _kept()


def test_they_survive_another_domain_merging_and_weights() -> None:
    rows = _kept()
    turned = Domain.from_states({"b": ["1", "0"], "a": ["y", "x", "z"]})
    back = rows.recoded(turned).recoded(Domain.from_states({"a": ["x", "y", "z"], "b": ["0", "1"]}))
    np.testing.assert_array_equal(back.codes, rows.codes)
    assert UniqueRows.merged([rows, rows]) == rows.reweighted(2.0 * rows.sample_weight)
    assert rows.on_columns([1]).codes.ravel().tolist() == [0, 1, UNOBSERVED]


def test_a_variable_with_all_states_there_can_be_keeps_the_mark_apart() -> None:
    values = [str(k) for k in range(255)] * 2
    rows = UniqueRows.of(Dataset.from_table({"a": [*values, None], "b": [0] * 511}, missing="keep"))
    assert rows.domain.shape[0] == 255
    assert rows.codes[:, 0].max() == UNOBSERVED
    assert rows.n_distinct == 256


_DOORS: dict[str, Callable[[UniqueRows], object]] = {
    "learning": lambda rows: Learner().fit(rows),
    "validation": lambda rows: Learner().fit(rows.reweighted(np.array([1.0, 1.0, 0.0, 0.0])), rows),
    "test rows": lambda rows: Learner().fit(rows.reweighted(np.array([1.0, 1.0, 0.0, 0.0])), test=rows),
    "structure": lambda rows: Learned(max_degree=1).learn(rows),
    "tree": lambda rows: ChowLiuTree().learn(rows),
    "spectrum": lambda rows: interaction_spectrum(rows, folds=2),
}


@pytest.mark.parametrize("door", _DOORS)
def test_what_does_not_support_them_refuses_them(door: str) -> None:
    with pytest.raises(DataError, match=r"values are missing.*missing='drop' or missing='state'"):
        _DOORS[door](_kept())
