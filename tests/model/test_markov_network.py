"""The fitted network: scores, names, errors."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

from mrfit.core.domain import Domain
from mrfit.core.errors import DataError, InputError
from mrfit.core.factors import Factors
from mrfit.core.threads import deal
from mrfit.data.dataset import Dataset
from mrfit.data.unique_rows import UniqueRows
from mrfit.model.markov_network import MarkovNetwork
from mrfit.parameterizations.canonical import Canonical
from mrfit.parameterizations.full import Full
from mrfit.sklearn import MarkovNetworkLearner
from mrfit.structures.structure import Structure
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
    """Models and estimators are tested; anything but a number of jobs is refused."""
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
    """Absolute values decide, signs are shown, and ties stay in the order of the parameters."""
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


def _with_impossible_states(rng: np.random.Generator, shape: tuple[int, ...]) -> MarkovNetwork:
    """Full tables of which some cells are minus infinity, though the first joint state is possible."""
    parameters = Full(domain_of(shape), Structure.complete(len(shape)))
    tables = []
    for table in parameters.to_tables(rng.standard_normal(parameters.n_parameters)).values():
        holed = np.where(rng.random(table.shape) < 0.2, -np.inf, table).ravel()
        holed[0] = 0.5
        tables.append(holed)
    return MarkovNetwork(parameters, np.concatenate(tables))


@pytest.mark.parametrize("shape", [(2, 3, 2), (2, 1, 3, 2), (2,) * 21], ids=["few", "one state", "many states"])
def test_impossible_rows_score_minus_infinity(shape: tuple[int, ...], rng: np.random.Generator) -> None:
    """And the others what is left of the probability, whether joint states are few or many."""
    model = _with_impossible_states(rng, shape)
    codes = rng.integers(0, shape, (40, len(shape))).astype(np.uint8)
    codes[0] = 0
    rows = Dataset(model.domain, codes)
    q = model.factors.log_potential(codes)
    assert model.has_impossible_states
    np.testing.assert_array_equal(np.isneginf(model.ll_rows(rows)), np.isneginf(q))
    ll, pll = model.ll_rows(rows), model.pll_rows(rows)
    np.testing.assert_allclose(ll[q > -np.inf] - ll[0], q[q > -np.inf] - q[0], rtol=1e-12, atol=1e-12)
    for row, score in zip(codes, pll, strict=True):
        assert score == pytest.approx(_pll_of(model.factors, row), rel=1e-12, abs=1e-12)
    assert model.ll(rows) == model.pll(rows) == -np.inf
    possible = Dataset(model.domain, codes[q > -np.inf])
    assert np.isfinite([model.ll(possible), model.pll(possible)]).all()


def _pll_of(factors: Factors, x: np.ndarray) -> float:
    """Pseudo-log-likelihood by definition; an impossible row has no meaningful conditionals."""
    total = 0.0
    for i, c in enumerate(factors.shape):
        q = factors.log_potential(np.array([[*x[:i], s, *x[i + 1 :]] for s in range(c)]))
        if q[x[i]] == -np.inf:
            return -np.inf
        total += q[x[i]] - q.max() - np.log(np.exp(q - q.max()).sum())
    return total


def test_probabilities_of_a_model_with_impossible_states_sum_to_one(rng: np.random.Generator) -> None:
    model = _with_impossible_states(rng, (2, 3, 2))
    codes = np.indices((2, 3, 2)).reshape(3, -1).T.astype(np.uint8)
    assert np.exp(model.ll_rows(Dataset(model.domain, codes))).sum() == pytest.approx(1.0, abs=1e-14)


def test_impossible_states_survive_a_file_and_no_other_coordinates(rng: np.random.Generator, tmp_path: Path) -> None:
    model = _with_impossible_states(rng, (2, 3))
    model.save(tmp_path / "model.mrf")
    assert MarkovNetwork.load(tmp_path / "model.mrf").factors == model.factors
    with pytest.raises(InputError, match="which only full parameters can express"):
        model.to_parameterization("canonical")


def test_finite_models_have_no_impossible_rows() -> None:
    """There minus infinity is a sum that overflowed."""
    parameters = Full(domain_of((2, 2)), Structure.complete(2))
    model = MarkovNetwork(parameters, np.array([-1e308, 0.0, -1e308, 0.0, -1e308, 0.0, 0.0, 0.0]))
    with pytest.raises(InputError, match="not a finite number: its parameters are as large as 1e"):
        model.ll_rows(Dataset(model.domain, np.zeros((1, 2), np.uint8)))


def test_the_score_by_an_estimate_of_log_z_has_its_error(rng: np.random.Generator) -> None:
    """The estimate stands in the model where learning by chains left it; other scores are plain numbers."""
    domain = domain_of((2, 2))
    parameters = Canonical(domain, Structure.complete(2))
    w, codes = rng.standard_normal(parameters.n_parameters), rng.integers(0, 2, (20, 2)).astype(np.uint8)
    rows = Dataset(domain, codes)
    plain = MarkovNetwork(parameters, w)
    known = MarkovNetwork(parameters, w, {"log_z": {"value": float(plain.log_z()), "error": 0.031}})
    found = known.ll(rows)
    assert found == pytest.approx(plain.ll(rows), abs=1e-12)
    assert (found.error, found.exact) == (0.031, False)  # type: ignore[attr-defined]
    assert repr(found) == f"{found:.2f} +- 0.03"
    assert type(plain.ll(rows)) is float
