"""Features of canonical parameters, and how they look around the means of the data, against their definitions."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from mrfit.learning.chains.features import Features
from mrfit.parameterizations.canonical import Canonical
from populations import SHAPES, STRUCTURES, domain_of, random_rows
from reference.features import DenseLikelihood, feature_matrix
from reference.network import assignments

CASES = [(shape, structure) for shape in SHAPES for structure in STRUCTURES]


@pytest.mark.parametrize(("shape", "structure"), CASES)
def test_states_are_those_of_the_parameters(shape: str, structure: str) -> None:
    domain = domain_of(SHAPES[shape])
    parameters = Canonical(domain, STRUCTURES[structure](len(domain)))
    starts, variables, states = Features(parameters).states()
    found = [tuple(zip(variables[a:b].tolist(), states[a:b].tolist(), strict=True)) for a, b in pairwise(starts)]
    assert found == assignments(parameters)


@pytest.mark.parametrize(("shape", "structure"), CASES)
def test_means_are_those_of_the_rows(shape: str, structure: str, rng: np.random.Generator) -> None:
    """Rows have weights."""
    rows = random_rows(rng, SHAPES[shape], 50, fractional=True)
    parameters = Canonical(rows.domain, STRUCTURES[structure](len(rows.domain)))
    expected = DenseLikelihood(feature_matrix(parameters), rows).observed
    np.testing.assert_allclose(Features(parameters).means(rows).of_features, expected, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize(("shape", "structure"), CASES)
def test_values_are_those_of_the_rows(shape: str, structure: str) -> None:
    """Values are compared in every joint state."""
    domain = domain_of(SHAPES[shape])
    parameters = Canonical(domain, STRUCTURES[structure](len(domain)))
    everything = np.indices(domain.shape).reshape(len(domain), -1).T
    np.testing.assert_array_equal(Features(parameters).values(everything), feature_matrix(parameters))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("structure", ["complete", "order 3", "saturated", "tree"])
def test_centred_features_are_products_around_means(shape: str, structure: str, rng: np.random.Generator) -> None:
    """Centred features are prod (x_i - m_i) up to a constant, in structures closed under subsets."""
    rows = random_rows(rng, SHAPES[shape], 50, fractional=True)
    parameters = Canonical(rows.domain, STRUCTURES[structure](len(rows.domain)))
    means = Features(parameters).means(rows)
    matrix, of = feature_matrix(parameters), dict(zip(assignments(parameters), means.of_features, strict=True))
    columns = dict(zip(assignments(parameters), matrix.T, strict=True))
    found = matrix @ means.centring
    for column, states in zip(found.T, columns, strict=True):
        expected = np.prod([columns[(one,)] - of[(one,)] for one in states], axis=0)
        np.testing.assert_allclose(np.ptp(column - expected), 0.0, atol=1e-14)


@pytest.mark.parametrize("structure", STRUCTURES)
@pytest.mark.parametrize("shape", ["binary", "mixed", "a variable with one state"])
def test_the_gradient_in_centred_coordinates(shape: str, structure: str, rng: np.random.Generator) -> None:
    """The adjoint of centring takes it there: differences of the exact log-likelihood along each centred feature."""
    rows = random_rows(rng, SHAPES[shape], 50)
    parameters = Canonical(rows.domain, STRUCTURES[structure](len(rows.domain)))
    exact, centring = DenseLikelihood(feature_matrix(parameters), rows), Features(parameters).means(rows).centring
    w = rng.standard_normal(parameters.n_parameters)
    step = 1e-5
    differences = [
        (exact.value_and_gradient(w + step * each)[0] - exact.value_and_gradient(w - step * each)[0]) / (2 * step)
        for each in centring.toarray().T
    ]
    np.testing.assert_allclose(centring.T @ exact.value_and_gradient(w)[1], differences, atol=1e-8)


def test_variances_are_those_of_centred_features(rng: np.random.Generator) -> None:
    """Variances are those in the data, or under independence if larger; half a row is added to single variables."""
    rows = random_rows(rng, (2, 3, 2, 2), 80, fractional=True)
    parameters = Canonical(rows.domain, STRUCTURES["complete"](4))
    means = Features(parameters).means(rows)
    share = rows.sample_weight / rows.total_weight
    codes, of = rows.codes, dict(zip(assignments(parameters), means.of_features, strict=True))
    for found, states in zip(means.variances, assignments(parameters), strict=True):
        centred = np.prod([(codes[:, i] == s) - of[((i, s),)] for i, s in states], axis=0)
        spread = share @ centred**2 - (share @ centred) ** 2
        alone = [of[(one,)] * (1.0 - of[(one,)]) + 0.5 / rows.total_weight for one in states]
        assert found == pytest.approx(alone[0] if len(states) == 1 else max(spread, np.prod(alone)), rel=1e-10)
