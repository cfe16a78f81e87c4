"""What every objective promises: its value, derivatives of it, and the same bits on any number of threads."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings

from mrfit.data.unique_rows import UniqueRows
from mrfit.objectives.objective import Objective
from mrfit.parameterizations.canonical import Canonical
from populations import OBJECTIVES, SHAPES, STRUCTURES, penalized, problems, pseudo_likelihood, random_rows
from reference import network

Problem = tuple[UniqueRows, Canonical, np.ndarray]
Build = Callable[..., Objective]

every_objective = pytest.mark.parametrize("build", OBJECTIVES.values(), ids=lambda build: build.__name__)


def differences(function: Callable[[np.ndarray], np.ndarray], w: np.ndarray, step: float = 1e-5) -> np.ndarray:
    """Central differences of a function of w, one row for each entry of w."""
    moves = step * np.eye(len(w))
    shape = (len(w), *np.shape(function(w)))
    return np.array([(function(w + move) - function(w - move)) / (2 * step) for move in moves]).reshape(shape)


@given(problems())
@settings(max_examples=60)
def test_value_and_derivatives_equal_the_plain_twin(problem: Problem) -> None:
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


@every_objective
@given(problem=problems())
@settings(max_examples=40)
def test_derivatives_equal_finite_differences(build: Build, problem: Problem) -> None:
    """The gradient is the derivative of the value, the Hessian that of the gradient."""
    rows, parameters, w = problem
    objective = build(rows, parameters)
    _, gradient = objective.value_and_gradient(w)
    by_value = differences(lambda at: objective.value_and_gradient(at)[0], w)
    np.testing.assert_allclose(gradient, by_value, rtol=1e-6, atol=1e-8)
    by_gradient = differences(lambda at: objective.value_and_gradient(at)[1], w)
    expansion = objective.expand(w)
    np.testing.assert_allclose(expansion.diagonal(), np.diag(by_gradient), rtol=1e-6, atol=1e-8)
    direction = np.cos(np.arange(len(w)))
    np.testing.assert_allclose(expansion.product(direction), direction @ by_gradient, rtol=1e-6, atol=1e-8)


@every_objective
@given(problem=problems())
@settings(max_examples=30)
def test_expansion_agrees_with_value_and_gradient(build: Build, problem: Problem) -> None:
    """Both ways of asking give the same answer."""
    rows, parameters, w = problem
    objective = build(rows, parameters)
    value, gradient = objective.value_and_gradient(w)
    expansion = objective.expand(w)
    assert expansion.value == pytest.approx(value, rel=1e-13)
    np.testing.assert_allclose(expansion.gradient, gradient, rtol=1e-12, atol=1e-12)


@every_objective
def test_an_expansion_owns_what_it_needs(build: Build, rng: np.random.Generator) -> None:
    """It stays what it was after evaluations and expansions elsewhere, and when its point is written to."""
    rows = random_rows(rng, SHAPES["mixed"], 30)
    parameters = Canonical(rows.domain, STRUCTURES["complete"](len(rows.domain)))
    objective = build(rows, parameters)
    w, direction = rng.standard_normal((2, parameters.n_parameters))
    expected = build(rows, parameters).expand(w.copy())
    expansion = objective.expand(w)
    objective.value_and_gradient(w + 1.0)
    objective.expand(w - 1.0).product(direction)
    w += 2.0
    assert expansion.value == expected.value
    np.testing.assert_array_equal(expansion.gradient, expected.gradient)
    np.testing.assert_array_equal(expansion.product(direction), expected.product(direction))
    np.testing.assert_array_equal(expansion.diagonal(), expected.diagonal())


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


@every_objective
@given(problem=problems())
@settings(max_examples=25)
def test_two_jobs_give_the_same_bits_as_one(build: Build, problem: Problem) -> None:
    """How variables are dealt to threads changes no sum."""
    rows, parameters, w = problem
    direction = np.sin(1.0 + np.arange(len(w)))
    answers = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("mrfit.objectives.pseudo_likelihood._WORTH_A_THREAD", -1.0)
        for jobs in (1, 2, 3):
            objective = build(rows, parameters, jobs=jobs)
            value, gradient = objective.value_and_gradient(w)
            expansion = objective.expand(w)
            answers.append((value, gradient, expansion.value, expansion.diagonal(), expansion.product(direction)))
    for other in answers[1:]:
        for mine, theirs in zip(answers[0], other, strict=True):
            np.testing.assert_array_equal(mine, theirs)


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
    np.testing.assert_allclose(objective.expand(w).product(direction), (ahead - behind) / (2 * step), atol=1e-8)


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


def test_penalty_stands_against_the_sum_over_rows(rng: np.random.Generator) -> None:
    """Penalized is the mean objective plus the penalty over the total weight."""
    rows = random_rows(rng, SHAPES["mixed"], 40, fractional=True)
    parameters = Canonical(rows.domain, STRUCTURES["complete"](len(rows.domain)))
    w = rng.standard_normal(parameters.n_parameters)
    with_penalty = penalized(rows, parameters, strength=3.0).value_and_gradient(w)[0]
    without = pseudo_likelihood(rows, parameters).value_and_gradient(w)[0]
    assert with_penalty - without == pytest.approx(1.5 * (w @ w) / rows.sample_weight.sum(), rel=1e-12)
