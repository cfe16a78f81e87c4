"""Width and colours of what commands print; only terminals get colours."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mrfit.cli.output import has_colours, print_table, wrapped

Shell = Callable[..., Any]
NAMES = ("a", "a_rather_long_name", "gets_angry", "captivates_people", "wastes_time", "panics")
COMMANDS = [
    ("fit", "t.csv", "--ordered", "all", "--penalty", "l1", "--strength", "1,10,90.5097", "--folds", "2"),
    ("fit", "t.csv", "--penalty", "tied", "--groups", "2,3", "--strength", "1", "--folds", "2"),
    ("structure", "t.csv"),
    ("structure", "t.csv", "--max-degree", "1"),
    ("show", "m.mrf", "--errors"),
    ("check", "m.mrf", "t.csv"),
    ("check", "m.mrf", "t.csv", "--engine", "ais"),
    ("score", "m.mrf", "t.csv"),
    ("query", "m.mrf", "--evidence", "gets_angry=3"),
    ("query", "m.mrf", "--evidence", "gets_angry=3", "--engine", "gibbs", "--states"),
    ("query", "m.mrf", "--evidence", "gets_angry=3", "--ask", "panics", "--explain", "--map"),
    ("query", "m.mrf", "--plan"),
    ("nodes", "m.mrf", "t.csv", "--resamples", "3"),
    ("compare", "m.mrf", "m.mrf", "--data", "t.csv"),
    ("stability", "t.csv", "--structure", "learned", "--select", "ebic", "--resamples", "3"),
    ("stability", "t.csv", "--structure", "learned", "--select", "ebic", "--resamples", "10", "--kind", "drop"),
    ("stability", "t.csv", "--structure", "learned", "--select", "ebic", "--resamples", "4", "--kind", "pairs"),
    ("power", "m.mrf", "--rows", "100", "--repetitions", "2"),
    ("compare-groups", "t.csv", "--by", "a", "--permutations", "2"),
    ("plan", "t.csv"),
    ("logz", "m.mrf", "--engine", "ais"),
    ("spectrum", "t.csv", "--columns", "panics,wastes_time", "--folds", "2", "--max-order", "2"),
]


@pytest.fixture
def items(shell: Shell, tmp_path: Path) -> Shell:
    """Six items of three or two states, and a model of them with errors."""
    rng = np.random.default_rng(0)
    common = rng.normal(size=(150, 1))
    answers = 1 + (common + rng.normal(size=(150, 6)) > 0.5) + (common + rng.normal(size=(150, 6)) > 0.5)
    answers[:, 0] = rng.integers(1, 3, 150)
    lines = [",".join(NAMES), *(",".join(map(str, row)) for row in answers.tolist()), ""]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    assert shell("fit", "t.csv", "--ordered", "all", "--errors", "model", "-o", "m.mrf", "--quiet").code == 0
    return shell


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_no_line_is_longer_than_80_columns(command: tuple[str, ...], items: Shell) -> None:
    """But for commands to copy; and without a terminal nothing is coloured."""
    ran = items(*command, "--verbose")
    assert ran.code == 0, ran.err
    lines = [line for line in (ran.out + ran.err).splitlines() if " mrfit " not in line]
    assert [line for line in lines if len(line) > 80] == []
    assert "\x1b" not in ran.out + ran.err


def test_every_page_of_advice_is_wrapped_but_for_its_commands(items: Shell) -> None:
    lines = items("advise", "t.csv").out.splitlines()
    assert [line for line in lines if len(line) > 80 and not re.match(r"\d+\. mrfit ", line)] == []


def test_ordered_variables_take_a_line_each(items: Shell) -> None:
    out = items("query", "m.mrf", "--evidence", "gets_angry=3").out
    assert re.search(r"^panics +\d\.\d\d +\d\.\d\d +[-+]\d\.\d\d +[▁-█]{3} -> [▁-█]{3}$", out, re.MULTILINE)
    assert re.search(r"^a +1 +0\.\d{3,4} ", out, re.MULTILINE)  # two states have no need of bars
    states = items("query", "m.mrf", "--evidence", "gets_angry=3", "--states").out
    assert re.search(r"^panics +1 +0\.\d{3,4} ", states, re.MULTILINE)


def test_means_have_errors_where_they_are_sampled(items: Shell) -> None:
    exact = items("query", "m.mrf", "--evidence", "gets_angry=3", "--json").document["marginals"]["panics"]
    ran = items("query", "m.mrf", "--evidence", "gets_angry=3", "--engine", "gibbs")
    found = re.search(r"^panics .*? (\d\.\d+) \+- (\d\.?\d*(?:e-\d+)?) +[-+]\d", ran.out, re.MULTILINE)
    assert found is not None
    mean = sum(float(state) * p for state, p in exact.items())
    assert float(found[1]) == pytest.approx(mean, abs=5 * float(found[2]) + 1e-3)


def test_colours_are_those_of_a_terminal_that_wants_them(
    items: Shell, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE"):
        monkeypatch.delenv(name, raising=False)
    plain = items("check", "m.mrf", "t.csv").out
    monkeypatch.setenv("FORCE_COLOR", "1")
    coloured = items("check", "m.mrf", "t.csv").out
    assert coloured.startswith("\x1b[3")
    assert "\x1b[1m" in coloured
    assert re.sub(r"\x1b\[\d+m", "", coloured) == plain
    assert "\x1b" not in items("check", "m.mrf", "t.csv", "--json").out
    monkeypatch.setenv("NO_COLOR", "1")
    assert items("check", "m.mrf", "t.csv").out == plain


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("environment", "terminal", "piped"),
    [
        ({}, True, False),
        ({"NO_COLOR": "1"}, False, False),
        ({"NO_COLOR": "", "CLICOLOR": "1"}, True, False),
        ({"CLICOLOR": "0"}, False, False),
        ({"TERM": "dumb"}, False, False),
        ({"FORCE_COLOR": "1"}, True, True),
        ({"FORCE_COLOR": "0"}, True, False),
        ({"CLICOLOR_FORCE": "1"}, True, True),
        ({"CLICOLOR_FORCE": "1", "NO_COLOR": "1"}, False, False),
    ],
)
def test_who_gets_colours(
    environment: dict[str, str], terminal: bool, piped: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert has_colours(_Terminal()) is terminal
    assert has_colours(io.StringIO()) is piped


def test_words_are_never_broken() -> None:
    lines = wrapped("see " + "x" * 100 + " and " + "y " * 60)
    assert lines[1] == "  " + "x" * 100
    assert max(len(line) for line in lines if "x" not in line) <= 80
    assert wrapped("") == [""]


def test_wide_tables_continue_below(capsys: pytest.CaptureFixture[str]) -> None:
    heads = ["variable", *(f"number {k:02d} of many" for k in range(6))]
    print_table([heads, ["smoker", *map(str, range(6))]], n_words=1)
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert [line.split()[0] for line in lines] == ["variable", "smoker"] * 2
    assert sum(line.count("number") for line in lines) == 6
