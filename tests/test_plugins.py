"""Parts of others: known by their word once they are registered."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from mrfit import (
    L1,
    ChowLiuTree,
    FactorNetwork,
    Learner,
    LikelihoodSpec,
    MarkovNetwork,
    MarkovNetworkLearner,
    read_network,
    register,
    write_network,
)
from mrfit import registry as plugins
from mrfit.cli.main import main
from mrfit.core.errors import InputError, ModelFileError
from mrfit.formats.uai import UAI
from mrfit.learning.objective_specs import RiseSpec
from mrfit.learning.specification import learn
from mrfit.parameterizations.spectral import Spectral
from mrfit.solvers.lbfgs import LBFGS
from mrfit.structures.base import LearnedStructure, StructureLearner
from mrfit.structures.structure import Structure
from plugins.scad import SCAD
from populations import domain_of, random_factors


@dataclass(frozen=True)
class Chain(StructureLearner):
    """Every variable beside the next."""

    word = "chain"

    def learn(self, rows: Any, **how: Any) -> LearnedStructure:
        n = len(rows.domain)
        return LearnedStructure(Structure.from_edges(n, [(i - 1, i) for i in range(1, n)]))

    def describe(self) -> str:
        return "a chain"


def _table(tmp_path: Path, rng: np.random.Generator) -> Path:
    first = rng.integers(0, 2, 200)
    rows = np.column_stack([first, first ^ (rng.random(200) < 0.2), rng.integers(0, 2, 200)])
    lines = [",".join(map(str, row)) for row in rows.tolist()]
    (tmp_path / "rows.csv").write_text("\n".join(["a,b,c", *lines, ""]))
    return tmp_path / "rows.csv"


def test_a_part_is_known_by_its_word_everywhere(
    tmp_path: Path, rng: np.random.Generator, capsys: pytest.CaptureFixture[str]
) -> None:
    """Python, JSON, the command line, saved models and --like know the word."""
    assert register(SCAD) is SCAD
    assert register(Chain) is Chain
    table, model = _table(tmp_path, rng), tmp_path / "m.mrf"
    by_words = ["--penalty", "scad", "--structure", "chain", "--strength", "3"]
    assert main(["fit", str(table), *by_words, "-o", str(model)]) == 0
    assert main(["fit", str(table), "--like", str(model), "-o", str(tmp_path / "again.mrf"), "--json"]) == 0
    capsys.readouterr()
    learned, again = (MarkovNetwork.load(path) for path in (model, tmp_path / "again.mrf"))
    np.testing.assert_array_equal(learned.w, again.w)
    learner = Learner.from_dict(learned.provenance["learner"])
    assert (learner.penalty, learner.structure) == (SCAD((3.0,)), Chain())
    assert Learner.from_json(learner.to_json()) == learner
    rows = np.loadtxt(table, delimiter=",", skiprows=1, dtype=int)
    by_word = MarkovNetworkLearner("chain", penalty="scad").set_params(penalty__strength=3.0).fit(rows)
    np.testing.assert_array_equal(by_word.model_.w, learned.w)
    assert main(["show", str(model)]) == 0
    assert "a chain, scad, strength 3" in capsys.readouterr().out


def test_help_and_refusals_list_it(capsys: pytest.CaptureFixture[str]) -> None:
    register(SCAD)
    register(Chain)
    assert main(["fit", "--help-all"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert re.search(r"--penalty NAME .*, ltr \([^)]*\), scad\. \[default: l2\]", text)
    assert re.search(r"--structure NAME .*, edges:FILE \([^)]*\), chain(?: \([^)]+\))?\. ", text)
    assert main(["fit", "x.csv", "--penalty", "scda"]) == 2
    assert "'scad'" in capsys.readouterr().err
    with pytest.raises(InputError, match="'scad'"):
        learn({"a": [0, 1], "b": [1, 0]}, penalty="scda")
    with pytest.raises(InputError, match="'edges:FILE', 'chain'"):
        learn({"a": [0, 1], "b": [1, 0]}, "chian")


def test_a_description_with_an_unknown_part_says_what_to_do() -> None:
    described = Learner(penalty=SCAD(2.0)).to_json()
    with pytest.raises(InputError, match=r"no part of a learner called 'scad'.*install it, or import the module"):
        Learner.from_json(described)
    register(SCAD)
    assert Learner.from_json(described).penalty == SCAD(2.0)


def test_a_word_stands_for_one_part() -> None:
    register(SCAD)
    register(SCAD)  # a module may be imported twice

    @dataclass(frozen=True)
    class Other(Chain):
        word = "scad"

    @dataclass(frozen=True)
    class Mine(Chain):
        word = "l1"

    with pytest.raises(InputError, match=r"There is a penalty 'scad' already; choose another word for .*Other"):
        register(Other)
    with pytest.raises(InputError, match="There is a penalty 'l1' already"):
        register(Mine)


@pytest.mark.parametrize("part", [int, 3, "l1", StructureLearner])
def test_what_is_no_part_is_refused(part: Any) -> None:
    with pytest.raises(InputError, match=r"derives from none of 'StructureLearner'|has no word"):
        register(part)


def _install(monkeypatch: pytest.MonkeyPatch, *points: EntryPoint) -> None:
    monkeypatch.setattr(plugins, "_is_discovered", False)
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: [p for p in points if p.group == group])


def test_entry_points_are_loaded_where_a_word_is_not_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """And not before. A module registers its parts itself."""
    module = ModuleType("a_plugin_of_tests")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    module.__getattr__ = lambda name: register(SCAD)  # type: ignore[method-assign]
    _install(
        monkeypatch,
        EntryPoint("chain", f"{__name__}:Chain", "mrfit.plugins"),
        EntryPoint("scad", "a_plugin_of_tests:SCAD", "mrfit.plugins"),
    )
    monkeypatch.setitem(sys.modules, __name__, sys.modules.get(__name__) or _this_module())
    assert plugins.PENALTIES["l1"].word == "l1"
    assert plugins._registered["penalty"] == {}
    assert plugins.PENALTIES["scad"] is SCAD
    assert plugins.STRUCTURES["chain"].word == "chain"
    assert tuple(plugins.PENALTIES)[-1] == "scad"


def _this_module() -> ModuleType:
    module = ModuleType(__name__)
    module.Chain = Chain  # type: ignore[attr-defined]
    return module


def test_commands_with_known_words_look_for_no_plug_ins(
    tmp_path: Path, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Looking for them would take 40 ms."""
    _install(monkeypatch, EntryPoint("broken", "no_such_package:Part", "mrfit.plugins"))
    table, model = str(_table(tmp_path, rng)), str(tmp_path / "m.mrf")
    assert main(["fit", table, "--penalty", "l1", "-o", model, "--quiet"]) == 0
    assert main(["logz", model, "--quiet"]) == 0
    assert main(["convert", model, str(tmp_path / "m.uai"), "--quiet"]) == 0
    assert not plugins._is_discovered


def test_a_plug_in_that_does_not_load_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    _install(monkeypatch, EntryPoint("broken", "no_such_package:Part", "mrfit.plugins"))
    with pytest.raises(InputError, match=r"plug-in 'broken' \(no_such_package:Part\) does not load: ModuleNotFound"):
        learn({"a": [0, 1], "b": [1, 0]}, penalty="unknown")


@pytest.mark.parametrize(
    ("words", "objects"),
    [
        ({"structure": "tree", "penalty": "l1"}, {"structure": ChowLiuTree(), "penalty": L1()}),
        ({"objective": "rise", "solver": "lbfgs"}, {"objective": RiseSpec(), "solver": LBFGS()}),
        ({"objective": "likelihood"}, {"objective": LikelihoodSpec()}),
        ({"parameterization": "spectral"}, {"parameterization": Spectral}),
    ],
    ids=str,
)
def test_a_part_is_an_object_wherever_a_word_may_stand(
    words: dict[str, Any], objects: dict[str, Any], rng: np.random.Generator
) -> None:
    """The function and the estimator learn the same and describe themselves alike."""
    rows = rng.integers(0, 2, (60, 3))
    by_word, by_object = (learn(rows, **parts).model for parts in (words, objects))
    np.testing.assert_array_equal(by_word.w, by_object.w)
    assert by_word.provenance["learner"] == by_object.provenance["learner"]
    fits = [MarkovNetworkLearner(**parts).fit(rows) for parts in (words, objects)]
    np.testing.assert_array_equal(fits[0].score_samples(rows), fits[1].score_samples(rows))


def test_coordinates_of_somebody_else(tmp_path: Path, rng: np.random.Generator) -> None:
    """A class without a word in the library: used as it is, and read from a file once it is registered."""

    @dataclass(frozen=True)
    class Mine(Spectral):
        word = "mine"

    model = learn(rng.integers(0, 2, (60, 3)), parameterization=Mine).model
    assert type(model.parameters) is Mine
    model.save(tmp_path / "m.mrf")
    with pytest.raises(ModelFileError, match="unknown parameterization 'mine'"):
        MarkovNetwork.load(tmp_path / "m.mrf")
    register(Mine)
    again = MarkovNetwork.load(tmp_path / "m.mrf")
    np.testing.assert_array_equal(again.w, model.w)
    assert Learner.from_dict(again.provenance["learner"]).parameterization_kind is Mine
    with pytest.raises(InputError, match="must be a word or a subclass of Parameterization; got 3"):
        learn(rng.integers(0, 2, (60, 3)), parameterization=3)


def test_a_format_as_an_object(tmp_path: Path, rng: np.random.Generator) -> None:
    network = FactorNetwork(domain_of((2, 3)), random_factors(rng, (2, 3), [(0, 1)]))
    write_network(tmp_path / "model.txt", network, format=UAI)
    assert read_network(tmp_path / "model.txt", format=UAI) == read_network(tmp_path / "model.txt", format="uai")
