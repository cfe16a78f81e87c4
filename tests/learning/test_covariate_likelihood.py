"""The exact likelihood given covariates, against its definition over all joint states."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import logsumexp

from mrfit import Learner, NoPenalty, UniqueRows
from mrfit.core.errors import InputError
from mrfit.learning import covariate_likelihood as conditional
from mrfit.learning.covariate_likelihood import ConditionalCoordinates
from mrfit.learning.fit_problem import FitProblem
from mrfit.learning.objective_specs import PSEUDO_LIKELIHOOD, LikelihoodSpec
from mrfit.model.markov_network import MarkovNetwork

SETTINGS: list[dict[str, Any]] = [
    {"objective": LikelihoodSpec("enumeration")},
    {"objective": LikelihoodSpec("tree")},
    {"objective": LikelihoodSpec(), "covariates_on_edges": True},
    {"objective": LikelihoodSpec(), "parameterization": "ordered"},
]
every_setting = pytest.mark.parametrize("settings", SETTINGS, ids=["enumeration", "tree", "edges", "ordered"])


@pytest.fixture
def rows(rng: np.random.Generator) -> UniqueRows:
    """Three variables between two covariates; all of them hang together."""
    common = rng.integers(0, 6, 600)
    columns = [np.where(rng.random(600) < 0.4, common, rng.integers(0, 6, 600)) % c for c in (2, 3, 2, 2, 3)]
    return UniqueRows.of(dict(zip(("y", "a", "b", "z", "c"), columns, strict=True)))


def _learner(settings: dict[str, Any]) -> Learner:
    return Learner(penalty=NoPenalty(), covariates=("y", "z"), tolerance=1e-8, **settings)


def _coordinates(settings: dict[str, Any], rows: UniqueRows) -> ConditionalCoordinates:
    learner = _learner(settings)
    coordinates = FitProblem(rows, learner.learn_structure(rows).structure, learner).coordinates
    assert isinstance(coordinates, ConditionalCoordinates)
    return coordinates


def _row_scores(coordinates: ConditionalCoordinates, w: np.ndarray, rows: UniqueRows) -> np.ndarray:
    """log p(a, b, c | y, z) of every row, over all states of a, b and c."""
    factors, codes = coordinates.parameters.to_factors(w), rows.codes.astype(np.int64)
    each = []
    for a, b, c in product(range(3), range(2), range(3)):
        x = codes.copy()
        x[:, 1], x[:, 2], x[:, 4] = a, b, c
        each.append(factors.log_potential(x))
    return np.asarray(factors.log_potential(codes) - logsumexp(each, axis=0))


def _differences(function: Any, w: np.ndarray) -> np.ndarray:
    step = 1e-5
    return np.array([(function(w + move) - function(w - move)) / (2 * step) for move in step * np.eye(len(w))])


@every_setting
def test_scores_and_derivatives_by_definition(
    settings: dict[str, Any], rows: UniqueRows, rng: np.random.Generator
) -> None:
    coordinates = _coordinates(settings, rows)
    w = 0.5 * rng.standard_normal(coordinates.n_parameters)
    objective, share = coordinates.objective(rows), rows.sample_weight / rows.total_weight
    scores = _row_scores(coordinates, w, rows)
    np.testing.assert_allclose(coordinates.row_scores(w, rows), scores, atol=1e-12)
    value, gradient = objective.value_and_gradient(w)
    assert value == pytest.approx(-share @ scores, abs=1e-12)
    by_row = -_differences(lambda at: _row_scores(coordinates, at, rows), w).T
    np.testing.assert_allclose(gradient, share @ by_row, atol=1e-8)
    np.testing.assert_allclose(coordinates.gradient_sums(w, rows, np.eye(rows.n_distinct)), by_row, atol=1e-8)
    products = coordinates.gradient_products(w, rows)
    np.testing.assert_allclose(products, by_row.T @ (share[:, None] * by_row), atol=1e-8)
    hessian = _differences(lambda at: objective.value_and_gradient(at)[1], w)
    np.testing.assert_allclose(objective.expand(w).hessian(), hessian, atol=1e-7)


@every_setting
def test_the_optimum_and_its_certificate(settings: dict[str, Any], rows: UniqueRows) -> None:
    fitted, coordinates = _learner(settings).fit(rows, errors="sandwich"), _coordinates(settings, rows)
    objective = coordinates.objective(rows)  # its gradient is checked above
    found = minimize(objective.value_and_gradient, np.zeros(coordinates.n_parameters), jac=True)
    assert fitted.best.train >= -found.fun - 1e-9
    assert fitted.best.solution.violation < 1e-8
    assert fitted.model.ll(rows) == pytest.approx(fitted.best.train, abs=1e-12)
    assert fitted.model.covariates == ("y", "z")
    assert fitted.model.errors is not None
    assert np.isfinite(fitted.model.errors.standard_errors).all()


def test_of_one_variable_it_is_the_pseudo_likelihood(rows: UniqueRows) -> None:
    alone = rows.on_columns([0, 1, 3])
    exact, pseudo = (
        _learner({"objective": objective}).fit(alone, errors="sandwich").model
        for objective in (LikelihoodSpec(), PSEUDO_LIKELIHOOD)
    )
    np.testing.assert_allclose(exact.w, pseudo.w, atol=1e-6)
    assert exact.errors is not None
    assert pseudo.errors is not None
    np.testing.assert_allclose(exact.errors.standard_errors, pseudo.errors.standard_errors, atol=1e-6)


def test_too_many_states_of_covariates_are_refused(rows: UniqueRows, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conditional, "MOST_CELLS", 71)
    with pytest.raises(InputError, match=r"4 joint states in the rows, and the exact likelihood takes 18 cells"):
        _learner(SETTINGS[0]).fit(rows)


def test_files_say_how_it_was_learned(rows: UniqueRows, tmp_path: Any) -> None:
    model = _learner(SETTINGS[1]).fit(rows).model
    model.save(tmp_path / "m.mrf")
    again = MarkovNetwork.load(tmp_path / "m.mrf")
    assert again.provenance["engine"] == "tree"
    assert Learner.from_dict(again.provenance["learner"]) == _learner(SETTINGS[1])
