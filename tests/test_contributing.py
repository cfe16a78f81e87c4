"""The recipe for a penalty in CONTRIBUTING.md, followed to the letter."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from contracts import test_penalties, test_quadratics
from mrfit.learning.parts import PENALTIES
from mrfit.penalties.penalty import NonsmoothPenalty
from mrfit.registry import learn
from mrfit.solvers.fista import Fista
from populations import SHAPES, random_rows

PAGE = (Path(__file__).parents[1] / "CONTRIBUTING.md").read_text(encoding="utf-8")
ROOT = Path(__file__).parents[1]


def _followed() -> dict[str, Any]:
    _, _, recipe = PAGE.partition("## Add a penalty")
    names: dict[str, Any] = {"__name__": "elastic_net"}
    for block in re.findall(r"^```python\n(.*?)^```$", recipe, flags=re.MULTILINE | re.DOTALL):
        exec(compile(block, "CONTRIBUTING.md", "exec"), names)
    return names


@pytest.fixture(name="recipe")
def _recipe() -> dict[str, Any]:
    return _followed()


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
    """What is abstract is what the page writes, and `dual_scale` is the one that norms leave out."""
    own = {name for name in vars(recipe["ElasticNet"]) if inspect.isfunction(vars(recipe["ElasticNet"])[name])}
    abstract = {*NonsmoothPenalty.__abstractmethods__}
    assert len(abstract) == 5
    assert {name for name in own if not name.startswith("_")} == abstract | {"dual_scale"}


@pytest.mark.parametrize("objective", ["pseudo-likelihood", "likelihood"])
def test_a_fit_by_its_word(
    objective: str, recipe: dict[str, Any], rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its own solver converges, where the plain one does."""
    monkeypatch.setitem(PENALTIES, recipe["Elastic"].word, recipe["Elastic"])
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


def test_every_path_on_the_page_exists() -> None:
    """But for the room of engines, which the page points at by name."""
    for path in re.findall(r"`((?:src|tests|benchmarks|docs)/[\w/.]*)`", PAGE):
        assert (ROOT / path).exists() or path == "src/mrfit/inference/", path
