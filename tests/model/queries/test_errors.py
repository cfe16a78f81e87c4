"""Errors of approximate answers: that they are there, what they are worth, and that they can be made smaller."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from mrfit import Domain, FactorNetwork, Factors
from mrfit.core.errors import InputError
from mrfit.core.rounding import probability, with_error
from mrfit.inference.engine import Engine
from mrfit.inference.sampling.annealed import Annealed
from mrfit.inference.sampling.gibbs import Gibbs
from mrfit.model.queries.answer import Distribution, FloatWithError
from mrfit.registry import ENGINES

Numbers = list[tuple[float, float | None]]  # with their errors
Ask = Callable[[FactorNetwork, str | Engine], Numbers]

UNSURE = ("bp", "trw", "mean-field")  # about errors


def _network(
    shape: tuple[int, ...], scopes: list[tuple[int, ...]], rng: np.random.Generator, scale: float
) -> FactorNetwork:
    domain = Domain.from_states({f"v{i}": [str(k) for k in range(c)] for i, c in enumerate(shape)})
    tables = [(s, scale * rng.standard_normal([shape[i] for i in s])) for s in scopes]
    return FactorNetwork(domain, Factors.from_tables(shape, tables))


def _cycle(rng: np.random.Generator) -> FactorNetwork:
    return _network((2, 3, 2, 2, 3), [(0, 1), (1, 2), (2, 3), (3, 4), (0, 4)], rng, 1.0)


def _marginals(network: FactorNetwork, engine: str | Engine) -> Numbers:
    found = network.marginals(evidence={"v2": "1"}, engine=engine)
    return [(p, own.error[state]) for own in found.marginals.values() for state, p in own.items()]


def _together(network: FactorNetwork, engine: str | Engine) -> Numbers:
    return [(p, error) for _, p, error in network.joint(["v0", "v1"], engine=engine).rows_with_errors()]


def _information(network: FactorNetwork, engine: str | Engine) -> Numbers:
    found = (
        network.entropy(["v0", "v1", "v2"], engine=engine),
        network.mutual_information(["v0"], ["v1", "v3"], engine=engine),
        network.mutual_information(["v0"], ["v3"], engine=engine),
    )
    return [(float(value), value.error) for value in found]


def _influences(network: FactorNetwork, engine: str | Engine) -> Numbers:
    found = network.explain("v0", {"v2": "1", "v3": "0"}, state="1", engine=engine)
    by_name = sorted(found.influences, key=lambda each: each.variable)
    return [(found.p_before, found.p_before_error), *((each.log_odds, each.log_odds_error) for each in by_name)]


def _slopes(network: FactorNetwork, engine: str | Engine) -> Numbers:
    found = network.sensitivity("v0", "1", top=1000, engine=engine)
    named = [(str(cell), slope, error) for (cell, slope), error in zip(found.cells, found.cell_errors, strict=True)]
    return [(slope, error) for _, slope, error in sorted(named)[:5]]


def _pair_information(network: FactorNetwork, engine: str | Engine) -> Numbers:
    found = network.mutual_information(["v0"], ["v1"], engine=engine)
    return [(float(found), found.error)]


QUESTIONS: dict[str, Ask] = {
    "marginals": _marginals,
    "joint": _together,
    "information": _information,
    "explain": _influences,
    "sensitivity": _slopes,
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_errors_say_how_far_answers_are_off(question: str, rng: np.random.Generator) -> None:
    """Coverage over 100 seeds of short chains is that of a normal distribution; errors of slopes are conservative."""
    network, ask = _cycle(rng), QUESTIONS[question]
    truth = np.array([value for value, _ in ask(network, "enumeration")])
    engine = Gibbs(sweeps=60, max_sweeps=480, annealing=40)
    found = np.array([ask(network, replace(engine, seed=seed)) for seed in range(100)])
    z = (found[..., 0] - truth) / found[..., 1]
    rms = float(np.sqrt((z**2).mean()))
    assert (0.5 if question == "sensitivity" else 0.75) < rms < 1.3
    assert (abs(z) > 2).mean() < 0.12
    assert abs(z).max() < 5


@pytest.mark.parametrize("engine", [Gibbs(), Annealed()], ids=lambda engine: engine.word)
@pytest.mark.parametrize("kind", ["complete", "grid", "potts"])
def test_answers_are_within_four_errors_of_the_truth(kind: str, engine: Engine, rng: np.random.Generator) -> None:
    pairs = {
        "complete": list(combinations(range(9), 2)),
        "grid": [(i, i + 1) for i in range(9) if i % 3 < 2] + [(i, i + 3) for i in range(6)],
        "potts": list(combinations(range(5), 2)),
    }[kind]
    shape = (4,) * 5 if kind == "potts" else (2,) * 9
    network = _network(shape, pairs, rng, 0.6)
    for ask in QUESTIONS.values():
        for (value, error), (truth, zero) in zip(ask(network, engine), ask(network, "enumeration"), strict=True):
            assert zero == 0.0
            assert error is not None
            assert abs(value - truth) <= 4 * error


def test_exact_answers_have_no_error(rng: np.random.Generator) -> None:
    network = _cycle(rng)
    found = network.marginals()
    assert found.exact
    assert found.largest_error == 0.0
    assert repr(found["v0"]) == repr(dict(found["v0"]))
    entropy = network.entropy(["v0"])
    assert (entropy.error, entropy.exact, entropy.remarks) == (0.0, True, ())
    assert repr(entropy) == repr(float(entropy))


def test_chains_are_never_sure_of_what_they_have_not_seen() -> None:
    """A state of probability 8e-7: no draw of a few chains has it, which does not make it impossible."""
    network = FactorNetwork(
        Domain.from_states({"a": ["no", "yes"], "b": ["no", "yes"]}),
        Factors.from_tables((2, 2), [((0,), [0.0, -14.0]), ((0, 1), [0.0, 0.1, 0.0, 0.0])]),
    )
    for engine in ("gibbs", "ais", "tempering"):
        found = network.conditional("a", engine=engine)
        assert found["yes"] == 0.0
        assert abs(found["yes"] - 8e-7) < found.error["yes"] < 0.01  # type: ignore[operator]
        told = network.explain("a", {"b": "yes"}, state="yes", engine=engine)
        assert told.influences[0].log_odds_error == np.inf
        assert np.isfinite(told.influences[0].log_odds)


@pytest.mark.parametrize("word", UNSURE)
def test_unknown_errors_are_none(word: str, rng: np.random.Generator) -> None:
    network = _network((2,) * 6, list(combinations(range(6), 2)), rng, 0.5)
    for ask in (_marginals, _together, _pair_information, _influences, _slopes):
        assert all(error is None for _, error in ask(network, word))
    found = network.conditional("v0", engine=word)
    assert not found.exact
    assert found.error == {"0": None, "1": None}
    assert repr(found) == f"{{'0': {found['0']:.2f}, '1': {found['1']:.2f}}}"
    frame = network.marginals(engine=word).to_frame()
    assert frame["error"].isna().all()


def test_records_carry_errors_into_json_and_frames(rng: np.random.Generator) -> None:
    network = _cycle(rng)
    found = network.marginals(["v0"], engine="gibbs")
    document = json.loads(json.dumps(found.to_dict()))
    assert document["errors"] == {"v0": found["v0"].error} == found.errors
    assert document["marginals"] == {"v0": dict(found["v0"])}
    assert found.to_frame()["error"].tolist() == list(found["v0"].error.values())
    joint = network.joint(["v0", "v1"], engine="gibbs")
    assert joint.error is not None
    assert json.loads(json.dumps(joint.to_dict()))["joint"][4]["error"] == joint.error[1, 1] > 0.0
    assert joint.to_frame()["error"].tolist() == joint.error.ravel().tolist()
    told = json.loads(json.dumps(network.explain("v0", {"v2": "1"}, engine="gibbs").to_dict()))
    assert told["p_error"] > 0.0
    assert told["influences"][0]["log_odds_error"] > 0.0


def test_numbers_print_with_the_digits_that_are_known() -> None:
    value = FloatWithError(0.42137, 0.0312, False, ("A remark.",))
    assert repr(value) == str(value) == "0.42 +- 0.03"
    assert f"{value:.4f}" == "0.4214"
    assert value == 0.42137
    assert json.dumps([value]) == "[0.42137]"
    p = Distribution(
        {"no": 0.57863, "yes": 0.42137}, {"no": 0.0312, "yes": 0.0312}, exact=False, remarks=("A remark.",)
    )
    assert repr(p) == "{'no': 0.58 +- 0.03, 'yes': 0.42 +- 0.03}"
    assert p == {"no": 0.57863, "yes": 0.42137}
    for again in (pickle.loads(pickle.dumps((value, p))), copy.deepcopy((value, p))):
        assert (again[0].error, again[0].remarks) == (0.0312, ("A remark.",))
        assert (again[1].error, again[1].exact, again[1].remarks) == (p.error, False, ("A remark.",))


def test_records_print_with_the_digits_that_are_known(rng: np.random.Generator) -> None:
    network = _cycle(rng)
    found = network.log_z(engine="ais")
    assert f"log_z={with_error(found.log_z, found.error)}, error=" in repr(found)
    assert (type(float(found)), float(found)) == (float, found.log_z)
    told = network.explain("v0", {"v2": "1"}, engine="gibbs")
    assert f"p={with_error(told.p, told.p_error)}, p_before=" in repr(told)
    (each,) = told.influences
    assert f"log_odds={with_error(each.log_odds, each.log_odds_error)}, p_without_error=" in repr(told)
    assert f"p={with_error(told.p, told.p_error)}" in repr(
        network.sensitivity("v0", told.state, engine="gibbs", evidence={"v2": "1"})
    )
    slopes = network.sensitivity("v0", "1", engine="gibbs")
    ((_, slope), *_), (error, *_) = slopes.cells, slopes.cell_errors
    assert f"}}, {with_error(slope, error)})" in repr(slopes)
    joint = network.joint(["v0", "v2"], engine="gibbs")
    (first, p), *_ = joint.rows()
    assert first == {"v0": "0", "v2": "0"}
    assert (float(p), p.error, p.exact) == (joint.table[0, 0], joint.error[0, 0], False)  # type: ignore[index]
    assert f"('0', '0'): {probability(p, p.error)}," in repr(joint)
    assert "exact=False" in repr(joint)
    assert "exact=False" not in repr(network.joint(["v0", "v2"]))
    exact = network.log_z()
    assert f"log_z={float(exact)!r}, error=0.0)" in repr(exact)
    assert json.loads(json.dumps(found.to_dict()))["log_z"] == float(found)
    assert pickle.loads(pickle.dumps(found)) == copy.deepcopy(found) == found


@pytest.mark.parametrize("word", ["gibbs", "ais"])
def test_precision_and_samples_make_errors_smaller(word: str, rng: np.random.Generator) -> None:
    network = _cycle(rng)
    rough = network.marginals(engine=word, samples=16).largest_error
    usual = network.marginals(engine=word).largest_error
    fine = network.marginals(engine=word, precision=0.0015)
    assert rough is not None
    assert usual is not None
    assert rough > usual > 0.0015 >= fine.largest_error  # type: ignore[operator]
    truth = network.marginals()
    for name, own in fine.marginals.items():
        for state, p in own.items():
            assert abs(p - truth[name][state]) < 4 * own.error[state]  # type: ignore[operator]
    entropy = network.entropy(["v0"], engine=word, precision=0.0015).error
    assert entropy < network.entropy(["v0"], engine=word).error  # type: ignore[operator]


def test_a_precision_out_of_reach_is_remarked(rng: np.random.Generator) -> None:
    found = _cycle(rng).marginals(engine=Gibbs(max_sweeps=500), precision=1e-5)
    assert found.remarks[-1].startswith("The largest standard error of a probability is 0.00")
    assert found.remarks[-1].endswith("above the precision of 1e-05. Use more chains (samples=N).")


def test_precision_and_samples_of_other_engines(rng: np.random.Generator) -> None:
    """Exact answers need none; those of unknown error have none."""
    network = _cycle(rng)
    for engine in ("auto", "tree", "enumeration"):
        assert network.marginals(engine=engine, samples=8, precision=0.1).exact
    for word in UNSURE:
        for settings in ({"samples": 8}, {"precision": 0.1}):
            with pytest.raises(
                InputError, match=f"The engine '{word}' cannot estimate its errors.*'gibbs', 'ais', 'temp"
            ):
                network.marginals(engine=word, **settings)  # type: ignore[arg-type]
    for precision in (0.0, -1.0, np.nan, np.inf):
        with pytest.raises(InputError, match="expected a standard error of probabilities above 0"):
            network.marginals(precision=precision)
    with pytest.raises(InputError, match="at least 4 chains"):
        network.marginals(engine="gibbs", samples=3)


def test_engines_that_answer_marginals(rng: np.random.Generator) -> None:
    """All but max-product, whose max-marginals are no probabilities."""
    network = _cycle(rng)
    assert [word for word, kind in ENGINES.items() if not kind.answers_marginals] == ["max-product"]
    questions: list[Callable[[str | Engine], object]] = [
        lambda engine: network.marginals(engine=engine),
        lambda engine: network.conditional("v0", engine=engine),
        lambda engine: network.joint(["v0", "v1"], engine=engine),
        lambda engine: network.entropy(["v0"], engine=engine),
        lambda engine: network.mutual_information(["v0"], ["v1"], engine=engine),
        lambda engine: network.explain("v0", {"v1": "1"}, engine=engine),
        lambda engine: network.sensitivity("v0", "1", engine=engine),
        lambda engine: network.log_z(engine=engine),
        lambda engine: network.plan(engine=engine),
    ]
    for ask in questions:
        for engine in ("max-product", ENGINES["max-product"]()):
            with pytest.raises(InputError, match=r"neither marginals nor log Z\. Choose one of 'auto', 'enumeration'"):
                ask(engine)
    assert network.map(engine="max-product").engine == "max-product"
