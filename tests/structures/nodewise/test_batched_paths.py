"""Networks of many resamples at once are those that each resample leads to by itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mrfit.analysis.stability.resamples import bootstrap
from mrfit.analysis.stability.stability import weigher
from mrfit.data.unique_rows import UniqueRows
from mrfit.structures.nodewise.batched_paths import RegressionPool
from mrfit.structures.nodewise.learned import Learned
from mrfit.structures.nodewise.pairwise_learner import PairwiseLearner
from populations import domain_of

# Nearly separated regressions are all but flat: with the usual tolerance they choose a point or the next by chance.
TIGHT = 1e-8


def _alone(learner: PairwiseLearner, rows: UniqueRows, resamples: np.ndarray) -> np.ndarray:
    return np.stack([weigher(learner)(rows.reweighted(weight)) for weight in resamples])


def _pooled(learner: PairwiseLearner, rows: UniqueRows, resamples: np.ndarray, **how: Any) -> np.ndarray:
    pool = learner.pool(rows)
    assert isinstance(pool, RegressionPool)
    return pool.weights(resamples, **how)


@pytest.mark.parametrize(
    ("name", "n", "digits"), [("czech", 20, 1e-5), ("rochdale", 20, 1e-5), ("yeast", 3, 1e-3)], ids=lambda v: str(v)
)
@pytest.mark.parametrize(
    "settings", [{"rule": "and", "refit": False}, {"rule": "or", "scale": "standard", "gamma": 0.5}], ids=str
)
def test_edge_for_edge(
    name: str, n: int, digits: float, settings: dict[str, Any], named_rows: Callable[..., UniqueRows]
) -> None:
    rows = named_rows(name, "data")
    resamples = bootstrap(rows, n, np.random.default_rng(0))
    learner = Learned(select="ebic", tolerance=1e-6 if settings["rule"] == "or" else TIGHT, **settings)
    expected, found = _alone(learner, rows, resamples), _pooled(learner, rows, resamples)
    np.testing.assert_array_equal(found != 0, expected != 0)
    np.testing.assert_allclose(found, expected, atol=digits)


@pytest.mark.parametrize(("name", "n", "digits"), [("czech", 10, 1e-4), ("rochdale", 10, 1e-3), ("yeast", 2, 1e-2)])
@pytest.mark.parametrize("scale", ["raw", "standard"])
def test_refits(name: str, n: int, digits: float, scale: str, named_rows: Callable[..., UniqueRows]) -> None:
    """Edges are the same; nearly separated refits are almost flat, and have their own tolerance."""
    rows = named_rows(name, "data")
    resamples = bootstrap(rows, n, np.random.default_rng(0))
    learner = Learned(select="ebic", rule="and", scale=scale, refit=True, tolerance=TIGHT if scale == "raw" else 1e-6)
    expected, found = _alone(learner, rows, resamples), _pooled(learner, rows, resamples)
    np.testing.assert_array_equal(found != 0, expected != 0)
    np.testing.assert_allclose(found, expected, atol=digits)


@pytest.mark.parametrize("scale", ["raw", "standard"])
def test_wishes_and_columns_that_do_not_vary(scale: str, rng: np.random.Generator) -> None:
    """Pairs that are required and forbidden; a variable that is constant in some resamples, and one row that is not."""
    codes = rng.integers(0, 2, (60, 5)).astype(np.uint8)
    codes[:, 1] = np.where(rng.random(60) < 0.8, codes[:, 0], codes[:, 1])
    codes[:, 2] = np.where(rng.random(60) < 0.8, codes[:, 0], codes[:, 2])
    codes[:, 4] = np.arange(60) < 2
    rows = UniqueRows.from_codes(domain_of((2,) * 5), codes, np.ones(60))
    learner = Learned(
        select="ebic", scale=scale, gamma=0.0, tolerance=1e-6, require=[("x3", "x4")], forbid=[("x0", "x1")]
    )
    resamples = bootstrap(rows, 12, rng)
    constant = resamples @ (rows.codes[:, 4] > 0) == 0
    assert 0 < constant.sum() < 12
    found = _pooled(learner, rows, resamples)
    assert found.any()
    np.testing.assert_allclose(found, _alone(learner, rows, resamples), atol=1e-4)


def test_threads_and_progress(named_rows: Callable[..., UniqueRows]) -> None:
    rows = named_rows("czech", "data")
    resamples, told = bootstrap(rows, 40, np.random.default_rng(0)), []
    learner = Learned(select="ebic")
    one, two = _pooled(learner, rows, resamples), _pooled(learner, rows, resamples, jobs=2, callback=told.append)
    np.testing.assert_array_equal(one, two)
    assert sum(told) == 40


def test_what_has_no_pool(named_rows: Callable[..., UniqueRows]) -> None:
    """Other selections, trees beside, and more states."""
    rows = named_rows("czech", "data")
    assert Learned(select="ebic").pool(rows) is not None
    for settings in ({}, {"select": "ebic", "with_tree": True}):
        assert Learned(**settings).pool(rows) is None
    assert Learned(select="ebic").pool(named_rows("flow", "data")) is None
