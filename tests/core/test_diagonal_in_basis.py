"""Preconditioners of Newton systems."""

from __future__ import annotations

import numpy as np
import pytest

from mrfit import Structure
from mrfit.core.diagonal_in_basis import UncorrelatedFeatures
from mrfit.parameterizations.canonical import Canonical
from populations import SHAPES, STRUCTURES, domain_of, pseudo_likelihood, random_rows


def regression(design: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """The Hessian of a weighted regression on a constant and these features."""
    features = np.column_stack([np.ones(len(design)), design])
    return features.T @ (weight[:, None] * features)


def test_uncorrelated_features_are_divided_by_exactly(rng: np.random.Generator) -> None:
    """All combinations of two features, each as often as its frequencies say."""
    design = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], float)
    weight = np.outer([0.1, 0.9], [0.3, 0.7]).ravel()
    hessian = regression(design, weight)
    features = UncorrelatedFeatures(3, np.arange(3), np.zeros(3, np.int64))
    divide = features.at(hessian.diagonal()).division(np.zeros(3))
    np.testing.assert_allclose(np.stack([divide(column) for column in hessian]), np.eye(3), atol=1e-12)


def test_a_feature_that_is_always_there_is_divided_by_all_the_same() -> None:
    hessian = regression(np.ones((4, 1)), np.ones(4))
    divide = UncorrelatedFeatures(2, np.arange(2), np.zeros(2, np.int64)).at(hessian.diagonal()).division(np.zeros(2))
    inverse = np.stack([divide(unit) for unit in np.eye(2)])
    assert np.isfinite(inverse).all()
    assert np.linalg.eigvalsh(inverse).min() > 0


def test_without_a_constant_the_curvature_stays_what_it_is() -> None:
    features = UncorrelatedFeatures(1, np.array([-1, 0]), np.zeros(2, np.int64))
    assert features.at(np.array([4.0, 2.0])).division(np.zeros(1))(np.ones(1)) == pytest.approx(0.5)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("structure", STRUCTURES)
def test_a_pseudo_likelihood_is_divided_by_something_positive(shape: str, structure: str, rng) -> None:
    """Structures need not have terms for single variables."""
    parameters = Canonical(domain_of(SHAPES[shape]), STRUCTURES[structure](len(SHAPES[shape])))
    found = pseudo_likelihood(random_rows(rng, SHAPES[shape], 200), parameters).expand(
        rng.normal(scale=0.3, size=parameters.n_parameters)
    )
    n = parameters.n_parameters
    divide = found.uncorrelated().division(np.zeros(n))
    inverse = np.stack([divide(unit) for unit in np.eye(n)]) if n else np.zeros((0, 0))
    np.testing.assert_allclose(inverse, inverse.T, atol=1e-9 * np.abs(inverse).max(initial=1.0))
    assert np.linalg.eigvalsh(inverse).min(initial=np.inf) > 0


def spread(matrix: np.ndarray) -> float:
    values = np.linalg.eigvals(matrix).real
    return float(values.max() / values.min())


def test_columns_that_are_mostly_in_one_state_hardly_spread_eigenvalues(rng: np.random.Generator) -> None:
    """Divided by its diagonal alone the Hessian would be many times worse to solve with."""
    n = 8
    rows = random_rows(rng, (2,) * n, 2000)
    often = (rng.random((2000, n)) < 0.9).astype(rows.codes.dtype)
    rows = type(rows).from_codes(rows.domain, often, np.ones(2000))
    pairs = Structure.from_edges(n, [(i, j) for i in range(n) for j in range(i)])
    found = pseudo_likelihood(rows, Canonical(rows.domain, pairs)).expand(np.zeros(n + n * (n - 1) // 2))
    hessian = found.hessian()
    divide = found.uncorrelated().division(np.zeros(len(hessian)))
    by_features = spread(np.stack([divide(column) for column in hessian], axis=1))
    by_diagonal = spread(hessian / found.diagonal()[:, None])
    assert by_features < 10
    assert by_diagonal > 10 * by_features
