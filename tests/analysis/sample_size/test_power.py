"""Sample size: results equal a simulation written out, and impossible requests are refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mrfit
from mrfit import L1, FixedStructure, Learned, Learner, MarkovNetwork, NoPenalty, UniqueRows
from mrfit.analysis.sample_size.power import MeanOverSamples, PowerPoint, SampleSizeStudy, sample_size
from mrfit.core.errors import InputError
from mrfit.structures.structure import Structure

EBIC = Learned(select="ebic", rule="and")


@pytest.fixture
def model(named_rows: Callable[[str, str], UniqueRows]) -> MarkovNetwork:
    """A chain of four of the Czech workers' variables."""
    chain = Structure.from_edges(4, [(0, 1), (1, 2), (2, 3)])
    return Learner(FixedStructure(chain), NoPenalty()).fit(named_rows("czech", "data").on_columns(range(4))).model


def test_beside_a_simulation_written_out(model: MarkovNetwork) -> None:
    """Sensitivity, specificity and correlation of each table are computed again by hand."""
    found = sample_size(model, EBIC, rows=[300], repetitions=12, seed=5)
    truth = {tuple(edge): w for edge, w in zip(model.structure.edges.tolist(), model.edge_weights, strict=True)}
    pairs = [(a, b) for a in range(4) for b in range(a + 1, 4)]
    sensitivity, specificity, correlation = [], [], []
    for codes in np.split(model.sample(12 * 300, seed=5).codes, 12):
        learned = EBIC.learn(UniqueRows.from_codes(model.domain, codes, np.ones(300)))
        mine = dict(zip(map(tuple, learned.structure.edges.tolist()), learned.report.weight, strict=True))
        sensitivity.append(np.mean([edge in mine for edge in truth]))
        specificity.append(np.mean([pair not in mine for pair in pairs if pair not in truth]))
        both = np.array([[mine.get(pair, 0.0), truth.get(pair, 0.0)] for pair in pairs])
        correlation.append(np.corrcoef(both.T)[0, 1] if both[:, 0].any() else 0.0)
    (point,) = found.points
    for name, values in (("sensitivity", sensitivity), ("specificity", specificity), ("correlation", correlation)):
        mean = getattr(point, name)
        assert mean.mean == pytest.approx(np.mean(values), abs=1e-12)
        assert mean.error == pytest.approx(np.std(values, ddof=1) / np.sqrt(12), abs=1e-12)
    assert point.found.mean() == pytest.approx(point.sensitivity.mean)
    assert [(a, b) for a, b, _ in found.edges] == [(model.domain.names[a], model.domain.names[b]) for a, b in truth]


def test_agrees_with_other_tables_of_the_same_model(model: MarkovNetwork) -> None:
    """Agreement is within Monte Carlo error; more rows find more, and threads change nothing."""
    first, second = (sample_size(model, EBIC, rows=[150, 1200], repetitions=40, seed=seed, jobs=2) for seed in (1, 2))
    alone = sample_size(model, EBIC, rows=[1200, 150, 150], repetitions=40, seed=1)
    for a, b in zip(first.points, second.points, strict=True):
        error = np.hypot(a.sensitivity.error, b.sensitivity.error)
        assert a.sensitivity.mean == pytest.approx(b.sensitivity.mean, abs=4 * error + 1e-12)
    few, many = first.points
    assert few.sensitivity.mean < many.sensitivity.mean
    assert [point.sensitivity for point in alone.points] == [few.sensitivity, many.sensitivity]


def test_any_learner(model: MarkovNetwork) -> None:
    for learner in (Learner(mrfit.ChowLiuTree(), NoPenalty()), Learner(penalty=L1(10.0))):
        (point,) = sample_size(model, learner, rows=[500], repetitions=3).points
        assert 0 < point.sensitivity.mean <= 1


def test_weights_are_counted_as_the_learner_counts_them() -> None:
    """Weights are the slope of a falling pair, or the norm of its table if regressions ignore the order."""
    rng = np.random.default_rng(2)
    a, c = rng.integers(0, 4, (2, 900))
    b = np.where(rng.random(900) < 0.5, 3 - a, rng.integers(0, 4, 900))
    fitted = mrfit.learn({"a": a, "b": b, "c": c}, penalty=mrfit.L2(strength=(1.0,)), parameterization="ordered")
    ordered, own = fitted.model, Learner(penalty=L1(2.0), parameterization="ordered")
    found = {learner: sample_size(ordered, learner, rows=[2000], repetitions=2) for learner in (EBIC, own)}
    assert all(each.points[0].correlation.mean > 0.9 for each in found.values())
    slope, norm = (found[learner].edges[0][2] for learner in (own, EBIC))
    assert slope == ordered.edge_weights[0] < 0 < norm
    assert norm == pytest.approx(-slope * 5.0)  # the norm of products of centered scores 0, 1, 2, 3
    assert (found[own].unit, found[own].has_sign[0]) == ("log odds ratio per step", True)
    assert (found[EBIC].unit, found[EBIC].has_sign[0]) == ("norm of the centered table, no sign", False)


def _power(*means: float) -> SampleSizeStudy:
    none = MeanOverSamples(np.nan, np.nan)
    sizes = [100 * 2**k for k in range(len(means))]
    points = tuple(
        PowerPoint(n, MeanOverSamples(m, 0.0), none, none, np.empty(0), {}) for n, m in zip(sizes, means, strict=True)
    )
    return SampleSizeStudy((), 2, points, "", ())


@pytest.mark.parametrize(
    ("means", "wanted", "rows"),
    [
        ((0.2, 0.6, 1.0), 0.8, 100 * 2**1.5),
        ((0.2, 0.6, 1.0), 0.6, 200.0),
        ((0.9, 0.95), 0.8, 100.0),
        ((0.2, 0.6), 0.8, None),
        ((0.5, 0.3, 0.8), 0.6, 200 * 2**0.5),  # smoothed to 0.4, 0.4, 0.8
    ],
)
def test_rows_for_a_wanted_sensitivity(means: tuple[float, ...], wanted: float, rows: float | None) -> None:
    found = _power(*means).rows_for(wanted)
    assert found == (rows if rows is None else pytest.approx(rows))


def test_tables_that_fail_are_counted(model: MarkovNetwork) -> None:
    weights = np.array([[1.0, 0.0], [np.nan, np.nan], [0.0, 0.0]])
    point = PowerPoint.of(10, np.array([2.0, 0.0]), weights, {"a reason": 1})
    assert (point.sensitivity.mean, point.specificity.mean) == (0.5, 1.0)
    assert point.failures == {"a reason": 1}
    with pytest.raises(InputError, match="each of 1 tables of 10 rows: a reason"):
        PowerPoint.of(10, np.array([2.0, 0.0]), weights[1:2], {"a reason": 1})


@pytest.mark.parametrize(
    ("learner", "how", "said"),
    [
        (Learner(), {}, "With a fixed structure every table has the same edges"),
        (EBIC, {"rows": [1]}, "at least 2 rows each; got 1"),
        (EBIC, {"rows": []}, "at least 2 rows each; got 0"),
        (EBIC, {"repetitions": 1}, "At least 2 tables"),
    ],
    ids=["given", "rows", "none", "repetitions"],
)
def test_refusals(learner: Any, how: dict[str, Any], said: str, model: MarkovNetwork) -> None:
    with pytest.raises(InputError, match=said):
        sample_size(model, learner, **how)


def test_a_model_without_edges_and_no_sensitivity(model: MarkovNetwork) -> None:
    empty = Learner(mrfit.NoInteractions()).fit(UniqueRows.from_dataset(model.sample(50))).model
    with pytest.raises(InputError, match="no edges"):
        sample_size(empty, EBIC)
    with pytest.raises(InputError, match="between 0 and 1; got 80"):
        _power(0.5).rows_for(80)
