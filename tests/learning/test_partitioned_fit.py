"""Learning from tables in parts: the integers and optima of the rows held together."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mrfit.core import cluster as clusters
from mrfit.core.errors import InputError
from mrfit.data.partitioned_table import PartitionedTable
from mrfit.data.unique_rows import UniqueRows
from mrfit.learning import Learner
from mrfit.learning.objective_specs import LIKELIHOOD, RISE
from mrfit.learning.partitioned_fit import observed_in_parts
from mrfit.learning.partitioned_rows import CountedRows, ShardedRows
from mrfit.learning.penalty_spec import PenaltySpec
from mrfit.learning.penalty_specs import L1, L2, GroupLasso, HierarchicalLasso, NoPenalty
from mrfit.learning.tying_specs import SoftTied
from mrfit.structures.simple import (
    AllInteractions,
    ChowLiuTree,
    CompleteGraph,
    FixedStructure,
    NoInteractions,
    StructureLearner,
)
from mrfit.structures.structure import Structure

NAMES = ("a", "b", "c", "d", "e")


def write_parts(folder: Path, cuts: list[list[int]], lines: list[str], header: str) -> None:
    for k, rows in enumerate(cuts):
        (folder / f"{k}.csv").write_text("\n".join([header, *(lines[r] for r in rows)]) + "\n")


@pytest.fixture(params=["whole", "fractional"])
def weighted(request: pytest.FixtureRequest, tmp_path: Path, rng: np.random.Generator) -> Path:
    """Rows of mixed states that hang together, with weights, in three files of uneven length."""
    codes = rng.integers(0, (2, 3, 2, 2, 4), (400, 5))
    codes[:, 2] = np.where(rng.random(400) < 0.7, codes[:, 0], codes[:, 2])
    weight = rng.integers(0, 5, 400) / (1 if request.param == "whole" else 4)
    lines = [",".join(map(str, [*row, w])) for row, w in zip(codes, weight, strict=True)]
    order = rng.permutation(400).tolist()
    write_parts(tmp_path, [order[:50], order[50:300], order[300:]], lines, ",".join([*NAMES, "w"]))
    return tmp_path


RING = FixedStructure(Structure.from_edges(5, [(0, 1), (1, 2), (2, 3), (3, 4), (0, 4)]))


@pytest.mark.parametrize("structure", [RING, ChowLiuTree(), NoInteractions(), AllInteractions(3)])
def test_merged_counts_lead_to_the_optimum_of_the_rows(weighted: Path, structure: StructureLearner) -> None:
    parts, rows = PartitionedTable.of(weighted, weight="w"), UniqueRows.from_file(weighted, weight="w")
    learner = Learner(structure, L2(strength=2.0), tolerance=1e-12)
    found, expected = learner.fit(parts, errors="sandwich"), learner.fit(rows, errors="sandwich")
    assert isinstance(found.parts, CountedRows)
    assert found.structure.structure == expected.structure.structure
    np.testing.assert_allclose(found.model.w, expected.model.w, rtol=0, atol=1e-12)
    assert found.best.train == pytest.approx(expected.best.train, rel=1e-12)
    np.testing.assert_allclose(found.model.errors.covariance, expected.model.errors.covariance, rtol=1e-9)
    assert (found.parts.n_rows, found.parts.total_weight) == (rows.n_rows, rows.total_weight)
    assert found.parts.effective_rows == pytest.approx(rows.effective_rows)


def test_any_cut_gives_the_same_bits(tmp_path: Path, rng: np.random.Generator) -> None:
    lines = [",".join(map(str, row)) for row in rng.integers(0, (2, 3, 2, 2, 4), (200, 5))]
    fits = []
    for name, order, at in (("x", range(200), (10, 20)), ("y", rng.permutation(200), (1, 190))):
        (tmp_path / name).mkdir()
        rows = list(map(int, order))
        write_parts(tmp_path / name, [rows[: at[0]], rows[at[0] : at[1]], rows[at[1] :]], lines, ",".join(NAMES))
        fits.append(Learner(RING, L2(strength=1.0)).fit(PartitionedTable.of(tmp_path / name)))
    np.testing.assert_array_equal(fits[0].model.w, fits[1].model.w)
    assert fits[0].model.provenance["data"] == fits[1].model.provenance["data"]


PENALTIES = [
    L2(strength=1.0), NoPenalty(), L1(strength=3.0), GroupLasso(strength=3.0), HierarchicalLasso(strength=3.0),
    SoftTied(strength=1.0, groups=3),
]  # fmt: skip


@pytest.mark.parametrize("penalty", PENALTIES, ids=lambda penalty: penalty.word)
@pytest.mark.parametrize("parameterization", ["canonical", "ising"])
def test_shards_lead_to_the_optimum_of_the_rows(
    penalty: PenaltySpec,
    parameterization: str,
    tmp_path: Path,
    rng: np.random.Generator,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Two shards are used, with each kind of solver, cached and in other coordinates."""
    codes = rng.integers(0, 2, (300, 5))
    codes[:, 1] = np.where(rng.random(300) < 0.8, codes[:, 0], codes[:, 1])
    write_parts(
        tmp_path, [list(range(100)), list(range(100, 300))], [",".join(map(str, row)) for row in codes], ",".join(NAMES)
    )
    monkeypatch.setattr("mrfit.learning.partitioned_fit.has_small_tables", lambda *_: False)
    monkeypatch.setattr("mrfit.learning.partitioned_fit._MOST_STATES", 0.0)
    monkeypatch.setattr("mrfit.learning.partitioned_rows.n_at_once", lambda: 2)
    learner = Learner(CompleteGraph(), penalty, parameterization=parameterization, tolerance=1e-10)
    found, expected = learner.fit(PartitionedTable.of(tmp_path)), learner.fit(UniqueRows.from_file(tmp_path))
    assert isinstance(found.parts, ShardedRows)
    assert "2 shards of 2 files" in found.structure.remarks[-1]
    assert found.best.solution.converged
    np.testing.assert_allclose(found.model.w, expected.model.w, rtol=0, atol=1e-8)


def test_one_shard_has_the_bits_of_the_rows(
    tmp_path: Path, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_parts(
        tmp_path, [list(range(90))], [",".join(map(str, row)) for row in rng.integers(0, 2, (90, 5))], ",".join(NAMES)
    )
    monkeypatch.setattr("mrfit.learning.partitioned_fit._counted", lambda *_: None)
    learner = Learner(CompleteGraph(), L2(strength=1.0), objective=RISE)
    found, expected = learner.fit(PartitionedTable.of(tmp_path)), learner.fit(UniqueRows.from_file(tmp_path))
    np.testing.assert_array_equal(found.model.w, expected.model.w)
    assert found.best.train == pytest.approx(expected.best.train, rel=1e-12)
    assert found.model.provenance["data"] == expected.model.provenance["data"]
    with pytest.raises(InputError, match="cannot be stored as counts, which folds need"):
        Learner(CompleteGraph(), L2(strength=(1.0, 2.0)), folds=2).fit(PartitionedTable.of(tmp_path))


def test_folds_are_dealt_while_files_are_counted(tmp_path: Path, rng: np.random.Generator) -> None:
    """Every row is held out once; each fold learns its own tree."""
    lines = [",".join(map(str, row)) for row in rng.integers(0, 2, (101, 5))]
    write_parts(tmp_path, [list(range(40)), list(range(40, 101))], lines, ",".join(NAMES))
    parts = PartitionedTable.of(tmp_path)
    fitted = Learner(ChowLiuTree(), L2(strength=(1.0, 10.0)), folds=3).fit(parts)
    assert all(len(fit.fold_scores) == 3 and fit.held_out < 0 for fit in fitted.fits)
    again = Learner(ChowLiuTree(), L2(strength=(1.0, 10.0)), folds=3).fit(parts)
    assert [fit.held_out for fit in fitted.fits] == [fit.held_out for fit in again.fits]
    whole, folds = observed_in_parts(parts, Structure.independent(5), 3)
    assert [held_out.total_weight for _, held_out in folds] == [35.0, 33.0, 33.0]  # 14+13+13 and 21+20+20
    assert all(train.total_weight + held_out.total_weight == whole.total_weight == 101 for train, held_out in folds)


def test_what_needs_all_rows_says_so(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\n0,1\n1,0\n1,1\n0,0\n")
    parts = PartitionedTable.of(tmp_path)
    with pytest.raises(InputError, match="needs all rows together, and the table is in parts"):
        Learner(ChowLiuTree(), objective=LIKELIHOOD).fit(parts)
    with pytest.raises(InputError, match="covariates are learned from all rows together"):
        Learner(CompleteGraph(), covariates=("a",)).fit(parts)
    with pytest.raises(InputError, match="scored from counts, which give pll only; ll needs whole rows"):
        Learner(ChowLiuTree(), folds=2, judge="ll").fit(parts)
    assert not clusters.is_in_use()
