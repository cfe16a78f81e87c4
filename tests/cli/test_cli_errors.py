"""Standard errors at the command line."""

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
    columns = np.stack([first, first ^ (rng.random(200) < 0.3), rng.integers(0, 2, 200)], axis=1)
    lines = ["a,b,c", *(",".join(map(str, row)) for row in columns.tolist())]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    return "t.csv"


def test_a_fit_with_errors(shell: Shell, table: str) -> None:
    ran = shell("fit", table, "--penalty", "none", "--errors", "sandwich", "--json", "-o", "m.mrf")
    assert ran.code == 0
    parameters = ran.document["parameters"]
    assert [each["name"] for each in parameters] == ["a=1", "b=1", "c=1", "a=1 & b=1", "a=1 & c=1", "b=1 & c=1"]
    assert all(set(each) == {"name", "value", "error"} and each["error"] > 0 for each in parameters)
    assert ran.document["errors"]["kind"] == "sandwich"
    assert ran.document["errors"]["claic"] < ran.document["errors"]["clbic"]
    shown = shell("show", "m.mrf", "--errors", "--level", "0.9", "--json").document
    for each, fitted in zip(shown["parameters"], parameters, strict=True):
        assert {name: each[name] for name in fitted} == fitted
        assert each["high"] - each["value"] == pytest.approx(1.6448536 * each["error"])
    assert shown["tests"][0]["variables"] == ["a", "b"]
    assert shown["tests"][0]["p"] < 1e-6


def test_what_is_said(shell: Shell, table: str) -> None:
    ran = shell("fit", table, "--errors", "sandwich", "-o", "m.mrf")
    assert "sandwich errors of 6 parameters" in ran.out
    assert "CLAIC" in ran.out
    assert "warning: The penalty has shrunken the estimates" in ran.err
    out = shell("show", "m.mrf", "--errors").out
    assert " +- " in out
    assert "Wald tests of interactions" in out
    assert "shrunken" in out
    learned = shell("fit", table, "--penalty", "none", "--structure", "learned", "--errors", "sandwich").err
    assert "The structure was learned from the same rows" in learned


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("fit", "t.csv", "--penalty", "l1", "--errors", "sandwich", "-o", "n.mrf"), "The penalty 'l1' selects"),
        (
            ("fit", "t.csv", "--penalty", "tied", "--groups", "2", "--strength", "1", "--errors", "model"),
            "the penalty 'tied'",
        ),
        (("fit", "t.csv", "--errors", "robust"), "'robust' is not one of"),
        (("show", "plain.mrf", "--errors"), "fit it again with --errors sandwich"),
        (("show", "plain.mrf", "--level", "0.9"), "--level has no effect here: it needs --errors"),
        (("show", "sure.mrf", "--errors", "--level", "95"), "between 0 and 1; got 95"),
    ],
)
def test_what_there_is_not_is_one_line(
    arguments: tuple[str, ...], said: str, shell: Shell, table: str, tmp_path: Path
) -> None:
    shell("fit", table, "-o", "plain.mrf")
    shell("fit", table, "--errors", "model", "-o", "sure.mrf")
    ran = shell(*arguments)
    assert ran.code == 2
    assert said in ran.err
    assert ran.err.count("\n") == 1
    assert not ran.out
    assert not (tmp_path / "n.mrf").exists()


def test_to_learn_as_a_model_was_learned_may_ask_for_errors(shell: Shell, table: str) -> None:
    shell("fit", table, "--penalty", "none", "-o", "m.mrf")
    assert shell("fit", table, "--like", "m.mrf", "--errors", "sandwich", "--json").document["errors"]
