"""What every objective promises: its value, derivatives of it, and the same bits on any number of threads."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings

from mrfit.data.unique_rows import UniqueRows
from mrfit.objectives.hessian import Matrix
from mrfit.objectives.objective import Objective
from mrfit.parameterizations.canonical import Canonical
from populations import OBJECTIVES, SHAPES, STRUCTURES, problems, random_rows

Problem = tuple[UniqueRows, Canonical, np.ndarray]
Build = Callable[..., Objective]

every_objective = pytest.mark.parametrize("build", OBJECTIVES.values(), ids=lambda build: build.__name__)


def differences(objective: Objective, w: np.ndarray, step: float = 1e-5) -> tuple[np.ndarray, np.ndarray]:
    """Central differences of the value and, one row for each entry of w, of the gradient."""
    by_value, by_gradient = np.empty(len(w)), np.empty((len(w), len(w)))
    for k, move in enumerate(step * np.eye(len(w))):
        (above, gradient_above), (below, gradient_below) = (
            objective.value_and_gradient(w + sign * move) for sign in (1, -1)
        )
        by_value[k], by_gradient[k] = (above - below) / (2 * step), (gradient_above - gradient_below) / (2 * step)
    return by_value, by_gradient


@every_objective
@given(problem=problems())
@settings(max_examples=40)
def test_derivatives_equal_finite_differences(build: Build, problem: Problem) -> None:
    """The gradient is the derivative of the value, the Hessian that of the gradient."""
    rows, parameters, w = problem
    objective = build(rows, parameters)
    _, gradient = objective.value_and_gradient(w)
    by_value, by_gradient = differences(objective, w)
    np.testing.assert_allclose(gradient, by_value, rtol=1e-6, atol=1e-8)
    expansion = objective.expand(w)
    np.testing.assert_allclose(expansion.diagonal(), np.diag(by_gradient), rtol=1e-6, atol=1e-8)
    direction = np.cos(np.arange(len(w)))
    np.testing.assert_allclose(expansion.product(direction), direction @ by_gradient, rtol=1e-6, atol=1e-8)
    if expansion.explicit is not None:
        hessian = expansion.explicit.hessian()
        assert isinstance(hessian, Matrix)
        np.testing.assert_allclose(hessian.entries, by_gradient, rtol=1e-6, atol=1e-8)


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


@every_objective
@given(problem=problems())
@settings(max_examples=25)
def test_two_jobs_give_the_same_bits_as_one(build: Build, problem: Problem) -> None:
    """How variables are dealt to threads changes no sum."""
    rows, parameters, w = problem
    direction = np.sin(1.0 + np.arange(len(w)))
    answers = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("mrfit.objectives.conditional_loss._WORTH_A_THREAD", -1.0)
        patch.setattr("mrfit.objectives.tree_likelihood._WORTH_A_THREAD", 0)
        for jobs in (1, 2, 3):
            objective = build(rows, parameters, jobs=jobs)
            value, gradient = objective.value_and_gradient(w)
            expansion = objective.expand(w)
            answers.append((value, gradient, expansion.value, expansion.diagonal(), expansion.product(direction)))
    for other in answers[1:]:
        for mine, theirs in zip(answers[0], other, strict=True):
            np.testing.assert_array_equal(mine, theirs)
