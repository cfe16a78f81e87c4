"""Groups at the command line."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

Shell = Callable[..., Any]


@pytest.fixture
def table(tmp_path: Path) -> str:
    """Two rows for each of 150 persons; a and b depend on each other more after than before."""
    rng = np.random.default_rng(0)
    lines = ["id,time,a,b,c"]
    for person in range(150):
        for time, share in (("before", 0.1), ("after", 0.9)):
            a, b, c = rng.integers(0, 2, 3)
            b = a if rng.random() < share else b
            lines.append(f"p{person},{time},{a},{b},{c}")
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    return "t.csv"


def test_wald_and_likelihood_by_default(shell: Shell, table: str) -> None:
    ran = shell("compare-groups", table, "--by", "time", "--exclude", "id", "--json", "-o", "e.csv", "--plot", "g.svg")
    assert ran.code == 0, ran.err
    found = ran.document
    assert found["groups"] == [{"label": "after", "n_rows": 150}, {"label": "before", "n_rows": 150}]
    assert found["permutations"] is None
    assert found["wald"]["p"] < 1e-4
    assert found["likelihood"]["p"] < 1e-4
    assert found["likelihood"]["degrees"] == found["wald"]["degrees"] == 3
    first = found["edges"][0]
    assert (first["source"], first["target"]) == ("a", "b")
    assert first["difference"] == pytest.approx(first["weights"][1] - first["weights"][0])
    assert first["permutation_p"] is None
    assert {node["variable"] for node in found["nodes"]} == {"a", "b", "c"}
    with Path("e.csv").open() as file:
        assert next(line["source"] + line["target"] for line in csv.DictReader(file)) == "ab"
    assert Path("g.svg").read_text().startswith("<?xml")


def test_pairs_are_permuted(shell: Shell, table: str) -> None:
    arguments = ["compare-groups", table, "--by", "time", "--paired", "id", "--permutations", "29"]
    found = shell(*arguments, "--json").document
    assert found["permutations"]["n"] == 29
    assert found["permutations"]["p_M"] == pytest.approx(1 / 30)
    assert found["wald"] is None
    text = shell(*arguments).out
    assert "note: Wald and likelihood ratio tests suppose that rows are independent" in text
    assert "29 permutations: largest difference M" in text


def test_learned_networks_and_their_layout(shell: Shell, table: str) -> None:
    options = ["--exclude", "id", "--structure", "learned", "--select", "ebic", "--permutations", "9"]
    ran = shell("compare-groups", table, "--by", "time", *options, "--plot", "g.png", "--save-layout", "places.csv")
    assert ran.code == 0, ran.err
    again = shell("compare-groups", table, "--by", "time", *options, "--plot", "h.png", "--layout", "places.csv")
    assert again.code == 0, again.err
    assert Path("g.png").read_bytes() == Path("h.png").read_bytes()


def test_columns_need_not_name_the_groups(shell: Shell, table: str) -> None:
    found = shell("compare-groups", table, "--by", "time", "--columns", "a,b", "--json").document
    assert len(found["edges"]) == 1


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--by", "sex"], "no column 'sex'"),
        (["--by", "time", "--tests", "anova"], "got 'anova'"),
        (["--by", "time", "--tests", "wald", "--permutations", "9"], "--permutations has no effect"),
        (["--by", "time", "--tests", "wald", "--structure", "learned"], "was not learned"),
        (["--by", "time", "--paired", "person"], "'person', which the table lacks"),
        (["--by", "a", "--paired", "id"], "Person 'p"),
        (["--by", "time", "--title", "x"], "--title needs a picture"),
    ],
    ids=["by", "test", "idle", "learned", "paired", "unpaired", "title"],
)
def test_bad_options_are_one_line(options: list[str], said: str, shell: Shell, table: str) -> None:
    ran = shell("compare-groups", table, *([] if "--paired" in options else ["--exclude", "id"]), *options)
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err
    assert ran.err.count("\n") == 1


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (["g,a,b", *["x,0,1", "x,1,0", "x,1,1"] * 9, "y,0,0"], "group 'y' of 'g' are identical"),
        (["g,a,b", "x,0,1", "x,1,0", "x,1,1"], "one value, 'x'"),
    ],
    ids=["one-row", "one-group"],
)
def test_bad_tables_are_one_line(lines: list[str], said: str, shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "bad.csv").write_text("\n".join(lines) + "\n")
    ran = shell("compare-groups", "bad.csv", "--by", "g", "-o", "e.csv")
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err
    assert ran.err.count("\n") == 1
    assert not (tmp_path / "e.csv").exists()


def test_groups_without_edges_are_no_error(shell: Shell, tmp_path: Path) -> None:
    rows = [f"{g},{a},{b}" for g in "xy" for a in (0, 1) for b in (0, 1)] * 10
    (tmp_path / "t.csv").write_text("\n".join(["g,a,b", *rows]) + "\n")
    options = ["--structure", "learned", "--select", "ebic", "--permutations", "3", "--plot", "p.png", "-o", "e.csv"]
    ran = shell("compare-groups", "t.csv", "--by", "g", *options)
    assert ran.code == 0
    assert "nothing to draw" in ran.err
    assert "no group has an edge" in ran.out
    assert Path("e.csv").exists()
    assert not Path("p.png").exists()


def test_a_constant_item_in_a_group_is_no_obstacle(shell: Shell, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    rows = [f"{'xy'[k % 2]},{rng.integers(2)},{rng.integers(2)},{rng.integers(2) * (k % 2)}" for k in range(200)]
    (tmp_path / "t.csv").write_text("\n".join(["g,a,b,c", *rows]) + "\n")
    ran = shell("compare-groups", "t.csv", "--by", "g")
    assert ran.code == 0, ran.err
    assert "not known" in ran.out
    assert "no finite optimum" in ran.out


def test_a_group_of_one_row_is_refused(shell: Shell, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    rows = [f"x,{rng.integers(2)},{rng.integers(2)}" for _ in range(60)]
    (tmp_path / "t.csv").write_text("\n".join(["g,a,b", *rows, "y,1,0"]) + "\n")
    ran = shell("compare-groups", "t.csv", "--by", "g")
    assert ran.code == 2
    assert ran.err.count("\n") == 1
    assert "All rows of the group 'y' of 'g' are identical" in ran.err
