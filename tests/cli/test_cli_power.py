"""Power at the command line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

Shell = Callable[..., Any]


@pytest.fixture
def model(shell: Shell, tmp_path: Path) -> str:
    rng = np.random.default_rng(0)
    first = rng.integers(0, 2, 400)
    columns = np.stack([first, first ^ (rng.random(400) < 0.2), rng.integers(0, 2, 400)], axis=1)
    (tmp_path / "t.csv").write_text("\n".join(["a,b,c", *(",".join(map(str, row)) for row in columns.tolist())]) + "\n")
    (tmp_path / "edges.csv").write_text("source,target\na,b\n")
    assert shell("fit", "t.csv", "--structure", "edges:edges.csv", "--penalty", "none", "-o", "m.mrf").code == 0
    return "m.mrf"


def test_what_is_found(shell: Shell, model: str) -> None:
    arguments = ["power", model, "--rows", "50,400", "--repetitions", "10", "--plot", "p.png"]
    found = shell(*arguments, "--json").document
    assert [point["rows"] for point in found["points"]] == [50, 400]
    assert found["points"][1]["sensitivity"]["mean"] == 1.0
    assert found["edges"][0]["found"][1] == 1.0
    assert found["rows_needed"] <= 400
    assert Path("p.png").stat().st_size > 5_000
    assert (found["edge_weight"], found["edges"][0]["has_sign"]) == ("log odds ratio", True)
    text = shell(*arguments).out
    assert "1 edge; 10 tables" in text
    assert "weight: log odds ratio" in text
    assert text.startswith("a sensitivity of 0.8 takes at most ")


def test_tables_from_chains_are_remarked(shell: Shell, model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = ["power", model, "--rows", "50", "--repetitions", "4"]
    exact = shell(*arguments, "--json").document
    assert (exact["exact"], exact["remarks"]) == (True, [])
    monkeypatch.setattr("mrfit.inference.exact.planned_tree.PlannedTree.answers", lambda *_: False)
    document = shell(*arguments, "--json").document
    assert document["exact"] is False
    assert "from Gibbs chains" in document["remarks"][0]
    assert "from Gibbs chains" in shell(*arguments).err


def test_the_usual_structure_keeps_what_is_said(shell: Shell, model: str) -> None:
    """An option that is given without --structure is not overruled by what goes without saying."""
    arguments = ["power", model, "--rows", "40", "--repetitions", "20", "--json"]
    usual, either, learned = (
        shell(*arguments, *more).document
        for more in ([], ["--rule", "or"], ["--structure", "learned", "--select", "ebic", "--rule", "or"])
    )
    assert either["points"] == learned["points"]
    assert either["points"] != usual["points"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--rows", "many"], "not a number"),
        (["--rows", "1"], "at least 2 rows"),
        (["--structure", "complete"], "With a fixed structure every table has the same edges"),
        (["--sensitivity", "80", "--rows", "20", "--repetitions", "2"], "between 0 and 1"),
        (["--plot", "p.doc"], "let it end in"),
    ],
    ids=["words", "one", "given", "sensitivity", "plot"],
)
def test_bad_options_are_one_line(options: list[str], said: str, shell: Shell, model: str) -> None:
    ran = shell("power", model, *options)
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err
    assert ran.err.count("\n") == 1
