"""`mrfit fit --penalty tied|hard|ltr`, `mrfit show` of what it made, and what goes wrong."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from mrfit import MarkovNetwork

Shell = Callable[..., Any]
NAMES = "abcde"


@pytest.fixture
def tables(tmp_path: Path, rng: np.random.Generator) -> Path:
    """train.csv and valid.csv, a chain of five variables."""
    for name, n in (("train", 600), ("valid", 300)):
        columns = [rng.integers(0, 2, n)]
        for _ in NAMES[1:]:
            columns.append(np.where(rng.random(n) < 0.8, columns[-1], 1 - columns[-1]))
        lines = [",".join(NAMES), *(",".join(map(str, row)) for row in np.stack(columns, axis=1).tolist())]
        (tmp_path / f"{name}.csv").write_text("\n".join(lines) + "\n")
    return tmp_path


GRID = ["--groups", "2,3", "--strength", "1,10"]


@pytest.mark.parametrize("penalty", ["tied", "hard", "ltr"])
def test_fit_says_what_was_tied(penalty: str, tables: Path, shell: Shell) -> None:
    ran = shell("fit", "train.csv", "--valid", "valid.csv", "--penalty", penalty, *GRID, "-o", "m.mrf", "--json")
    assert ran.code == 0
    document = ran.document
    points = sorted((fit["groups"], fit["strength"]) for fit in document["path"])
    assert points == [(2, 1), (2, 10), (3, 1), (3, 10)]
    assert len(document["centers"]) == document["groups"]
    assert document["valid_pll"] == max(fit["valid_pll"] for fit in document["path"])
    assert (document["tying_iterations"] > 0) == (penalty != "ltr")
    assert document["n_distinct"] == (15 if penalty == "tied" else document["groups"])
    gain = document["gain_over_l2"]
    assert gain["mean"] == pytest.approx(document["valid_pll"] - gain["l2"]["valid_pll"], abs=1e-9)
    model = MarkovNetwork.load(tables / "m.mrf")
    assert model.groups is not None
    np.testing.assert_allclose(model.groups.centers, document["centers"])


def test_the_summary_names_groups_and_gain(tables: Path, shell: Shell) -> None:
    ran = shell("fit", "train.csv", "--valid", "valid.csv", "--penalty", "tied", *GRID)
    assert ran.code == 0
    assert re.search(r"^ +groups +lambda +train pll +validation pll ", ran.out, re.MULTILINE)
    assert "soft tying" in ran.out
    assert "against the best L2 fit" in ran.out
    assert " +- " in ran.out


def test_folds_choose_without_validation_rows(tables: Path, shell: Shell) -> None:
    ran = shell("fit", "train.csv", "--folds", "3", "--penalty", "tied", *GRID, "--seed", "1", "--json")
    assert ran.code == 0
    assert all(fit["valid_pll"] is not None for fit in ran.document["path"])
    assert ran.document["gain_over_l2"]["standard_error"] > 0
    plain = shell("fit", "train.csv", "--folds", "3", "--strength", "1,10", "--json")
    assert plain.code == 0
    assert plain.document["valid_pll"] is not None


def test_the_exact_likelihood_has_scores_of_its_own(tables: Path, shell: Shell) -> None:
    ran = shell("fit", "train.csv", "--valid", "valid.csv", "--objective", "likelihood", "--json", "-o", "m.mrf")
    assert ran.code == 0
    model = MarkovNetwork.load("m.mrf")
    assert ran.document["train_ll"] == pytest.approx(model.ll(pd.read_csv("train.csv")))
    assert ran.document["valid_ll"] == pytest.approx(model.ll(pd.read_csv("valid.csv")))
    assert ran.document["train_pll"] == pytest.approx(model.pll(pd.read_csv("train.csv")))


def test_show_prints_the_groups_and_draws_them(tables: Path, shell: Shell) -> None:
    assert shell("fit", "train.csv", "--penalty", "hard", "--groups", "3", "--strength", "1", "-o", "m.mrf").code == 0
    refused = shell("show", "m.mrf", "--title", "a title")
    assert refused.code == 2
    assert "add --plot FILE" in refused.err
    ran = shell("show", "m.mrf", "--plot", "line.png", "--title", "a title")
    assert ran.code == 0
    assert "equal in 3 groups, the largest first" in ran.out
    assert (tables / "line.png").read_bytes().startswith(b"\x89PNG")
    document = shell("show", "m.mrf", "--json").document
    assert sum(group["size"] for group in document["groups"]) == 15
    assert all(group["farthest"] == 0.0 for group in document["groups"])


def test_scores_are_drawn(tables: Path, shell: Shell) -> None:
    ran = shell("fit", "train.csv", "--folds", "2", "--penalty", "tied", *GRID, "--plot-scores", "s.svg")
    assert ran.code == 0
    written = (tables / "s.svg").read_text()
    assert "<svg" in written
    assert "<!-- train -->" in written
    assert "<!-- scores of 2-fold cross-validation; bars: standard error of the difference from" in written
    options = ["--valid", "valid.csv", "--penalty", "tied", *GRID, "--plot-scores", "s.svg", "--title", "A title"]
    assert shell("fit", "train.csv", *options).code == 0
    written = (tables / "s.svg").read_text()
    assert "<!-- A title -->" in written
    assert "validation rows; bars: standard error" in written
    assert "pseudo-log-likelihood" in written


def test_every_option_of_soft_tying_is_taken(tables: Path, shell: Shell) -> None:
    one = ["--groups", "2", "--strength", "5"]
    plain = shell("fit", "train.csv", "--penalty", "tied", *one, "--json").document
    for options in (
        ["--inner-iterations", "all"],
        ["--inner-iterations", "1", "--centers", "fixed"],
        ["--growth", "0.1,2"],
        ["--restarts", "2"],
        ["--start", "random"],
        ["--solver", "lbfgs"],
        ["--solver", "owlqn"],
        ["--batch-rows", "100", "--epochs", "5", "--cluster-every", "3"],
    ):
        ran = shell("fit", "train.csv", "--penalty", "tied", *one, *options, "--json")
        assert ran.code == 0
        assert ran.document["train_pll"] == pytest.approx(plain["train_pll"], abs=0.2)
    tied = shell("fit", "train.csv", "--penalty", "hard", *one, "--tie", "apart", "--pin-zero", "--json").document
    assert len(tied["centers"]) == 4
    assert tied["centers"].count(0.0) == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--penalty", "tied"], "needs held-out rows"),
        (["--penalty", "tied", "--groups", "0"], "at least 1"),
        (["--penalty", "tied", "--groups", "two"], "--groups 'two' is not a number"),
        (["--penalty", "tied", "--groups", ""], "at least 1"),
        (["--penalty", "tied", "--groups", "2", "--strength", "-1"], "positive and finite"),
        (["--penalty", "tied", "--inner-iterations", "some"], "write it like 2, or all"),
        (["--penalty", "tied", "--growth", "2"], "a share and a factor"),
        (["--penalty", "tied", "--growth", "2,1"], "share in"),
        (["--folds", "1"], "at least 2 folds"),
        (["--folds", "1000"], "cannot be cut into 1000 folds"),
        (["--folds", "2", "--valid", "valid.csv"], "not both"),
        (["--title", "t"], "add --plot-scores FILE"),
        (["--plot-scores", "s.png"], "--plot-scores draws held-out scores of tied fits"),
        (["--penalty", "tied", "--folds", "2", "--plot-scores", "s.gif"], "s.gif"),
        (["--penalty", "tied", "--groups", "2", "--strength", "1", "--free-orders", "3"], "Order 3"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)  # fmt: skip
def test_wrong_input_is_one_line(arguments: list[str], message: str, tables: Path, shell: Shell) -> None:
    ran = shell("fit", "train.csv", *arguments, "-o", "m.mrf")
    assert ran.code == 2
    assert message in ran.err
    assert ran.err.count("\n") == 1
    assert not (tables / "m.mrf").exists()


def test_too_many_variables_for_the_exact_likelihood(tmp_path: Path, shell: Shell) -> None:
    (tmp_path / "wide.csv").write_text("\n".join(",".join(row) for row in (["0"] * 40, ["1"] * 40)) + "\n")
    ran = shell("fit", "wide.csv", "--no-header", "--objective", "likelihood", "--engine", "enumeration")
    assert ran.code == 2
    assert "1.1e+12 joint states of 40 variables" in ran.err


def test_parameters_that_nothing_ties_are_drawn_too(tables: Path, shell: Shell) -> None:
    assert shell("fit", "train.csv", "-o", "m.mrf").code == 0
    ran = shell("show", "m.mrf", "--plot", "line.svg")
    assert ran.code == 0
    written = (tables / "line.svg").read_text()
    assert "<!-- interactions (10) -->" in written
    assert "<!-- single variables (5) -->" in written
    assert "group" not in "".join(line for line in written.splitlines() if line.lstrip().startswith("<!--"))
