"""Help of long commands: the options that matter first, every option under one heading."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest

from mrfit import cli
from mrfit.cli.sections import SectionedCommand

Shell = Callable[..., Any]

every_long_command = pytest.mark.parametrize(
    "name",
    [
        "fit",
        "structure",
        "stability",
        "compare",
        "compare-groups",
        "power",
        "nodes",
        "spectrum",
        "score",
        "query",
        "impute",
        "report",
        "explore",
        "annotate",
    ],
)


@every_long_command
def test_every_option_stands_under_one_heading(name: str, shell: Shell) -> None:
    command = importlib.import_module(f"mrfit.cli.{name.replace('-', '_')}").command
    assert isinstance(command, SectionedCommand)
    text = shell(name, "--help").out
    for option in (parameter for parameter in command.params if isinstance(parameter, click.Option)):
        spelled = max(option.opts, key=len)
        assert len(re.findall(rf"^  (?:-\w, )?{re.escape(spelled)}(?![\w-])", text, re.MULTILINE)) == 1, spelled


@every_long_command
def test_headings_name_only_options_there_are(name: str) -> None:
    command = importlib.import_module(f"mrfit.cli.{name.replace('-', '_')}").command
    known = {parameter.name for parameter in command.params}
    assert {each for names in command.sections.values() for each in names} <= known


def test_ten_options_of_fit_come_first(shell: Shell) -> None:
    text = shell("fit", "--help").out
    first = text[text.index("Options that matter most:") : text.index("\nData:")]
    assert len(re.findall(r"^  -", first, re.MULTILINE)) == 10
    headings = re.findall(r"^(\w[\w ]*):$", text[text.index("Options that") :], re.MULTILINE)
    assert headings[1:] == ["Data", "Structure", "Penalty and coordinates", "Tying", "Solver", "Output", "Other"]


def test_show_says_in_words_how_a_model_was_learned(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\n0,1\n1,0\n1,1\n0,0\n0,1\n")
    shell("fit", "t.csv", "--valid", "t.csv", "--strength", "1,10", "-o", "m.mrf")
    lines = shell("show", "m.mrf").out.splitlines()
    assert not any("kind" in line for line in lines)
    learned = "learned: all pairs, l2, strength 1 chosen on validation rows, by pseudo-likelihood"
    assert learned in shell("show", "m.mrf").words
    assert "to learn it again: mrfit fit --like MODEL DATA --valid FILE" in lines


def test_a_long_list_of_unbounded_parameters_is_cut(shell: Shell, tmp_path: Path) -> None:
    names = [f"c{k}" for k in range(30)]
    rows = [",".join(str(int(k == r)) for k in range(30)) for r in range(30)]
    (tmp_path / "t.csv").write_text("\n".join([",".join(names), *rows, ""]))
    out = shell("fit", "t.csv", "--penalty", "none").out
    sentence = re.search(r"^\d+ parameters are unbounded.*?in all\)$", out, re.MULTILINE | re.DOTALL)
    assert sentence is not None
    assert len(sentence[0]) < 500
    assert max(map(len, out.splitlines())) <= 80


def test_given_is_evidence_and_nothing_else() -> None:
    """Commands that learn have covariates; `--given` is an alias of `--evidence` wherever it is known."""
    of_commands = {
        path.stem: [option.opts for option in command.params if isinstance(option, click.Option)]
        for path in Path(cli.__file__).parent.glob("*.py")
        if isinstance(
            command := getattr(importlib.import_module(f"mrfit.cli.{path.stem}"), "command", None), click.Command
        )
    }
    assert {name for name, options in of_commands.items() if ["--evidence", "--given"] in options} == {
        "query", "sample", "logz", "report", "explore",
    }  # fmt: skip
    assert {name for name, options in of_commands.items() if ["--covariates"] in options} == {
        "fit", "structure", "stability", "compare_groups", "power",
    }  # fmt: skip
    spelled = [opts for options in of_commands.values() for opts in options if any("given" in name for name in opts)]
    assert all(opts == ["--evidence", "--given"] for opts in spelled)
