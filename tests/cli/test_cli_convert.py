"""`mrfit convert`."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mrfit import read_network

Shell = Callable[..., Any]

SMALL = "MARKOV\n2\n2 3\n2\n2 1 0\n1 0\n6\n1 2 3 4 5 6\n2\n0.5 0\n"
WIDE = ",".join("2" * 12) + "\nMN {\n1.5 " + " ".join(f"+v{i}_1" for i in range(12)) + "\n}\n"


@pytest.fixture(name="folder", autouse=True)
def _folder(tmp_path: Path, shell: Shell) -> Path:
    (tmp_path / "small.uai").write_text(SMALL)
    (tmp_path / "wide.mn").write_text(WIDE)
    return tmp_path


def test_from_suffix_to_suffix(shell: Shell, folder: Path) -> None:
    ran = shell("convert", "small.uai", "small.mn.gz")
    assert (ran.code, ran.out, ran.err) == (0, "2 variables, 2 tables, 8 cells\n", "")
    assert shell("convert", "small.mn.gz", "back.uai").code == 0
    assert read_network(folder / "back.uai") == read_network(folder / "small.uai")


def test_as_json(shell: Shell) -> None:
    document = shell("convert", "wide.mn", "wide.uai", "--json").document
    assert document == {
        "from": "mn", "to": "uai", "variables": 12, "tables": 0, "cells": 0, "conjunctions": 1, "hidden": 11,
    }  # fmt: skip


def test_hidden_variables_are_told(shell: Shell, folder: Path) -> None:
    ran = shell("convert", "wide.mn", "wide.uai")
    assert "11 hidden variables" in ran.err
    assert len(read_network(folder / "wide.uai").domain) == 23
    assert shell("convert", "wide.mn", "again.mn").err == ""
    assert shell("convert", "wide.mn", "wide.uai", "--quiet").err == ""


def test_formats_by_their_words(shell: Shell, folder: Path) -> None:
    (folder / "download.txt").write_text(SMALL)
    assert shell("convert", "download.txt", "model.out", "--from", "uai", "--to", "LG").code == 0
    assert read_network(folder / "model.out", format="lg") == read_network(folder / "small.uai")


def test_names_and_scores_of_a_learned_model(shell: Shell, folder: Path) -> None:
    (folder / "t.csv").write_text("smoker,cough\n" + "yes,no\nno,yes\nyes,yes\nno,no\nyes,yes\n" * 4)
    shell("fit", "t.csv", "-o", "m.mrf")
    shell("convert", "m.mrf", "m.uai")
    shell("convert", "m.uai", "again.mrf")
    scores = [shell("score", name, "t.csv", "--metric", "ll").out for name in ("m.mrf", "again.mrf")]
    assert scores[0] == scores[1]
    shell("convert", "m.mrf", "plain.uai", "--no-names")
    assert "#" not in (folder / "plain.uai").read_text()


def test_standard_streams(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(SMALL.encode())))
    ran = shell("convert", "-", "-", "--from", "uai", "--to", "mn")
    assert ran.code == 0
    assert ran.out.startswith("2,3\nMN {\ntable {\n")
    assert ran.err == "2 variables, 2 tables, 8 cells\n"


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ("small.uai small.uai", "OUT small.uai is what IN reads"),
        ("small.uai wide.mn --no-clobber", "it exists and is not to be overwritten"),
        ("absent.uai x.mn", "There is no file 'absent.uai'"),
        ("small.uai x.txt", "known are .mrf, .uai, .LG, .mn, .fg, each also .gz"),
        ("small.uai nowhere/x.mn", "nowhere does not exist"),
        ("small.uai x.mn --from fg", "line 1, token 1: 'MARKOV' is wrong; expected the number of factors"),
        ("small.uai x.mn --from xyz", "'xyz' is not one of"),
        ("- x.mn", "say its format by --from"),
        ("small.uai -", "say its format by --to"),
        ("small.uai - --to mn --json", "both want standard output"),
        ("wide.mn x.mrf", "a learned model holds tables only"),
        ("small.uai", "Missing argument 'OUT'"),
    ],
)
def test_wrong_calls(shell: Shell, folder: Path, arguments: str, complaint: str) -> None:
    """One line, and nothing is written."""
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    ran = shell("convert", *arguments.split())
    assert (ran.code, ran.out) == (2, "")
    assert complaint in ran.err
    assert ran.err.count("\n") == 1
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
