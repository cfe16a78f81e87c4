"""Output of commands on parameters without a finite estimate."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from cli.conftest import Ran

Shell = Callable[..., Ran]


@pytest.fixture
def equal_columns(tmp_path: Path, rng: np.random.Generator) -> str:
    a, c = rng.integers(0, 2, (2, 200)).tolist()
    lines = [f"{x},{x},{y}" for x, y in zip(a, c, strict=True)]
    (tmp_path / "t.csv").write_text("\n".join(["a,b,c", *lines, ""]))
    return "t.csv"


@pytest.mark.parametrize("errors", ["none", "sandwich"])
@pytest.mark.parametrize("objective", ["pseudo-likelihood", "likelihood"])
def test_fit_and_show_print_limits_and_not_where_the_solver_stopped(
    objective: str, errors: str, equal_columns: str, shell: Shell
) -> None:
    how = ("--penalty", "none", "--objective", objective, "--errors", errors)
    fitted = shell("fit", equal_columns, *how, "-o", "m.mrf")
    assert "parameters are unbounded" in fitted.out
    assert "a=1 & b=1 (+inf)" in fitted.words
    shown = shell("show", "m.mrf", *(() if errors == "none" else ("--errors",))).out
    own = {line.split("  ")[-1].strip(): line.split()[0] for line in shown.splitlines() if line.startswith("  ")}
    assert (own["a=1"], own["b=1"], own["a=1 & b=1"], own["a=1 & c=1"]) == ("-inf", "-inf", "+inf", "undetermined")
    assert float(own["c=1"]) == pytest.approx(0.0, abs=1.0)
    assert "30.0" not in shown


def test_json_has_them(equal_columns: str, shell: Shell) -> None:
    fitted = json.loads(shell("fit", equal_columns, "--penalty", "none", "-o", "m.mrf", "--json").out)
    shown = json.loads(shell("show", "m.mrf", "--json").out)
    assert fitted["unbounded"] == shown["unbounded"] == shown["provenance"]["unbounded"]
    assert fitted["unbounded"]["a=1 & b=1"] == "+inf"
    limits = {each["name"]: each.get("limit") for each in shown["strongest"]["2"]}
    assert limits["a=1 & b=1"] == "+inf"


def test_a_penalty_is_silent(equal_columns: str, shell: Shell) -> None:
    fitted = shell("fit", equal_columns, "-o", "m.mrf")
    assert "unbounded" not in fitted.out + shell("show", "m.mrf").out
    assert json.loads(shell("show", "m.mrf", "--json").out)["unbounded"] == {}


@pytest.mark.parametrize("command", [("compare", "m.mrf", "p.mrf"), ("nodes", "m.mrf"), ("power", "m.mrf")], ids=str)
def test_commands_that_count_edge_weights_warn(command: tuple[str, ...], equal_columns: str, shell: Shell) -> None:
    """Their numbers depend on where the solver stopped."""
    for penalty, name in (("none", "m.mrf"), ("l2", "p.mrf")):
        shell("fit", equal_columns, "--penalty", penalty, "-o", name)
    few = ("--rows", "100", "--repetitions", "2") if command[0] == "power" else ()
    warned = shell(*command, *few).err
    assert "m.mrf: 5 parameters are unbounded" in warned
    assert "p.mrf" not in warned
    assert "unbounded" not in shell(*command, *few, "--quiet").err
    assert "unbounded" not in shell("nodes", "p.mrf").err
