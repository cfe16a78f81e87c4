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
    for command in (["score", "m.mrf", likert, "--metric", "ll"], ["query", "m.mrf", "--evidence", "mood=always"]):
        assert shell(*command).code == 0
    assert shell("fit", likert, "--like", "m.mrf", "--states", "order.json", "--quiet").code == 0


def test_own_scores(shell: Shell, likert: Path) -> None:
    """Own scores are shown, stored in the model and reused by --like; wrong ones are refused in one line."""
    words = ("--states", "order.json", "--penalty", "none", "--quiet")
    ran = shell("fit", likert, "--ordered", "mood=0,1,5", "--ordered", "sleep", *words, "-o", "m.mrf")
    assert ran.code == 0, ran.err
    assert "  scores of mood: 0, 1, 5\n" in shell("show", "m.mrf").out
    document = shell("show", "m.mrf", "--json").document
    assert document["parameterization"]["scores"] == {"mood": [0.0, 1.0, 5.0]}
    assert shell("fit", likert, "--like", "m.mrf", "--states", "order.json", "--quiet", "-o", "again.mrf").code == 0
    assert shell("show", "again.mrf", "--json").document["strongest"] == document["strongest"]
    shell("fit", likert, "--ordered", "all", "--ordered", "sleep=0,1,2", "--exclude", "job", *words, "-o", "usual.mrf")
    shell("fit", likert, "--ordered", "mood,sleep", "--exclude", "job", *words, "-o", "plain.mrf")
    usual, plain = (shell("show", file, "--json").document["strongest"] for file in ("usual.mrf", "plain.mrf"))
    assert usual == plain
    for text, said in (("sleep=0,1", "3 states"), ("sleep=2,1,0", "not fall"), ("slep=0,1,2", "'slep'")):
        ran = shell("fit", likert, "--ordered", text)
        assert (ran.code, len(ran.err.splitlines()), said in ran.err) == (2, 1, True)


def test_words_without_an_order_are_refused(shell: Shell, likert: Path) -> None:
    """Every command that learns refuses in one line that says what to do."""
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


@pytest.fixture
def coded(tmp_path: Path) -> Path:
    """Two questions with codes for refused answers, and two covariates that have no order."""
    rng = np.random.default_rng(1)
    first = rng.integers(1, 6, 400)
    second = np.clip(first + rng.integers(-1, 2, 400), 1, 5)
    first[:8], second[5:12] = -99, 77
    ages, sexes = np.array(["young", "mid", "old"])[rng.integers(0, 3, 400)], rng.choice(["f", "m"], 400)
    lines = [",".join(map(str, row)) for row in zip(first, second, sexes, ages, strict=True)]
    (tmp_path / "coded.csv").write_text("\n".join(["calm,tired,sex,age", *lines]) + "\n")
    return tmp_path / "coded.csv"


def test_codes_of_missing_answers_are_no_answers(shell: Shell, coded: Path) -> None:
    """-99 is not the lowest one: all commands that learn stop with the codes, and do what they then advise."""
    for command in (["fit"], ["stability", "--resamples", "2"], ["compare-groups", "--by", "sex"]):
        ran = shell(*command, coded, "--ordered", "calm,tired")
        assert (ran.code, ran.out, len(ran.err.splitlines())) == (2, "", 1)
        assert (
            "'calm' is to be ordered, but '-99' lies outside its scale (1 to 5), and so do codes of 'tired'" in ran.err
        )
        assert "--na-values -99,77" in ran.err
        cured = shell(*command, coded, "--ordered", "calm,tired", "--na-values", "-99,77", "--missing", "drop")
        assert cured.code == 0, cured.err
    states = {name: ["-99", "1", "2", "3", "4", "5", "77"] for name in ("calm", "tired")}
    (coded.parent / "states.json").write_text(json.dumps(states))
    assert shell("fit", coded, "--ordered", "calm,tired", "--states", "states.json", "--quiet").code == 0
    scores = "--ordered", "calm=0,1,2,3,4,5", "--ordered", "tired=1,2,3,4,5,6"
    assert shell("fit", coded, *scores, "--quiet").code == 0


READ = ("--na-values", "-99,77", "--missing", "drop", "--no-check", "--quiet", "-o", "m.mrf")


@pytest.mark.parametrize(
    "words",
    [
        ("coded.csv", "--ordered", "--exclude", "sex,age", *READ),
        ("--ordered", "coded.csv", "--exclude", "sex,age", *READ),
        ("--exclude", "sex,age", *READ, "coded.csv", "--ordered"),
        ("coded.csv", "--ordered", "all", "--exclude", "sex,age", *READ),
        ("coded.csv", "--ordered=all", "--exclude", "sex,age", *READ),
        ("coded.csv", "--ordered", "calm,tired", "--exclude", "sex,age", *READ),
        ("coded.csv", "--ordered", "calm", "--ordered", "tired", "--exclude", "sex,age", *READ),
        ("coded.csv", "--ordered", "all", "--covariates", "sex,age", *READ),
        ("coded.csv", "--covariates", "sex,age", "--ordered", *READ),
    ],
)
def test_ordered_alone_is_all_that_is_modelled(words: tuple[str, ...], shell: Shell, coded: Path) -> None:
    """Whatever follows it; covariates are not modelled, and may be words."""
    ran = shell("fit", *words)
    assert ran.code == 0, ran.err
    document = shell("show", "m.mrf", "--json").document
    assert document["parameterization"] == {"name": "ordered", "ordered": ["calm", "tired"]}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--ordered", "absent.csv"), "There is no file 'absent.csv'"),
        (("--ordered",), "Missing argument 'DATA...'"),
        (("coded.csv", "--ordered", "calmer"), "There is no variable 'calmer'"),
        (("coded.csv", "--ordered="), "holds an empty name"),
        (("coded.csv", "--ordered", "--penalties", "l1"), "--penalties"),
        (("coded.csv", "--ordered", "--covariates", "sex", "--exclude", "calm"), "'age' is to be ordered"),
    ],
)
def test_ordered_alone_hides_no_mistake(words: tuple[str, ...], said: str, shell: Shell, coded: Path) -> None:
    ran = shell("fit", *words)
    assert (ran.code, ran.out, len(ran.err.splitlines()), said in ran.err) == (2, "", 1, True), ran.err


def test_a_covariate_is_ordered_where_it_is_named(shell: Shell, coded: Path) -> None:
    (coded.parent / "order.json").write_text(json.dumps({"age": ["young", "mid", "old"]}))
    words = ("--covariates", "sex,age", "--states", "order.json", *READ)
    for ordered in (("--ordered", "calm,tired,age"), ("--ordered", "all", "--ordered", "age=0,1,3")):
        assert shell("fit", coded, *ordered, *words).code == 0
        document = shell("show", "m.mrf", "--json").document
        assert document["parameterization"]["ordered"] == ["calm", "tired", "age"]


def test_other_coordinates_have_no_scores(shell: Shell, likert: Path) -> None:
    ran = shell("fit", likert, "--ordered", "sleep", "--parameterization", "spectral")
    assert (ran.code, "--ordered has no effect here" in ran.err) == (2, True)


# -- covariates ----------------------------------------------------------------------------------------------------


@pytest.fixture
def survey(tmp_path: Path) -> Path:
    """cough and pain are independent given age, exactly: counts are products. Together they are not."""
    lines = []
    for age, often in (("young", 1), ("mid", 5), ("old", 9)):
        times = (10 - often, often)
        lines += [f"{a},{b},{age}" for a in (0, 1) for b in (0, 1) for _ in range(times[a] * times[b])]
    (tmp_path / "survey.csv").write_text("\n".join(["cough,pain,age", *lines]) + "\n")
    return tmp_path / "survey.csv"


def test_a_model_with_covariates(shell: Shell, survey: Path) -> None:
    """A model with covariates works from the fit to queries; the check uses the covariates of the rows."""
    ran = shell(
        "fit", survey, "--covariates", "age", "--penalty", "none", "--errors", "sandwich", "-o", "m.mrf", "--json"
    )
    assert ran.code == 0, ran.err
    assert ran.document["max_marginal_error"] < 0.01
    document = shell("show", "m.mrf", "--json").document
    assert document["covariates"] == document["given"] == ["age"]
    assert document["learned"].endswith("by pseudo-likelihood, covariates 'age'")
    assert "covariates 'age': the network is that of the other variables" in shell("show", "m.mrf").words
    asked = shell("query", "m.mrf", "--evidence", "age=old", "--ask", "cough", "--json")
    assert asked.code == 0, asked.err
    assert shell("sample", "m.mrf", "--rows", "5", "--evidence", "age=old", "-o", "s.csv").code == 0
    assert shell("score", "m.mrf", survey, "--metric", "ll").code == 0
    assert shell("check", "m.mrf", survey).code == 0
    assert shell("fit", survey, "--like", "m.mrf", "--quiet").code == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["query", "m.mrf", "--ask", "cough"], "give a state of 'age' as evidence"),
        (["query", "m.mrf", "--evidence", "age=old", "--ask", "age", "--quiet"], "conditional on the covariate 'age'"),
        (["sample", "m.mrf", "--rows", "5", "-o", "s.csv"], "give a state of 'age'"),
        (["logz", "m.mrf"], "give a state of 'age'"),
        (["convert", "m.mrf", "m.uai"], "not a distribution of all variables"),
        (["power", "m.mrf"], "conditional on 'age'"),
        (["fit", "survey.csv", "--covariates", "ages"], "There is no variable 'ages'"),
        (
            ["fit", "survey.csv", "--covariates-on-edges"],
            "--covariates-on-edges has no effect here: it needs --covariates",
        ),
        (
            ["fit", "survey.csv", "--covariates", "age", "--objective", "likelihood", "--penalty", "pseudo-counts"],
            "smooth",
        ),
        (["fit", "survey.csv", "--covariates", "age", "--structure", "tree"], "tree is neither"),
    ],
)
def test_questions_without_an_answer(arguments: list[str], said: str, shell: Shell, survey: Path) -> None:
    """One line, and nothing is written."""
    assert shell("fit", survey, "--covariates", "age", "-o", "m.mrf", "--quiet").code == 0
    ran = shell(*arguments)
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err
    assert len(ran.err.splitlines()) == 1
    assert not list(survey.parent.glob("*.uai"))
    assert not (survey.parent / "s.csv").exists()


def test_earlier_names_of_the_options(shell: Shell, survey: Path) -> None:
    """Earlier names act as the new ones, and one line each names the new one."""
    ran = shell("fit", survey, "--covariates", "age", "--covariates-on-edges", "-o", "new.mrf", "--quiet")
    assert (ran.code, ran.err) == (0, "")
    ran = shell("fit", survey, "--given=age", "--given", "age", "--given-edges", "-o", "old.mrf", "--quiet")
    assert ran.code == 0
    assert ran.notes == [
        "mrfit: --given is now --covariates; the old name goes with the next release.",
        "mrfit: --given-edges is now --covariates-on-edges; the old name goes with the next release.",
    ]
    assert (survey.parent / "old.mrf").read_bytes() == (survey.parent / "new.mrf").read_bytes()
    for command in ("structure", "stability", "compare-groups", "power"):
        assert "is now --covariates" in shell(command, "absent.csv", "--given", "age").err
        assert "--given" not in shell(command, "--help-all").out


def test_a_structure_with_covariates(shell: Shell, survey: Path) -> None:
    """cough and pain hang together by age alone."""
    joined, with_covariates = (
        {(edge["source"], edge["target"]) for edge in shell(*command, "--json").document["edges"]}
        for command in (
            ["structure", survey, "--exclude", "age"],
            ["structure", survey, "--covariates", "age", "--max-degree", "1"],
        )
    )
    assert joined == {("cough", "pain")}
    assert with_covariates == {("cough", "age"), ("pain", "age")}
    assert "would choose among them" in shell("structure", survey, "--covariates", "age", "--select", "ebic").err
    assert "There is no variable 'aged'" in shell("structure", survey, "--covariates", "aged").err
