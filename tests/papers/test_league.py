"""The league: who takes part, what is chosen, and what is said where there is no number."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from mrfit.data.unique_rows import UniqueRows
from mrfit.solvers.solution import Status
from mrfit_papers import league
from mrfit_papers.document import DocumentTable
from mrfit_papers.experiment import Scope
from mrfit_papers.league import (
    RECIPES,
    Entry,
    League,
    LeagueSet,
    chosen,
    is_for_chains,
    is_loose,
    is_worth_cells,
    published,
)
from populations import domain_of


def _result(valid: float, test: float, **more: Any) -> dict[str, Any]:
    return {"valid": valid, "test": test, "error": 0.0, "status": Status.MOMENTS_MATCHED.value, **more}


def test_recipes_that_would_not_end_are_left_out() -> None:
    units = {unit.set: unit for unit in League().units(Scope())}
    assert set(units) == set(published())
    assert set(units["nltcs"].recipe_learners()) == set(RECIPES)
    assert set(units["bbc"].recipe_learners()) == {"tree", "grown", "cells"}


@pytest.mark.usefixtures("data_dir")
def test_recipes_decide_what_is_stored() -> None:
    learners = LeagueSet("nltcs").determined_by()["learners"]
    assert set(learners) == set(RECIPES)
    assert learners["complete"] != learners["grown"]


def test_growth_within_cells_is_for_variables_that_nearly_determine_each_other(rng: np.random.Generator) -> None:
    """The rows decide, not the names of the sets."""
    codes = rng.integers(0, 2, (300, 1)).astype(np.uint8)
    noisy = np.hstack([np.where(rng.random((300, 1)) < 0.02, 1 - codes, codes) for _ in range(4)])
    determined, independent = (
        UniqueRows.from_codes(domain_of((2,) * 4), codes, np.ones(300))
        for codes in (noisy, rng.integers(0, 2, (300, 4)).astype(np.uint8))
    )
    assert is_worth_cells(determined)
    assert not is_for_chains(determined)
    assert not is_loose(determined)
    assert not is_worth_cells(independent)
    assert is_for_chains(independent)
    assert is_loose(independent)


@pytest.mark.parametrize(("frequency", "expected"), [(0.5, False), (0.02, True)])
def test_chains_grow_where_states_are_rare_too(frequency: float, expected: bool, rng: np.random.Generator) -> None:
    """A tree explains a quarter of both sets."""
    fresh, shared = (rng.random((2, 2000, 4)) < frequency).astype(np.uint8)
    codes = np.where(rng.random((2000, 4)) < 0.8, shared[:, :1], fresh)
    rows = UniqueRows.from_codes(domain_of((2,) * 4), codes, np.ones(2000))
    assert is_worth_cells(rows)
    assert is_for_chains(rows) is expected


@dataclass(frozen=True)
class _Weighed:
    """A recipe whose log Z learning flattered by so much."""

    word: str
    rank: float
    flattered: float


def test_validation_rows_choose_by_the_better_log_z(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first is flattered by 0.3, and then the second is better; the third is never weighed."""
    recipes = [_Weighed("grown", -6.0, 0.3), _Weighed("complete", -6.1, 0.1), _Weighed("tree", -6.5, 0.0)]
    models = {recipe.word: SimpleNamespace(provenance={"log_z": {}}) for recipe in recipes}
    entries = [
        Entry(recipe.word, cast(Any, SimpleNamespace(model=models[recipe.word], best=recipe))) for recipe in recipes
    ]
    weighed = []

    def weigh(model: Any, rows: Any) -> tuple[float, float]:
        recipe = next(recipe for recipe in recipes if models[recipe.word] is model)
        weighed.append(recipe.word)
        return recipe.flattered, 0.01

    monkeypatch.setattr(league, "_weighed_better", weigh)
    assert chosen(entries, cast("UniqueRows", None)).word == "complete"
    assert weighed == ["grown", "complete"]


def test_a_row_of_the_table(tmp_path: Path) -> None:
    """Test rows have no say."""
    result = {
        "chosen": "cells",
        "other_seeds": [{"test": -6.92, "error": 0.013}, {"test": -6.85, "error": 0.021}],
        "recipes": {
            "tree": _result(-6.7, -6.6),
            "grown": {"failed": "Chains do not mix on this model."},
            "cells": _result(-6.1, -6.9, error=0.02),
            "complete": _result(-6.3, -6.5, status=Status.SPURIOUS_MODE.value),
        },
    }
    report = League().report({LeagueSet("nltcs"): result}, Scope())
    table = next(block for block in report if isinstance(block, DocumentTable))
    line = next(line for line in table.markdown(tmp_path).splitlines() if line.startswith("| nltcs"))
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    assert cells == [
        *("nltcs", "-6.600", "x", "**-6.900**", "-6.500!", "", ""),
        *("grown within cells", "0.020", "-6.920 (0.013), -6.850 (0.021)", "-6.00", "-6.02"),
    ]


@pytest.mark.usefixtures("data_dir")
def test_a_set_of_exact_recipes(monkeypatch: pytest.MonkeyPatch) -> None:
    """All sets of three variables of nltcs are chosen; -6.0035, as by a prototype."""
    monkeypatch.setattr(league, "RECIPES", {word: RECIPES[word] for word in ("tree", "complete", "triples")})
    result = LeagueSet("nltcs").run()
    found = result["recipes"]
    assert result["chosen"] == max(found, key=lambda word: found[word]["valid"]) == "triples"
    assert found["triples"]["test"] == pytest.approx(-6.0035, abs=1e-3)
    assert found["tree"]["test"] == pytest.approx(-6.759075, abs=1e-6)
    assert found["triples"]["error"] == 0.0
    assert result["other_seeds"] == []
