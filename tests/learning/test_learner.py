"""Learners as values: through JSON and back, repeated from a model, and honest about what they were chosen by."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from mrfit.core.errors import InputError
from mrfit.data.dataset import Dataset
from mrfit.data.unique_rows import UniqueRows
from mrfit.learning import Learner
from mrfit.learning.fit_problem import FitProblem
from mrfit.learning.objective_specs import LIKELIHOOD, LOG_RISE
from mrfit.learning.penalty_specs import L1, L2, GroupLasso
from mrfit.learning.serialization import to_plain
from mrfit.learning.specification import learn
from mrfit.learning.tying.stochastic_tying import Stochastic
from mrfit.learning.tying_specs import HardTied, LearnTieRelearn, SoftTied
from mrfit.registry import OBJECTIVES, PENALTIES, SOLVERS, STRUCTURES
from mrfit.solvers.lbfgs import LBFGS
from mrfit.structures.simple import AllInteractions, ChowLiuTree, FixedStructure, Learned, NoInteractions
from mrfit.structures.structure import Structure
from populations import domain_of, random_rows

LEARNERS = {
    "plain": Learner(),
    "every setting": Learner(
        AllInteractions(3), L1((3.0, 1.0), (1,), search="hierarchical"), LIKELIHOOD, "canonical", "x0=s1", None, 1e-7,
        50, folds=3, patience=2, seed=9,
    ),
    "all sets": Learner(AllInteractions(None), GroupLasso(2.0), LIKELIHOOD, "spectral"),
    "tree, tied": Learner(
        ChowLiuTree(), SoftTied(1.0, groups=2, restarts=1, tie="apart", pin_zero=True), solver=LBFGS()
    ),
    "stochastic": Learner(penalty=HardTied(1.0, groups=2, stochastic=Stochastic(20, 3, 5), relearn="projected")),
    "given": Learner(FixedStructure(Structure.from_scopes(5, [(0, 1, 2), (3, 4)])), LearnTieRelearn(1.0, groups=3)),
    "given, all sets": Learner(FixedStructure(Structure.up_to_order(5, 5)), L2(2.0), LIKELIHOOD),
    "learned": Learner(Learned(max_degree=2, rule="and", require=[("x0", "x1")]), L2((1.0, 10.0)), folds=2),
    "screening": Learner(AllInteractions(3), L1(2.0), LOG_RISE, "spectral", folds=2),
}  # fmt: skip
every_learner = pytest.mark.parametrize("learner", LEARNERS.values(), ids=LEARNERS)


@every_learner
def test_a_learner_survives_json_and_learns_the_same_bits(learner: Learner) -> None:
    again = Learner.from_json(learner.to_json())
    assert again.to_dict() == learner.to_dict() == json.loads(learner.to_json())
    rows = random_rows(np.random.default_rng(1), (2, 2, 3, 2, 2), 80)
    once, twice = learner.fit(rows), again.fit(rows)
    np.testing.assert_array_equal(once.model.w, twice.model.w)
    assert [fit.held_out for fit in once.fits] == [fit.held_out for fit in twice.fits]


@every_learner
def test_a_model_says_how_it_was_learned(learner: Learner) -> None:
    rows = random_rows(np.random.default_rng(1), (2, 2, 3, 2, 2), 80)
    model = learner.fit(rows).model
    again = Learner.from_dict(json.loads(json.dumps(model.provenance["learner"])))
    np.testing.assert_array_equal(again.fit(rows).model.w, model.w)


def test_every_part_has_a_word_of_its_own() -> None:
    words = [*STRUCTURES, *PENALTIES, *OBJECTIVES, *SOLVERS]
    assert len(set(words)) == len(words)


@pytest.mark.parametrize("word", SOLVERS)
def test_a_solver_has_one_word_everywhere(word: str) -> None:
    """The word is the same in a learner's JSON and in a model's provenance."""
    penalty = "l1" if word in ("owlqn", "proximal-newton", "fista") else "l2"
    rows = random_rows(np.random.default_rng(1), (2, 2, 2), 80)
    provenance = learn(rows, penalty=penalty, solver=word).model.provenance
    assert provenance["solver"]["name"] == provenance["learner"]["solver"]["kind"] == word


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({}, "no 'kind'"),
        ({"kind": "complete"}, "A learner was expected; got a description of Complete"),
        ({"kind": "Learner", "penalty": {"kind": "l3"}}, "called 'l3'"),
        ({"kind": "Learner", "penalty": {"kind": "l2", "groups": 3}}, "'l2' has no setting 'groups'"),
        (
            {"kind": "Learner", "structure": {"kind": "given", "structure": {"kind": "structure"}}},
            "number of variables",
        ),
        ({"kind": "Learner", "penalty": {"kind": "l2", "strength": "much"}}, "strength must be a number; got 'much'"),
        ({"kind": "Learner", "tolerance": "small"}, "not a description of a learner"),
    ],
)
def test_descriptions_of_no_learner_are_refused(document: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Learner.from_dict(document)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"not JSON \(Expecting value: line 1 column 1"),
        ('{"kind": ', "not JSON .*expected what `to_json` of a learner gave"),
        ("[" * 100_000, "not JSON"),
        ("[]", "an object of its settings; got list"),
        ("3", "an object of its settings; got int"),
        ("null", "an object of its settings; got NoneType"),
        ('"Learner"', "an object of its settings; got str"),
        ('{"kind": "l1"}', "A learner was expected"),
        ('{"kind": "Learner", "fold": 3}', "'Learner' has no setting 'fold'; its settings are 'covariates'"),
        ('{"kind": "Learner", "folds": "3"}', "folds of a learner must be a whole number; got '3'"),
        ('{"kind": "Learner", "folds": true}', "folds of a learner must be a whole number; got True"),
        ('{"kind": "Learner", "seed": -1}', "The seed is -1; expected a whole number, 0 or larger"),
        ('{"kind": "Learner", "patience": 0}', "patience with a path must be at least 1; got 0"),
        ('{"kind": "Learner", "tolerance": null}', "tolerance of a learner must be a number; got None"),
        ('{"kind": "Learner", "structure": {"kind": "l2"}}', "structure of a learner must be a way to find one.*L2"),
        ('{"kind": "Learner", "penalty": "l1"}', "penalty of a learner must be a penalty.*got 'l1'"),
        ('{"kind": "Learner", "objective": "likelihood"}', "objective of a learner must be an objective"),
        ('{"kind": "Learner", "solver": "newton"}', "solver of a learner must be a solver.*got 'newton'"),
    ],
)
def test_text_that_is_no_learner_is_refused(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as refused:
        Learner.from_json(text)
    assert "\n" not in str(refused.value)


# -- cross-validation --------------------------------------------------------------------------------------------


def _noise(n_rows: int = 200, n_variables: int = 30) -> UniqueRows:
    codes = np.random.default_rng(5).integers(0, 2, (n_rows, n_variables)).astype(np.uint8)
    return UniqueRows.from_codes(domain_of((2,) * n_variables), codes, np.ones(n_rows))


def test_folds_of_noise_do_not_see_their_own_structure() -> None:
    """Fair coins: what was learned from the rows it is judged by beats independence; honest folds cannot."""
    rows = _noise()
    honest = Learner(Learned(max_degree=5), L2(1.0), folds=5).fit(rows).best.held_out
    alone = Learner(NoInteractions(), L2(1.0), folds=5).fit(rows).best.held_out
    leaking = (
        Learner(FixedStructure(Learned(max_degree=5).learn(rows).structure), L2(1.0), folds=5).fit(rows).best.held_out
    )
    assert honest is not None
    assert alone is not None
    assert leaking is not None
    assert honest < alone - 0.3
    assert leaking > alone


def test_every_fold_learns_its_own_structure(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[UniqueRows] = []
    learn = ChowLiuTree.learn
    monkeypatch.setattr(
        ChowLiuTree, "learn", lambda self, rows, **more: asked.append(rows) or learn(self, rows, **more)
    )
    rows = _noise(90, 4)
    Learner(ChowLiuTree(), L2((1.0, 10.0)), folds=3).fit(rows)
    assert [part.total_weight for part in asked] == [90.0, 60.0, 60.0, 60.0]


@pytest.mark.parametrize(
    "penalty", [SoftTied(1.0, groups=(2, 8, 40)), LearnTieRelearn((1.0, 5.0), groups=(3, 60)), L1()]
)
def test_folds_whose_structures_differ_walk_one_grid(penalty: Any) -> None:
    """Fewer parameters in a fold than groups in the grid; folds without any edge."""
    rows = _noise(60, 8)
    fitted = Learner(Learned(max_degree=1, rule="and"), penalty, folds=4).fit(rows)
    assert all(len(fit.fold_scores) == 4 for fit in fitted.fits)
    assert np.isfinite([fit.held_out for fit in fitted.fits]).all()


# -- what a comparison is worth ----------------------------------------------------------------------------------


def test_no_verdict_from_rows_that_chose() -> None:
    rows, valid, test = (random_rows(np.random.default_rng(k), (2,) * 6, 150) for k in range(3))
    learner = Learner(penalty=SoftTied((1.0, 10.0), groups=(2, 4)))
    chosen = learner.fit(rows, valid).gain
    assert chosen is not None
    assert (chosen.rows, chosen.is_real) == ("valid", None)
    folded = Learner(penalty=SoftTied((1.0, 10.0), groups=(2, 4)), folds=3).fit(rows).gain
    assert folded is not None
    assert (folded.rows, folded.is_real) == ("folds", None)
    judged = learner.fit(rows, valid, test=test)
    assert judged.gain is not None
    assert judged.gain.rows == "test"
    assert learner.fit(rows, valid, compared=False).gain is None
    assert judged.gain.is_real == (judged.gain.mean > 2.0 * judged.gain.standard_error)
    difference = judged.best.model.pll_rows(_table(test)) - judged.gain.l2.model.pll_rows(_table(test))
    weight = test.sample_weight
    assert judged.gain.mean == pytest.approx(np.average(difference, weights=weight), abs=1e-12)
    assert learner.fit(rows, valid).best.strength == judged.best.strength  # test rows choose nothing


def _table(rows: UniqueRows) -> Any:
    return Dataset(rows.domain, rows.codes)


def test_weights_that_are_no_counts_do_not_make_errors_small() -> None:
    """Survey weights of mean 100 are not a hundred times as many people; counts are."""
    rng = np.random.default_rng(0)
    rows, test = (random_rows(rng, (2,) * 5, 200) for _ in range(2))
    repeated = np.repeat(test.codes, test.sample_weight.astype(int), axis=0)
    learner = Learner()

    def error(weight: Any) -> float:
        score = learner.fit(rows, test=UniqueRows.from_codes(test.domain, repeated, weight)).test
        assert score is not None
        return score.standard_error

    ones, counts = np.ones(len(repeated)), np.full(len(repeated), 100.0)
    assert error(counts) == pytest.approx(error(ones) / 10.0)
    assert error(counts + 0.5) == pytest.approx(error(ones), rel=1e-9)
    uneven = rng.uniform(0.1, 3.0, len(repeated))
    assert error(uneven) > error(ones)


def test_effective_rows() -> None:
    codes = np.array([[0], [1], [0], [1]], np.uint8)
    domain = random_rows(np.random.default_rng(0), (2,), 5).domain

    def effective(*weight: float) -> float:
        return UniqueRows.from_codes(domain, codes, np.array(weight)).effective_rows

    assert effective(1, 1, 1, 1) == 4.0
    assert effective(3, 5, 1, 1) == 10.0
    assert effective(0.5, 0.5, 0.5, 0.5) == pytest.approx(4.0)
    assert effective(2.5, 0.5, 0.5, 0.5) == pytest.approx(16.0 / (2.5**2 + 0.75))
    rows = UniqueRows.from_codes(domain, codes, np.array([2.5, 0.5, 0.5, 0.5]))
    assert rows.on_columns([0]).effective_rows == rows.recoded(domain).effective_rows == rows.effective_rows


def test_the_end_of_a_grid_is_said() -> None:
    rows, valid = (random_rows(np.random.default_rng(k), (2,) * 5, 40) for k in range(2))
    ends = {
        strengths: Learner(penalty=L2(strengths)).fit(rows, valid).end_of_grid
        for strengths in ((1e-6, 1e-5), (1e-3, 30.0, 1e7), (1e4,))
    }
    assert list(ends.values()) == ["strongest", None, None]
    assert Learner(penalty=L1()).fit(rows, valid).end_of_grid is None  # a path, whose end was not the user's
    assert Learner(penalty=L2((1.0, 2.0))).fit(rows).end_of_grid is None  # nothing was chosen


def test_problems_are_values() -> None:
    """Problems with other scopes keep the rows and the learner."""
    rows = _noise(50, 4)
    problem = FitProblem(rows, Structure.complete(4), Learner())
    smaller = problem.on(Structure.independent(4))
    assert (problem.coordinates.n_parameters, smaller.coordinates.n_parameters) == (10, 4)


def test_terse_settings_are_those_that_differ() -> None:
    assert to_plain(Learner(), terse=True) == {"kind": "Learner"}
    assert to_plain(Learner(Learned(max_degree=5), L2(3.0), seed=2), terse=True) == {
        "kind": "Learner",
        "structure": {"kind": "learned", "max_degree": 5},
        "penalty": {"kind": "l2", "strength": 3.0},
        "seed": 2,
    }


def test_a_grid_describes_its_learner_once(rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    calls, to_dict = [], Learner.to_dict
    monkeypatch.setattr(Learner, "to_dict", lambda learner: calls.append(learner) or to_dict(learner))
    rows = random_rows(rng, (2, 2, 3), 60)
    fitted = Learner(penalty=L2((1.0, 10.0, 100.0))).fit(rows, rows)
    assert len(calls) == 1
    assert all(fit.model.provenance["learner"] == fitted.model.provenance["learner"] for fit in fitted.fits)
    violations = [fit.model.provenance["solver"]["violation"] for fit in fitted.fits]
    assert violations == [fit.solution.violation for fit in fitted.fits]


def test_another_structure_leaves_the_learner_as_it_is() -> None:
    learner = Learner(penalty=L2(3.0), seed=4)
    other = learner.with_structure(ChowLiuTree())
    assert other == replace(learner, structure=ChowLiuTree())
    assert learner == Learner(penalty=L2(3.0), seed=4)
