"""Regressions on lists find what they find on codes, edge for edge."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from benchmarks.planted_items import planted_items
from mrfit.core.errors import InputError
from mrfit.data.sparse_rows import SparseRows
from mrfit.data.unique_rows import UniqueRows
from mrfit.learning.learner import Learner
from mrfit.learning.penalty_specs import L2
from mrfit.structures.nodewise.allowed_pairs import AllowedPairs
from mrfit.structures.nodewise.lasso_paths import PathSettings, node_paths
from mrfit.structures.simple import ChowLiuTree, Learned

WAYS: list[dict[str, Any]] = [
    {"bound": "path", "max_degree": 3},
    {"bound": "path", "max_degree": 2, "rule": "and"},
    {"select": "strength", "select_strength": 2.5},
    {"select": "theory", "theory": 0.05},
]


@pytest.fixture(scope="module")
def items() -> SparseRows:
    return SparseRows.of_matrix(planted_items(n_rows=4000, n_items=400, density=0.005))


@pytest.mark.parametrize("way", WAYS, ids=lambda way: " ".join(map(str, way.values())))
def test_wide_items_have_the_edges_of_the_dense_table(items: SparseRows, way: dict[str, Any]) -> None:
    ours, dense = (Learned(**way).learn(rows) for rows in (items, items.dense()))
    assert len(ours.report) > 30
    assert ours.structure == dense.structure
    np.testing.assert_allclose(ours.report.coefficients, dense.report.coefficients, atol=1e-4)
    np.testing.assert_allclose(ours.report.entered, dense.report.entered, rtol=1e-9)
    assert ours.violation == pytest.approx(0.0, abs=1e-5)


def test_the_largest_of_weak_regressions() -> None:
    items = SparseRows.of_matrix(planted_items(n_rows=600, n_items=60, density=0.03))
    ours, dense = (Learned(bound="top", max_degree=2).learn(rows) for rows in (items, items.dense()))
    assert ours.structure == dense.structure


def test_crowds_that_share_one_row_enter_together_and_end_paths() -> None:
    """Each variable shares exactly one of its ten rows with about fifty others, which all enter within one step."""
    items = SparseRows.of_matrix(planted_items(n_rows=1000, n_items=600, density=0.01))
    ours, dense = (Learned(bound="path", max_degree=2).learn(rows) for rows in (items, items.dense()))
    assert ours.structure == dense.structure


@pytest.mark.parametrize("standard", [False, True])
def test_paths_of_a_real_table_point_for_point(standard: bool, data_dir: Path) -> None:
    """Dense columns too: in plants a third of the cells are on; weights that are no whole numbers; forbidden pairs."""
    dense = UniqueRows.from_file(data_dir / "plants" / "valid.csv.gz")
    rng = np.random.default_rng(0)
    dense = dense.reweighted(rng.random(dense.n_distinct) + 0.1)
    rows = SparseRows(dense.domain, sparse.csr_array(dense.codes), dense.sample_weight)
    pairs = AllowedPairs.of(dense.domain, forbid=[("v0", "v1"), ("v0", "v5"), ("v3", "v0")])
    settings = PathSettings(6, ratio=0.7, lowest=0.2, tolerance=1e-6)
    some = [0, 3, 5, 30]
    for ours, theirs in zip(
        *(node_paths(each, settings, variables=some, pairs=pairs, standard=standard) for each in (rows, dense)),
        strict=True,
    ):
        assert ours.critical == pytest.approx(theirs.critical, rel=1e-12)
        assert len(ours.points) == len(theirs.points)
        for one, other in zip(ours.points, theirs.points, strict=True):
            np.testing.assert_array_equal(one.selected, other.selected)
            np.testing.assert_allclose(one.values, other.values, atol=1e-4)
            assert one.loss == pytest.approx(other.loss, rel=1e-6)


def test_planted_pairs_are_found_by_the_ebic(items: SparseRows) -> None:
    edges = Learned(select="ebic", refit=False, rule="and").learn(items).structure.edges
    assert len(edges) > 50
    assert np.mean(edges[:, 0] // 2 == edges[:, 1] // 2) > 0.95


@pytest.mark.parametrize(("name", "way"), [("plants", {}), ("nltcs", {"gamma": 0.0}), ("nltcs", {"rule": "and"})])
def test_the_ebic_chooses_the_edges_of_the_dense_table(name: str, way: dict[str, Any], data_dir: Path) -> None:
    dense = UniqueRows.from_file(data_dir / name / "valid.csv.gz")
    rows = SparseRows(dense.domain, sparse.csr_array(dense.codes), dense.sample_weight)
    ours, theirs = (Learned(select="ebic", **way).learn(each) for each in (rows, dense))
    assert ours.structure == theirs.structure
    finite = np.abs(theirs.report.coefficients) < 20  # one optimum of plants is at infinity
    np.testing.assert_allclose(ours.report.coefficients[finite], theirs.report.coefficients[finite], atol=1e-3)


def test_trees_are_those_of_the_dense_table(items: SparseRows) -> None:
    rng = np.random.default_rng(0)
    weighted = items.reweighted(rng.random(items.n_distinct))
    assert ChowLiuTree().learn(weighted).structure == ChowLiuTree().learn(weighted.dense()).structure


def test_folds_of_lists(items: SparseRows) -> None:
    learner = Learner(ChowLiuTree(), L2(strength=(0.1, 10.0)), folds=2)
    ours, dense = (learner.fit(rows) for rows in (items, items.dense()))
    assert ours.model.pll(items) == pytest.approx(dense.model.pll(items), rel=1e-9)


def test_required_and_forbidden_pairs(items: SparseRows) -> None:
    learned = Learned(bound="path", max_degree=2, require=[("0", "7")], forbid=[("2", "3")]).learn(items)
    edges = set(map(tuple, learned.structure.edges.tolist()))
    assert (0, 7) in edges
    assert (2, 3) not in edges


def test_items_that_are_never_or_always_on_have_no_edges() -> None:
    matrix = sparse.hstack([planted_items(n_rows=300, n_items=10, density=0.1), np.zeros((300, 1)), np.ones((300, 1))])
    structure = Learned(bound="path", max_degree=3).learn(SparseRows.of_matrix(matrix)).structure
    assert structure.n_variables == 12
    assert structure.edges.max() < 10


def test_the_pseudo_likelihood_has_the_optimum_of_the_dense_table(items: SparseRows) -> None:
    learner = Learner(structure=Learned(bound="path", max_degree=2))
    ours, dense = (learner.fit(rows) for rows in (items, items.dense()))
    np.testing.assert_allclose(ours.model.w, dense.model.w, atol=1e-8)
    assert ours.model.pll(items) == pytest.approx(dense.model.pll(items.dense()), rel=1e-12)


def test_what_needs_codes_refuses(items: SparseRows) -> None:
    with pytest.raises(InputError, match="stored as lists"):
        Learned(max_degree=2).learn(items)
