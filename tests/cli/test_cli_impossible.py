"""Models that hold some states impossible, at the command line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mrfit.model.markov_network import MarkovNetwork
from mrfit.parameterizations.full import Full
from mrfit.structures.structure import Structure
from populations import domain_of

Shell = Callable[..., Any]


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """x0 and x1 are never both in their second states; a table in which they are, once."""
    parameters = Full(domain_of((2, 2)), Structure.from_scopes(2, [(0, 1)], closed=False))
    MarkovNetwork(parameters, np.array([0.0, 0.0, 0.0, -np.inf])).save(tmp_path / "m.mrf")
    (tmp_path / "t.csv").write_text("x0,x1,n\ns0,s0,2\ns1,s1,1\ns1,s0,1\n", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("metric", ["ll", "pll"])
def test_scores_are_minus_infinity(shell: Shell, files: Path, metric: str) -> None:
    """Text and JSON (which has no infinity) say so, with a note on the number of rows."""
    ran = shell("score", "m.mrf", "t.csv", "--metric", metric)
    assert (ran.code, ran.out) == (0, f"mean {metric} -inf nats a row, 3 rows\n")
    assert ran.notes == ["mrfit: 1 of 3 rows are impossible under the model: their score is minus infinity."]
    ran = shell("score", "m.mrf", "t.csv", "--metric", metric, "--json", "--per-row", "--quiet")
    assert ran.err == ""
    assert ran.document[metric] is None
    assert [score is None for score in ran.document["per_row"]] == [False, True, False]


def test_rows_without_weight_do_not_count(shell: Shell, files: Path) -> None:
    """Not even impossible ones."""
    (files / "t.csv").write_text("x0,x1,n\ns0,s0,2\ns1,s1,0\ns1,s0,1\n", encoding="utf-8")
    ran = shell("score", "m.mrf", "t.csv", "--metric", "ll", "--weight", "n", "--json", "--quiet")
    assert ran.document["ll"] == pytest.approx(-np.log(3.0), rel=1e-14)


def test_show_lists_them(shell: Shell, files: Path) -> None:
    assert "-inf  x0=s1 & x1=s1\n" in shell("show", "m.mrf").out


def test_theory_is_about_finite_parameters(shell: Shell, files: Path) -> None:
    ran = shell("theory", "m.mrf", "--groups", "2")
    assert ran.code == 2
    assert ran.err.startswith("mrfit: m.mrf makes some states impossible, and the theory needs finite parameters.")
    assert ran.err.count("\n") == 1
