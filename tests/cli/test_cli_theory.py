"""`mrfit theory`: numbers of a tied model, in words and as JSON, and what it says to wrong input."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mrfit import MarkovNetwork
from mrfit.core.domain import Domain
from mrfit.learning.tying.sample_complexity import sample_size_hard, sample_size_soft
from mrfit.parameterizations.canonical import Canonical
from mrfit.parameterizations.groups import Groups
from mrfit.structures.structure import Structure

Shell = Callable[..., Any]


def network(w: list[float], groups: Groups | None, n_variables: int = 3) -> MarkovNetwork:
    domain = Domain.from_states({f"x{i}": ["no", "yes"] for i in range(n_variables)})
    structure = Structure.from_scopes(n_variables, [(i, i + 1) for i in range(n_variables - 1)])
    return MarkovNetwork(Canonical(domain, structure), np.array(w), {}, groups)


@pytest.fixture
def models(tmp_path: Path) -> Path:
    """Models of every kind: tied softly, with overlapping groups, not tied, and with too many joint states."""
    w = [-1.0, -0.9, 0.5, 0.6, 0.5]
    network(w, Groups([0, 0, 1, 1, 1], [-0.95, 0.53])).save(tmp_path / "tied.mrf")
    network(w, Groups([0, 0, 0, 1, 1], [-0.5, 0.55])).save(tmp_path / "overlapping.mrf")
    network(w, Groups([0] * 5, [0.0])).save(tmp_path / "one.mrf")
    network(w, None).save(tmp_path / "free.mrf")
    network([0.0] * 59, Groups([0] * 59, [0.0]), 30).save(tmp_path / "large.mrf")
    return tmp_path


def test_numbers(shell: Shell, models: Path) -> None:
    ran = shell("theory", "tied.mrf", "--json", "--delta", 0.1, "--xi", 0.25)
    assert (ran.code, ran.err) == (0, "")
    found = ran.document
    assert (found["n_parameters"], found["n_groups"], found["group_sizes"]) == (5, 2, [2, 3])
    assert (found["omega"], found["alpha"], found["is_separated"]) == (pytest.approx(0.1), pytest.approx(1.4), True)
    omega, alpha, c_min = found["omega"], found["alpha"], found["c_min"]
    assert 0.0 < c_min < 0.25
    assert found["soft"]["n_samples"] == sample_size_soft(5, omega, alpha, c_min, 0.1)
    assert found["hard"]["n_samples"] == sample_size_hard(5, 2, alpha, c_min, 0.1)
    assert found["soft"]["largest_error"] == pytest.approx(0.325)
    assert found["hard"]["largest_error"] == pytest.approx(0.35)
    assert 0.0 < found["soft"]["largest_kmeans_error"] < 0.325
    assert found["soft"]["regularization"] > 0.0


def test_words(shell: Shell, models: Path) -> None:
    ran = shell("theory", "tied.mrf")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("5 parameters in 2 groups, well separated\nsizes of the groups: 2, 3\n")
    lines = {line[:43].strip(): line[43:].split() for line in ran.out.splitlines()}
    assert lines["omega, largest distance within a group"] == ["0.1"]
    assert lines["alpha, smallest distance between groups"] == ["1.4"]
    assert lines["well separated (alpha > omega)"] == ["yes"]
    assert lines["harmless error of a parameter, Lemma 1"] == ["0.325", "0.35"]
    assert len(lines["rows that suffice, delta 0.05"]) == 2


def test_groups_that_overlap(shell: Shell, models: Path) -> None:
    ran = shell("theory", "overlapping.mrf")
    assert ran.code == 0
    assert "soft tying: the theorem promises nothing, because the groups are not separated" in ran.words
    document = shell("theory", "overlapping.mrf", "--json").document
    assert document["soft"]["n_samples"] is None
    assert "alpha" in document["soft"]["reason"]


def test_one_group_has_no_distance_to_others(shell: Shell, models: Path) -> None:
    assert shell("theory", "one.mrf", "--json").document["alpha"] is None
    assert "infinite" in shell("theory", "one.mrf").out


def test_groups_by_clustering(shell: Shell, models: Path) -> None:
    tied = shell("theory", "tied.mrf", "--json").document
    assert shell("theory", "free.mrf", "--groups", 2, "--json").document == tied
    # Three single variables and two interactions: two groups of each.
    apart = shell("theory", "free.mrf", "--groups", 2, "--tie", "apart", "--json").document
    assert apart["group_sizes"] == [2, 1, 1, 1]
    assert apart["alpha"] == pytest.approx(0.1)


def test_the_pseudo_likelihood_over_all_joint_states(shell: Shell, models: Path) -> None:
    found = shell("theory", "tied.mrf", "--objective", "pseudo", "--json").document
    assert (found["objective"], found["notes"]) == ("pseudo-likelihood", [])
    assert found["curvature"] == {"over": "all joint states", "rows": 8, "exact": True}
    assert found["composition"] == {"n_parameters": 5, "n_together": 3, "n_conditionals": 2, "feature_range": 1.0}
    assert found["eigenvalue"] == {"value": found["c_min"], "method": "dense", "accuracy": 0.0}
    omega, alpha, c_min = found["omega"], found["alpha"], found["c_min"]
    assert found["soft"]["n_samples"] == pytest.approx(sample_size_soft(5, omega, alpha, c_min / 2, 0.05))
    assert found["soft"]["proven"]["n_samples"] < found["soft"]["n_samples"] < found["soft"]["n_samples_kmeans"]
    assert shell("theory", "tied.mrf", "--objective", "pseudo-likelihood", "--json").document == found
    exact = shell("theory", "tied.mrf", "--json").document
    assert (exact["objective"], exact["composition"]["n_conditionals"]) == ("likelihood", None)
    assert exact["c_min"] != c_min


def test_rows_in_proportion_give_what_all_joint_states_give(shell: Shell, tmp_path: Path) -> None:
    network([0.0] * 5, Groups([0] * 5, [0.0])).save(tmp_path / "fair.mrf")
    rows = [f"{a},{b},{c}" for a in ("no", "yes") for b in ("no", "yes") for c in ("no", "yes")]
    (tmp_path / "t.csv").write_text("\n".join(["x0,x1,x2", *rows, *rows]))
    by_rows = shell("theory", "fair.mrf", "t.csv", "--json").document
    listed = shell("theory", "fair.mrf", "--objective", "pseudo", "--json").document
    assert by_rows["curvature"] == {"over": "rows given", "rows": 16, "exact": False}
    assert by_rows["c_min"] == pytest.approx(listed["c_min"], rel=1e-12)
    assert "over 16 rows given: an estimate" in shell("theory", "fair.mrf", "t.csv").out


def test_a_network_too_large_for_the_likelihood(shell: Shell, models: Path) -> None:
    ran = shell("theory", "large.mrf", "--draws", 500)
    assert ran.code == 0
    (note,) = ran.notes
    assert "30 variables have too many joint states for the exact likelihood; the numbers are for" in note
    assert "of the pseudo-likelihood, over 500 exact draws: an estimate" in ran.out
    document = shell("theory", "large.mrf", "--draws", 500, "--json").document
    assert document["curvature"] == {"over": "exact draws", "rows": 500, "exact": False}
    assert "too many joint states" in document["notes"][0]
    other = shell("theory", "large.mrf", "--draws", 500, "--seed", 1, "--json").document
    assert document["c_min"] != other["c_min"] == pytest.approx(document["c_min"], rel=0.5)


def test_rows_in_which_nothing_varies_are_named(shell: Shell, models: Path) -> None:
    found = shell("theory", "large.mrf", "--draws", 1, "--json").document
    assert (found["c_min"], found["soft"]["n_samples"]) == (0.0, None)
    assert "over more rows it need not be" in found["notes"][1]


def test_a_network_of_a_thousand_variables(shell: Shell, tmp_path: Path) -> None:
    n = 1001
    assignment = np.arange(2 * n - 1) % 2
    w = np.array([-0.5, 0.5])[assignment]
    network(w.tolist(), Groups(assignment, [-0.5, 0.5]), n).save(tmp_path / "long.mrf")
    found = shell("theory", "long.mrf", "--draws", 2000, "--json").document
    assert found["n_parameters"] == 2001
    assert found["eigenvalue"]["method"] == "iterative"
    assert found["eigenvalue"]["accuracy"] <= 1e-5
    assert 0.0 < found["c_min"] < 0.1
    assert 1.0 < found["hard"]["proven"]["n_samples"] < found["soft"]["n_samples"]
    assert "of it: an estimate" in shell("theory", "long.mrf", "--draws", 2000).words


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["free.mrf"], "Fit it with --penalty tied, or cluster its parameters with --groups"),
        (["large.mrf", "--objective", "likelihood"], "joint states"),
        (["tied.mrf", "t.csv", "--objective", "likelihood"], "does not depend on rows"),
        (["tied.mrf", "t.csv"], "'maybe'"),
        (["tied.mrf", "absent.csv"], "absent.csv"),
        (["-", "-"], "standard input"),
        (["tied.mrf", "--objective", "both"], "--objective"),
        (["tied.mrf", "--draws", "0"], "--draws"),
        (["absent.mrf"], "absent.mrf"),
        (["tied.mrf", "--delta", "0"], "delta is 0.0"),
        (["tied.mrf", "--delta", "nan"], "delta is nan"),
        (["tied.mrf", "--xi", "1"], "xi is 1.0"),
        (["tied.mrf", "--groups", "0"], "--groups"),
        (["tied.mrf", "--tie", "some"], "--tie"),
        ([], "MODEL"),
    ],
)
def test_wrong_input_is_one_line_and_code_2(shell: Shell, models: Path, arguments: list[str], words: str) -> None:
    (models / "t.csv").write_text("x0,x1,x2\nno,no,yes\nyes,maybe,no\n")
    ran = shell("theory", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert words in ran.err
    assert len(ran.err.splitlines()) == 1
