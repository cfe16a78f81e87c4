"""Structures learned from a sample: those of all rows where they are checked on all of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mrfit.core.errors import InputError
from mrfit.data.partitioned_table import PartitionedTable
from mrfit.data.unique_rows import UniqueRows
from mrfit.learning import Learner
from mrfit.learning.penalty_specs import L2
from mrfit.learning.structure_from_sample import learned_in_parts, sampled
from mrfit.structures.simple import Learned


@pytest.fixture
def table(tmp_path: Path, rng: np.random.Generator) -> Path:
    """Seven variables of up to three states in a chain, the last of which never varies; in three files."""
    codes = rng.integers(0, (2, 3, 2, 2, 3, 2, 1), (3000, 7))
    for j in range(1, 6):
        copied = rng.random(3000) < 0.4
        codes[copied, j] = np.minimum(codes[copied, j - 1], codes[:, j].max())
    header = ",".join("abcdefg")
    for k in range(3):
        lines = [",".join(map(str, row)) for row in codes[k::3]]
        (tmp_path / f"{k}.csv").write_text("\n".join([header, *lines]) + "\n")
    return tmp_path


@pytest.fixture
def _samples(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few rows are sampled, as if there were very many."""
    monkeypatch.setattr("mrfit.learning.structure_from_sample._SMALL", 0)
    monkeypatch.setattr("mrfit.learning.structure_from_sample._MOST_ROWS", 60)


def test_few_rows_are_all_taken(table: Path) -> None:
    rows, parts = UniqueRows.from_file(table), PartitionedTable.of(table)
    assert sampled(parts, 0) == (rows, 3000)
    learner = Learned(max_degree=2)
    found, expected = learned_in_parts(learner, parts), learner.learn(rows)
    assert found.structure == expected.structure
    np.testing.assert_array_equal(found.report.coefficients, expected.report.coefficients)


@pytest.mark.usefixtures("_samples")
@pytest.mark.parametrize("settings", [{"select_strength": 20.0}, {"select_strength": 60.0, "rule": "and"}, {}])
def test_what_a_sample_has_missed_is_added(table: Path, settings: dict[str, float]) -> None:
    select = "strength" if settings else "theory"
    learner = Learned(select=select, forbid=[("a", "b")], require=[("a", "f")], **settings)  # type: ignore[arg-type]
    rows, parts = UniqueRows.from_file(table), PartitionedTable.of(table)
    of_sample = learner.learn(sampled(parts, 0)[0])
    found, expected = learned_in_parts(learner, parts), learner.learn(rows)
    assert sampled(parts, 0)[0].n_rows == 60
    assert of_sample.structure != expected.structure
    assert found.structure == expected.structure
    assert found.violation < 1e-4
    np.testing.assert_allclose(
        np.abs(found.report.coefficients),
        np.abs(expected.report.coefficients),
        atol=1e-3 * np.abs(expected.report.coefficients).max(),
    )
    assert "checked on all 3,000" in found.remarks[0]


@pytest.mark.usefixtures("_samples")
def test_what_is_not_checked_is_said(table: Path) -> None:
    found = Learner(Learned(max_degree=2), L2(strength=1.0)).fit(PartitionedTable.of(table))
    assert "a sample of 60 of 3,000 rows and not checked on the others" in found.structure.remarks[-2]
    with pytest.raises(InputError, match="Folds that each learn their structure need all rows together"):
        Learner(Learned(max_degree=2), L2(strength=(1.0, 2.0)), folds=2).fit(PartitionedTable.of(table))
