"""Questions with names, against all joint states of small models."""

from __future__ import annotations

import json
from itertools import product as states_of
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from mrfit import Dataset, Domain, FactorNetwork, Factors, MarkovNetwork
from mrfit.core.errors import InputError
from mrfit.data.encoding import UNOBSERVED
from mrfit.inference.exact.enumeration import Enumeration
from mrfit.inference.exact.junction_tree import JunctionTree
from mrfit.model.factor_network import Conjunction
from mrfit.parameterizations.full import Full
from mrfit.structures.structure import Structure
from populations import random_factors

DOMAIN = Domain.from_states({"a": ["no", "yes"], "b": ["low", "mid", "high"], "c": ["0", "1"], "d": ["x", "y"]})
SCOPES = [(0,), (0, 1), (2, 1), (2, 3), (3, 0)]


@pytest.fixture
def network(rng: np.random.Generator) -> FactorNetwork:
    return FactorNetwork(DOMAIN, random_factors(rng, DOMAIN.shape, SCOPES))


def _joint(network: FactorNetwork) -> np.ndarray:
    """p of all joint states, from the definition."""
    codes = np.array(list(states_of(*map(range, network.domain.shape))))
    potential = network.log_potential(codes)
    p = np.exp(potential - potential.max())
    return (p / p.sum()).reshape(network.domain.shape)


def test_marginals_and_conditionals(network: FactorNetwork) -> None:
    """Marginals of all variables, and of some given evidence as states, numbers and words."""
    p = _joint(network)
    found = network.marginals()
    assert found.exact
    assert list(found.marginals) == list(DOMAIN.names)
    assert list(found["b"].values()) == pytest.approx(p.sum(axis=(0, 2, 3)))
    assert network.conditional("b") == found["b"]
    given = network.conditional("d", {"a": "yes", "c": 1})
    expected = p[1, :, 1].sum(axis=0)
    assert list(given.values()) == pytest.approx(expected / expected.sum())
    assert network.conditional("a", {"a": "no"}) == {"no": 1.0, "yes": 0.0}
    frame = found.to_frame()
    assert list(frame.columns) == ["variable", "state", "probability", "error"]
    assert len(frame) == 9


def test_soft_evidence_is_a_likelihood_of_states(network: FactorNetwork) -> None:
    p = _joint(network) * np.array([0.2, 0.0, 0.7])[None, :, None, None]
    for soft in ({"low": 0.2, "high": 0.7}, [0.2, 0.0, 0.7], np.array([2.0, 0.0, 7.0])):
        found = network.marginals(evidence={"b": soft})
        assert list(found["a"].values()) == pytest.approx(p.sum(axis=(1, 2, 3)) / p.sum())
        assert found["b"]["mid"] == 0.0


def test_log_z_given_what_is_known(network: FactorNetwork) -> None:
    everything = float(network.log_z())
    parts = [float(network.log_z(evidence={"b": state})) for state in ("low", "mid", "high")]
    assert np.logaddexp.reduce(parts) == pytest.approx(everything, rel=1e-12)
    assert json.loads(json.dumps(network.log_z().to_dict()))["exact"] is True


def test_joint_marginals_of_any_variables(network: FactorNetwork) -> None:
    p = _joint(network)
    found = network.joint(["d", "b"], evidence={"c": "1"})
    expected = p[:, :, 1].sum(axis=0)
    np.testing.assert_allclose(found.table, (expected / expected.sum()).T, rtol=1e-12)
    first = found.to_dict()["joint"][1]
    assert first["states"] == {"d": "x", "b": "mid"}
    assert first["p"] == pytest.approx(found.table[0, 1])
    assert list(found.to_frame().columns) == ["d", "b", "probability", "error"]


def test_entropies_and_mutual_information(network: FactorNetwork) -> None:
    p = _joint(network)[:, :, 1].sum(axis=2)
    p /= p.sum()
    h = [-(q * np.log(q)).sum() for q in (p.sum(axis=1), p.sum(axis=0), p)]
    given = {"c": "1"}
    assert network.entropy(["a"], evidence=given) == pytest.approx(h[0])
    assert network.entropy(["a", "b"], evidence=given) == pytest.approx(h[2])
    assert network.mutual_information(["a"], ["b"], evidence=given) == pytest.approx(h[0] + h[1] - h[2])
    assert network.mutual_information("a", "b", evidence=given) == pytest.approx(h[0] + h[1] - h[2])
    assert network.mutual_information("b", "d", evidence={"a": "no", "c": "1"}) == pytest.approx(0.0, abs=1e-12)


def test_most_probable_state(network: FactorNetwork) -> None:
    p = _joint(network)
    best = network.map()
    at = np.unravel_index(p.argmax(), p.shape)
    assert list(best.states.values()) == [variable.states[k] for variable, k in zip(DOMAIN, at, strict=True)]
    assert best.log_potential - float(network.log_z()) == pytest.approx(np.log(p.max()))
    given = network.map(evidence={"a": "no", "b": {"mid": 1.0}})
    assert (given.states["a"], given.states["b"]) == ("no", "mid")


def test_samples_are_rows_of_the_domain(network: FactorNetwork) -> None:
    rows = network.sample(20_000, evidence={"c": "1"}, seed=3)
    assert isinstance(rows, Dataset)
    assert (rows.codes[:, 2] == 1).all()
    p = _joint(network)[:, :, 1]
    share = np.bincount(rows.codes[:, 1], minlength=3) / 20_000
    np.testing.assert_allclose(share, p.sum(axis=(0, 2)) / p.sum(), atol=0.02)
    np.testing.assert_array_equal(rows.codes, network.sample(20_000, evidence={"c": "1"}, seed=3, jobs=2).codes)


def test_predictions_given_any_others(network: FactorNetwork) -> None:
    """Whole rows, rows with gaps, columns that are not there; what the row holds of the variable does not matter."""
    p = _joint(network)
    frame = pd.DataFrame({"d": ["x", "y", None], "a": ["yes", None, "no"], "b": ["low", "mid", "high"]})
    found = network.predict_proba("c", frame)
    expected = [p[1, 0, :, 0], p[:, 1, :, 1].sum(axis=0), p[0, 2].sum(axis=1)]
    np.testing.assert_allclose(found, [row / row.sum() for row in expected], rtol=1e-12)
    np.testing.assert_array_equal(found, network.predict_proba("c", frame.assign(c=["0", "1", "0"])))


def test_missing_cells_are_filled_together(network: FactorNetwork) -> None:
    p = _joint(network)
    codes = np.full((500, 4), UNOBSERVED, np.uint8)
    codes[:, 1] = np.arange(500) % 3
    rows = Dataset(DOMAIN, codes)
    best = network.impute(rows)
    for b in range(3):
        at = np.unravel_index(p[:, b].argmax(), (2, 2, 2))
        assert best.codes[b].tolist() == [at[0], b, at[1], at[2]]
    drawn = network.impute(Dataset(DOMAIN, np.full((40_000, 4), UNOBSERVED, np.uint8)), how="draw", seed=1)
    share = np.bincount(np.ravel_multi_index(drawn.codes.T.astype(int), p.shape), minlength=p.size) / 40_000
    np.testing.assert_allclose(share, p.ravel(), atol=0.012)
    with pytest.raises(InputError, match="choose 'map' or 'draw'"):
        network.impute(rows, how="mean")


def test_explanations_leave_out_one_piece_after_the_other(network: FactorNetwork) -> None:
    p = _joint(network)
    found = network.explain("d", {"a": "yes", "c": "1", "b": "low"}, state="y")
    with_all, without_a = p[1, 0, 1], p[:, 0, 1].sum(axis=0)
    odds = np.log(with_all[1] / with_all[0])
    influence = {each.variable: each for each in found.influences}
    assert found.p == pytest.approx(with_all[1] / with_all.sum())
    assert found.p_before == pytest.approx(p[..., 1].sum())
    assert influence["a"].log_odds == pytest.approx(odds - np.log(without_a[1] / without_a[0]))
    assert [abs(each.log_odds) for each in found.influences] == sorted(
        (abs(each.log_odds) for each in found.influences), reverse=True
    )
    assert influence["b"].log_odds == pytest.approx(0.0, abs=1e-12)  # a and c separate b from d
    json.dumps(found.to_dict())


def test_sensitivity_is_the_derivative(network: FactorNetwork) -> None:
    """Central differences in the model's tables are the reference."""
    found = network.sensitivity("d", "y", evidence={"c": "1"}, top=100)
    slopes = {json.dumps(states, sort_keys=True): slope for states, slope in found.cells}
    step, tables = 1e-6, network.tables
    start = 0
    for scope in SCOPES:
        cells = list(states_of(*(range(DOMAIN.shape[i]) for i in scope)))
        for k, cell in enumerate(cells):
            change = np.zeros(len(tables.values))
            change[start + k] = step
            above, below = (
                FactorNetwork(DOMAIN, tables.with_values(tables.values + side * change)).conditional("d", {"c": "1"})[
                    "y"
                ]
                for side in (1, -1)
            )
            live = {DOMAIN.names[i]: DOMAIN[i].states[s] for i, s in zip(scope, cell, strict=True) if i != 2}
            known = dict(zip(scope, cell, strict=True)).get(2, 1)
            if live and known == 1:
                slope = slopes[json.dumps(live, sort_keys=True)]
                assert slope == pytest.approx((above - below) / (2 * step), abs=1e-7)
        start += len(cells)


def test_a_learned_model_is_asked_like_a_network(rng: np.random.Generator) -> None:
    structure = Structure.from_scopes(4, [(0, 1), (1, 2), (2, 3)]).closure()
    parameters = Full(DOMAIN, structure)
    model = MarkovNetwork(parameters, rng.standard_normal(parameters.n_parameters))
    network = FactorNetwork(DOMAIN, model.factors)
    assert model.conditional("a", {"d": "y"}) == pytest.approx(network.conditional("a", {"d": "y"}))
    assert model.plan().fits
    engines = {model.marginals(engine=engine).engine for engine in ("tree", "enumeration", Enumeration())}
    assert engines == {"tree", "enumeration"}


def test_a_plan_stays_with_the_model(tmp_path: Path, rng: np.random.Generator) -> None:
    """The plan is stored in the file, too, and serves queries with evidence."""
    parameters = Full(DOMAIN, Structure.from_scopes(4, [(0, 1), (1, 2), (2, 3), (3, 0)]).closure())
    model = MarkovNetwork(parameters, rng.standard_normal(parameters.n_parameters))
    order = (2, 0, 3, 1)
    plan = JunctionTree().plan(model.factors, order=order)
    kept = model.with_plan(plan)
    kept.save(tmp_path / "m.mrf")
    again = MarkovNetwork.load(tmp_path / "m.mrf")
    assert again.stored_order == order
    assert JunctionTree().plan(again.factors, order=again.stored_order) == plan
    assert again.plan(evidence={"a": "yes"}).fits
    assert float(again.log_z()) == pytest.approx(float(model.log_z()), rel=1e-13)
    assert again.conditional("b", {"a": "yes"}) == pytest.approx(model.conditional("b", {"a": "yes"}))
    with pytest.raises(InputError, match="Only a plan of a junction tree"):
        model.with_plan(Enumeration().plan(model.factors))


def test_most_probable_states_and_samples_are_planned_once(
    network: FactorNetwork, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Plans depend on which variables are known, not on their states."""
    planned: list[bool] = []
    plan = JunctionTree.plan

    def counted(engine: JunctionTree, *arguments: Any, **options: Any) -> Any:
        planned.append(engine.merge)
        return plan(engine, *arguments, **options)

    monkeypatch.setattr(JunctionTree, "plan", counted)
    for code in (1, 0, 1):
        given = {"a": DOMAIN[0].states[code]}
        assert network.map(evidence=given).states["a"] == given["a"]
        assert set(network.sample(5, evidence=given).codes[:, 0]) == {code}
    assert planned == [True, False]
    network.map(evidence={"b": "low"})
    assert planned == [True, False, True]


def test_hidden_variables_are_not_shown(rng: np.random.Generator) -> None:
    """A conjunction over many variables is a chain of hidden ones to the engines, and nothing to the user."""
    domain = Domain.from_states({f"v{i}": ["0", "1"] for i in range(40)})
    wide = Conjunction(3.0, tuple((i, (1,)) for i in range(40)))
    network = FactorNetwork(domain, random_factors(rng, domain.shape, [(i,) for i in range(40)]), (wide,))
    assert len(network.marginals().marginals) == 40
    assert network.sample(5).codes.shape == (5, 40)
    assert len(network.map().states) == 40
    codes = np.full((3, 40), UNOBSERVED, np.uint8)
    codes[:, 0] = 1
    assert network.impute(Dataset(domain, codes), how="draw").codes.shape == (3, 40)


@pytest.mark.parametrize(
    ("question", "message"),
    [
        (lambda n: n.marginals(["e"]), "no variable 'e'"),
        (lambda n: n.marginals(["a", "a"]), "named twice"),
        (lambda n: n.marginals(evidence={"b": "huge"}), "no state 'huge'; its states are 'low', 'mid', 'high'"),
        (lambda n: n.marginals(evidence={"b": [0.1, 0.2]}), "for each of its 3 states"),
        (lambda n: n.marginals(evidence={"b": [0.0, 0.0, 0.0]}), "not all 0"),
        (lambda n: n.marginals(evidence={"b": {"low": -1.0}}), "at least 0"),
        (lambda n: n.marginals(evidence={"b": {"low": float("nan")}}), "at least 0"),
        (lambda n: n.joint(["a", "b"], evidence={"a": "no"}), "'a' is both asked for and evidence"),
        (lambda n: n.explain("a", {"a": "no"}), "'a' is both asked for and evidence"),
        (lambda n: n.sensitivity("a", "no", evidence={"a": "no"}), "'a' is both asked for and evidence"),
        (lambda n: n.marginals(engine="magic"), "no engine 'magic'; choose one of 'auto', .* 'bp', 'trw', 'mean"),
        (lambda n: n.sample(0), "expected a whole number, 1 or larger"),
        (lambda n: n.predict_proba("c", pd.DataFrame({"z": [1]})), "which the table lacks"),
    ],
)
def test_wrong_questions_are_refused(network: FactorNetwork, question: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        question(network)  # type: ignore[operator]


def test_given_is_an_alias_of_evidence(network: FactorNetwork) -> None:
    """Every query takes it without a warning (warnings are errors here)."""
    known = {"a": "no", "c": "1"}
    for question in (
        network.marginals,
        network.log_z,
        network.map,
        network.plan,
        lambda **known: network.joint(["b", "d"], **known).to_dict(),
        lambda **known: network.conditional("b", **known),
        lambda **known: network.entropy(["b"], **known),
        lambda **known: network.mutual_information("b", "d", **known),
        lambda **known: network.explain("b", **known),
        lambda **known: network.sensitivity("b", "low", **known),
        lambda **known: network.sample(20, **known).codes.tolist(),
    ):
        assert str(question(given=known)) == str(question(evidence=known)) != str(question(evidence={"a": "yes"}))
        with pytest.raises(InputError, match="`given` is an alias of `evidence`; pass one of them"):
            question(given=known, evidence=known)


def test_what_is_impossible_is_said(rng: np.random.Generator) -> None:
    """Every query names the impossible evidence; scores name the rows."""
    tables = Factors.from_tables((2, 2), [((0, 1), [[0.0, -np.inf], [0.0, 0.0]])])
    network = FactorNetwork(Domain.from_states({"a": ["no", "yes"], "b": ["no", "yes"]}), tables)
    known = {"a": "no", "b": "yes"}
    for question in (network.marginals, network.log_z, network.map, lambda **known: network.sample(3, **known)):
        with pytest.raises(InputError, match=r"probability zero under the model: a=no, b=yes"):
            question(evidence=known)
    assert network.conditional("b", {"a": "no"}) == {"no": 1.0, "yes": 0.0}
    three = Domain.from_states({"a": ["no", "yes"], "b": ["no", "yes"], "c": ["no", "yes"]})
    rows = Dataset(three, np.array([[1, 0, 255], [0, 1, 255]], np.uint8))
    wider = FactorNetwork(three, Factors.from_tables((2, 2, 2), [((0, 1), tables.values), ((1, 2), np.zeros(4))]))
    for how in ("map", "draw"):
        with pytest.raises(InputError, match=r"values of row 2 have probability zero"):
            wider.impute(rows, how=how)


def test_hidden_variables_have_names_in_refusals(rng: np.random.Generator) -> None:
    domain = Domain.from_states({f"v{i}": ["0", "1"] for i in range(60)})
    draws = [np.sort(rng.permutation(60)[:25]).tolist() for _ in range(60)]
    wide = tuple(Conjunction(0.5, tuple((i, (1,)) for i in chosen)) for chosen in draws)
    network = FactorNetwork(domain, random_factors(rng, domain.shape, [(i,) for i in range(60)]), wide)
    assert network.display_names[59:61] == ("v59", "hidden 0")
    with pytest.raises(InputError, match=r"A junction tree of .* needs cliques"):
        network.marginals()


def test_large_samples_come_in_pieces(network: FactorNetwork, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows are drawn independently in each piece."""
    monkeypatch.setattr("mrfit.inference.row_draws._CELLS_IN_A_PIECE", 4 * 1000)
    rows = network.sample(4500).codes
    assert rows.shape == (4500, 4)
    assert not np.array_equal(rows[:1000], rows[1000:2000])
    np.testing.assert_allclose(np.bincount(rows[:, 1]) / 4500, _joint(network).sum(axis=(0, 2, 3)), atol=0.04)
    with pytest.raises(InputError, match="Draw fewer at a time"):
        network.sample(10**12)


def test_progress_of_imputation(network: FactorNetwork) -> None:
    codes = np.array([[0, 255, 0, 0], [1, 1, 1, 1], [0, 255, 0, 255], [1, 255, 1, 0]], np.uint8)
    done: list[int] = []
    network.impute(Dataset(DOMAIN, codes), callback=done.append)
    assert sorted(done) == [1, 1, 2]
