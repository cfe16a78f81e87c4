"""Results of methods against a plain twin; what all of them promise is in `mrfit.testing`."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from mrfit.data.unique_rows import UniqueRows
from mrfit.parameterizations.canonical import Canonical
from mrfit.solvers.method import Method
from mrfit.solvers.minimize import minimize
from mrfit.solvers.solution import Status
from populations import (
    METHODS,
    SHAPES,
    STRUCTURES,
    WITH_MOMENTUM,
    full_rows,
    penalized,
    pseudo_likelihood,
    random_rows,
)
from reference import network


def _each(names: set[str]) -> pytest.MarkDecorator:
    chosen = {name: method for name, method in METHODS.items() if name in names}
    return pytest.mark.parametrize("method", chosen.values(), ids=chosen.keys())


every_method = _each(set(METHODS))
every_descent_method = _each(set(METHODS) - WITH_MOMENTUM)

PROBLEMS = [
    ("binary", "complete"),
    ("binary", "order 3"),
    ("mixed", "complete"),
    ("mixed", "a triple without its parts"),
    ("a variable with one state", "tree"),
    ("one variable", "independent"),
]


def _problem(shape: str, structure: str) -> tuple[UniqueRows, Canonical]:
    rows = random_rows(np.random.default_rng(3), SHAPES[shape], 40, fractional=True)
    return rows, Canonical(rows.domain, STRUCTURES[structure](len(rows.domain)))


@cache
def _plain_newton(shape: str, structure: str, strength: float) -> np.ndarray:
    """The optimum by full Newton steps on the plain twin; from zero these problems need no step control."""
    rows, parameters = _problem(shape, structure)
    w, scale = np.zeros(parameters.n_parameters), strength / rows.total_weight
    for _ in range(30):
        gradient = network.gradient(parameters, w, rows) + scale * w
        if np.abs(gradient).max(initial=0.0) < 1e-13:
            break
        w = w - np.linalg.solve(network.hessian(parameters, w, rows) + scale * np.eye(len(w)), gradient)
    return w


@every_method
@pytest.mark.parametrize(("shape", "structure"), PROBLEMS)
def test_reaches_the_optimum_of_a_plain_newton_method(method: Method[Any], shape: str, structure: str) -> None:
    """One optimum for all methods, certified by its violation."""
    rows, parameters = _problem(shape, structure)
    objective = penalized(rows, parameters, strength=2.0)
    solution = minimize(objective, method, tolerance=1e-9)
    assert solution.status is Status.CONVERGED
    assert solution.converged
    assert solution.violation <= 1e-9
    at_solution = np.abs(objective.value_and_gradient(solution.w)[1]).max(initial=0.0)
    assert solution.violation == pytest.approx(at_solution, abs=1e-15)
    np.testing.assert_allclose(solution.w, _plain_newton(shape, structure, 2.0), atol=1e-7)
    assert solution.at_bound.size == 0


@every_descent_method
@pytest.mark.parametrize(("shape", "structure"), PROBLEMS)
def test_the_trace_descends(method: Method[Any], shape: str, structure: str) -> None:
    """Values never rise beyond rounding."""
    rows, parameters = _problem(shape, structure)
    values = np.array([record.value for record in minimize(penalized(rows, parameters), method, tolerance=1e-9).trace])
    assert (np.diff(values) <= 8 * np.finfo(float).eps * np.abs(values[:-1])).all()


@every_method
def test_bounds_that_do_not_bind_change_nothing(method: Method[Any]) -> None:
    """A start outside the bounds is brought in; the optimum inside is the free one."""
    objective = penalized(*_problem("binary", "complete"))
    free = minimize(objective, method, tolerance=1e-10)
    bound = np.full(objective.n_parameters, 10.0)
    solution = minimize(objective, method, np.full(objective.n_parameters, 50.0), bound=bound, tolerance=1e-10)
    assert solution.status is Status.CONVERGED
    np.testing.assert_allclose(solution.w, free.w, atol=1e-7)


@every_method
def test_an_unpenalised_problem_with_a_finite_optimum(method: Method[Any], rng: np.random.Generator) -> None:
    """No penalty is needed where every joint state occurs."""
    rows = full_rows(rng, (2, 3, 2))
    parameters = Canonical(rows.domain, STRUCTURES["complete"](3))
    solution = minimize(pseudo_likelihood(rows, parameters), method, tolerance=1e-9)
    assert solution.status is Status.CONVERGED
    np.testing.assert_allclose(network.gradient(parameters, solution.w, rows), 0.0, atol=1e-8)
