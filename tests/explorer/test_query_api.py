"""Python's engines as the page asks them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from mrfit.analysis.nodes.observed_numbers import Observed
from mrfit.core.errors import InputError
from mrfit.core.factors import Factors
from mrfit.data.unique_rows import UniqueRows
from mrfit.explorer.document import starting_rows
from mrfit.explorer.initial_answer import FirstAnswer
from mrfit.explorer.query_api import Answering, Question
from mrfit.formats.mrf_network import to_model
from mrfit.inference.exact.planned_tree import PlannedTree
from mrfit.model.factor_network import FactorNetwork
from mrfit.model.markov_network import MarkovNetwork
from populations import SCOPES, domain_of, random_factors, spin_glass

POPULATION = ("tree", "cycle", "nested", "disconnected", "mixed cardinalities")


def model_of(factors: Factors) -> MarkovNetwork:
    return to_model(FactorNetwork(domain_of(factors.shape), factors))


def _never() -> bool:
    return False


def _named(model: MarkovNetwork, allowed: Mapping[int, tuple[int, ...]]) -> dict[str, object]:
    states = {model.domain[v]: own for v, own in allowed.items()}
    return {
        variable.name: variable.states[own[0]] if len(own) == 1 else {variable.states[s]: 1.0 for s in own}
        for variable, own in states.items()
    }


@pytest.mark.parametrize("name", POPULATION)
@pytest.mark.parametrize("zeros", [0.0, 0.3])
def test_answers_are_those_of_the_model(name: str, zeros: float, rng: np.random.Generator) -> None:
    shape, scopes = SCOPES[name]
    model = model_of(random_factors(rng, shape, scopes, zeros=zeros))
    allowed = {0: (1,)} | ({1: (0, 2)} if shape[1] > 2 else {})
    asked = Question(3, allowed, pair=(0, 2), best=True)
    (answer,) = Answering(model).answers(asked, _never)
    given = _named(model, allowed)
    try:
        expected = model.marginals(evidence=given)
    except InputError:
        assert answer["impossible"]
        return
    assert answer["number"] == 3
    assert answer["exact"]
    for i, variable in enumerate(model.domain):
        told = [float(s == 1) for s in range(shape[0])] if i == 0 else list(expected[variable.name].values())
        assert answer["marginals"][i] == pytest.approx(told, abs=1e-12)
    assert np.sum(answer["pair"], axis=0) == pytest.approx(answer["marginals"][2])
    states = [variable.states[s] for variable, s in zip(model.domain, answer["map"], strict=True)]
    assert states == list(model.map(evidence=given).states.values())


def test_what_is_impossible_is_said() -> None:
    model = model_of(Factors.from_tables((2, 2), [((0, 1), [[0.0, -np.inf], [0.0, 0.0]])]))
    (answer,) = Answering(model).answers(Question(1, {0: (0,), 1: (1,)}), _never)
    assert answer["impossible"]


def _by_chains(model: MarkovNetwork, monkeypatch: pytest.MonkeyPatch, **how: object) -> Answering:
    monkeypatch.setattr("mrfit.explorer.query_api._LONGEST", -1.0)
    return Answering(model, **how)  # type: ignore[arg-type]


def test_chains_answer_within_their_error(monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator) -> None:
    model = model_of(random_factors(rng, (2,) * 5, [(i, i + 1) for i in range(4)]))
    rows = rng.integers(0, 2, (20, 5))
    *before, last = _by_chains(model, monkeypatch, codes=rows).answers(Question(1, {0: (1,)}, pair=(1, 2)), _never)
    assert [each["done"] for each in (*before, last)] == [False] * len(before) + [True]
    assert not last["exact"]
    exact = model.marginals(evidence=_named(model, {0: (1,)}))
    for i, variable in list(enumerate(model.domain))[1:]:
        p = list(exact[variable.name].values())
        assert last["marginals"][i] == pytest.approx(p, abs=2 * last["error"])
        errors = np.array(last["errors"][i])
        assert (abs(np.array(last["marginals"][i]) - p) <= 4 * errors).all()
    assert last["errors"][0] == [0.0, 0.0]
    assert last["error"] == 2 * max(map(max, last["errors"])) < 0.02
    together = model.joint(list(model.domain.names[1:3]), evidence=_named(model, {0: (1,)})).table
    assert (abs(np.array(last["pair"]) - together) <= 4 * np.array(last["pair_errors"])).all()


def test_nobody_waits_a_minute_for_most_probable_states(
    monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator
) -> None:
    """If no tree answers in time a search does, and no solver that takes a minute and blocks everything else."""

    def too_long(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr("mrfit.inference.map.toulbar2.Toulbar2.best", too_long)
    monkeypatch.setattr(PlannedTree, "answers", lambda *_: False)
    model = model_of(random_factors(rng, (2,) * 5, [(i, i + 1) for i in range(4)]))
    *_, last = _by_chains(model, monkeypatch).answers(Question(1, {0: (1,)}, best=True), _never)
    monkeypatch.undo()
    best = model.map(evidence=_named(model, {0: (1,)}), engine="tree").states
    assert last["map"] == [variable.codes[best[variable.name]] for variable in model.domain]
    assert (last["map_exact"], last["map_gap"]) == (True, 0.0)  # a bound that is tight for a chain


def test_most_probable_states_that_may_not_be_are_said_to_be_none(
    monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator
) -> None:
    monkeypatch.setattr(PlannedTree, "answers", lambda *_: False)
    model = model_of(spin_glass([(i, j) for i in range(8) for j in range(i)], rng))
    *_, last = _by_chains(model, monkeypatch).answers(Question(1, {}, best=True), _never)
    assert last["map_exact"] is False
    assert last["map_gap"] == pytest.approx(model.map(engine="search").gap)
    assert last["map_gap"] > 0.01


def test_a_void_question_ends(monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator) -> None:
    model = model_of(random_factors(rng, (2,) * 4, [(0, 1), (1, 2), (2, 3)]))
    assert list(_by_chains(model, monkeypatch).answers(Question(1, {}), lambda: True)) == []


def test_an_exact_run_ends_between_cliques(monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator) -> None:
    """The question is void at the n-th look: on the way there, on the way back, or after all."""
    monkeypatch.setattr("mrfit.inference.exact.tree_passes._PIECE", 1)
    model = model_of(random_factors(rng, (2,) * 8, [(i, i + 1) for i in range(7)]))
    answering, looks = Answering(model), 0

    def counted(last: int) -> bool:
        nonlocal looks
        looks += 1
        return looks > last

    (whole,) = answering.answers(Question(1, {0: (1,)}), lambda: counted(10**6))
    n_looks, marginals = looks, whole["marginals"]
    assert n_looks > 8
    for last in (1, 3, n_looks - 2):
        looks = 0
        assert list(answering.answers(Question(1, {0: (1,)}), lambda last=last: counted(last))) == []  # type: ignore[misc]
        assert looks == last + 1
    monkeypatch.undo()
    (again,) = Answering(model).answers(Question(1, {0: (1,)}), _never)
    assert again["marginals"] == marginals  # pieces change no bit


def test_what_is_uncertain_counts_by_its_likelihood(rng: np.random.Generator) -> None:
    model = model_of(random_factors(rng, (2, 3, 2), [(0, 1), (1, 2)]))
    asked = {"number": 1, "evidence": [[0, [1]]], "soft": [[1, [0.2, 0.0, 0.7]]], "map": True}
    question = Question.of(asked, (2, 3, 2))
    (answer,) = Answering(model).answers(question, _never)
    given = {"x0": "s1", "x1": {"s0": 0.2, "s2": 0.7}}
    expected = model.marginals(evidence=given)
    assert answer["marginals"][1] == pytest.approx(list(expected["x1"].values()), abs=1e-12)
    assert answer["marginals"][2] == pytest.approx(list(expected["x2"].values()), abs=1e-12)
    assert [f"s{s}" for s in answer["map"]] == list(model.map(evidence=given).states.values())
    assert set(Answering(model).sampled(question, 50).codes[:, 1].tolist()) <= {0, 2}


def test_a_short_time_is_kept(rng: np.random.Generator) -> None:
    """If a tree takes longer, chains answer; and no round begins that would end too late."""
    model = model_of(random_factors(rng, (2,) * 5, [(i, i + 1) for i in range(4)]))
    answering = Answering(model)
    (answer,) = answering.answers(Question.of({"number": 1, "evidence": [], "budget_ms": 1e-6}, (2,) * 5), _never)
    assert (answer["engine"], answer["exact"], answer["done"]) == ("gibbs", False, True)
    (answer,) = answering.answers(Question.of({"number": 1, "evidence": [], "budget_ms": 60_000}, (2,) * 5), _never)
    assert (answer["engine"], answer["exact"], answer["done"]) == ("tree", True, True)


@pytest.mark.parametrize(
    "asked",
    [
        None,
        [],
        {"number": 1},
        {"number": "x", "evidence": []},
        {"number": 1, "evidence": [[9, [0]]]},
        {"number": 1.5, "evidence": []},
        {"number": 1, "evidence": [[0.9, [1]]]},
        {"number": 1, "evidence": [[1, [0.7]]]},
        {"number": 1, "evidence": [["1", [0]]]},
        {"number": 1, "evidence": [[1, [0]], [1, [1]]]},
        {"number": 1, "evidence": [], "soft": [[1, [0.2, 0.8]], [1, [0.5, 0.5]]]},
        {"number": 1, "evidence": [], "pair": [0, 0.5]},
        {"number": 1, "evidence": [[0, [2]]]},
        {"number": 1, "evidence": [[0, []]]},
        {"number": 1, "evidence": [[0, [0, 1]]]},
        {"number": 1, "evidence": [], "pair": [0]},
        {"number": 1, "evidence": [], "pair": [0, -1]},
        {"number": 1, "evidence": [], "soft": [[0, [0.5]]]},
        {"number": 1, "evidence": [], "soft": [[0, [0.0, 0.0]]]},
        {"number": 1, "evidence": [], "soft": [[0, [-1.0, 1.0]]]},
        {"number": 1, "evidence": [], "soft": [[0, ["nan", 1.0]]]},
        {"number": 1, "evidence": [], "soft": [[2, [1.0, 1.0]]]},
        {"number": 1, "evidence": [[0, [1]]], "soft": [[0, [1.0, 1.0]]]},
        {"number": 1, "evidence": [], "budget_ms": 0},
        {"number": 1, "evidence": [], "budget_ms": "soon"},
    ],
)
def test_what_is_no_question_is_refused(asked: object) -> None:
    with pytest.raises(InputError):
        Question.of(asked, (2, 2))


@pytest.mark.parametrize("by", ["rows", "frequencies"])
def test_of_two_modes_the_one_near_the_data_is_told(monkeypatch: pytest.MonkeyPatch, by: str) -> None:
    """All variables in one state or all in the other, which no chain leaves; the data are all in the second."""
    pairs = [(i, j) for i in range(12) for j in range(i)]
    model = model_of(Factors.from_tables((2,) * 12, [(pair, [1.5, 0, 0, 1.5]) for pair in pairs]))
    rows = UniqueRows.from_codes(model.domain, np.ones((1, 12), np.uint8), np.ones(1))
    observed = Observed.of(model, rows=rows)
    codes = starting_rows(rows if by == "rows" else None, observed)
    first = FirstAnswer.of(model, None, codes=codes)
    assert min(p[1] for p in first.marginals) > 0.999
    assert first.error < 0.01
    assert "second mode" in first.remarks[0]
    assert " = s" in first.remarks[0]  # a state by its name
    asked = Question(1, {0: (1,)}, pair=(1, 2))
    last = list(_by_chains(model, monkeypatch, codes=codes).answers(asked, _never))[-1]
    assert last["marginals"][1][1] > 0.999
    assert last["pair"][1][1] > 0.999
    free = list(_by_chains(model, monkeypatch, codes=codes).answers(Question(1, {}), _never))[-1]
    assert free["gap"] > 0.9
    assert free["marginals"][1][1] > 0.999
    assert free["far"][1][1] < 0.001


def test_chains_that_agree_are_read_together(monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator) -> None:
    model = model_of(random_factors(rng, (2, 3, 2), [(0, 1), (1, 2)]))
    answers = _by_chains(model, monkeypatch, codes=np.zeros((4, 3), np.int64)).answers(Question(1, {}), _never)
    last = list(answers)[-1]
    assert last["gap"] == 0
    assert "far" not in last
