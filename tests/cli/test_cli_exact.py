"""`mrfit fit --objective likelihood`, its coordinates and penalties, `mrfit spectrum`, and what goes wrong."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mrfit import MarkovNetwork

Shell = Callable[..., Any]
NAMES = "abcd"
EXACT = ["--objective", "likelihood"]


@pytest.fixture
def tables(tmp_path: Path, rng: np.random.Generator) -> Path:
    """train.csv and valid.csv: d agrees with the parity of a and b, c is alone; and 24 columns in wide.csv."""
    for name, n in (("train", 800), ("valid", 400)):
        a, b, c = rng.integers(0, 2, (3, n))
        d = np.where(rng.random(n) < 0.8, a ^ b, 1 - (a ^ b))
        _write(tmp_path / f"{name}.csv", NAMES, np.stack([a, b, c, d], axis=1))
    _write(tmp_path / "wide.csv", [f"v{i}" for i in range(60)], rng.integers(0, 2, (30, 60)))
    _write(tmp_path / "same.csv", NAMES, np.tile([0, 1, 0, 1], (5, 1)))
    return tmp_path


def _write(path: Path, names: Any, codes: np.ndarray) -> None:
    path.write_text("\n".join([",".join(names), *(",".join(map(str, row)) for row in codes.tolist())]) + "\n")


@pytest.mark.parametrize("parameterization", ["canonical", "spectral", "full", "ising", "generalized-ising"])
@pytest.mark.parametrize("penalty", ["l1", "group", "hierarchical", "flat-l1", "flat-l2", "l2"])
def test_every_coordinate_with_every_penalty(parameterization: str, penalty: str, tables: Path, shell: Shell) -> None:
    how = ["--parameterization", parameterization, "--penalty", penalty, "--strength", "20,5"]
    ran = shell("fit", "train.csv", *EXACT, "--order", "3", *how, "--valid", "valid.csv", "-o", "m.mrf", "--json")
    assert ran.code == 0
    document = ran.document
    assert document["status"] == "converged"
    assert document["n_nonzero_scopes"] <= document["n_nonzero"] == sum(document["nonzero_by_order"].values())
    assert document["valid_ll"] == max(fit["valid_ll"] for fit in document["path"])
    assert document["objective_per_row"] >= -document["train_ll"]
    if penalty not in ("flat-l2", "l2"):
        assert document["duality_gap"] <= 1e-9
        assert "all scopes" in document["guarantee"]
    shown = shell("show", "m.mrf", "--json").document
    assert shown["parameterization"]["name"] == parameterization
    scored = shell("score", "m.mrf", "train.csv", "--metric", "ll", "--json").document
    assert scored["ll"] == pytest.approx(document["train_ll"], abs=1e-10)
    assert shell("score", "m.mrf", "train.csv", "--json").document["pll"] == pytest.approx(
        document["train_pll"], abs=1e-9
    )


@pytest.mark.parametrize("penalty", ["l2", "l1", "none", "tied", "ltr", "pseudo-counts"])
def test_a_tree_of_many_variables(penalty: str, tables: Path, shell: Shell) -> None:
    """More than anybody could enumerate; what was taken is said, and the model scores as it was fitted."""
    how = ["--structure", "tree", "--penalty", penalty, *(["--groups", "2"] if penalty in ("tied", "ltr") else [])]
    how += [] if penalty == "none" else ["--strength", "2"]
    ran = shell("fit", "wide.csv", *EXACT, *how, "-o", "m.mrf", "--json")
    assert ran.code == 0
    assert (ran.document["engine"], ran.document["status"]) == ("tree", "converged")
    shown = shell("show", "m.mrf", "--json").document
    assert shown["provenance"]["engine"] == "tree"
    scored = shell("score", "m.mrf", "wide.csv", "--metric", "ll", "--json").document
    assert scored["ll"] == pytest.approx(ran.document["train_ll"], abs=1e-9)
    ran_in_words = shell("fit", "wide.csv", *EXACT, *how, "--verbose")
    assert "cells of the cliques of a junction tree" in ran_in_words.words
    assert "cells" not in shell("fit", "wide.csv", *EXACT, *how).out
    again = shell("fit", "wide.csv", "--like", "m.mrf", "--json").document
    assert again["train_ll"] == ran.document["train_ll"]


def test_both_engines_say_the_same(tables: Path, shell: Shell) -> None:
    values = []
    for engine in ("tree", "enumeration"):
        ran = shell("fit", "train.csv", *EXACT, "--engine", engine, "--structure", "tree", "--json")
        assert ran.document["engine"] == engine
        values.append(ran.document["train_ll"])
    assert values[0] == pytest.approx(values[1], abs=1e-8)


def test_an_exact_engine_is_chosen_or_refused_with_figures(tables: Path, shell: Shell) -> None:
    ran = shell("fit", "wide.csv", *EXACT, "--engine", "exact", "--structure", "tree", "--json")
    assert ran.document["engine"] == "tree"
    refused = shell("fit", "wide.csv", *EXACT, "--engine", "exact", "--structure", "complete", "-o", "m.mrf")
    assert (refused.code, refused.out) == (2, "")
    assert "The exact likelihood needs cliques of" in refused.err
    assert len(refused.err.splitlines()) == 1
    assert not (tables / "m.mrf").exists()


def test_a_path_finds_the_parity(tables: Path, shell: Shell) -> None:
    ran = shell("fit", "train.csv", *EXACT, "--order", "all", "--parameterization", "spectral", "--penalty", "l1",
                "--valid", "valid.csv", "-o", "m.mrf", "--json")  # fmt: skip
    assert ran.code == 0
    path = ran.document["path"]
    strengths = [fit["strength"] for fit in path]
    assert strengths == sorted(strengths, reverse=True)
    assert path[0]["nonzero_by_order"].keys() == {"1"}
    assert ran.document["n_candidate_parameters"] == 15
    assert ran.document["n_parameters"] == ran.document["n_nonzero"] < 15
    model = MarkovNetwork.load(tables / "m.mrf")
    assert model.strongest(1, order=3)[0][0] == "a × b × d"
    assert abs(model.strongest(1, order=3)[0][1]) == pytest.approx(0.5 * np.log(0.8 / 0.2), abs=0.1)
    shown = shell("show", "m.mrf").out
    assert "spectral coordinates: " in shown
    assert "interactions of 3 variables" in shown
    # The growing search cannot see it: no pair of it is there to grow from.
    grown = shell("fit", "train.csv", *EXACT, "--order", "all", "--parameterization", "spectral", "--penalty", "l1",
                  "--search", "hierarchical", "--strength", "40", "--json").document  # fmt: skip
    assert "3" not in grown["nonzero_by_order"]


def test_references_by_name_are_those_by_word(tables: Path, shell: Shell) -> None:
    arguments = ["fit", "train.csv", *EXACT, "--order", "3", "--penalty", "l1", "--strength", "10", "--json"]
    last = shell(*arguments, "--reference", "last").document
    named = shell(*arguments, "--reference", "a=1,b=1,c=1,d=1").document
    first = shell(*arguments).document
    assert named["objective_per_row"] == last["objective_per_row"] != first["objective_per_row"]
    seeds = {
        shell(*arguments, "--reference", "random", "--seed", seed).document["objective_per_row"] for seed in (1, 1, 2)
    }
    assert len(seeds) == 2


def test_folds_choose_the_strength(tables: Path, shell: Shell) -> None:
    ran = shell("fit", "train.csv", *EXACT, "--order", "all", "--penalty", "l1", "--folds", "4", "--json")
    assert ran.code == 0
    assert ran.document["valid_ll"] == max(fit["valid_ll"] for fit in ran.document["path"])


@pytest.mark.parametrize("estimator", ["flat-l1", "flat-l2", "pseudo-counts"])
def test_spectrum(estimator: str, tables: Path, shell: Shell) -> None:
    ran = shell("spectrum", "train.csv", "--estimator", estimator, "--folds", "4", "--plot", "s.png", "--json")
    assert ran.code == 0
    document = ran.document
    orders = {size["order"]: size for size in document["orders"]}
    assert [size["n_scopes"] for size in orders.values()] == [4, 6, 4, 1]
    assert orders[3]["mean"] == max(size["mean"] for size in orders.values())
    assert all(0 <= size["density"] <= 1 for size in orders.values())
    assert [cost["order"] for cost in document["ignoring"]] == [1, 2, 3, None]
    losses = [cost["loss"] for cost in document["ignoring"]]
    assert min(losses) == 0
    assert losses[1] > 0.1  # pairs know nothing of parity
    assert (tables / "s.png").read_bytes().startswith(b"\x89PNG")
    words = shell("spectrum", "train.csv", "--estimator", estimator, "--folds", "4", "--columns", "a,b,d").out
    assert "3 variables: 'a', 'b', 'd'" in words
    assert "what ignoring larger sets costs" in words


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["fit", "wide.csv", *EXACT, "--parameterization", "spectral"], "no exact engine fits this structure"),
        (["fit", "wide.csv", *EXACT, "--structure", "tree", "--engine", "enumeration"], "joint states of 60 variables"),
        (["fit", "wide.csv", *EXACT, "--engine", "tree"], "needs cliques of 1.2e+18 cells in all"),
        (["fit", "train.csv", *EXACT, "--engine", "tree", "--order", "all"], "is a single clique"),
        (["fit", "train.csv", "--engine", "tree"], "--engine has no effect here: it needs --objective likelihood"),
        (
            ["fit", "train.csv", *EXACT, "--structure", "complete", "--penalty", "pseudo-counts"],
            "need a decomposable structure",
        ),
        (["fit", "train.csv", *EXACT, "--order", "0"], "at least 1; got 0"),
        (["fit", "train.csv", *EXACT, "--order", "many"], "--order 'many'"),
        (["fit", "train.csv", *EXACT, "--order", "2", "--structure", "tree"], "--order or --structure"),
        (["fit", "train.csv", *EXACT, "--reference", "a=7"], "no state '7'"),
        (["fit", "train.csv", *EXACT, "--reference", "z=1"], "no variable 'z'"),
        (["fit", "train.csv", *EXACT, "--reference", "middle"], "'middle'"),
        (["fit", "train.csv", *EXACT, "--parameterization", "full", "--reference", "last"], "canonical"),
        (["fit", "train.csv", *EXACT, "--penalty", "l1", "--strength=-1"], "got -1"),
        (["fit", "train.csv", *EXACT, "--penalty", "none", "--strength", "1"], "A strength needs a penalty"),
        (["fit", "train.csv", *EXACT, "--penalty", "pseudo-counts"], "structure tree"),
        (["fit", "train.csv", "--penalty", "pseudo-counts"], "needs the likelihood"),
        (["fit", "train.csv", *EXACT, "--penalty", "pseudo-counts", "--parameterization", "ising"], "'ising'"),
        (["fit", "train.csv", *EXACT, "--penalty", "l2", "--search", "hierarchical"], "makes zeros"),
        (["fit", "same.csv", *EXACT, "--penalty", "l1"], "All rows are equal"),
        (["fit", "same.csv", "--penalty", "l1", "--valid", "same.csv"], "no path to walk"),
        (["fit", "train.csv", *EXACT, "--penalty", "l1", "--order", "1", "--valid", "valid.csv"], "no path to walk"),
        (["spectrum", "wide.csv"], "--most 16"),
        (["spectrum", "same.csv"], "All rows are equal"),
        (["spectrum", "train.csv", "--columns", "a,z"], "'z'"),
        (["spectrum", "train.csv", "--columns", "a", "--most", "3"], "not both"),
        (["spectrum", "train.csv", "--title", "t"], "add --plot FILE"),
        (["spectrum", "train.csv", "--plot", "picture.doc"], ".png, .svg or .pdf"),
        (["score", "none.mrf", "train.csv", "--metric", "ll"], "none.mrf"),
    ],
)
def test_wrong_input_is_one_line(arguments: list[str], named: str, tables: Path, shell: Shell) -> None:
    before = sorted(tables.iterdir())
    ran = shell(*arguments)
    assert ran.code == 2
    assert ran.out == ""
    assert ran.err.startswith("mrfit: ")
    assert ran.err.count("\n") == 1
    assert named in ran.err
    assert sorted(tables.iterdir()) == before


GROWN = [*EXACT, "--structure", "grown", "--cells", "1e4", "--toward", "tree", "--strength", "1,0.1"]


def test_growth_within_cells(tables: Path, shell: Shell) -> None:
    """The model says how it was learned, and learns so again."""
    ran = shell("fit", "train.csv", *GROWN, "--valid", "valid.csv", "-o", "m.mrf", "--json")
    assert ran.code == 0
    assert ran.document["engine"] in ("tree", "enumeration")
    assert "Grown from a tree of 3 pairs" in ran.document["remarks"][0]
    said = MarkovNetwork.load("m.mrf").provenance["learner"]
    assert (said["structure"]["cells"], said["penalty"]["toward"]) == (1e4, "tree")
    again = shell("fit", "train.csv", "--like", "m.mrf", "--valid", "valid.csv", "--json").document
    assert again["valid_ll"] == ran.document["valid_ll"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--cells", "1e4"], "--cells has no effect here: it needs --structure grown"),
        (["--structure", "tree", "--cells", "1e4"], "--cells has no effect here: it needs --structure grown"),
        (["--structure", "grown", "--cells", "0"], "a number of cells such as 1e6; got 0"),
        (["--structure", "grown", "--cells", "nan"], "a number of cells such as 1e6; got nan"),
        (["--structure", "grown", "--cells", "5"], "the limit is 5. Allow more cells"),
        (["--penalty", "l1", "--toward", "tree"], "--toward has no effect here: it needs --penalty l2"),
        (["--toward", "tree", "--parameterization", "ising"], "canonical or spectral"),
    ],
)
def test_growth_and_trees_that_cannot_be(arguments: list[str], message: str, tables: Path, shell: Shell) -> None:
    ran = shell("fit", "train.csv", *EXACT, *arguments, "-o", "m.mrf")
    assert ran.code == 2
    assert ran.err.count("\n") == 1
    assert message in ran.err
    assert not Path("m.mrf").exists()
