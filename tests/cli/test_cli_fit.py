"""`mrfit fit`: options that would do nothing, test rows, repeating a fit, and what the summary says."""

from __future__ import annotations

import signal
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dying import run_for_lines
from forked import process_of
from mrfit import MarkovNetwork
from mrfit.registry import PENALTIES

Shell = Callable[..., Any]
NAMES = "abcdef"


@pytest.fixture
def tables(tmp_path: Path, rng: np.random.Generator) -> Path:
    """train.csv, valid.csv and test.csv: a chain of six variables."""
    for name in ("train", "valid", "test"):
        columns = [rng.integers(0, 2, 300)]
        for _ in NAMES[1:]:
            columns.append(np.where(rng.random(300) < 0.75, columns[-1], 1 - columns[-1]))
        lines = [",".join(NAMES), *(",".join(map(str, row)) for row in np.stack(columns, axis=1).tolist())]
        (tmp_path / f"{name}.csv").write_text("\n".join(lines) + "\n")
    return tmp_path


IDLE = {
    "--max-degree 1": "--structure learned",
    "--structure tree --max-degree 1": "--structure learned",
    "--structure learned --select ebic --max-degree 1": "--select degree",
    "--structure learned --select ebic --bound path": "--select degree",
    "--bound path": "--structure learned",
    "--rule and": "--structure learned",
    "--structure learned --bound graph --rule and": "--bound gain, path or top",
    "--structure learned --gamma 0.5": "--select ebic",
    "--structure learned --select-strength 3": "--select strength",
    "--require a,b": "--structure learned",
    "--groups 3": "--penalty tied, hard or ltr",
    "--penalty l1 --tie apart": "--penalty tied, hard or ltr",
    "--penalty ltr --groups 2 --restarts 2": "--penalty tied or hard",
    "--penalty tied --groups 2 --relearn projected": "--penalty hard or ltr",
    "--penalty tied --groups 2 --epochs 3": "--batch-rows",
    "--penalty tied --groups 2 --batch-rows 5 --centers fixed": "without --batch-rows",
    "--search hierarchical": "makes zeros",
    "--penalty none --free-orders 1": "a penalty on parameters",
    "--penalty pseudo-counts --objective likelihood --order all --solver newton": "pseudo-counts need no solver",
}


SETTINGS = {
    "--groups 2": "groups",
    "--tie apart": "tie",
    "--pin-zero": "pin_zero",
    "--start random": "start",
    "--restarts 1": "restarts",
    "--relearn projected": "relearn",
    "--centers fixed": "how",
    "--batch-rows 5": "stochastic",
    "--search exact": "search",
}


@pytest.mark.parametrize("option", SETTINGS)
@pytest.mark.parametrize("penalty", PENALTIES)
def test_an_option_needs_a_penalty_with_its_setting(option: str, penalty: str, shell: Shell) -> None:
    """And is not refused where there is one; that there is no table is found out later."""
    has_it = SETTINGS[option] in {field.name for field in fields(PENALTIES[penalty])}
    ran = shell("fit", "none.csv", "--penalty", penalty, *option.split())
    assert ran.code == 2
    assert ("has no effect here: it needs" in ran.err) is not has_it


@pytest.mark.parametrize("options", IDLE)
def test_an_option_without_effect_is_refused(options: str, tables: Path, shell: Shell) -> None:
    ran = shell("fit", "train.csv", *options.split(), "-o", "m.mrf")
    assert ran.code == 2
    assert ran.out == ""
    assert "has no effect here: it needs" in ran.err
    assert IDLE[options] in ran.err
    assert len(ran.err.splitlines()) == 1
    assert not (tables / "m.mrf").exists()


@pytest.mark.parametrize("options", ["--gamma 0.5", "--select ebic --max-degree 2", "--valid valid.csv"])
def test_structure_refuses_them_too(options: str, tables: Path, shell: Shell) -> None:
    ran = shell("structure", "train.csv", *options.split())
    assert ran.code == 2
    assert "has no effect here" in ran.err


def test_test_rows_judge_and_choose_nothing(tables: Path, shell: Shell) -> None:
    arguments = [
        "fit",
        "train.csv",
        "--valid",
        "valid.csv",
        "--penalty",
        "tied",
        "--groups",
        "2,4",
        "--strength",
        "1,9",
    ]
    plain = shell(*arguments, "--json").document
    tested = shell(*arguments, "--test", "test.csv", "-o", "m.mrf", "--json").document
    assert plain["gain_over_l2"]["rows"] == "valid"
    assert plain["gain_over_l2"]["is_real"] is None
    assert tested["gain_over_l2"]["rows"] == "test"
    assert tested["gain_over_l2"]["is_real"] in (True, False)
    assert (tested["strength"], tested["groups"]) == (plain["strength"], plain["groups"])
    scored = shell("score", "m.mrf", "test.csv", "--json").document
    assert tested["test_pll"] == pytest.approx(scored["pll"], abs=1e-12)
    assert 0 < tested["test_standard_error"] < 1
    text = shell(*arguments).words
    assert "which chose both of them" in text
    assert "no gain" not in text
    assert ": a gain" not in text
    text = shell(*arguments, "--test", "test.csv").out
    assert "test pll -" in text
    assert ": no gain" in text or ": a gain" in text


def test_a_fit_is_repeated_like_a_model(tables: Path, shell: Shell) -> None:
    learning = ["--structure", "learned", "--max-degree", "2", "--penalty", "l1", "--strength", "3", "--seed", "4"]
    assert shell("fit", "train.csv", *learning, "-o", "one.mrf").code == 0
    assert shell("fit", "train.csv", "--like", "one.mrf", "-o", "two.mrf").code == 0
    assert (tables / "one.mrf").read_bytes() == (tables / "two.mrf").read_bytes()
    other = shell("fit", "valid.csv", "--like", "one.mrf", "--json").document
    assert other == shell("fit", "valid.csv", *learning, "--json").document | {
        key: other[key] for key in ("seconds", "path")
    }
    refused = shell("fit", "train.csv", "--like", "one.mrf", "--strength", "5")
    assert refused.code == 2
    assert "--strength has no effect here: it needs no --like" in refused.err


def test_a_model_that_does_not_say_how_it_was_learned(tables: Path, shell: Shell) -> None:
    shell("fit", "train.csv", "-o", "m.mrf")
    model = MarkovNetwork.load(tables / "m.mrf")
    MarkovNetwork(model.parameters, model.w).save(tables / "bare.mrf")
    ran = shell("fit", "train.csv", "--like", "bare.mrf")
    assert ran.code == 2
    assert "does not say how it was learned" in ran.err


def test_the_summary_counts_one_model_at_a_time(tables: Path, shell: Shell) -> None:
    """Candidates and what the penalty left of them are counted apart, each with its own edges and parameters."""
    text = shell("fit", "train.csv", "--penalty", "l1", "--strength", "20").out
    document = shell("fit", "train.csv", "--penalty", "l1", "--strength", "20", "--json").document
    edges = "edge" if document["n_edges"] == 1 else "edges"
    assert text.startswith(f"learned {document['n_edges']} {edges}, {document['n_nonzero']} parameters; train pll -")
    assert document["n_nonzero"] < 21
    scopes = f"{document['n_nonzero_scopes']} of 21 scopes"
    kept = f"not zero: {document['n_edges']} of 15 edges, {document['n_nonzero']} of 21 parameters, {scopes}"
    assert kept in text
    assert "not zero:" not in shell("fit", "train.csv").out


def test_the_best_strength_at_an_end_is_said(tables: Path, shell: Shell) -> None:
    lines = (tables / "train.csv").read_text().splitlines()
    (tables / "few.csv").write_text("\n".join(lines[:25]) + "\n")
    arguments = ["fit", "few.csv", "--valid", "valid.csv", "--strength"]
    assert "is the strongest tried; try stronger ones too" in shell(*arguments, "1e-6,1e-5").out
    assert "try " not in shell(*arguments, "1e-7,3,1e6").out


def test_folds_learn_their_own_structure(shell: Shell, tmp_path: Path) -> None:
    """Fair coins: cross-validation may not find what is not there."""
    coins = np.random.default_rng(0).integers(0, 2, (200, 30))
    (tmp_path / "coins.csv").write_text("\n".join(",".join(map(str, row)) for row in coins.tolist()) + "\n")
    scores = {
        structure: shell("fit", "coins.csv", "--structure", structure, "--folds", "5", "--json").document["valid_pll"]
        for structure in ("learned", "independent")
    }
    assert scores["learned"] < scores["independent"] - 0.3


@pytest.mark.usefixtures("data_dir")
def test_a_killed_run_is_resumed(shell: Callable[..., Any], tmp_path: Path) -> None:
    """Nothing is left of it but the file; OWL-QN remembers nothing from fit to fit, so that bits are the same."""
    arguments = ["fit", "nltcs:train", "--valid", "nltcs:valid", "--structure", "tree", "--penalty", "l1", "--no-check"]
    arguments += ["--strength", "1,2,4,8,16,32", "--quiet"]
    killed = process_of(run_for_lines, 4, [*arguments, "--resume", "kept"])
    killed.join()
    assert killed.exitcode == -signal.SIGKILL
    assert (tmp_path / "kept").read_bytes().count(b"\n") == 4
    assert shell(*arguments, "--resume", "kept", "-o", "resumed.mrf").code == 0
    assert (tmp_path / "kept").read_bytes().count(b"\n") == 7
    assert shell(*arguments, "-o", "whole.mrf").code == 0
    assert (tmp_path / "resumed.mrf").read_bytes() == (tmp_path / "whole.mrf").read_bytes()


def test_files_to_resume_from_that_are_refused(shell: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\n0,0\n0,1\n1,1\n")
    for options, said in (
        (("--resume", "t.csv"), "is what DATA reads"),
        (("--resume", "-"), "name a file"),
        (("--resume", "m.mrf", "-o", "m.mrf"), "name the same file"),
        (("--resume", "kept", "--missing", "em"), "--resume"),
        (("--resume", "kept", "--structure", "learned", "--max-degree", "1,2", "--folds", "2"), "one degree bound"),
    ):
        ran = shell("fit", "t.csv", *options)
        assert ran.code == 2
        assert said in ran.err
    assert not (tmp_path / "kept").exists()
