"""`mrfit theory`: numbers of a tied model, in words and as JSON, and what it says to wrong input."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mrfit import MarkovNetwork
from mrfit.domain import Domain
from mrfit.parameterizations.canonical import Canonical
from mrfit.structure.structure import Structure
from mrfit.tying.groups import Groups
from mrfit.tying.theory import sample_size_hard, sample_size_soft

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
    assert "5 parameters, 2 groups (sizes 2, 3)" in ran.out
    lines = {line[:43].strip(): line[43:].split() for line in ran.out.splitlines()}
    assert lines["omega, largest distance within a group"] == ["0.1"]
    assert lines["alpha, smallest distance between groups"] == ["1.4"]
    assert lines["well separated (alpha > omega)"] == ["yes"]
    assert lines["harmless error of a parameter, Lemma 1"] == ["0.325", "0.35"]
    assert len(lines["rows that suffice, delta 0.05"]) == 2


def test_groups_that_overlap(shell: Shell, models: Path) -> None:
    ran = shell("theory", "overlapping.mrf")
    assert ran.code == 0
    assert "soft tying: the theorem promises nothing, for the groups are not separated" in ran.out
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


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["free.mrf"], "Fit it with --penalty tied, or cluster its parameters with --groups"),
        (["large.mrf"], "joint states"),
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
    ran = shell("theory", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert words in ran.err
    assert len(ran.err.splitlines()) == 1
