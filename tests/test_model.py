"""The fitted network: scores, names, errors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from mrfit.data.dataset import Dataset
from mrfit.data.unique_rows import UniqueRows
from mrfit.domain import Domain
from mrfit.errors import DataError, InputError
from mrfit.estimator import MarkovNetworkLearner
from mrfit.model import MarkovNetwork
from mrfit.parameterizations.canonical import Canonical
from mrfit.structure.structure import Structure
from mrfit.workers import deal
from populations import SHAPES, STRUCTURES, domain_of, problems, random_codes, random_rows
from reference import network


@given(problems())
@settings(max_examples=50)
def test_row_scores_equal_the_plain_twin(problem: tuple[UniqueRows, Canonical, np.ndarray]) -> None:
    """Row by row, and their weighted mean."""
    rows, parameters, w = problem
    model = MarkovNetwork(parameters, w)
    expected = [network.row_pll(parameters, w, tuple(x)) for x in rows.codes.tolist()]
    found = model.pll_rows(Dataset(rows.domain, rows.codes))
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
    assert model.pll(rows) == pytest.approx(-network.value(parameters, w, rows), rel=1e-12, abs=1e-13)


def test_scores_of_many_rows_are_the_same_bits_for_any_number_of_jobs(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More rows than a block, on one thread and on several."""
    monkeypatch.setattr("mrfit.objectives.row_scores._WORTH_A_THREAD", 0)
    shape = SHAPES["mixed"]
    parameters = Canonical(domain_of(shape), STRUCTURES["order 3"](4))
    w = rng.standard_normal(parameters.n_parameters)
    codes = random_codes(rng, shape, 5000)
    distinct, place = np.unique(codes, axis=0, return_inverse=True)
    expected = np.array([network.row_pll(parameters, w, tuple(x)) for x in distinct.tolist()])[place.ravel()]
    model, table = MarkovNetwork(parameters, w), Dataset(parameters.domain, codes)
    found = model.pll_rows(table, jobs=1)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
    for jobs in (2, 3, 7, None):
        np.testing.assert_array_equal(model.pll_rows(table, jobs=jobs), found)
        np.testing.assert_array_equal(model.ll_rows(table, jobs=jobs), model.ll_rows(table, jobs=1))
        assert model.pll(table, jobs=jobs) == model.pll(table, jobs=1)
        assert model.ll(table, jobs=jobs) == model.ll(table, jobs=1)


def test_scores_use_as_many_threads_as_asked_for(rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the model and from the estimator; anything but a number of jobs is refused."""
    used: list[int] = []

    def seen(cost: np.ndarray, jobs: int) -> list[tuple[int, int]]:
        used.append(jobs)
        return deal(cost, jobs)

    monkeypatch.setattr("mrfit.objectives.row_scores._WORTH_A_THREAD", 0)
    monkeypatch.setattr("mrfit.objectives.row_scores.deal", seen)
    table = rng.integers(0, 2, (100, 3))
    learner = MarkovNetworkLearner(n_jobs=3).fit(table)
    learner.score_samples(table)
    for jobs in (1, 2):
        learner.model_.pll(table, jobs=jobs)
    assert used == [3, 1, 2]
    with pytest.raises(InputError, match="got 0"):
        learner.model_.pll_rows(table, jobs=0)


def test_extreme_parameters_give_finite_scores(rng: np.random.Generator) -> None:
    """Differences of a thousand nats neither overflow nor vanish."""
    parameters = Canonical(domain_of((2, 3, 2)), Structure.complete(3))
    w = rng.choice([-700.0, 700.0], parameters.n_parameters)
    codes = random_codes(rng, (2, 3, 2), 30)
    expected = [network.row_pll(parameters, w, tuple(x)) for x in codes.tolist()]
    np.testing.assert_allclose(
        MarkovNetwork(parameters, w).pll_rows(Dataset(parameters.domain, codes)), expected, rtol=1e-12
    )


def test_tables_are_matched_by_name() -> None:
    """Columns in any order, extra ones ignored, weights used by the mean only."""
    domain = Domain.from_states({"a": ["no", "yes"], "b": ["0", "1"]})
    model = MarkovNetwork(Canonical(domain, Structure.complete(2)), np.array([0.5, -1.0, 2.0]))
    table = {"b": [1, 0, 1], "other": [7, 8, 9], "a": ["yes", "no", "no"]}
    codes = np.array([[1, 1], [0, 0], [0, 1]], np.uint8)
    np.testing.assert_array_equal(model.pll_rows(table), model.pll_rows(Dataset(domain, codes)))
    weight = np.array([1.0, 0.0, 3.0])
    expected = weight @ model.pll_rows(table) / 4
    assert model.pll(Dataset(domain, codes, weight)) == pytest.approx(expected, rel=1e-14)


def test_an_unknown_state_is_named() -> None:
    """Not scored as something else."""
    model = MarkovNetwork(Canonical(domain_of((2,)), Structure.complete(1)), np.zeros(1))
    with pytest.raises(DataError, match="'x0' holds 's9'"):
        model.pll_rows({"x0": ["s0", "s9"]})


def test_other_rows_are_recoded(rng: np.random.Generator) -> None:
    """Unique rows under a domain with states in another order."""
    rows = random_rows(rng, (2, 3), 30)
    model = MarkovNetwork(Canonical(rows.domain, Structure.complete(2)), rng.standard_normal(5))
    turned = Domain.from_states({v.name: v.states[::-1] for v in reversed(rows.domain.variables)})
    codes = np.array([2, 1], np.uint8) - rows.codes[:, ::-1]
    other = UniqueRows.from_codes(turned, codes, rows.sample_weight)
    assert other.recoded(rows.domain).codes.tolist() == rows.codes.tolist()
    assert model.pll(other) == pytest.approx(model.pll(rows), rel=1e-14)


def test_other_datasets_are_recoded(rng: np.random.Generator) -> None:
    """A data set read on its own has its states in its own order."""
    rows = random_rows(rng, (2, 2), 30)
    model = MarkovNetwork(Canonical(rows.domain, Structure.complete(2)), rng.standard_normal(3))
    turned = Domain.from_states({v.name: v.states[::-1] for v in rows.domain})
    mine, other = Dataset(rows.domain, rows.codes), Dataset(turned, 1 - rows.codes)
    np.testing.assert_array_equal(model.pll_rows(other), model.pll_rows(mine))


def test_the_strongest_parameters_by_order() -> None:
    """By absolute value, with their signs; ties in the order of the parameters."""
    parameters = Canonical(domain_of((2, 2, 2)), Structure.complete(3))
    model = MarkovNetwork(parameters, np.array([1.0, -3.0, 3.0, 0.1, -0.5, 0.2]))
    assert model.strongest(2, order=1) == [("x1=s1", -3.0), ("x2=s1", 3.0)]
    assert model.strongest(9, order=2)[0] == ("x0=s1 & x2=s1", -0.5)
    assert model.strongest(3, order=3) == []


def test_parameters_are_copied_and_read_only() -> None:
    """A model is a value."""
    w = np.zeros(3)
    model = MarkovNetwork(Canonical(domain_of((2, 2)), Structure.complete(2)), w)
    w[0] = 5.0
    assert model.w.tolist() == [0.0, 0.0, 0.0]
    with pytest.raises(ValueError, match="read-only"):
        model.w[0] = 1.0


@pytest.mark.parametrize("w", [np.zeros(2), np.zeros((3, 1)), np.array([0.0, np.nan, 0.0]), np.array([0, 0, np.inf])])
def test_wrong_parameters_are_refused(w: np.ndarray) -> None:
    """Their number, shape and finiteness."""
    with pytest.raises(InputError, match=r"3 parameters; got an array of shape|finite"):
        MarkovNetwork(Canonical(domain_of((2, 2)), Structure.complete(2)), w)
