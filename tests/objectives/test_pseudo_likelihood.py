"""The pseudo-likelihood against its definition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from mrfit.data.unique_rows import UniqueRows
from mrfit.parameterizations.canonical import Canonical
from populations import SHAPES, STRUCTURES, problems, pseudo_likelihood, random_rows
from reference import network


@given(problems())
@settings(max_examples=60)
def test_value_and_derivatives_equal_the_plain_twin(problem: tuple[UniqueRows, Canonical, np.ndarray]) -> None:
    """Value, gradient, Hessian products and diagonal are those of the definition."""
    rows, parameters, w = problem
    objective = pseudo_likelihood(rows, parameters)
    value, gradient = objective.value_and_gradient(w)
    assert value == pytest.approx(network.value(parameters, w, rows), rel=1e-12, abs=1e-13)
    np.testing.assert_allclose(gradient, network.gradient(parameters, w, rows), rtol=1e-11, atol=1e-13)
    expansion = objective.expand(w)
    hessian = network.hessian(parameters, w, rows)
    np.testing.assert_allclose(expansion.diagonal(), np.diag(hessian), rtol=1e-9, atol=1e-13)
    for direction in np.eye(len(w)):
        np.testing.assert_allclose(expansion.product(direction), hessian @ direction, rtol=1e-9, atol=1e-13)
    np.testing.assert_allclose(expansion.hessian(), hessian, rtol=1e-9, atol=1e-13)


@pytest.mark.parametrize("structure", STRUCTURES)
@pytest.mark.parametrize("shape", SHAPES)
def test_every_structure_on_every_shape(shape: str, structure: str, rng: np.random.Generator) -> None:
    """No combination of the named awkward cases falls out of the definition."""
    rows = random_rows(rng, SHAPES[shape], 9, fractional=True)
    parameters = Canonical(rows.domain, STRUCTURES[structure](len(rows.domain)))
    w = rng.standard_normal(parameters.n_parameters)
    objective = pseudo_likelihood(rows, parameters)
    value, gradient = objective.value_and_gradient(w)
    assert value == pytest.approx(network.value(parameters, w, rows), rel=1e-12, abs=1e-13)
    np.testing.assert_allclose(gradient, network.gradient(parameters, w, rows), rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("shape", ["binary", "mixed"])
def test_extreme_parameters_stay_finite_and_right(shape: str, rng: np.random.Generator) -> None:
    """Probabilities of exp(-100) neither overflow nor lose the value."""
    rows = random_rows(rng, SHAPES[shape], 20)
    parameters = Canonical(rows.domain, STRUCTURES["complete"](len(rows.domain)))
    for scale in (30.0, 300.0):
        w = scale * rng.standard_normal(parameters.n_parameters)
        objective = pseudo_likelihood(rows, parameters)
        value, gradient = objective.value_and_gradient(w)
        assert value == pytest.approx(network.value(parameters, w, rows), rel=1e-12)
        np.testing.assert_allclose(gradient, network.gradient(parameters, w, rows), rtol=1e-11, atol=1e-13)


def test_more_cells_than_a_block(rng: np.random.Generator) -> None:
    """Blocks of cells change nothing: a table of thousands of cells has the gradient of its row scores."""
    rows = random_rows(rng, (3,) + (2,) * 13, 3000, fractional=True)
    parameters = Canonical(rows.domain, STRUCTURES["complete"](len(rows.domain)))
    objective = pseudo_likelihood(rows, parameters)
    assert objective.cells.n_cells > 14 * 1024
    w = 0.3 * rng.standard_normal(parameters.n_parameters)
    dense = _dense(rows, parameters)
    value, gradient = objective.value_and_gradient(w)
    expected_value, expected_gradient = _dense_value_and_gradient(dense, w, rows)
    assert value == pytest.approx(expected_value, rel=1e-12)
    np.testing.assert_allclose(gradient, expected_gradient, rtol=1e-9, atol=1e-13)
    direction = rng.standard_normal(len(w))
    step = 1e-5
    ahead, behind = (objective.value_and_gradient(w + sign * step * direction)[1] for sign in (1, -1))
    expansion = objective.expand(w)
    np.testing.assert_allclose(expansion.product(direction), (ahead - behind) / (2 * step), atol=1e-8)
    np.testing.assert_allclose(expansion.hessian() @ direction, expansion.product(direction), rtol=1e-9, atol=1e-13)


def _dense(rows: UniqueRows, parameters: Canonical) -> list[np.ndarray]:
    """Features of every row with variable i in every state, (states, rows, parameters) for each i."""
    assigned = [parameters.assignment(k) for k in range(parameters.n_parameters)]
    tables = []
    for i, n_states in enumerate(rows.domain.shape):
        table = np.empty((n_states, rows.n_distinct, len(assigned)), bool)
        for s in range(n_states):
            codes = rows.codes.copy()
            codes[:, i] = s
            for k, pairs in enumerate(assigned):
                table[s, :, k] = np.logical_and.reduce([codes[:, j] == t for j, t in pairs])
        tables.append(table)
    return tables


def _dense_value_and_gradient(tables: list[np.ndarray], w: np.ndarray, rows: UniqueRows) -> tuple[float, np.ndarray]:
    value, gradient = 0.0, np.zeros(len(w))
    for i, table in enumerate(tables):
        z = table @ w
        log_p = z - np.logaddexp.reduce(z, axis=0)
        observed = rows.codes[:, i], np.arange(rows.n_distinct)
        value -= rows.sample_weight @ log_p[observed]
        residual = np.exp(log_p)
        residual[observed] -= 1.0
        gradient += np.einsum("sr,srk->k", residual * rows.sample_weight, table)
    return value / rows.total_weight, gradient / rows.total_weight
