"""Two models at the command line."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Shell = Callable[..., Any]


@pytest.fixture
def models(shell: Shell, tmp_path: Path) -> tuple[str, str]:
    """All pairs, and a tree; of three columns in another order."""
    lines = [
        f"{a},{b},{c}"
        for a, b, c, times in [(0, 0, 0, 9), (1, 1, 0, 7), (1, 1, 1, 6), (0, 1, 1, 3)]
        for _ in range(times)
    ]
    (tmp_path / "t.csv").write_text("\n".join(["a,b,c", *lines]) + "\n")
    (tmp_path / "u.csv").write_text("\n".join(["c,b,a", *(line[::-1] for line in lines)]) + "\n")
    assert shell("fit", "t.csv", "-o", "a.mrf", "--quiet").code == 0
    assert shell("fit", "u.csv", "--structure", "tree", "-o", "b.mrf", "--quiet").code == 0
    return "a.mrf", "b.mrf"


def test_what_is_said_and_written(shell: Shell, models: tuple[str, str]) -> None:
    ran = shell("compare", *models, "--data", "t.csv", "-o", "p.csv", "--plot", "c.svg", "--save-layout", "l.csv")
    assert ran.code == 0, ran.err
    assert ran.out.startswith("2 edges in both, 1 only in A, 0 only in B\n")
    assert "25 rows, mean pll: A -" in ran.out
    assert ran.out.endswith("wrote p.csv\nwrote c.svg\nwrote l.csv\n")
    found = shell("compare", *models, "--data", "t.csv", "--metric", "ll", "--json").document
    assert found["n_edges"] == {"both": 2, "a": 1, "b": 0}
    assert found["scores"]["difference"] == pytest.approx(found["scores"]["b"] - found["scores"]["a"])
    with Path("p.csv").open() as file:
        written = [(line["parameter"], float(line["difference"])) for line in csv.DictReader(file)]
    assert written == [(each["name"], each["difference"]) for each in found["parameters"]]
    svg = Path("c.svg").read_text()
    assert shell("compare", *models, "--plot", "again.svg", "--layout", "l.csv", "--quiet").out == ""
    assert Path("again.svg").read_text() == svg


def test_a_page_of_both(shell: Shell, models: tuple[str, str]) -> None:
    ran = shell("compare", *models, "--data", "t.csv", "-o", "both.html")
    assert ran.out.endswith("wrote both.html\n")
    found = re.search(r'id="document">(.*?)</script>', Path("both.html").read_text())
    assert found is not None
    document = json.loads(found[1])
    assert [document["title"], document["other"]["title"]] == ["a", "b"]
    assert len(document["edges"]) == 3
    assert document["other"]["compared"]["n_rows"] == 25


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["a.mrf", "other.mrf"], "A has variables that B has not: 'c'. Compare models of the same variables."),
        (["a.mrf", "b.mrf", "--metric", "ll"], "--metric has no effect here: it needs --data DATA. Leave one out."),
        (["a.mrf", "b.mrf", "--weight", "n"], "--weight has no effect here: it needs --data DATA. Leave one out."),
        (["a.mrf", "b.mrf", "-o", "b.mrf"], "-o b.mrf is what B reads; choose another name."),
        (["a.mrf", "b.mrf", "--title", "x"], "--title needs a picture; add --plot FILE."),
        (["-", "-"], "Two inputs cannot both be standard input"),
        (["a.mrf", "no.mrf"], "There is no model file no.mrf; check the name."),
    ],
)
def test_bad_input_is_one_line(shell: Shell, models: tuple[str, str], arguments: list[str], message: str) -> None:
    assert shell("fit", "t.csv", "--columns", "a,b", "-o", "other.mrf", "--quiet").code == 0
    before = sorted(Path().iterdir())
    ran = shell("compare", *arguments)
    assert ran.code == 2
    assert message in ran.err
    assert ran.err.count("\n") == 1
    assert sorted(Path().iterdir()) == before


def test_models_without_edges_are_not_drawn(shell: Shell, models: tuple[str, str]) -> None:
    shell("fit", "t.csv", "--structure", "independent", "-o", "i.mrf", "--quiet")
    ran = shell("compare", "i.mrf", "i.mrf", "--plot", "c.png")
    assert ran.code == 0
    assert "nothing to draw" in ran.err
    assert not Path("c.png").exists()
