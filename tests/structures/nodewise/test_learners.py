"""Pairwise learners as values: each has the settings that it uses, and JSON knows all of them in one form."""

from __future__ import annotations

import inspect
import json
from typing import Any

import numpy as np
import pytest

import mrfit
from mrfit import (
    EBIC,
    FixedStrength,
    ForwardSelection,
    GraphForwardSelection,
    HeldOut,
    JointForwardSelection,
    L1Path,
    Learned,
    Learner,
    MaxDegree,
    TheoryStrength,
    TopCoefficients,
)
from mrfit.core.errors import InputError
from mrfit.learning.serialization import from_plain, to_plain
from mrfit.structures.nodewise.pairwise_learner import PairwiseLearner
from populations import random_rows

LEARNERS = (ForwardSelection, GraphForwardSelection, L1Path, TopCoefficients, JointForwardSelection)
CHOICES = (EBIC, HeldOut, FixedStrength, TheoryStrength, MaxDegree)

# The short form, and the learner that it makes.
SHORT: list[tuple[dict[str, Any], PairwiseLearner]] = [
    ({}, ForwardSelection()),
    ({"max_degree": 5, "rule": "and"}, ForwardSelection(5, rule="and")),
    ({"price": 0.0, "forbid": [("a", "b")]}, ForwardSelection(threshold=0.0, forbid=(("a", "b"),))),
    ({"max_degree": 5, "price": "valid"}, ForwardSelection(5, HeldOut())),
    ({"max_degree": 5, "bound": "graph"}, GraphForwardSelection(5)),
    ({"bound": "joint", "with_tree": True}, JointForwardSelection(include_chow_liu_tree=True)),
    ({"max_degree": 5, "bound": "top", "tolerance": 1e-6}, TopCoefficients(5, tolerance=1e-6)),
    ({"max_degree": 5, "bound": "path"}, L1Path(MaxDegree(5))),
    ({"select": "ebic"}, L1Path()),
    ({"select": "ebic", "gamma": 0.5, "scale": "standard", "refit": True}, L1Path(EBIC(0.5, "standard", True))),
    ({"select": "valid", "rule": "and"}, L1Path(HeldOut(), rule="and")),
    ({"select": "strength", "select_strength": 20.0}, L1Path(FixedStrength(20.0))),
    ({"select": "theory", "theory": 2.0}, L1Path(TheoryStrength(2.0))),
]
every_short = pytest.mark.parametrize(("words", "learner"), SHORT, ids=[str(words) for words, _ in SHORT])


@every_short
def test_the_short_form_makes_the_learner(words: dict[str, Any], learner: PairwiseLearner) -> None:
    assert Learned(**words) == learner
    assert hash(Learned(**words)) == hash(learner)


@every_short
def test_files_hold_the_words_of_the_short_form(words: dict[str, Any], learner: PairwiseLearner) -> None:
    """Stored results and saved models have been written so; terse ones leave out defaults."""
    plain = json.loads(json.dumps(words))
    assert json.loads(json.dumps(to_plain(learner, terse=True))) == {"kind": "learned", **plain}
    assert from_plain({"kind": "learned", **plain}, Learner) == learner
    assert from_plain(json.loads(json.dumps(to_plain(learner))), Learner) == learner


def test_the_whole_form_of_files_stays_as_it_is() -> None:
    """Stored models and results contain this form, to the last byte."""
    before = (
        '{"kind": "learned", "max_degree": 15, "bound": "gain", "price": 3.84, "rule": "and", "select": "ebic", '
        '"gamma": 0.25, "scale": "standard", "refit": null, "select_strength": null, "theory": 0.2, '
        '"require": [["a", "b"]], "forbid": [], "with_tree": null, "tolerance": 1e-05}'
    )
    learner = L1Path(EBIC(scale="standard"), rule="and", require=[("a", "b")])
    assert json.dumps(to_plain(learner)) == before
    assert from_plain(json.loads(before), Learner) == learner


def test_a_file_may_hold_a_rule_where_it_makes_no_difference() -> None:
    assert from_plain({"kind": "learned", "bound": "graph", "rule": "and"}, Learner) == GraphForwardSelection()
    assert from_plain({"kind": "learned", "tolerance": 1e-9}, Learner) == ForwardSelection()


@pytest.mark.parametrize(
    ("kind", "idle"),
    [
        (ForwardSelection, "gamma"),
        (ForwardSelection, "select"),
        (ForwardSelection, "tolerance"),
        (GraphForwardSelection, "rule"),
        (GraphForwardSelection, "threshold"),
        (JointForwardSelection, "rule"),
        (JointForwardSelection, "tolerance"),
        (TopCoefficients, "threshold"),
        (TopCoefficients, "refit"),
        (L1Path, "max_degree"),
        (L1Path, "threshold"),
        (L1Path, "gamma"),
        (MaxDegree, "gamma"),
        (EBIC, "strength"),
        (HeldOut, "gamma"),
        (FixedStrength, "constant"),
        (TheoryStrength, "strength"),
    ],
)
def test_an_idle_setting_cannot_be_written(kind: Any, idle: str) -> None:
    with pytest.raises(TypeError, match=f"unexpected keyword argument '{idle}'"):
        kind(**{idle: 1})


@pytest.mark.parametrize("kind", [*LEARNERS, *CHOICES, Learned], ids=lambda kind: kind.__name__)
def test_no_constructor_has_more_than_ten_arguments(kind: Any) -> None:
    assert len(inspect.signature(kind).parameters) <= 10


@pytest.mark.parametrize("choice", ["ebic", EBIC, None])
def test_a_path_is_read_by_an_object(choice: Any) -> None:
    with pytest.raises(InputError, match=r"by an object such as EBIC\(\)"):
        L1Path(choice)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: MaxDegree(0), "at least 1; got 0"),
        (lambda: TopCoefficients(0), "at least 1; got 0"),
        (lambda: FixedStrength(0.0), "positive strength; got 0"),
        (lambda: FixedStrength(np.inf), "positive strength; got inf"),
        (lambda: TheoryStrength(0.0), "must be positive; got 0"),
        (lambda: EBIC(1.5), "between 0 and 1; got 1.5"),
        (lambda: EBIC(scale="log"), "no scale 'log'"),
        (lambda: L1Path(rule="xor"), "no rule 'xor'"),
        (lambda: ForwardSelection(threshold="valid"), r"HeldOut\(\) in Python"),
        (lambda: Learned(3, "path", select="theory"), "it needs select='degree'"),
    ],
)
def test_settings_out_of_range_are_refused(make: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        make()


@every_short
def test_validation_rows_matter_where_a_learner_says_so(
    words: dict[str, Any], learner: PairwiseLearner, rng: np.random.Generator
) -> None:
    """A learner that does not use them finds the same without."""
    assert learner.uses_valid is ("valid" in words.values() or words.get("bound") == "joint")
    if learner.uses_valid or learner.forbid:
        return
    rows, valid = random_rows(rng, (2,) * 4, 100), random_rows(rng, (2,) * 4, 40)
    assert learner.learn(rows, valid=valid).structure == learner.learn(rows).structure


def test_a_learner_at_one_strength_takes_what_the_other_has() -> None:
    pairs = {"require": [("a", "b")], "forbid": [("a", "c")]}
    assert L1Path.at(3.0, ForwardSelection(rule="and", **pairs)) == L1Path(FixedStrength(3.0), rule="and", **pairs)
    assert L1Path.at(3.0, GraphForwardSelection(**pairs)) == L1Path(FixedStrength(3.0), **pairs)
    assert L1Path.at(3.0, L1Path(tolerance=1e-7)).tolerance == 1e-7


def test_degrees_beyond_a_bound_are_explained_by_what_the_learner_does(rng: np.random.Generator) -> None:
    """The rule ``or`` is a reason only where regressions choose for themselves."""
    rows = random_rows(rng, (2,) * 4, 200)
    required = [("x0", "x1"), ("x0", "x2"), ("x0", "x3")]
    own, graph = (kind(1, require=required).learn(rows).remarks[0] for kind in (TopCoefficients, GraphForwardSelection))
    assert "the rule 'or' keeps" in own
    assert "required pairs were added" in own
    assert "the rule 'or'" not in graph
    assert "required pairs were added" in graph


def test_a_grid_search_sets_what_the_learner_has() -> None:
    estimator = mrfit.MarkovNetworkLearner(structure=L1Path())
    assert estimator.set_params(structure__select=EBIC(0.5)).get_params()["structure__select"] == EBIC(0.5)
    assert mrfit.MarkovNetworkLearner("learned").get_params()["structure__max_degree"] == 15
