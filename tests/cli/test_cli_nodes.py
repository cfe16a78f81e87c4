"""Variables of a model at the command line."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

Shell = Callable[..., Any]


@pytest.fixture
def model(shell: Shell, tmp_path: Path) -> str:
    rng = np.random.default_rng(0)
    first = rng.integers(0, 2, 300)
    columns = np.stack([first, first ^ (rng.random(300) < 0.2), rng.integers(0, 2, 300)], axis=1)
    (tmp_path / "t.csv").write_text("\n".join(["a,b,c", *(",".join(map(str, row)) for row in columns.tolist())]) + "\n")
    (tmp_path / "edges.csv").write_text("source,target\na,b\n")
    assert shell("fit", "t.csv", "--structure", "edges:edges.csv", "-o", "m.mrf", "--no-check").code == 0
    return "m.mrf"


def test_everything_about_variables(shell: Shell, model: str) -> None:
    arguments = ["nodes", model, "t.csv", "--resamples", "5", "--paths", "--group", "x=a", "--group", "y=b,c"]
    found = shell(*arguments, "-o", "n.csv", "--plot", "n.png", "--plot-network", "net.svg", "--json").document
    assert [node["variable"] for node in found["nodes"]][-1] == "c"
    assert found["coding"] == "weight"
    assert found["predicted"] == "t.csv"
    assert (found["n_resamples"], found["n_failed"]) == (5, 0)
    assert [each["variables"] for each in found["communities"]] == [["a", "b"], ["c"]]
    first = found["nodes"][0]
    assert first["strength_low"] <= first["strength"] * 1.5
    assert {"bridge_strength", "closeness", "accuracy", "community_stability", "group"} <= set(first)
    with Path("n.csv").open() as file:
        lines = list(csv.DictReader(file))
    assert [float(line["strength"]) for line in lines] == [node["strength"] for node in found["nodes"]]
    assert Path("n.png").stat().st_size > 5_000
    assert Path("net.svg").stat().st_size > 5_000
    text = shell(*arguments).out
    assert "edge weight: log odds ratio" in text
    assert text.startswith("a is the most central variable (node strength ")
    assert text.splitlines()[0].endswith("; 2 communities")


def test_nested_rows_are_drawn_together(shell: Shell, model: str) -> None:
    """The column says whom rows belong to, and is none of the model's."""
    lines = Path("t.csv").read_text().splitlines()
    owned = [f"{line},{k // 50}" for k, line in enumerate(lines[1:])]
    Path("o.csv").write_text("\n".join([f"{lines[0]},school", *owned]) + "\n")
    found = shell("nodes", model, "o.csv", "--cluster-column", "school", "--resamples", "4", "--json").document
    plain = shell("nodes", model, "t.csv", "--resamples", "4", "--json").document
    one, other = found["nodes"][0], plain["nodes"][0]
    assert (one["strength"], one["accuracy"]) == (other["strength"], other["accuracy"])
    assert one["strength_low"] != other["strength_low"]
    for arguments, said in (
        ((model, "--cluster-column", "school"), "needs DATA to learn from again"),
        ((model, "o.csv", "--cluster-column", "school", "--resamples", "0"), "needs DATA to learn from again"),
        ((model, "o.csv", "--cluster-column", "class"), "'class', which the table lacks"),
        ((model, "o.csv", "--cluster-column", "a"), "'a'"),
        ((model, "o.csv", "--cluster", "class"), "'class' is no address"),
        ((model, "--cluster", "school"), "'school' is no address"),
    ):
        refused = shell("nodes", *arguments)
        assert (refused.code, said in refused.err, len(refused.err.splitlines())) == (2, True, 1)


def test_without_rows_there_is_the_network_only(shell: Shell, model: str) -> None:
    found = shell("nodes", model, "--json").document
    assert found["predicted"] is None
    assert "accuracy" not in found["nodes"][0]
    assert found["n_resamples"] == 0


def test_rows_with_missing_values_are_predicted_by_what_they_have(shell: Shell, model: str, tmp_path: Path) -> None:
    (tmp_path / "holes.csv").write_text("a,b,c\n0,0,?\n1,1,0\n0,1,1\n")
    found = shell("nodes", model, "--test", "holes.csv", "--missing", "observed", "--json").document
    assert found["nodes"][0]["accuracy"] == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--resamples", "3"], "it needs DATA"),
        (["--group", "a,b"], "does not name a group"),
        (["--group", "x=a"], "in no group"),
        (["--group", "x=a,q"], "no variable"),
        (["--title", "t"], "--title needs a picture"),
        (["--plot", "p.doc"], "let it end in"),
        (["t.csv", "--resamples", "1"], "at least 2 bootstrap samples"),
        (["t.csv", "-o", "t.csv"], "is what DATA reads"),
        (["--level", "0.9"], "it needs DATA"),
        (["t.csv", "--level", "2"], "between 0 and 1"),
        (["--layout", "circle"], "it needs --plot-network"),
        (["--plot-network", "n.png", "--layout", "nowhere.csv"], "no layout"),
    ],
)
def test_what_is_refused(options: list[str], said: str, shell: Shell, model: str) -> None:
    ran = shell("nodes", model, *options)
    assert ran.code == 2
    assert (ran.out, ran.err.count("\n")) == ("", 1)
    assert said in ran.err


def test_without_an_edge_there_is_no_network_to_draw(shell: Shell, model: str) -> None:
    assert shell("fit", "t.csv", "--structure", "independent", "-o", "i.mrf", "--no-check").code == 0
    ran = shell("nodes", "i.mrf", "-o", "n.csv", "--plot", "n.png", "--plot-network", "net.png")
    assert ran.code == 0
    assert "no network to draw" in ran.err
    assert Path("n.csv").exists()
    assert not Path("net.png").exists()
    assert "net.png" not in ran.out


def test_a_table_of_more_states_says_its_coding(shell: Shell, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    first = rng.integers(0, 3, 200)
    lines = [f"{'xyz'[k]},{(k + int(rng.random() < 0.3)) % 3}" for k in first.tolist()]
    (tmp_path / "t.csv").write_text("\n".join(["a,b", *lines]) + "\n")
    shell("fit", "t.csv", "-o", "m.mrf", "--no-check")
    ran = shell("nodes", "m.mrf", "--plot", "n.png")
    assert "edge weight: norm of the centered table, no sign" in ran.out
    assert shell("nodes", "m.mrf", "--coding", "01").code == 2
