"""Learning: published optima of real data, several strengths, and tables that have no finite optimum."""

from __future__ import annotations

import platform
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
import scipy

import mrfit
from mrfit.analysis.model_card import ModelCard
from mrfit.core.domain import Domain
from mrfit.core.errors import InputError
from mrfit.data.dataset import Dataset
from mrfit.data.unique_rows import UniqueRows
from mrfit.learning import HELD_AT
from mrfit.learning.specification import learn
from mrfit.model.markov_network import MarkovNetwork
from mrfit.solvers.lbfgs import LBFGS
from mrfit.solvers.method import Method
from mrfit.solvers.newton import TruncatedNewton
from mrfit.solvers.solution import Record, Status
from mrfit.structures.structure import Structure
from populations import METHODS, SHAPES, STRUCTURES, domain_of, random_rows
from reference import network
from words import learner

both_methods = pytest.mark.parametrize("method", [METHODS["newton"], METHODS["lbfgs"]], ids=["newton", "lbfgs"])


def _splits(data_dir: Path, name: str) -> list[UniqueRows]:
    train = Dataset.from_file(data_dir / name / "train.csv.gz")
    others = [Dataset.from_file(data_dir / name / f"{part}.csv.gz", domain=train.domain) for part in ("valid", "test")]
    return [UniqueRows.from_dataset(dataset) for dataset in (train, *others)]


NLTCS_L1 = [(1.0, 4.952350853293, 135), (10.0, 4.988423079539, 130), (100.0, 5.300865707024, 106)]

# -- real data ---------------------------------------------------------------------------------------------------


@both_methods
def test_nltcs_optima(data_dir: Path, method: Method[Any]) -> None:
    """The complete pairwise model at two strengths: mean pseudo-log-likelihood of train, valid and test."""
    train, valid, test = _splits(data_dir, "nltcs")
    settings = learner((1.0, 30.0), solver=method)
    learned = learn(train, Structure.complete(16), settings, valid=valid, jobs=2)
    expected = {1.0: (-4.9485, -4.8548, -4.9506), 30.0: (-4.9824, -4.8922, -4.9812)}
    for fit in learned.fits:
        found = (fit.train_pll, fit.held_out, fit.model.pll(test))
        assert found == pytest.approx(expected[fit.strength], abs=2e-4)
        assert fit.solution.status is Status.CONVERGED
        assert fit.solution.violation <= 1e-6
    assert learned.best.strength == 1.0


def test_plants_optimum(data_dir: Path) -> None:
    """Sixty-nine variables, strength 10."""
    train, valid, test = _splits(data_dir, "plants")
    fit = learn(train, Structure.complete(69), learner((10.0,)), valid=valid, jobs=2).best
    found = (fit.train_pll, fit.held_out, fit.model.pll(test))
    assert found == pytest.approx((-8.9918, -9.4463, -9.4062), abs=2e-4)
    assert fit.solution.violation <= 1e-6


@pytest.mark.parametrize(("strength", "value", "n_nonzero"), NLTCS_L1)
def test_nltcs_l1_optima(data_dir: Path, strength: float, value: float, n_nonzero: int) -> None:
    """The complete pairwise model: values to twelve digits from a run to violation 1e-9."""
    fit = learn(_splits(data_dir, "nltcs")[0], Structure.complete(16), learner((strength,), penalty="l1")).best
    assert fit.solution.status is Status.CONVERGED
    assert fit.solution.violation <= 1e-6
    assert fit.solution.value == pytest.approx(value, abs=2e-9)
    assert fit.n_nonzero == n_nonzero


def test_warm_starts_save_work_on_nltcs(data_dir: Path) -> None:
    """A path of strengths costs less than its fits from scratch, and ends at the same optima."""
    train = _splits(data_dir, "nltcs")[0]
    strengths = (100.0, 30.0, 10.0, 3.0, 1.0, 0.3)
    structure = Structure.complete(16)
    warm = learn(train, structure, learner(strengths)).fits
    cold = [learn(train, structure, learner((strength,))).best for strength in strengths]
    assert sum(map(_work, warm)) < sum(map(_work, cold))
    for one, other in zip(warm, cold, strict=True):
        assert one.solution.value == pytest.approx(other.solution.value, abs=1e-7)


def _work(fit: Any) -> int:
    return fit.solution.evaluations + fit.solution.products


# -- what a fit says of itself -----------------------------------------------------------------------------------


@both_methods
def test_scores_of_a_fit_are_those_of_its_model(method: Method[Any], rng: np.random.Generator) -> None:
    """Train and valid scores equal the model's and the plain twin's."""
    train, valid = (random_rows(rng, SHAPES["mixed"], n, fractional=True) for n in (60, 20))
    fit = learn(train, STRUCTURES["order 3"](4), learner((0.5,), solver=method), valid=valid).best
    model = fit.model
    assert fit.train_pll == pytest.approx(model.pll(train), rel=1e-12)
    assert fit.train_pll == pytest.approx(-network.value(model.parameters, model.w, train), rel=1e-12)
    assert fit.held_out == model.pll(valid)
    assert fit.held_out == pytest.approx(-network.value(model.parameters, model.w, valid), rel=1e-12)
    assert fit.held == []


def test_strengths_run_from_strong_to_weak(rng: np.random.Generator) -> None:
    """Whatever their order; the train score rises as the penalty falls; without valid the weakest is kept."""
    rows = random_rows(rng, SHAPES["mixed"], 60)
    learned = learn(rows, Structure.complete(4), learner((1.0, 100.0, 0.1, 10.0)))
    assert [fit.strength for fit in learned.fits] == [100.0, 10.0, 1.0, 0.1]
    scores = [fit.train_pll for fit in learned.fits]
    assert scores == sorted(scores)
    assert learned.best is learned.fits[-1]
    assert all(fit.held_out is None for fit in learned.fits)


def test_the_best_on_valid_is_kept(rng: np.random.Generator) -> None:
    """Few rows of noise: neither the strongest nor the weakest penalty wins."""
    train, valid = (random_rows(rng, SHAPES["binary"], n) for n in (25, 400))
    learned = learn(train, Structure.complete(5), learner((1e4, 5.0, 1e-3)), valid=valid)
    scores = {fit.strength: fit.held_out for fit in learned.fits}
    assert max(scores, key=scores.__getitem__) == 5.0
    assert learned.best.strength == 5.0


def test_valid_is_matched_by_name(rng: np.random.Generator) -> None:
    """Columns and states of the validation table may stand in another order."""
    train = Dataset.from_table({"a": ["x", "y", "y", "x"], "b": ["0", "1", "1", "1"]})
    valid = Dataset.from_table({"b": ["1", "0"], "a": ["y", "x"]}, states={"a": ["y", "x"], "b": ["1", "0"]})
    same = Dataset.from_table({"a": ["y", "x"], "b": ["1", "0"]}, domain=train.domain)
    rows, one, other = (UniqueRows.from_dataset(dataset) for dataset in (train, valid, same))
    scores = [learn(rows, Structure.complete(2), valid=v).best.held_out for v in (one, other)]
    assert scores[0] == scores[1]


def test_the_callback_sees_strengths_and_may_stop_one_fit(rng: np.random.Generator) -> None:
    """Stopping a fit does not stop the next."""
    rows = random_rows(rng, SHAPES["mixed"], 60)
    seen: list[tuple[float, Record]] = []

    def callback(strength: float, record: Record) -> bool:
        seen.append((strength, record))
        return strength == 9.0 and record.iteration == 1

    learned = learn(rows, Structure.complete(4), learner((9.0, 1.0)), callback=callback)
    assert [fit.solution.status for fit in learned.fits] == [Status.INTERRUPTED, Status.CONVERGED]
    assert {strength for strength, _ in seen} == {9.0, 1.0}


def test_provenance_tells_tables_apart(rng: np.random.Generator) -> None:
    """Equal rows have equal digests in any order; other weights, other digests."""
    codes = rng.integers(0, 2, (20, 3)).astype(np.uint8)
    weights = [np.ones(20), np.ones(20), np.arange(1.0, 21.0)]
    tables = [codes, codes[::-1], codes]
    digests = []
    for table, weight in zip(tables, weights, strict=True):
        rows = UniqueRows.from_codes(domain_of((2, 2, 2)), table, weight)
        fit = learn(rows, Structure.complete(3), learner((2.0,), free_orders=(1,))).best
        digests.append(fit.model.provenance["data"]["sha256"])
        assert fit.model.provenance["penalty"] == {"name": "l2", "strength": 2.0, "free_orders": [1]}
        assert fit.model.provenance["solver"]["violation"] == fit.solution.violation
    assert digests[0] == digests[1] != digests[2]


def test_provenance_names_the_versions_it_was_learned_with(rng: np.random.Generator, tmp_path: Path) -> None:
    """Versions are in the model, in its file and on its card."""
    model = learn(random_rows(rng, (2, 2), 20)).model
    expected = {
        "mrfit": mrfit.__version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "numba": numba.__version__,
    }
    assert model.provenance["versions"] == expected
    model.save(tmp_path / "m.mrf")
    card = ModelCard.of(MarkovNetwork.load(tmp_path / "m.mrf"))
    assert card.to_dict()["provenance"]["versions"] == expected


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"strengths": ()}, "At least one strength"),
        ({"tolerance": 0.0}, "tolerance must be positive.*; got 0"),
        ({"tolerance": float("nan")}, "tolerance must be positive.*; got nan"),
        ({"max_iterations": -1}, "must not be negative; got -1"),
    ],
)
def test_wrong_settings_are_refused(settings: dict[str, Any], message: str) -> None:
    """The check is at the call, and its message has the value."""
    with pytest.raises(InputError, match=message):
        learner(**settings)


def test_an_order_that_is_not_there_cannot_be_free(rng: np.random.Generator) -> None:
    """A wrong number would silently penalise everything."""
    with pytest.raises(InputError, match=r"Order 3 .* orders \[1, 2\]"):
        learn(random_rows(rng, (2, 2), 5), Structure.complete(2), learner(free_orders=(1, 3)))


def test_strengths_may_be_an_array() -> None:
    """np.logspace is how people write a path."""
    assert len(learner(np.logspace(0, 2, 3)).penalty.strengths or ()) == 3


@pytest.mark.parametrize("strength", [0.0, -1.0, float("inf"), float("nan")])
def test_a_wrong_strength_is_refused_before_any_fit(strength: float, rng: np.random.Generator) -> None:
    """Even when others are right."""
    rows = random_rows(rng, (2, 2), 5)
    with pytest.raises(InputError, match=rf"positive.* finite.*; got {strength:g}"):
        learn(rows, Structure.complete(2), learner((1.0, strength)), callback=_never)


def _never(*_: object) -> bool:
    raise AssertionError("a fit was begun")


# -- columns that do not vary ------------------------------------------------------------------------------------


def _with_constant(value: int, rng: np.random.Generator) -> UniqueRows:
    codes = rng.integers(0, 2, (40, 3))
    codes[:, 1] = value
    return UniqueRows.from_codes(domain_of((2, 2, 2)), codes.astype(np.uint8), np.ones(40))


@both_methods
@pytest.mark.parametrize("value", [0, 1])
def test_a_constant_column_under_a_penalty_is_finite(value: int, method: Method[Any], rng: np.random.Generator) -> None:
    """The penalty keeps everything in bounds, nothing is held."""
    fit = learn(_with_constant(value, rng), Structure.complete(3), learner((1.0,), solver=method)).best
    assert fit.solution.converged
    assert fit.held == []
    assert np.abs(fit.model.w).max() < HELD_AT / 2


@both_methods
@pytest.mark.parametrize(("value", "limit"), [(0, -HELD_AT), (1, HELD_AT)])
def test_a_constant_column_without_a_penalty_is_held(
    value: int, limit: float, method: Method[Any], rng: np.random.Generator
) -> None:
    """The parameter is reported by name at its bound, and the rest converges."""
    rows = _with_constant(value, rng)
    fit = learn(rows, Structure.complete(3), learner((1.0,), free_orders=(1,), solver=method)).best
    assert fit.solution.converged
    assert fit.held == ["x1=s1"]
    assert fit.model.w[1] == limit
    assert np.isfinite(fit.model.pll(rows))


def test_a_state_that_never_occurs_is_held(rng: np.random.Generator) -> None:
    """One of three states."""
    codes = rng.choice([0, 2], (40, 2)).astype(np.uint8)
    rows = UniqueRows.from_codes(domain_of((3, 3)), codes, np.ones(40))
    fit = learn(rows, Structure.independent(2), learner(free_orders=(1,))).best
    assert fit.held == ["x0=s1", "x1=s1"]
    assert fit.solution.converged


def test_a_pair_that_never_occurs_is_held(rng: np.random.Generator) -> None:
    """Pairs have no penalty; the score of such a row is finite."""
    rows = UniqueRows.from_codes(
        domain_of((2, 2)), np.array([[0, 0], [0, 1], [1, 0]], np.uint8), np.array([5.0, 3.0, 4.0])
    )
    fit = learn(rows, Structure.complete(2), learner(free_orders=(1, 2))).best
    assert fit.held == ["x0=s1 & x1=s1"]
    assert fit.solution.converged
    score = fit.model.pll_rows(Dataset(rows.domain, np.array([[1, 1]], np.uint8)))[0]
    assert -2 * HELD_AT - 2 < score < -HELD_AT


def test_one_column(rng: np.random.Generator) -> None:
    """A table of one variable is a histogram."""
    rows = UniqueRows.from_dataset(Dataset.from_table({"only": ["a", "b", "b", "b"]}))
    fit = learn(rows, Structure.complete(1), learner((1e-6,))).best
    assert fit.train_pll == pytest.approx(0.25 * np.log(0.25) + 0.75 * np.log(0.75), abs=1e-6)


def test_one_column_of_one_value() -> None:
    """Nothing to learn: certainty."""
    rows = UniqueRows.from_dataset(Dataset.from_table({"only": ["a", "a"]}))
    fit = learn(rows, Structure.complete(1), valid=rows).best
    assert fit.model.w.shape == (0,)
    assert fit.train_pll == fit.held_out == 0.0
    assert fit.solution.converged


def test_one_row() -> None:
    """The smallest table there is."""
    rows = UniqueRows.from_dataset(Dataset.from_table([[0, 1, 1]]))
    fit = learn(rows, Structure.complete(3)).best
    assert fit.solution.converged
    assert np.isfinite(fit.train_pll)


@pytest.mark.parametrize("free_orders", [(), (1,)])
def test_a_one_that_was_never_seen_can_be_scored(free_orders: tuple[int, ...]) -> None:
    """A 0/1 column without ones in training keeps the state one."""
    train = Dataset.from_table({"a": [0, 1, 1, 0, 1], "never": [0, 0, 0, 0, 0]})
    fit = learn(UniqueRows.from_dataset(train), Structure.complete(2), learner(free_orders=free_orders)).best
    seen, unseen = fit.model.pll_rows({"a": [1, 1], "never": [0, 1]})
    assert np.isfinite(unseen)
    assert unseen < seen


# -- l1 ----------------------------------------------------------------------------------------------------------


def test_l1_weighs_scopes_by_their_size_and_leaves_single_variables_free(rng: np.random.Generator) -> None:
    """The value that was minimised is the definition's: no factor 1/2, pairs count once, triples twice."""
    rows = random_rows(rng, (2, 3, 2), 60)
    fit = learn(rows, Structure.up_to_order(3, 3), learner((1.5,), penalty="l1")).best
    order = fit.model.parameters.order_of_parameter
    weight = np.array([0.0, 0.0, 1.0, 2.0])[order]
    penalty = 1.5 * weight @ np.abs(fit.model.w) / rows.total_weight
    assert fit.solution.value == pytest.approx(penalty - fit.model.pll(rows), rel=1e-12)
    assert fit.train_pll == pytest.approx(fit.model.pll(rows), rel=1e-12)
    assert fit.n_nonzero == np.count_nonzero(fit.model.w) < len(order)
    assert fit.model.provenance["penalty"] == {"name": "l1", "strength": 1.5, "free_orders": [1]}
    assert fit.model.provenance["solver"]["name"] == "owlqn"


@pytest.mark.parametrize(
    ("penalty", "chosen", "expected"),
    [("l2", None, []), ("l1", None, [1]), ("l2", (1,), [1]), ("l1", (), []), ("l1", (1, 2), [1, 2])],
)
def test_free_orders_are_the_users_or_the_penaltys(
    penalty: str, chosen: tuple[int, ...] | None, expected: list[int], rng: np.random.Generator
) -> None:
    """An explicit choice wins, also that of none."""
    settings = learner((1e4,), penalty=penalty, free_orders=chosen)
    rows = random_rows(rng, (2, 2, 2), 61)  # an odd number is never 50:50
    fit = learn(rows, Structure.complete(3), settings).best
    assert fit.model.provenance["penalty"]["free_orders"] == expected
    large = np.abs(fit.model.w) > 1e-2
    np.testing.assert_array_equal(large, np.isin(fit.model.parameters.order_of_parameter, expected))


def test_l1_without_single_variables_to_leave_free(rng: np.random.Generator) -> None:
    """The default does not insist on an order that is not there."""
    rows = random_rows(rng, SHAPES["binary"], 60)
    fit = learn(rows, STRUCTURES["pairs without singles"](5), learner((1e4,), penalty="l1")).best
    assert fit.n_nonzero == 0
    assert fit.model.provenance["penalty"]["free_orders"] == []


@pytest.mark.parametrize(("value", "limit"), [(0, -HELD_AT), (1, HELD_AT)])
def test_l1_holds_a_constant_column(value: int, limit: float, rng: np.random.Generator) -> None:
    """A free parameter without a finite optimum stays at its bound; the rest converges."""
    fit = learn(_with_constant(value, rng), Structure.complete(3), learner((1.0,), penalty="l1")).best
    assert fit.solution.converged
    assert fit.held == ["x1=s1"]
    assert fit.model.w[1] == limit


def test_a_path_of_l1_strengths_ends_where_single_fits_do(rng: np.random.Generator) -> None:
    """Warm starts change the way, not the end."""
    rows = random_rows(rng, (2, 3, 2, 2), 300)
    strengths = (30.0, 10.0, 3.0, 1.0)
    path = learn(rows, Structure.complete(4), learner(strengths, penalty="l1", tolerance=1e-9)).fits
    for fit in path:
        alone = learn(rows, Structure.complete(4), learner((fit.strength,), penalty="l1", tolerance=1e-9)).best
        np.testing.assert_allclose(fit.model.w, alone.model.w, atol=1e-6)
    assert path[0].n_nonzero < path[-1].n_nonzero


def test_a_reference_that_never_occurs_is_held_too() -> None:
    """Three states, the first unseen, none penalised: the commonest is held, the ratio of the others is right."""
    domain = Domain.from_states({"a": ["x", "y", "z"], "b": ["0", "1"]})
    codes = np.array([[1, 0]] * 3 + [[2, 1]] * 5 + [[2, 0]] * 4, np.uint8)
    rows = UniqueRows.from_codes(domain, codes, np.ones(len(codes)))
    fits = [
        learn(rows, Structure.independent(2), learner(free_orders=(1,), solver=method)).best
        for method in (TruncatedNewton(), LBFGS())
    ]
    for fit in fits:
        assert fit.held == ["a=z"]
        assert fit.solution.converged
        np.testing.assert_allclose(fit.model.w[:2], [30.0 + np.log(3 / 9), 30.0], atol=1e-5)


def test_data_sets_are_learned_from_like_their_distinct_rows(rng: np.random.Generator) -> None:
    """Also held-out ones, whose states stand in another order."""
    train, valid = (Dataset.from_table(rng.integers(0, 2, (60, 3))) for _ in range(2))
    turned = valid.recoded(Domain.from_states({f"v{j}": ["1", "0"] for j in range(3)}))
    settings = learner((0.1, 1.0))
    expected = learn(
        UniqueRows.from_dataset(train), Structure.complete(3), settings, valid=UniqueRows.from_dataset(valid)
    )
    for held_out in (valid, turned):
        learned = learn(train, Structure.complete(3), settings, valid=held_out)
        assert [fit.held_out for fit in learned.fits] == [fit.held_out for fit in expected.fits]
        assert learned.best.model.w.tolist() == expected.best.model.w.tolist()
