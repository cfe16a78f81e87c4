"""`mrfit check`, and the check after every fit."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mrfit.analysis.goodness.budget import SECONDS
from mrfit.analysis.goodness.checker import ENGINES
from mrfit.cli import check as command

Shell = Callable[..., Any]


@pytest.fixture(name="folder", autouse=True)
def _folder(tmp_path: Path, shell: Shell, rng: np.random.Generator) -> Path:
    """A table of two and three states, and its model."""
    a = rng.integers(0, 2, 300)
    b, c = np.where(rng.random(300) < 0.8, a, 1 - a), rng.integers(0, 3, 300)
    lines = [f"{'ny'[i]},{'ny'[j]},{['low', 'mid', 'high'][k]}" for i, j, k in zip(a, b, c, strict=True)]
    (tmp_path / "t.csv").write_text("\n".join(["smoker,cough,age", *lines]) + "\n")
    assert shell("fit", "t.csv", "-o", "m.mrf", "--quiet").code == 0
    return tmp_path


def test_words_are_those_of_the_library() -> None:
    """The words are written out in the command, so that --help does not wait for numba."""
    assert ENGINES == command._ENGINES
    assert SECONDS == command._SECONDS


def test_as_text(shell: Shell) -> None:
    ran = shell("check", "m.mrf", "t.csv", "--top", "1")
    assert ran.code == 0
    assert ran.err == ""
    lines = ran.out.splitlines()
    assert lines[0].startswith("no misfit found in singles, pairs and triples: largest error 0.")
    assert lines[1] == "t.csv: 300 rows, 3 variables; exact"
    assert lines[2].startswith("G-squared ")
    assert [line for line in lines if line.startswith("mean log-likelihood -")]
    heads = ["model", "data", "difference", "z", "adj.", "p"]
    assert [line.split() for line in lines[-8::3]] == [[what, *heads] for what in ("variable", "pair", "triple")]
    assert max(map(len, lines)) <= 80


def test_g_squared_by_drawn_tables(shell: Shell, folder: Path) -> None:
    document = shell("check", "m.mrf", "t.csv", "--bootstrap", "9", "--plot-residuals", "r.png", "--json").document
    found = document["goodness"]
    assert found["of_the_rows_learned_from"] is True
    assert found["tables"] == 9
    assert 0.1 <= found["p"] <= 1.0
    assert len(found["triples"]) == 2
    assert (folder / "r.png").stat().st_size > 5_000
    assert (
        "9 tables drawn from the model and learned from again"
        in shell("check", "m.mrf", "t.csv", "--bootstrap", "9").words
    )


def test_other_models_say_no_parameters(shell: Shell) -> None:
    assert shell("convert", "m.mrf", "m.uai").code == 0
    assert shell("check", "m.uai", "t.csv", "--json").document["goodness"] is None
    ran = shell("check", "m.uai", "t.csv", "--bootstrap", "9")
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert "a .mrf file" in ran.err


@pytest.mark.parametrize("engine", ENGINES)
def test_as_json(shell: Shell, engine: str) -> None:
    document = shell("check", "m.mrf", "t.csv", "--json", "--engine", engine).document
    assert document["phantom_mode"] is None
    assert document["exact"] is (engine != "ais")
    assert 0 <= document["max_marginal_error"] < 0.1
    assert document["is_alike"] is True
    assert sum(document["sums"]["model"]) == pytest.approx(1)
    assert sum(document["sums"]["data"]) == pytest.approx(1)
    assert document["ll"] == pytest.approx(
        shell("score", "m.mrf", "t.csv", "--metric", "ll", "--json").document["ll"], abs=0.05
    )
    for each in document["variables"] + document["pairs"]:
        assert each["difference"] == pytest.approx(each["model"] - each["data"])


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_a_picture(shell: Shell, folder: Path, suffix: str) -> None:
    ran = shell("check", "m.mrf", "t.csv", "--plot", f"p.{suffix}", "--title", "mine", "--quiet")
    assert ran.code == 0
    assert (folder / f"p.{suffix}").stat().st_size > 1000
    refused = shell("check", "m.mrf", "t.csv", "--plot", f"p.{suffix}", "--no-clobber")
    assert (refused.code, refused.err.count("\n")) == (2, 1)


def test_models_of_other_programs_and_standard_input(shell: Shell, folder: Path) -> None:
    assert shell("convert", "m.mrf", "m.uai").code == 0
    ours, theirs = (shell("check", model, "t.csv", "--json").document for model in ("m.mrf", "m.uai"))
    assert theirs["max_marginal_error"] == pytest.approx(ours["max_marginal_error"], abs=1e-9)


def test_weights_and_columns_are_read_as_elsewhere(shell: Shell, folder: Path) -> None:
    lines = (folder / "t.csv").read_text().splitlines()
    twice = [lines[0] + ",n,id", *(f"{line},2,{k}" for k, line in enumerate(lines[1:]))]
    (folder / "w.csv").write_text("\n".join(twice) + "\n")
    heavy = shell("check", "m.mrf", "w.csv", "--weight", "n", "--json").document
    assert heavy["rows"] == 600
    light = shell("check", "m.mrf", "t.csv", "--json").document
    for one, other in zip(heavy["pairs"], light["pairs"], strict=True):
        assert (one["model"], one["data"]) == (other["model"], other["data"])
        assert one["z"] == pytest.approx(np.sqrt(2.0) * other["z"])


BAD = {
    "other columns": ("o.csv", "smoker,cough\nn,y\ny,n\n", "'age'"),
    "empty": ("o.csv", "smoker,cough,age\n", "o.csv"),
    "missing values": ("o.csv", "smoker,cough,age\nn,,low\ny,n,mid\n", "cough"),
    "another state": ("o.csv", "smoker,cough,age\nn,y,low\ny,n,old\n", "old"),
}


@pytest.mark.parametrize(("name", "content", "said"), BAD.values(), ids=BAD)
def test_wrong_tables_are_one_line(shell: Shell, folder: Path, name: str, content: str, said: str) -> None:
    (folder / name).write_text(content)
    ran = shell("check", "m.mrf", name, "--plot", "p.png")
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert said in ran.err
    assert not (folder / "p.png").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("m.mrf", "t.csv", "--plot", "p.gif"), "p.gif"),
        (("m.mrf", "t.csv", "--plot", "m.mrf"), "m.mrf"),
        (("m.mrf", "t.csv", "--plot", "/dev/null"), "null"),
        (("m.mrf", "t.csv", "--plot", "nowhere/p.png"), "nowhere"),
        (("m.mrf", "t.csv", "--title", "x"), "--plot"),
        (("m.mrf", "t.csv", "--engine", "bp"), "--engine"),
        (("m.mrf", "t.csv", "--seconds", "0"), "--seconds"),
        (("-", "-"), "standard input"),
        (("none.mrf", "t.csv"), "none.mrf"),
        (("t.csv", "t.csv"), "t.csv"),
    ],
)
def test_wrong_arguments_are_one_line(shell: Shell, folder: Path, arguments: tuple[str, ...], said: str) -> None:
    before = {path: path.read_bytes() for path in folder.iterdir()}
    ran = shell("check", *arguments)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert said in ran.err
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


def test_after_a_fit(shell: Shell) -> None:
    ran = shell("fit", "t.csv")
    assert "no misfit found in singles, pairs and triples: largest error 0.0" in ran.out
    document = shell("fit", "t.csv", "--json").document
    assert document["phantom_mode"] is None
    assert document["max_marginal_error"] == pytest.approx(
        shell("check", "m.mrf", "t.csv", "--json").document["max_marginal_error"]
    )
    unchecked = shell("fit", "t.csv", "--json", "--no-check").document
    assert "max_marginal_error" not in unchecked
    assert {**document, "seconds": 0, "path": 0} == {
        **unchecked, "seconds": 0, "path": 0, "phantom_mode": None, "spurious_mode": None,
        "check": document["check"],
        "max_marginal_error": document["max_marginal_error"],
    }  # fmt: skip


def test_what_a_phantom_mode_is_stands_on_a_line_of_its_own(shell: Shell, data_dir: Path) -> None:
    how = ("kdd:train", "--structure", "learned", "--max-degree", "5", "--rule", "or", "-o", "kdd.mrf")
    assert shell("fit", *how).code == 0
    lines = shell("check", "kdd.mrf", "kdd:train", "--top", "0").out.splitlines()
    assert lines[0] == "spurious mode: 0.99 of the model's probability is where there are no data"
    assert lines[2].startswith("Nearly all of the model's probability (>= 0.99) is on rows with about 61 of 64")
    assert max(map(len, lines)) <= 80
    assert "    mrfit fit kdd:train --objective likelihood -o MODEL.mrf" in lines


def test_a_phantom_mode_is_a_warning_of_the_fit(shell: Shell, data_dir: Path) -> None:
    how = ("kdd:train", "--structure", "learned", "--max-degree", "5", "--rule", "or")
    ran = shell("fit", *how)
    assert ran.code == 0
    warning, command = ran.notes
    assert "mrfit: warning: Nearly all of the model's probability (>= 0.99) is on rows with about 61 of 64" in warning
    assert command.split() == ["mrfit", "fit", *how, "--objective", "likelihood"]
    assert "spurious mode: 0.99" in ran.out
    document = shell("fit", *how, "--json").document
    assert document["max_marginal_error"] == pytest.approx(0.998, abs=1e-3)
    assert document["phantom_mode"]["mass"] > 0.99
    assert document["phantom_mode"]["data_max"] == 50
