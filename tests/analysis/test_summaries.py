"""Records of what there is to say: plain, frozen, ready for JSON."""

from __future__ import annotations

import json
from dataclasses import FrozenInstanceError
from typing import Any

import numpy as np
import pytest

from mrfit.analysis.model_card import ModelCard
from mrfit.analysis.score_record import ScoreSummary
from mrfit.analysis.spectrum.interaction_spectrum import interaction_spectrum, order_costs
from mrfit.analysis.spectrum.spectrum_record import SpectrumSummary
from mrfit.analysis.structure_record import StructureSummary
from mrfit.analysis.theory_record import CurvatureChoice, TheorySummary
from mrfit.core.errors import InputError
from mrfit.data.unique_rows import UniqueRows
from mrfit.learning import Learner
from mrfit.learning.penalty_specs import L1, L2
from mrfit.learning.tying_specs import SoftTied
from mrfit.model.markov_network import MarkovNetwork
from mrfit.structures.simple import (
    AllInteractions,
    ChowLiuTree,
    CompleteGraph,
    FixedStructure,
    Learned,
    NoInteractions,
    StructureLearner,
)
from mrfit.structures.structure import Structure
from populations import random_rows


def _rows(seed: int = 1, n_rows: int = 80) -> UniqueRows:
    return random_rows(np.random.default_rng(seed), (2, 2, 3, 2), n_rows)


def _all() -> dict[str, object]:
    rows = _rows()
    tied = Learner(penalty=SoftTied(groups=2, strength=(1.0, 5.0))).fit(rows, rows, test=rows)
    found = interaction_spectrum(rows, "pseudo-counts", folds=3)
    return {
        "fit": Learner().fit(rows),
        "tied fit": tied,
        "structure": StructureSummary.of(Learned(max_degree=2).learn(rows), rows, seconds=0.5),
        "spectrum": SpectrumSummary.of(found, order_costs(rows, max_order=1, folds=3), rows),
        "theory": TheorySummary.of(tied.model),
        "score": ScoreSummary.of("pll", np.array([-1.0, -3.0]), np.array([3.0, 1.0])),
        "card": ModelCard.of(tied.model),
    }


def test_every_summary_is_frozen_and_survives_json() -> None:
    for name, summary in _all().items():
        document = summary.to_dict()
        assert json.loads(json.dumps(document)).keys() == document.keys(), name
        with pytest.raises(FrozenInstanceError):
            summary.anything = 1


def test_the_best_fit_is_a_point_of_the_path() -> None:
    rows = _rows()
    fitted = Learner(penalty=L2((1.0, 10.0, 100.0))).fit(rows, _rows(2))
    document = fitted.to_dict()
    assert [point["strength"] for point in document["path"]] == [fit.strength for fit in fitted.fits]
    assert any(point.items() <= document.items() for point in document["path"])
    assert document["valid_pll"] == fitted.best.held_out == max(point["valid_pll"] for point in document["path"])


def test_a_score_is_a_weighted_mean() -> None:
    summary = ScoreSummary.of("ll", np.array([-1.0, -3.0]), np.array([3.0, 1.0]), dropped=2)
    assert summary.to_dict() == {"rows": 2, "ll": -1.5, "dropped": 2, "log_z_error": 0.0}
    assert summary.row_error == pytest.approx(np.sqrt(0.75 / 4))
    estimated = ScoreSummary.of("ll", np.array([-1.0, -3.0]), np.array([3.0, 1.0]), log_z_error=0.3)
    assert estimated.standard_error == pytest.approx(np.hypot(np.sqrt(0.75 / 4), 0.3))
    assert estimated.describe() == "-1.5 +- 0.5 nats a row (0.43 over rows, 0.3 of log Z)"


def test_theory_needs_groups() -> None:
    with pytest.raises(InputError, match="no groups"):
        TheorySummary.of(Learner().fit(_rows()).model)


def test_theory_takes_rows_under_the_domain_of_the_model() -> None:
    model = Learner(penalty=SoftTied(groups=2, strength=1.0)).fit(_dependent()).model
    found = TheorySummary.of(model, curvature=CurvatureChoice(rows=_dependent())).to_dict()
    assert (found["objective"], found["curvature"]["rows"]) == ("pseudo-likelihood", 200)


@pytest.mark.parametrize(
    ("choice", "words"),
    [
        ({"objective": "both"}, "no objective 'both'"),
        ({"n_draws": 0}, "0 draws"),
    ],
)
def test_wrong_choices_of_a_curvature(choice: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        CurvatureChoice(**choice)


def test_the_curvature_of_the_likelihood_takes_no_rows() -> None:
    with pytest.raises(InputError, match="does not depend on rows"):
        CurvatureChoice(objective="likelihood", rows=_rows())


@pytest.mark.parametrize(
    ("structure", "words"),
    [
        (CompleteGraph(), "all pairs"),
        (NoInteractions(), "no interactions"),
        (ChowLiuTree(), "a tree of most mutual information"),
        (AllInteractions(3), "all sets of up to 3 variables"),
        (AllInteractions(None), "all sets of variables"),
        (FixedStructure(Structure.complete(4)), "structure given (10 scopes)"),
        (FixedStructure(Structure.up_to_order(40, 40)), "all sets of variables"),
        (Learned(max_degree=5), "structure learned (at most 5 neighbours)"),
        (Learned(select="ebic"), "structure learned (by the EBIC, gamma 0.25)"),
        (Learned(select="valid"), "structure learned (by held-out rows)"),
        (Learned(select="strength", select_strength=20.0), "structure learned (at strength 20)"),
        (Learned(select="theory"), "structure learned (at the strength of theory)"),
    ],
)
def test_structures_in_words(structure: StructureLearner, words: str) -> None:
    assert structure.describe() == words


@pytest.mark.parametrize(
    ("learner", "valid", "words"),
    [
        (Learner(), False, "all pairs, l2, strength 1, by pseudo-likelihood"),
        (Learner(penalty=L2(3.0)), True, "all pairs, l2, strength 3, by pseudo-likelihood"),
        (
            Learner(Learned(max_degree=2), L1((1e-3, 1e6))),
            True,
            "structure learned (at most 2 neighbours), l1, strength 0.001 chosen on validation rows, by "
            "pseudo-likelihood",
        ),
        (
            Learner(penalty=SoftTied(groups=2, strength=(1e-3, 1e6)), folds=2),
            False,
            "all pairs, tied, strength 0.001, 2 groups chosen in cross-validation, by pseudo-likelihood",
        ),
    ],
    ids=["as it is", "nothing to choose", "held out", "folds"],
)
def test_a_card_says_how_its_model_was_learned(learner: Learner, valid: bool, words: str) -> None:
    rows = _dependent()
    model = learner.fit(rows, rows if valid else None).model
    assert ModelCard.of(model).learned == words


def _dependent() -> UniqueRows:
    first, row = np.random.default_rng(0).integers(0, 2, 200), np.arange(200)
    return UniqueRows.of(np.stack([first, first ^ (row % 9 == 0), first ^ (row % 7 == 0)], axis=1))


def _given(scopes: object) -> dict[str, object]:
    structure = {"kind": "structure", "n_variables": 3, "scopes": scopes}
    return {"kind": "Learner", "structure": {"kind": "given", "structure": structure}}


@pytest.mark.parametrize(
    "learner",
    [
        None,
        "l2",
        {"kind": "a part of tomorrow"},
        _given([[]]),
        _given([[[2**70]]]),
    ],
    ids=["none", "a word", "unknown", "an empty block", "too large a number"],
)
def test_a_card_of_a_model_from_elsewhere_says_nothing_of_learning(learner: object) -> None:
    model = Learner().fit(_rows()).model
    foreign = MarkovNetwork(model.parameters, model.w, {"penalty": {"name": "l2"}, "learner": learner})
    assert ModelCard.of(foreign).learned is None


def test_scores_whose_squares_overflow_have_an_error() -> None:
    weight = np.array([1.0, 3.0, 1.0])
    scores = np.array([-1.0, -2.0, -4.0])
    one, other = (ScoreSummary.of("pll", scale * scores, weight) for scale in (1.0, 1e200))
    assert other.row_error == pytest.approx(1e200 * one.row_error, rel=1e-12)
    assert ScoreSummary.of("pll", np.zeros(3), weight).row_error == 0.0
