"""The likelihood on a junction tree against the one over all joint states, and its rough Hessian."""

from __future__ import annotations

import numpy as np
import pytest

from mrfit.core.errors import InputError
from mrfit.data.unique_rows import UniqueRows
from mrfit.inference.exact.tree_states import TreeStates, plan_tree_states
from mrfit.objectives import feature_covariance
from mrfit.objectives.feature_covariance import independent_covariance, observed_covariance
from mrfit.objectives.likelihood import Likelihood
from mrfit.objectives.tree_likelihood import TreeLikelihood
from mrfit.parameterizations.canonical import Canonical
from mrfit.parameterizations.spectral import Spectral
from mrfit.structures.structure import Structure
from populations import SHAPES, STRUCTURES, all_parameterizations, domain_of, random_rows
from reference.features import feature_matrix

UNSATURATED = [name for name in STRUCTURES if name != "saturated"]


@pytest.mark.parametrize("shape", SHAPES.values(), ids=list(SHAPES))
@pytest.mark.parametrize("structure", UNSATURATED)
def test_it_is_the_likelihood_over_all_joint_states(
    shape: tuple[int, ...], structure: str, rng: np.random.Generator
) -> None:
    """Value, gradient, Hessian and dual, in all coordinates."""
    rows = random_rows(rng, shape, 20, fractional=True)
    for parameters in all_parameterizations(rows.domain, STRUCTURES[structure](len(shape)), rng):
        w, v = rng.standard_normal((2, parameters.n_parameters))
        tree, every = TreeLikelihood(parameters, rows), Likelihood(parameters, rows)
        value, gradient = tree.value_and_gradient(w)
        mine, theirs = tree.expand(w), every.expand(w)
        assert value == mine.value == pytest.approx(theirs.value, rel=1e-12, abs=1e-13)
        for found in (gradient, mine.gradient):
            np.testing.assert_allclose(found, theirs.gradient, atol=1e-13)
        np.testing.assert_allclose(mine.diagonal(), theirs.diagonal(), atol=1e-13)
        np.testing.assert_allclose(mine.product(v), theirs.product(v), atol=1e-8)
        np.testing.assert_array_equal(mine.product(np.zeros_like(v)), 0.0)
        assert mine.dual is not None
        assert theirs.dual is not None
        for t in (0.0, 0.3, 0.999, 1.0):
            assert mine.dual(t) == pytest.approx(theirs.dual(t), rel=1e-11, abs=1e-12)


@pytest.mark.parametrize("scale", [1.0, 300.0])
def test_large_parameters_lose_nothing(scale: float, rng: np.random.Generator) -> None:
    """The pass is repeated in logarithms if scaled numbers might underflow."""
    rows = random_rows(rng, (2,) * 8, 30)
    parameters = Canonical(rows.domain, STRUCTURES["tree"](8))
    w = scale * rng.standard_normal(parameters.n_parameters)
    value, gradient = TreeLikelihood(parameters, rows).value_and_gradient(w)
    expected, slope = Likelihood(parameters, rows).value_and_gradient(w)
    assert value == pytest.approx(expected, rel=1e-12)
    np.testing.assert_allclose(gradient, slope, atol=1e-12)


def test_rows_beyond_a_chunk_count_too(rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows are gone through in pieces, which changes nothing."""
    rows = random_rows(rng, SHAPES["mixed"], 50)
    parameters = Canonical(rows.domain, STRUCTURES["complete"](4))
    states = TreeStates(parameters)
    shares, w = states.shares(rows), rng.standard_normal(parameters.n_parameters)
    scores = states.log_potentials(w, rows)
    covariance = observed_covariance(states, rows, np.arange(rows.n_distinct))
    monkeypatch.setattr("mrfit.inference.exact.row_tables._CHUNK", 40)
    np.testing.assert_allclose(states.shares(rows), shares, rtol=1e-14)
    np.testing.assert_allclose(states.log_potentials(w, rows), scores, rtol=1e-14)
    np.testing.assert_allclose(
        observed_covariance(states, rows, np.arange(rows.n_distinct)), covariance, rtol=1e-12, atol=1e-15
    )


def _dense_features(parameters: object, codes: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    return feature_matrix(parameters)[np.ravel_multi_index(tuple(codes.T.astype(int)), shape)]  # type: ignore[arg-type]


@pytest.mark.parametrize("dense", [0.0, 2.0], ids=["as matrices", "as sparse ones"])
def test_the_observed_covariance_is_that_of_the_rows(
    dense: float, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feature_covariance, "_DENSE", dense)
    rows = random_rows(rng, SHAPES["mixed"], 40, fractional=True)
    for parameters in all_parameterizations(rows.domain, STRUCTURES["order 3"](4), rng):
        features = _dense_features(parameters, rows.codes, rows.domain.shape)
        expected = np.cov(features.T, aweights=rows.sample_weight, ddof=0)
        found = observed_covariance(TreeStates(parameters), rows, np.arange(rows.n_distinct))
        np.testing.assert_allclose(found, expected, atol=1e-13)


def test_the_independent_covariance_is_that_of_independent_variables(rng: np.random.Generator) -> None:
    """Variables have two states; frequencies are those of the rows, smoothed by half a row."""
    shape = (2, 2, 2, 2)
    rows = random_rows(rng, shape, 40)
    codes = np.stack(np.unravel_index(np.arange(16), shape), axis=1)
    frequency = (rows.sample_weight @ rows.codes + 0.25) / (rows.total_weight + 0.5)
    p = np.where(codes, frequency, 1.0 - frequency).prod(axis=1)
    for parameters in all_parameterizations(rows.domain, STRUCTURES["order 3"](4), rng):
        features = _dense_features(parameters, codes, shape)
        expected = np.cov(features.T, aweights=p, ddof=0)
        np.testing.assert_allclose(independent_covariance(TreeStates(parameters), rows), expected, atol=1e-13)


def test_the_rough_hessian_is_positive_definite(rng: np.random.Generator) -> None:
    """Also with one row, and with states that never occur."""
    for n_rows in (1, 3, 50):
        rows = random_rows(rng, SHAPES["mixed"], n_rows)
        for kind in (Canonical, Spectral):
            matrix = TreeLikelihood(kind(rows.domain, STRUCTURES["chain"](4)), rows).rough_hessian()
            assert matrix is not None
            assert np.linalg.eigvalsh(matrix).min() > 0


def test_more_parameters_than_are_worth_a_matrix_have_none(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feature_covariance, "_MOST_PARAMETERS", 5)
    rows = random_rows(rng, SHAPES["mixed"], 20)
    assert TreeLikelihood(Canonical(rows.domain, STRUCTURES["chain"](4)), rows).rough_hessian() is None


def test_a_plan_that_does_not_fit_is_refused_with_its_figures() -> None:
    """The check comes before any allocation."""
    domain = domain_of((2,) * 60)
    parameters = Canonical(domain, Structure.complete(60))
    assert not plan_tree_states(parameters).fits
    rows = UniqueRows.from_codes(domain, np.zeros((1, 60), np.uint8), np.ones(1))
    with pytest.raises(InputError, match=r"The exact likelihood needs cliques of .* 60 variables .*pseudo-likelihood"):
        TreeLikelihood(parameters, rows)
