"""The best point of a quadratic plus weighted absolute values, by its matrix and by products with it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from mrfit.penalties.l1 import WeightedL1
from mrfit.solvers.quadratics import Quadratic, minimize_quadratic

Problem = tuple[WeightedL1, np.ndarray, np.ndarray, np.ndarray]

STRENGTHS = pytest.mark.parametrize("strength", [1e-3, 0.1, 1.0, 1e3])


def _problem(rng: np.random.Generator, n: int, rank: int, strength: float) -> Problem:
    """A penalty, a point, and a quadratic there: singular but for 1e-9 where the rank is less than n."""
    features = rng.standard_normal((rank, n)) * rng.uniform(0.2, 3.0, n)
    hessian = features.T @ features / rank + 1e-9 * np.eye(n)
    w = np.where(rng.random(n) < 0.5, rng.standard_normal(n), 0.0)
    penalty = WeightedL1(strength, np.where(rng.random(n) < 0.1, 0.0, rng.uniform(0.5, 2.0, n)))
    return penalty, w, hessian @ rng.standard_normal(n), hessian


def _value(problem: Problem) -> Callable[[np.ndarray], float]:
    penalty, w, gradient, hessian = problem
    return lambda v: float(gradient @ (v - w) + 0.5 * (v - w) @ hessian @ (v - w)) + penalty.value(v)


@STRENGTHS
@pytest.mark.parametrize(("n", "rank"), [(1, 3), (30, 60), (80, 200), (60, 25), (120, 60)])
def test_the_matrix_leads_to_the_optimum(n: int, rank: int, strength: float, rng: np.random.Generator) -> None:
    """Also where it is singular and the optimum is not unique."""
    problem = penalty, w, gradient, hessian = _problem(rng, n, rank, strength)
    v = minimize_quadratic(Quadratic.of_matrix(w, gradient, hessian), penalty, tolerance=1e-9)
    assert penalty.violation(v, gradient + hessian @ (v - w)) <= 1e-9
    value = _value(problem)
    for rival in (w, np.zeros(n), *(v + 1e-3 * rng.standard_normal((10, n)))):
        assert value(v) <= value(rival) + 1e-12 * abs(value(rival))


@STRENGTHS
@pytest.mark.parametrize(("n", "rank"), [(1, 3), (30, 60), (80, 200), (300, 900)])
def test_products_lead_where_the_matrix_does(n: int, rank: int, strength: float, rng: np.random.Generator) -> None:
    problem = penalty, w, gradient, hessian = _problem(rng, n, rank, strength)
    by_matrix = minimize_quadratic(Quadratic.of_matrix(w, gradient, hessian), penalty, tolerance=1e-9)
    by_products = minimize_quadratic(Quadratic(w, gradient, lambda d: hessian @ d), penalty, tolerance=1e-9)
    assert penalty.violation(by_products, gradient + hessian @ (by_products - w)) <= 1e-9
    np.testing.assert_allclose(by_products, by_matrix, atol=1e-6)
    assert _value(problem)(by_products) == pytest.approx(_value(problem)(by_matrix), rel=1e-10, abs=1e-12)
