"""Numbers from data and bootstrap samples in a model: they round-trip, and misfits are refused."""

from __future__ import annotations

from dataclasses import replace
from math import inf, isnan
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mrfit import L2, MarkovNetwork, learn
from mrfit.analysis.nodes.observed_numbers import Observed
from mrfit.analysis.nodes.predictability import Predictability
from mrfit.analysis.stability.stability_file import EdgeStability
from mrfit.core.errors import InputError
from mrfit.core.rounding import with_error
from mrfit.data.unique_rows import UniqueRows
from mrfit.explorer.document import Document
from mrfit.learning import Learner
from mrfit.learning.objective_specs import LikelihoodSpec
from mrfit.structures.simple import CompleteGraph
from populations import domain_of, random_rows

STABILITY = {(0, 1): EdgeStability(0.5, -inf, 1.25), (1, 2): EdgeStability(1.0, 0.1, 0.2)}


@pytest.fixture
def rows(rng: np.random.Generator) -> UniqueRows:
    return random_rows(rng, (2, 3, 2), 40)


@pytest.fixture
def model(rows: UniqueRows) -> MarkovNetwork:
    return learn(rows).model


def test_frequencies_and_predictability_are_those_of_the_rows(model: MarkovNetwork, rows: UniqueRows) -> None:
    observed = Observed.of(model, rows=rows)
    assert observed.variables is not None
    for i, of in enumerate(observed.variables):
        weight = [rows.sample_weight[rows.codes[:, i] == s].sum() for s in range(rows.domain[i].n_states)]
        np.testing.assert_allclose(of.frequency, np.array(weight) / rows.total_weight)
    explained = Predictability.of(model.factors, rows).explained_deviance
    np.testing.assert_array_equal([of.explained for of in observed.variables], explained)
    assert observed.scores[0].value == model.pll(rows)
    assert observed.edges is None


def test_a_file_keeps_it(model: MarkovNetwork, rows: UniqueRows, tmp_path: Path) -> None:
    observed = Observed.of(model, rows=rows, stability=STABILITY)
    observed.added_to(model).save(tmp_path / "m.mrf")
    loaded = MarkovNetwork.load(tmp_path / "m.mrf")
    assert Observed.kept_with(loaded) == observed
    assert loaded.provenance.keys() - model.provenance.keys() == {"observed"}


def test_learning_leaves_frequencies_and_the_score_that_chose(rows: UniqueRows) -> None:
    valid = UniqueRows.from_codes(rows.domain, rows.codes[:5], np.ones(5))
    fitted = learn(rows, valid=valid, penalty=L2((1.0, 10.0)))
    observed = Observed.in_learning(fitted, rows, valid)
    (score,) = observed.scores
    assert (score.value, score.rows, score.measure) == (fitted.best.held_out, valid.n_rows, "pll")
    assert observed.describe() == f"frequencies, pll {score.value:.6g} of 5 rows"
    whole = Observed.of(fitted.model, rows=rows).variables
    assert observed.variables is not None
    assert whole is not None
    assert [of.frequency for of in observed.variables] == [of.frequency for of in whole]
    assert Observed.in_learning(learn(rows), rows, None).scores == ()


def test_what_does_not_vary_is_not_explained(rng: np.random.Generator) -> None:
    rows = UniqueRows.from_codes(domain_of((2, 2)), np.array([[0, 0], [0, 1]], np.uint8), np.ones(2))
    model = learn(rows).model
    kept = Observed.kept_with(Observed.of(model, rows=rows).added_to(model)).variables
    assert kept is not None
    assert isnan(kept[0].explained)
    assert kept[1].frequency == (0.5, 0.5)


def test_a_model_without_it_and_entries_of_others_say_nothing(model: MarkovNetwork) -> None:
    assert Observed.kept_with(model) == Observed()
    for entry in ("in 1978", {"rows": 3}, None):
        assert Observed.kept_with(replace(model, provenance={"observed": entry})) == Observed()


@pytest.mark.parametrize(
    "damage",
    [
        {"variables": {"v0": {"frequency": [0.5, 0.5], "explained": 0.1}}},
        {"edges": [["v0", "nobody", 1.0, 0.0, 1.0]]},
        {"edges": [["v0", "v1", "often", 0.0, 1.0]]},
        {"scores": [{"value": 1.0}]},
        {"scores": 3},
    ],
    ids=str,
)
def test_what_does_not_fit_is_refused(model: MarkovNetwork, rows: UniqueRows, damage: dict[str, Any]) -> None:
    told = Observed.of(model, rows=rows, stability=STABILITY).to_dict(model.domain.names)
    with pytest.raises(InputError, match=r"observed|variable"):
        Observed.kept_with(replace(model, provenance={"observed": {**told, **damage}}))


def test_a_score_by_an_estimated_log_z_keeps_its_error(rng: np.random.Generator) -> None:
    """The error is in the model's file, in its summary and on the page."""
    rows, valid = (random_rows(rng, (2,) * 6, 200) for _ in range(2))
    fitted = Learner(CompleteGraph(), L2(3.0), LikelihoodSpec("chains")).fit(rows, valid)
    observed = Observed.in_learning(fitted, rows, valid)
    (score,) = observed.scores
    assert score.error == fitted.model.known_log_z_error > 0.0
    model = observed.added_to(fitted.model)
    assert Observed.kept_with(model) == observed
    assert f"ll {with_error(score.value, score.error)} of 200 rows" in observed.describe()
    assert Document.of(model, title="model").content["scores"][0]["error"] == score.error
