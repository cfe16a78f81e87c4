"""The recipes for a penalty, an engine, a format and a command in CONTRIBUTING.md, followed to the letter."""

from __future__ import annotations

import inspect
import re
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mrfit import FactorNetwork, register
from mrfit.cli.main import main
from mrfit.learning.specification import learn
from mrfit.penalties.penalty import NonsmoothPenalty
from mrfit.solvers.fista import Fista
from mrfit.testing import check_engine, check_format, check_penalty
from populations import SCOPES, SHAPES, domain_of, random_factors, random_rows

PAGE = (Path(__file__).parents[1] / "CONTRIBUTING.md").read_text(encoding="utf-8")
ROOT = Path(__file__).parents[1]


def _followed(title: str) -> dict[str, Any]:
    """Names that the code of a section of the page defines."""
    names: dict[str, Any] = {"__name__": "recipe"}
    for block in _blocks(title, "python"):
        exec(compile(block, "CONTRIBUTING.md", "exec", dont_inherit=True), names)
    return names


def _blocks(title: str, language: str) -> list[str]:
    _, _, recipe = PAGE.partition(f"## {title}\n")
    recipe, _, _ = recipe.partition("\n## ")
    return re.findall(rf"^```{language}\n(.*?)^```$", recipe, flags=re.MULTILINE | re.DOTALL)


@pytest.fixture(name="recipe")
def _recipe() -> dict[str, Any]:
    return _followed("Add a penalty")


def test_the_penalty_keeps_every_promise(recipe: dict[str, Any]) -> None:
    for build in recipe["line"].values():
        check_penalty(build)


def test_five_methods_are_all_it_takes(recipe: dict[str, Any]) -> None:
    """The abstract methods are those that the page writes."""
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


def test_the_engine_keeps_every_promise() -> None:
    ((engine,),) = _followed("Add an inference engine")["line"].values()
    check_engine(engine)


def test_an_answer_by_its_word(rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    kind = _followed("Add an inference engine")["Listing"]
    register(kind)
    network = FactorNetwork(domain_of(SCOPES["cycle"][0]), random_factors(rng, *SCOPES["cycle"]))
    found = network.log_z(engine="listing")
    assert (found.engine, found.exact) == ("listing", True)
    assert float(found) == pytest.approx(float(network.log_z(engine="tree")), rel=1e-12)


def test_the_format_keeps_every_promise() -> None:
    check_format(_followed("Add a format of models")["PLAIN"])


def test_the_command_of_another_package(
    rng: np.random.Generator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (declared,), (code,) = _blocks("Add a command", "toml"), _blocks("Add a command", "python")
    ((group, points),) = tomllib.loads(declared)["project"]["entry-points"].items()
    ((word, target),) = points.items()
    information = tmp_path / "mrfit_states-1.0.dist-info"
    information.mkdir()
    (information / "entry_points.txt").write_text(f"[{group}]\n{word} = {target}\n")
    (tmp_path / f"{target.partition(':')[0]}.py").write_text(code)
    monkeypatch.syspath_prepend(tmp_path)
    learn(random_rows(rng, (2, 3), 50)).best.model.save(tmp_path / "model.mrf")
    assert main(["--help"]) == 0
    assert f"Plug-ins: {word} Print the states of every variable of a model" in " ".join(
        capsys.readouterr().out.split()
    )
    assert main([word, str(tmp_path / "model.mrf")]) == 0
    names = domain_of((2, 3)).to_states()
    assert capsys.readouterr().out == "".join(f"{name}: {', '.join(names[name])}\n" for name in names)
    assert main([word, "absent.mrf"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_every_path_on_the_page_exists() -> None:
    for path in re.findall(r"`((?:src|tests|benchmarks|docs)/[\w/.]*)`", PAGE):
        assert (ROOT / path).exists(), path
