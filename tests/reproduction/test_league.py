"""The league: who takes part, what is chosen, and what is said where there is no number."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from mrfit.data.unique_rows import UniqueRows
from mrfit.reproduction.document import Table
from mrfit.reproduction.experiment import Scope
from mrfit.reproduction.league import RECIPES, League, LeagueFit, is_for_chains, is_worth_cells, published
from mrfit.solvers.solution import Status
from populations import domain_of


def _result(valid: float, test: float, **more: Any) -> dict[str, Any]:
    return {"valid": valid, "test": test, "log_z_error": 0.0, "status": Status.MATCHED.value, **more}


def test_recipes_that_would_not_end_are_left_out() -> None:
    units = League().units(Scope())
    assert {unit.set for unit in units} == set(published())
    assert {unit.recipe for unit in units if unit.set == "nltcs"} == set(RECIPES)
    assert {unit.recipe for unit in units if unit.set == "bbc"} == {"tree", "grown", "cells"}


def test_growth_within_cells_is_for_variables_that_nearly_determine_each_other(rng: np.random.Generator) -> None:
    """By the rows, not by their name."""
    codes = rng.integers(0, 2, (300, 1)).astype(np.uint8)
    noisy = np.hstack([np.where(rng.random((300, 1)) < 0.02, 1 - codes, codes) for _ in range(4)])
    determined, independent = (
        UniqueRows.from_codes(domain_of((2,) * 4), codes, np.ones(300))
        for codes in (noisy, rng.integers(0, 2, (300, 4)).astype(np.uint8))
    )
    assert is_worth_cells(determined)
    assert not is_for_chains(determined)
    assert not is_worth_cells(independent)
    assert is_for_chains(independent)


def test_validation_rows_choose(tmp_path: Path) -> None:
    results = {
        LeagueFit("nltcs", "tree"): _result(-6.7, -6.6),
        LeagueFit("nltcs", "five"): _result(
            -6.1, -6.9, log_z_error=0.02, other_seeds=[-6.92, -6.85]
        ),  # worse on test rows, which have no say
        LeagueFit("nltcs", "grown"): {"failed": "Chains do not mix on this model."},
        LeagueFit("nltcs", "cells"): {"left_out": True},
        LeagueFit("nltcs", "complete"): _result(-6.3, -6.5, status=Status.PHANTOM.value),
    }
    table = next(block for block in League().report(results, Scope()) if isinstance(block, Table))
    line = next(line for line in table.markdown(tmp_path).splitlines() if line.startswith("| nltcs"))
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    assert cells == [
        *(
            "nltcs",
            "-6.600",
            "**-6.900**",
            "x",
            "",
            "-6.500!",
            "",
            "",
            "",
            "five neighbours and the tree",
            "0.020",
            "0.070",
        ),
        *("-6.00", "-6.02"),
    ]


def test_where_nothing_is_known_nothing_is_chosen(tmp_path: Path) -> None:
    table = League().report({LeagueFit("ad", "grown"): {"failed": "Chains do not mix."}}, Scope())[1]
    assert "| ad |  |  | x |  |  |  |  |  | none |" in table.markdown(tmp_path)
