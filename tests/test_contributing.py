"""The recipes for a penalty, an engine and a format in CONTRIBUTING.md, followed to the letter."""

from __future__ import annotations

import inspect
import re
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from contracts import test_penalties, test_quadratics
from formats import test_model_formats
from inference import test_engines
from mrfit import Network, register
from mrfit.penalties.penalty import NonsmoothPenalty
from mrfit.registry import learn
from mrfit.solvers.fista import Fista
from populations import SCOPES, SHAPES, domain_of, random_factors, random_rows

PAGE = (Path(__file__).parents[1] / "CONTRIBUTING.md").read_text(encoding="utf-8")
ROOT = Path(__file__).parents[1]


def _followed(title: str) -> dict[str, Any]:
    """What the code of a section of the page defines."""
    _, _, recipe = PAGE.partition(f"## {title}\n")
    recipe, _, _ = recipe.partition("\n## ")
    names: dict[str, Any] = {"__name__": "recipe"}
    for block in re.findall(r"^```python\n(.*?)^```$", recipe, flags=re.MULTILINE | re.DOTALL):
        exec(compile(block, "CONTRIBUTING.md", "exec", dont_inherit=True), names)
    return names


@pytest.fixture(name="recipe")
def _recipe() -> dict[str, Any]:
    return _followed("Add a penalty")


def _contracts() -> list[Any]:
    """Every contract over all penalties with kinks, with the values of its other parameters."""
    found = []
    for module in (test_penalties, test_quadratics):
        for name, test in inspect.getmembers(module, inspect.isfunction):
            arguments = {
                mark.args[0]: mark.args[1] for mark in getattr(test, "pytestmark", []) if mark.name == "parametrize"
            }
            if "penalty" in arguments and arguments["penalty"] is not test_penalties.SMOOTH:
                more = next(((key, value) for key, value in arguments.items() if key != "penalty"), None)
                choices = [{}] if more is None else [{more[0]: value} for value in more[1]]
                found += [pytest.param(test, choice, id=f"{name}-{choice}") for choice in choices]
    return found


@pytest.mark.parametrize(("test", "choice"), _contracts())
def test_the_penalty_keeps_every_contract(
    test: Any, choice: dict[str, Any], recipe: dict[str, Any], rng: np.random.Generator
) -> None:
    for build in recipe["line"].values():
        for penalty in build(rng, test_penalties.N):
            test(penalty=penalty, **choice, rng=rng)


def test_five_methods_are_all_it_takes(recipe: dict[str, Any]) -> None:
    """What is abstract is what the page writes."""
    own = {name for name in vars(recipe["ElasticNet"]) if inspect.isfunction(vars(recipe["ElasticNet"])[name])}
    abstract = {*NonsmoothPenalty.__abstractmethods__}
    assert len(abstract) == 5
    assert {name for name in own if not name.startswith("_")} == abstract


@pytest.mark.parametrize("objective", ["pseudo-likelihood", "likelihood"])
def test_a_fit_by_its_word(
    objective: str, recipe: dict[str, Any], rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its own solver converges, where the plain one does."""
    register(recipe["Elastic"])
    rows = random_rows(rng, SHAPES["binary"], 300)
    fits = [
        learn(rows, "complete", penalty=recipe["Elastic"](strength=8.0), objective=objective, solver=solver).best
        for solver in (None, Fista(), "proximal-newton")
    ]
    by_word = learn(rows, "complete", penalty="elastic", objective=objective).best
    assert by_word.solution.converged
    for fit in fits:
        assert fit.solution.converged
        assert fit.solution.value == pytest.approx(fits[1].solution.value, abs=1e-9)
        assert 5 < fit.n_nonzero < 15  # of five free and ten penalised


def _tests_over(module: Any, argument: str) -> list[Any]:
    """The tests of a module that run over all values of an argument, with all values of their others."""
    found = []
    for name, test in inspect.getmembers(module, inspect.isfunction):
        marks = [mark.args for mark in getattr(test, "pytestmark", []) if mark.name == "parametrize"]
        if argument in [names for names, _ in marks]:
            others = [(names, values) for names, values in marks if names != argument]
            for choice in product(*(values for _, values in others)):
                given = _named([names for names, _ in others], choice)
                found.append(pytest.param(test, given, id=f"{name}-{[*given.values()]}"))
    return found


def _named(names: list[Any], values: tuple[Any, ...]) -> dict[str, Any]:
    """Arguments by name; one mark may have several."""
    given: dict[str, Any] = {}
    for own, value in zip(names, values, strict=True):
        given |= {own: value} if isinstance(own, str) else dict(zip(own, value, strict=True))
    return given


def _called(test: Any, **arguments: Any) -> None:
    """With those of the arguments that it takes."""
    taken = inspect.signature(test).parameters
    test(**{name: value for name, value in arguments.items() if name in taken})


@pytest.mark.parametrize(("test", "given"), _tests_over(test_engines, "engine"))
def test_the_engine_keeps_every_contract(test: Any, given: dict[str, Any], rng: np.random.Generator) -> None:
    ((engine,),) = _followed("Add an inference engine")["line"].values()
    _called(test, engine=engine, **given, rng=rng)


def test_an_answer_by_its_word(rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    kind = _followed("Add an inference engine")["Listing"]
    register(kind)
    network = Network(domain_of(SCOPES["cycle"][0]), random_factors(rng, *SCOPES["cycle"]))
    found = network.log_z(engine="listing")
    assert (found.engine, found.exact) == ("listing", True)
    assert float(found) == pytest.approx(float(network.log_z(engine="tree")), rel=1e-12)


# A format of tables has hidden variables for conjunctions, and logarithms hold what potentials cannot.
_OF_OTHERS = (
    test_model_formats.test_conjunctions_come_back,
    test_model_formats.test_a_table_that_no_doubles_hold_is_refused,
)


@pytest.mark.parametrize(
    ("test", "given"), [case for case in _tests_over(test_model_formats, "word") if case.values[0] not in _OF_OTHERS]
)
def test_the_format_keeps_every_contract(
    test: Any, given: dict[str, Any], rng: np.random.Generator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of all formats, and of those that have names and hold logarithms."""
    plain = _followed("Add a format of models")["PLAIN"]
    register(plain)
    monkeypatch.setattr(test_model_formats, "KEEPS_NAMES", (*test_model_formats.KEEPS_NAMES, plain.word))
    _called(test, word=plain.word, **given, rng=rng, tmp_path=tmp_path)


def test_every_path_on_the_page_exists() -> None:
    for path in re.findall(r"`((?:src|tests|benchmarks|docs)/[\w/.]*)`", PAGE):
        assert (ROOT / path).exists(), path
