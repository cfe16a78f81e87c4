"""Missing values at the command line: fits by EM, scores by what is observed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

Shell = Callable[..., Any]


@pytest.fixture
def table(tmp_path: Path) -> str:
    rng = np.random.default_rng(0)
    first = rng.integers(0, 2, 200)
    columns = np.stack([first, first ^ (rng.random(200) < 0.3), rng.integers(0, 2, 200)], axis=1).astype(str)
    columns[rng.random(columns.shape) < 0.15] = ""
    lines = ["a,b,c", *(",".join(row) for row in columns.tolist())]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    return "t.csv"


def test_a_fit_by_em(shell: Shell, table: str) -> None:
    ran = shell("fit", table, "--missing", "em", "--penalty", "none", "--errors", "sandwich", "-o", "m.mrf", "--json")
    assert ran.code == 0, ran.err
    found = ran.document
    assert found["em"]["converged"]
    assert found["missing"]["rows"] == 200
    assert [column["name"] for column in found["missing"]["columns"]]
    assert all(each["error"] > 0 for each in found["parameters"])
    assert found["errors"]["claic"] is None
    text = shell("fit", table, "--missing", "em", "--penalty", "none", "--errors", "sandwich").out
    assert "rows are incomplete; missing in each column:" in text
    assert "CLAIC" not in text
    assert shell("show", "m.mrf", "--errors").code == 0


def test_a_structure_by_em(shell: Shell, table: str, conformance_dir: Path, tmp_path: Path) -> None:
    """Values are missing at random: EM finds the edges of the whole table, complete rows miss two of the five."""
    holes, ebic = conformance_dir / "applied" / "missing" / "czech_mar.csv", ("--select", "ebic", "--rule", "and")
    whole = {
        (edge["source"], edge["target"]) for edge in shell("structure", "czech:data", *ebic, "--json").document["edges"]
    }
    by_em, dropped = (
        shell("structure", holes, "--weight", "count", "--missing", how, *ebic, "--json").document
        for how in ("em", "drop")
    )
    assert {(edge["source"], edge["target"]) for edge in by_em["edges"]} == whole
    assert len(dropped["edges"]) == len(whole) - 2
    assert by_em["missing"]["rows"] == 1841
    assert "missing" not in dropped
    assert "rows are incomplete; missing in each column:" in shell("structure", table, "--missing", "em").out
    (tmp_path / "none.csv").write_text("a,b\n0,\n1,\n0,\n")
    for arguments, said in (
        (("none.csv",), "Column 'b' has no value in any row"),
        ((table, "--select", "valid", "--valid", table), "validation needs complete rows"),
    ):
        refused = shell("structure", *arguments, "--missing", "em")
        assert (refused.code, said in refused.err, len(refused.err.splitlines())) == (2, True, 1)


@pytest.mark.parametrize("metric", ["ll", "pll"])
def test_scores_of_incomplete_rows(metric: str, shell: Shell, table: str) -> None:
    shell("fit", table, "--missing", "em", "-o", "m.mrf")
    whole = shell("score", "m.mrf", table, "--missing", "observed", "--metric", metric, "--per-row", "--json").document
    assert whole["rows"] == 200
    assert len(whole["per_row"]) == 200
    assert shell("score", "m.mrf", table, "--metric", metric).code == 2


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--penalty", "l1"], "the penalty l2 or none"),
        (["--structure", "learned"], "needs a fixed structure"),
        (["--valid", "t.csv"], "--valid has no effect here: it needs complete rows"),
        (["--errors", "model"], "must be of the kind 'sandwich'"),
    ],
    ids=["l1", "learned", "valid", "model"],
)
def test_what_em_cannot_do_is_one_line(options: list[str], said: str, shell: Shell, table: str) -> None:
    ran = shell("fit", table, "--missing", "em", *options, "-o", "m.mrf")
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err
    assert ran.err.count("\n") == 1
    assert not Path("m.mrf").exists()


@pytest.mark.parametrize("how", ["em", "drop"])
def test_a_column_without_values_is_one_line(how: str, shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "e.csv").write_text("a,b,c\n1,,0\n0,,1\n1,,1\n")
    ran = shell("fit", "e.csv", "--missing", how, "-o", "m.mrf")
    assert (ran.code, ran.out) == (2, "")
    assert ("Column 'b' has no value in any row" if how == "em" else "None of the 3 rows is left") in ran.err
    assert ran.err.count("\n") == 1


def test_three_rows(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "three.csv").write_text("a,b,c\n1,0,0\n0,,1\n1,1,1\n")
    assert shell("fit", "three.csv", "--missing", "em").code == 0
    ran = shell("fit", "three.csv", "--missing", "em", "--penalty", "none", "--errors", "sandwich")
    assert ran.code == 2
    assert "no finite optimum" in ran.err


def test_em_without_a_check_and_the_error_that_names_em(shell: Shell, table: str) -> None:
    assert shell("fit", table, "--missing", "em", "--no-check").code == 0
    refused = shell("fit", table)
    assert refused.code == 2
    assert all(word in refused.err for word in ("--missing drop", "--missing state", "--missing em"))


def test_a_column_with_one_state_is_imputed(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "one.csv").write_text("a,b,k\n1,0,x\n0,1,x\n1,1,x\n0,0,x\n")
    (tmp_path / "holes.csv").write_text("a,b,k\n1,0,\n0,1,x\n1,,\n")
    assert shell("fit", "one.csv", "-o", "m.mrf").code == 0
    for how in ("map", "draw"):
        ran = shell("impute", "m.mrf", "holes.csv", "--how", how, "-o", "full.csv")
        assert ran.code == 0, ran.err
        assert {line.split(",")[2] for line in (tmp_path / "full.csv").read_text().splitlines()[1:]} == {"x"}
