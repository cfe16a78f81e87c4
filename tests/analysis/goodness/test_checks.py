"""Checks of models: phantom modes and those that are none, what is worst, and what is not known."""

from __future__ import annotations

import json

import numpy as np
import pytest

from mrfit.analysis.goodness.check import Check
from mrfit.core.errors import DataError, InputError
from mrfit.core.factors import Factors
from mrfit.data.dataset import Dataset
from mrfit.data.unique_rows import UniqueRows
from mrfit.model.factor_network import Conjunction, FactorNetwork
from mrfit.sklearn import MarkovNetworkLearner
from phantom import phantom_mode, two_modes
from populations import domain_of, rows_from

ENGINES = ["tree", "ais"]


def rows_of(codes: np.ndarray) -> UniqueRows:
    return UniqueRows.from_dataset(Dataset(domain_of((2,) * codes.shape[1]), codes.astype(np.uint8)))


def checked(factors: Factors, rows: UniqueRows, **how: object) -> Check:
    return FactorNetwork(rows.domain, factors).check(rows, seconds=1.0, jobs=1, **how)  # type: ignore[arg-type]


def independent(p: list[float]) -> Factors:
    return Factors.from_tables((2,) * len(p), [((i,), np.log([1 - q, q])) for i, q in enumerate(p)])


@pytest.mark.parametrize("engine", ENGINES)
def test_a_phantom_mode_is_named(engine: str, rng: np.random.Generator) -> None:
    """A stored network whose mass has 61 of 64 ones, where the data have half a one."""
    factors, log_z, codes = phantom_mode(rng)
    rows = rows_of(codes)
    check = checked(factors, rows, engine=engine)
    phantom = check.phantom_mode
    assert phantom is not None
    assert phantom.mass > 0.99
    assert 60 < phantom.sum < 62
    assert phantom.data_mean == pytest.approx(codes.sum(axis=1).mean())
    assert phantom.data_max == codes.sum(axis=1).max()
    assert check.max_marginal_error is not None
    assert check.max_marginal_error > 0.99
    mean = float(np.mean(factors.log_potential(codes)))
    assert check.ll == pytest.approx(mean - log_z, abs=1e-6 if engine == "tree" else 0.3)
    assert "Nearly all of the model's probability (>= 0.99) is on rows with about 61 of 64 variables" in phantom.text
    assert "`--objective likelihood`" in check.describe()
    assert not check.is_alike


@pytest.mark.parametrize("engine", ENGINES)
def test_a_heavy_mode_that_the_data_have_is_none(engine: str) -> None:
    """Nothing and everything, of equal weight; no chain goes from one to the other, and none needs to."""
    n = 20
    field = (n - 1) / 2
    pairs = [((i, j), [0.0, 0.0, 0.0, 1.0]) for i in range(n) for j in range(i)]
    factors = Factors.from_tables((2,) * n, [*(((i,), [0.0, -field]) for i in range(n)), *pairs])
    half = np.repeat([0, 1], 500)[:, None] * np.ones((1, n), int)
    check = checked(factors, rows_of(half), engine=engine)
    assert check.phantom_mode is None


@pytest.mark.parametrize("engine", ENGINES)
def test_the_same_mode_without_data_is_one(engine: str) -> None:
    factors, _ = two_modes(20)
    nothing = np.zeros((500, 20), int)
    nothing[:10, 0] = 1
    phantom = checked(factors, rows_of(nothing), engine=engine).phantom_mode
    assert phantom is not None
    assert phantom.mass == pytest.approx(1 / (1 + np.exp(-8)), abs=0.01)
    assert phantom.sum == pytest.approx(20, abs=0.5)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_small_mode_where_some_rows_are_is_right(engine: str) -> None:
    """One row in fifty has everything, under the model and in the data."""
    n = 24
    field = (n * (n - 1) / 2 + np.log(50)) / n
    pairs = [((i, j), [0.0, 0.0, 0.0, 1.0]) for i in range(n) for j in range(i)]
    factors = Factors.from_tables((2,) * n, [*(((i,), [0.0, -field]) for i in range(n)), *pairs])
    codes = np.zeros((5000, n), int)
    codes[:100] = 1
    assert checked(factors, rows_of(codes), engine=engine).phantom_mode is None
    rare = checked(factors, rows_of(codes[99:]), engine=engine).phantom_mode  # one row in 4,901
    assert rare is None or rare.mass < 0.1


@pytest.mark.parametrize("engine", ENGINES)
def test_a_mode_with_too_few(engine: str, rng: np.random.Generator) -> None:
    """Data with most variables away, a model with none."""
    codes = (rng.random((400, 40)) < 0.9).astype(int)
    phantom = checked(independent([0.05] * 40), rows_of(codes), engine=engine).phantom_mode
    assert phantom is not None
    assert phantom.sum < 6
    assert phantom.data_mean > 30


def test_what_is_worst_stands_first(rng: np.random.Generator) -> None:
    truth, model = [0.5, 0.2, 0.3, 0.4], [0.5, 0.6, 0.35, 0.4]
    check = checked(independent(model), rows_of((rng.random((20_000, 4)) < truth).astype(int)))
    assert check.exact
    assert [each.variables[0] for each in check.variables[:2]] == ["x1", "x2"]
    assert check.max_marginal_error == pytest.approx(0.4, abs=0.02)
    assert check.pairs[0].variables == ("x0", "x1")
    assert check.max_pair_error == pytest.approx(0.2, abs=0.02)
    assert check.verdict.startswith("misfit: 2 of 4 variables differ beyond chance (worst x1: 0.600 vs 0.")


def test_alike_in_one_line(rng: np.random.Generator) -> None:
    factors = independent([0.5, 0.2, 0.3])
    check = checked(factors, rows_from(factors, 20_000, rng))
    assert check.is_alike
    assert check.describe().startswith("no misfit found in singles, pairs and triples: largest error 0.0")


@pytest.mark.parametrize("engine", ENGINES)
def test_numbers_repeat(engine: str, rng: np.random.Generator) -> None:
    factors, _, codes = phantom_mode(rng)
    rows = rows_of(codes)
    network = FactorNetwork(rows.domain, factors)
    documents = [
        json.dumps(network.check(rows, engine=engine, seconds=0.1, seed=3, jobs=jobs).to_dict()) for jobs in (1, 1, 2)
    ]
    assert len(set(documents)) == 1
    other = network.check(rows, engine=engine, seconds=0.1, seed=4, jobs=1)
    assert json.dumps(other.to_dict()) != documents[0]


def test_a_row_of_weight_two_is_the_row_twice(rng: np.random.Generator) -> None:
    factors = independent([0.5, 0.2, 0.3])
    codes = (rng.random((50, 3)) < 0.4).astype(np.uint8)
    domain = domain_of((2, 2, 2))
    network = FactorNetwork(domain, factors)
    twice = network.check(Dataset(domain, np.concatenate((codes, codes[:10]))))
    heavy = network.check(Dataset(domain, codes, np.where(np.arange(50) < 10, 2.0, 1.0)))
    assert twice.to_dict() == heavy.to_dict()


def test_chains_that_do_not_mix_give_no_number(rng: np.random.Generator) -> None:
    """A glass: tables of ten nats of either sign between 150 variables and four others each, and little time."""
    n = 150
    others = [(i, int(j)) for i in range(n) for j in rng.choice(n, 4, replace=False) if i != j]
    factors = Factors.from_tables((2,) * n, [(pair, 10.0 * rng.normal(size=4)) for pair in others])
    check = FactorNetwork(domain_of((2,) * n), factors).check(rows_of(rng.integers(0, 2, (300, n))), seconds=1e-3)
    assert "Chains do not mix" in check.remarks[0]
    assert check.phantom_mode is None
    assert (check.max_marginal_error, check.max_pair_error, check.ll, check.ll_error) == (None,) * 4
    assert check.to_dict()["sums"]["model"] is None
    assert check.verdict == "fit unknown: chains do not mix"


def test_impossible_states(rng: np.random.Generator) -> None:
    """Rows that the model holds impossible make the log-likelihood minus infinity; all else is said."""
    factors = Factors.from_tables((2, 2, 2), [((0, 1), [0.0, -np.inf, 0.0, 0.0]), ((1, 2), [0.0, 0.5, 0.1, 0.2])])
    possible, codes = rows_from(factors, 500, rng), np.array([[0, 1, 0], [1, 1, 1]])
    assert checked(factors, possible).is_alike
    for engine in ("enumeration", *ENGINES):
        assert checked(factors, possible, engine=engine).ll == pytest.approx(checked(factors, possible).ll, abs=0.05)
        assert checked(factors, rows_of(codes), engine=engine).ll == -np.inf
    with pytest.raises(InputError, match="no joint state possible"):
        checked(Factors.from_tables((2, 2), [((0,), [-np.inf, -np.inf])]), rows_of(np.zeros((3, 2), int)))
    with pytest.raises(InputError, match="None of 512 chains found a joint state that is possible"):
        checked(Factors.from_tables((2, 2), [((0,), [-np.inf, -np.inf])]), rows_of(np.eye(2, dtype=int)), engine="ais")


def test_conjunctions_of_many_variables(rng: np.random.Generator) -> None:
    """Their hidden variables are not looked at, and chains, which cannot move them, are refused."""
    domain, conditions = domain_of((2,) * 5), tuple((i, (1,)) for i in range(5))
    tables = independent([0.5, 0.4, 0.3, 0.6, 0.5])
    wide = FactorNetwork(domain, tables, (Conjunction(1.5, conditions),))
    codes = (rng.random((500, 5)) < 0.5).astype(np.uint8)
    table = np.zeros(32)
    table[-1] = 1.5
    same = FactorNetwork(domain, tables.times([((0, 1, 2, 3, 4), table)]))
    one, other = (network.check(Dataset(domain, codes)) for network in (wide, same))
    assert one.ll == pytest.approx(other.ll)
    assert [each.model for each in one.pairs] == pytest.approx([each.model for each in other.pairs])
    with pytest.raises(InputError, match="use --engine tree"):
        wide.check(Dataset(domain, codes), engine="ais")


def test_wrong_questions(rng: np.random.Generator) -> None:
    factors = independent([0.5, 0.2])
    rows = rows_of(np.array([[0, 1], [1, 0]]))
    with pytest.raises(InputError, match="There is no engine 'bp' for checks; choose one of 'auto', 'enumeration'"):
        checked(factors, rows, engine="bp")
    network = FactorNetwork(rows.domain, factors)
    with pytest.raises(InputError, match=r"A check was given 0\.0 seconds"):
        network.check(rows, seconds=0.0)
    with pytest.raises(InputError, match="The seed is -1"):
        network.check(rows, seed=-1)
    with pytest.raises(DataError, match="x1"):
        network.check({"x0": ["s0", "s1"]})
    missing = Dataset.from_table({"x0": ["s0", None], "x1": ["s0", "s1"]}, domain=rows.domain, missing="keep")
    with pytest.raises(DataError, match="a check needs complete rows"):
        network.check(missing)
    many = domain_of((200,) * 200)
    wide = FactorNetwork(many, Factors((200,) * 200, (), np.empty(0)))
    with pytest.raises(InputError, match="A check of all pairs of 200 variables with 40,000 states takes"):
        wide.check(Dataset(many, np.zeros((1, 200), np.uint8)))


def test_after_an_estimator(rng: np.random.Generator) -> None:
    x = (rng.random((300, 5)) < 0.4).astype(int)
    learner = MarkovNetworkLearner().fit(x)
    assert learner.model_.check(x).is_alike


def test_columns_of_one_state() -> None:
    """There is nothing that could differ."""
    domain = domain_of((1, 1))
    network = FactorNetwork(domain, Factors((1, 1), (), np.empty(0)))
    for engine in ("auto", "tree", "ais"):
        check = network.check(Dataset(domain, np.zeros((5, 2), np.uint8)), engine=engine)
        assert check.is_alike
        assert check.max_marginal_error is None
        assert check.describe() == "no misfit found: no variable has a second state"


def test_notebooks_and_short_forms(rng: np.random.Generator) -> None:
    factors, _, codes = phantom_mode(rng)
    check = checked(factors, rows_of(codes))
    assert repr(check) == f"<Check: {check.verdict}; by tree>"
    assert "spurious mode" in repr(check)
    assert "<caption>Check</caption>" in check._repr_html_()
    assert "away from their first state" in check._repr_html_()
