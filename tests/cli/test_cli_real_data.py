"""Published sets from the shell, with numbers known beforehand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Shell = Callable[..., Any]


def test_nltcs(shell: Shell, data_dir: Path) -> None:
    ran = shell("fit", "nltcs:train", "--valid", "nltcs:valid", "--strength", "1,30", "-o", "n.mrf", "--json")
    assert (ran.code, ran.err) == (0, "")
    document = ran.document
    assert document["strength"] == 1.0
    assert document["n_rows"] == 16181
    assert document["n_distinct_rows"] == 2671
    assert document["n_variables"] == 16
    assert document["n_parameters"] == 16 + 120
    assert document["n_cells"] == 35121
    assert document["train_pll"] == pytest.approx(-4.9485, abs=2e-4)
    assert document["valid_pll"] == pytest.approx(-4.8548, abs=2e-4)
    assert document["violation"] <= 1e-6
    assert document["status"] == "converged"
    scored = shell("score", "n.mrf", "nltcs:test", "--json").document
    assert scored["rows"] == 3236
    assert scored["pll"] == pytest.approx(-4.9506, abs=2e-4)


def test_flow_cytometry_in_three_states(shell: Shell, data_dir: Path) -> None:
    document = shell("fit", "flow:data", "--structure", "tree", "-o", "f.mrf", "--json").document
    assert (document["n_rows"], document["n_variables"], document["n_edges"]) == (5400, 11, 10)
    assert document["n_parameters"] == 11 * 2 + 10 * 4
    assert document["violation"] <= 1e-6
    shown = shell("show", "f.mrf", "--json").document
    assert {len(states) for states in shown["domain"].values()} == {3}
    scored = shell("score", "f.mrf", "flow:data", "--json").document
    assert scored["pll"] == pytest.approx(document["train_pll"], abs=1e-10)


def test_a_file_of_the_set_is_the_set(shell: Shell, data_dir: Path, tmp_path: Path) -> None:
    path = shell("data", "path", "nltcs:valid").out.strip()
    shell("fit", "nltcs:valid", "--structure", "tree", "-o", "a.mrf")
    shell("fit", path, "--structure", "tree", "-o", "b.mrf")
    assert (tmp_path / "a.mrf").read_bytes() == (tmp_path / "b.mrf").read_bytes()


def test_here_and_checked(shell: Shell, data_dir: Path) -> None:
    sets = shell("data", "list", "--json").document["sets"]
    assert next(entry for entry in sets if entry["name"] == "nltcs")["present"]
    ran = shell("data", "get", "nltcs")
    assert ran.code == 0
    assert [Path(line).name for line in ran.out.splitlines()] == ["train.csv.gz", "valid.csv.gz", "test.csv.gz"]
