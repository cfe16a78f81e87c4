"""Ordered variables from the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

Shell = Callable[..., object]


@pytest.fixture
def likert(tmp_path: Path) -> Path:
    """Two questions that rise together and a job that has no order."""
    rng = np.random.default_rng(3)
    first = rng.integers(0, 3, 300)
    second = np.clip(first + rng.integers(-1, 2, 300), 0, 2)
    job = rng.integers(0, 3, 300)
    words = np.array(["rarely", "often", "always"])
    lines = [f"{words[a]},{b},{'abc'[c]}" for a, b, c in zip(first, second, job, strict=True)]
    (tmp_path / "likert.csv").write_text("\n".join(["mood,sleep,job", *lines]) + "\n")
    (tmp_path / "order.json").write_text(json.dumps({"mood": words.tolist()}))
    return tmp_path / "likert.csv"


def test_a_sign_for_a_pair(shell: Shell, likert: Path) -> None:
    """Names of parameters, signs of edges, and all commands after the fit."""
    ran = shell("fit", likert, "--ordered", "mood,sleep", "--states", "order.json", "-o", "m.mrf", "--quiet")
    assert ran.code == 0, ran.err
    document = shell("show", "m.mrf", "--json").document
    assert document["parameterization"] == {"name": "ordered", "ordered": ["mood", "sleep"]}
    assert document["domain"]["mood"] == ["rarely", "often", "always"]
    strongest, *others = document["strongest"]["2"]
    assert (strongest["name"], len(others)) == ("mood × sleep", 4)
    assert strongest["value"] > 0.5
    assert "job=b" in {other["name"].split(" × ")[1] for other in others}
    for command in (["score", "m.mrf", likert, "--metric", "ll"], ["query", "m.mrf", "--given", "mood=always"]):
        assert shell(*command).code == 0
    assert shell("fit", likert, "--like", "m.mrf", "--states", "order.json", "--quiet").code == 0


def test_words_without_an_order_are_refused(shell: Shell, likert: Path) -> None:
    """By everything that learns, in one line that says what to do."""
    for command in (
        ["fit", likert],
        ["stability", likert, "--resamples", "2"],
        ["compare-groups", likert, "--by", "job"],
    ):
        ran = shell(*command, "--ordered", "mood")
        assert (ran.code, ran.out) == (2, "")
        assert ran.err.startswith("mrfit: Variable 'mood' is to be ordered, but its states are words: 'always',")
        assert "--states" in ran.err
        assert len(ran.err.splitlines()) == 1
        assert shell(*command, "--ordered", "mood", "--states", "order.json").code == 0


def test_missing_as_a_state_has_no_place_in_an_order(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\n" + "1,1\n2,2\n3,1\n,2\n" * 5)
    assert "words: '1', '2', '3', 'missing'" in shell("fit", "t.csv", "--missing", "state", "--ordered", "all").err


def test_other_coordinates_have_no_scores(shell: Shell, likert: Path) -> None:
    ran = shell("fit", likert, "--ordered", "sleep", "--parameterization", "spectral")
    assert (ran.code, "--ordered has no effect here" in ran.err) == (2, True)
