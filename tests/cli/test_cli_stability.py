"""`mrfit stability`."""

from __future__ import annotations

import csv
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from forked import started

Shell = Callable[..., Any]

EBIC = ("--structure", "learned", "--select", "ebic", "--rule", "and")


@pytest.fixture
def table(tmp_path: Path) -> str:
    rng = np.random.default_rng(0)
    first = rng.integers(0, 2, 200)
    columns = np.stack([first, first ^ (rng.random(200) < 0.2), rng.integers(0, 2, 200)], axis=1)
    lines = ["a,b,c", *(",".join(map(str, row)) for row in columns.tolist())]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    return "t.csv"


def test_edges_as_json_and_as_a_file(shell: Shell, table: str, tmp_path: Path) -> None:
    ran = shell("stability", table, *EBIC, "--resamples", "30", "--json", "-o", "edges.csv", "--plot", "p.svg")
    assert ran.code == 0
    edges = ran.document["edges"]
    assert (edges[0]["source"], edges[0]["target"], edges[0]["inclusion"]) == ("a", "b", 1.0)
    assert {"source", "target", "inclusion", "mean", "sd", "low", "high", "zeros"} <= set(edges[0])
    assert edges[0]["low"] < edges[0]["mean"] < edges[0]["high"]
    assert ran.document["n_failed"] == 0
    with (tmp_path / "edges.csv").open() as file:
        written = list(csv.DictReader(file))
    assert [float(line["mean"]) for line in written] == pytest.approx([edge["mean"] for edge in edges])
    assert (tmp_path / "p.svg").stat().st_size > 1000


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--kind", "bootstrap"), "95 % percentile interval"),
        (("--kind", "drop"), "CS coefficients"),
        (("--kind", "pairs", "--false-edges", "2"), "are expected to be false"),
    ],
)
def test_every_kind_says_its_own(arguments: tuple[str, ...], said: str, shell: Shell, table: str) -> None:
    ran = shell("stability", table, *EBIC, *arguments, "--resamples", "20", "--plot", "p.png")
    assert ran.code == 0
    assert said in ran.out
    assert "wrote p.png" in ran.out


def test_clusters(shell: Shell, table: str, tmp_path: Path) -> None:
    """A column that is no variable; where each row is a cluster of its own, resamples are of rows."""
    lines = (tmp_path / table).read_text().splitlines()
    (tmp_path / "c.csv").write_text(
        "\n".join(["school," + lines[0], *(f"s{k // 20},{r}" for k, r in enumerate(lines[1:]))])
    )
    ran = shell("stability", "c.csv", *EBIC, "--cluster-column", "school", "--resamples", "20", "--json")
    assert (ran.code, ran.document["n_failed"]) == (0, 0)
    assert {edge["source"] for edge in ran.document["edges"]} <= {"a", "b", "c"}
    assert ran.document["edges"][0]["inclusion"] == 1.0
    for options, said in (
        (("--cluster-column", "class"), "'class', which the table lacks"),
        (("--cluster-column", "school", "--resamples-file", "r.csv"), "--cluster-column has no effect"),
        (("--cluster", "class"), "'class' is no address (local:N"),
        (("--cluster", "school", "--cluster-column", "school"), "more than one column"),
    ):
        refused = shell("stability", "c.csv", *EBIC, *options)
        assert refused.code == 2
        assert said in refused.err


def test_the_old_spelling_of_a_column_warns(shell: Shell, table: str, tmp_path: Path) -> None:
    """One line on stderr; the answer is that of the new one."""
    lines = (tmp_path / table).read_text().splitlines()
    nested = ["school," + lines[0], *(f"s{k // 20},{row}" for k, row in enumerate(lines[1:]))]
    (tmp_path / "c.csv").write_text("\n".join(nested))
    words = ("stability", "c.csv", *EBIC, "--resamples", "5", "--json")
    old, new = shell(*words, "--cluster", "school"), shell(*words, "--cluster-column", "school")
    assert (old.code, old.out) == (0, new.out)
    warning = "mrfit: warning: --cluster school names a column; write --cluster-column school."
    assert [line for line in old.notes if "warning" in line] == [f"{warning} --cluster is for addresses."]
    assert "warning" not in new.err + shell(*words, "--cluster", "school", "--quiet").err


@pytest.mark.parametrize("options", [("--scale", "standard"), ("--no-refit",)], ids=["standard", "l1"])
def test_ways_to_form_the_ebic(options: tuple[str, ...], shell: Shell, table: str) -> None:
    found, plain = (shell("stability", table, *EBIC, *how, "--resamples", "20", "--json") for how in (options, ()))
    edge, other = found.document["edges"][0], plain.document["edges"][0]
    assert (edge["source"], edge["target"], edge["inclusion"]) == ("a", "b", 1.0)
    assert edge["mean"] != other["mean"]
    assert shell("stability", table, "--structure", "learned", *options).code == 2  # of the EBIC alone


def test_where_there_is_no_edge_or_no_finite_weight(shell: Shell, tmp_path: Path) -> None:
    """A note says so; the mean of weights that are all infinite is missing."""
    (tmp_path / "three.csv").write_text("a,b,c\n0,0,1\n1,1,0\n0,0,0\n")
    assert "no two variables are joined" in shell("stability", "three.csv", *EBIC, "--resamples", "3").out
    (tmp_path / "apart.csv").write_text("a,b\n" + "0,0\n0,1\n1,0\n" * 20)
    ran = shell("stability", "apart.csv", "--penalty", "none", "--resamples", "3")
    assert " ".join(ran.out.splitlines()[-1].split()) == "100% - -inf to -inf a - b (infinite in 100%)"
    edge = shell("stability", "apart.csv", "--penalty", "none", "--resamples", "3", "--json").document["edges"][0]
    assert (edge["mean"], edge["infinite"]) == (None, 1.0)


def test_weights_of_categories_have_no_sign(shell: Shell, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    first = rng.integers(0, 3, 300)
    columns = np.stack([first, (first + (rng.random(300) < 0.3)) % 3], axis=1).tolist()
    (tmp_path / "t.csv").write_text("\n".join(["a,b", *(",".join(map(str, row)) for row in columns)]) + "\n")
    arguments = (
        "stability",
        "t.csv",
        "--structure",
        "complete",
        "--penalty",
        "l2",
        "--strength",
        "1",
        "--resamples",
        "3",
    )
    for options, has_sign in (((), False), (("--ordered", "all"), True)):
        line = next(line for line in shell(*arguments, *options).out.splitlines() if line.endswith("a - b"))
        assert ("+" in line) == has_sign
        assert shell(*arguments, *options, "--json").document["edges"][0]["has_sign"] == has_sign


def test_stars(shell: Shell, table: str) -> None:
    ran = shell("stability", table, "--structure", "learned", "--kind", "stars", "--resamples", "5", "--json")
    assert len(ran.document["instability"]) == len(ran.document["strengths"])
    assert ran.document["strength"] in ran.document["strengths"]


def test_parameters_of_a_fit_by_the_same_options_as_fit(shell: Shell, table: str) -> None:
    how = ("--penalty", "l1", "--strength", "5", "--structure", "tree")
    sample = {
        frozenset((edge["source"], edge["target"])): edge["sample"]
        for edge in shell("stability", table, *how, "--resamples", "3", "--json").document["edges"]
    }
    shell("fit", table, *how, "-o", "m.mrf")
    strongest = shell("show", "m.mrf", "--json").document["strongest"]["2"]
    assert sample[frozenset("ab")] == pytest.approx(strongest[0]["value"])


def test_given_resamples(shell: Shell, table: str, tmp_path: Path) -> None:
    """Twice the table itself gives its own weights, without any spread."""
    lines = (tmp_path / table).read_text().splitlines()[1:]
    counts = {line: lines.count(line) for line in sorted(set(lines))}
    text = "\n".join(["a,b,c,count,r1,r2", *(f"{line},{n},{n},{2 * n}" for line, n in counts.items())])
    (tmp_path / "r.csv").write_text(text + "\n")
    how = ("--penalty", "none", "--tolerance", "1e-9")
    for edge in shell("stability", table, *how, "--resamples-file", "r.csv", "--json").document["edges"]:
        assert edge["mean"] == pytest.approx(edge["sample"], abs=1e-6)
        assert edge["sd"] == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--kind", "jackknife"), "'jackknife' is not one of"),
        (("--weights", "regressions"), "--weights regressions are those of --structure learned"),
        ((*EBIC, "--penalty", "l1"), "--penalty has no effect here: it needs a fit: --weights parameters"),
        ((*EBIC, "--one-step"), "--one-step has no effect here: it needs a fit: --weights parameters"),
        (("--structure", "tree", "--one-step"), "One step refits parameters, not the structure"),
        (("--false-edges", "2"), "--false-edges has no effect here: it needs --kind pairs"),
        (("--resamples-file", "nowhere.csv"), "Cannot read the resamples file 'nowhere.csv'"),
        (("--resamples-file", "t.csv", "--resamples", "10"), "it needs no --resamples-file"),
        (("--structure", "learned", "--max-degree", "2,3"), "names several bounds"),
        (("--kind", "stars",), "needs the structure learner Learned"),
        (("--kind", "drop", "--resamples", "5"), "at least 10 resamples"),
        ((*EBIC, "--level", "2"), "between 0 and 1; got 2"),
        (("--plot", "p.xyz"), "let it end in .png, .svg or .pdf"),
        (("-o", "t.csv"), "is what DATA reads"),
        (("--structure", "learned", "--select", "valid"), "give validation rows"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_one_line(
    arguments: tuple[str, ...], said: str, shell: Shell, table: str, tmp_path: Path
) -> None:
    before = sorted(path.name for path in tmp_path.iterdir())
    few = () if "--resamples" in arguments or "--resamples-file" in arguments else ("--resamples", "3")
    ran = shell("stability", table, *arguments, *few)
    assert ran.code == 2
    assert said in ran.err
    assert ran.err.count("\n") == 1
    assert not ran.out
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_failures_are_named_on_stderr(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\n0,0\n0,0\n0,0\n1,1\n")
    ran = shell("stability", "t.csv", "--objective", "likelihood", "--penalty", "l2", "--resamples", "40", "--json")
    assert ran.code == 0
    assert 0 < ran.document["n_failed"] < 40
    assert "warning: learning failed in" in ran.err
    assert "All rows are equal" in ran.err


def test_a_killed_run_is_resumed(table: str, shell: Shell, tmp_path: Path) -> None:
    """Nothing is left of it but the file, in which at most one line is cut off."""
    arguments = ["stability", table, "--penalty", "l2", "--strength", "1", "--resamples", "100"]
    process = started(*arguments, "--quiet", "--resume", "kept")
    kept = tmp_path / "kept"
    while process.is_alive() and not (kept.exists() and kept.read_bytes().count(b"\n") > 3):
        time.sleep(0.01)
    process.kill()
    process.join()
    assert process.exitcode == -signal.SIGKILL
    resumed, whole = shell(*arguments, "--json", "--resume", "kept"), shell(*arguments, "--json")
    assert resumed.code == 0
    assert resumed.document["edges"] == whole.document["edges"]


def test_files_to_resume_from_that_are_refused(table: str, shell: Shell, tmp_path: Path) -> None:
    for options, said in (
        (("--resume", table), "is what DATA reads"),
        (("--resume", "-"), "name a file"),
        (("--resume", "e.csv", "-o", "e.csv"), "name the same file"),
        (("--resume", "kept", "--kind", "stars"), "--resume"),
    ):
        ran = shell("stability", table, *EBIC, "--resamples", "20", *options)
        assert ran.code == 2
        assert said in ran.err
    assert not (tmp_path / "kept").exists()
