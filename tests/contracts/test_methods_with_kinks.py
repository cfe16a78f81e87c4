"""Promises of every method that takes a penalty with kinks, under the one driver."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import optimize

from mrfit.objectives.objective import Objective
from mrfit.parameterizations.canonical import Canonical
from mrfit.penalties.group_l1 import GroupL1
from mrfit.penalties.l1 import WeightedL1
from mrfit.solvers.method import Method
from mrfit.solvers.minimize import minimize
from mrfit.solvers.proximal_newton import ProximalNewton
from mrfit.solvers.solution import Status
from populations import (
    METHODS,
    SHAPES,
    STRUCTURES,
    WITH_MOMENTUM,
    pseudo_likelihood,
    random_rows,
)

TAKING_L1 = {name: method for name, method in METHODS.items() if method.needs in WeightedL1.traits}


def _each(names: set[str]) -> pytest.MarkDecorator:
    chosen = {name: method for name, method in TAKING_L1.items() if name in names}
    return pytest.mark.parametrize("method", chosen.values(), ids=chosen.keys())


every_method = _each(set(TAKING_L1))
every_descent_method = _each(set(TAKING_L1) - WITH_MOMENTUM)

PROBLEMS = [
    ("binary", "complete"),
    ("binary", "order 3"),
    ("mixed", "complete"),
    ("mixed", "a triple without its parts"),
    ("mixed", "pairs without singles"),
    ("a variable with one state", "tree"),
]
every_problem = pytest.mark.parametrize(("shape", "structure"), PROBLEMS)


def _problem(shape: str, structure: str, strength: float = 4.0) -> tuple[Objective, WeightedL1]:
    """Single variables free, both parts in the scale of a mean."""
    rows = random_rows(np.random.default_rng(3), SHAPES[shape], 200, fractional=True)
    parameters = Canonical(rows.domain, STRUCTURES[structure](len(rows.domain)))
    order = parameters.order_of_parameter
    weight = np.where(order == 1, 0.0, 2.0 ** (order - 2))
    return pseudo_likelihood(rows, parameters), WeightedL1(strength / rows.total_weight, weight)


def _split_optimum(objective: Objective, penalty: WeightedL1) -> float:
    """L-BFGS-B on w = u - v with u, v >= 0 (v = 0 and u any number where free), where l1 is linear."""
    slope, n = penalty.strength * penalty.weight, objective.n_parameters

    def function(uv: np.ndarray) -> tuple[float, np.ndarray]:
        u, v = uv[:n], uv[n:]
        value, gradient = objective.value_and_gradient(u - v)
        return value + slope @ (u + v), np.concatenate([gradient + slope, slope - gradient])

    free = slope == 0
    bounds = optimize.Bounds(
        np.concatenate([np.where(free, -np.inf, 0.0), np.zeros(n)]),
        np.concatenate([np.full(n, np.inf), np.where(free, 0.0, np.inf)]),
    )
    options = {"ftol": 1e-15, "gtol": 1e-9, "maxiter": 10_000, "maxfun": 20_000}
    return float(
        optimize.minimize(function, np.zeros(2 * n), jac=True, method="L-BFGS-B", bounds=bounds, options=options).fun
    )


@every_method
@every_problem
@pytest.mark.parametrize("strength", [0.3, 4.0, 15.0])
def test_scipy_reaches_the_same_value(method: Method[Any], shape: str, structure: str, strength: float) -> None:
    """SciPy solves the split problem; the certificate can be computed again."""
    objective, penalty = _problem(shape, structure, strength)
    solution = minimize(objective, method, penalty=penalty, tolerance=1e-8)
    assert solution.status is Status.CONVERGED
    assert solution.value == pytest.approx(_split_optimum(objective, penalty), rel=1e-8)
    value, gradient = objective.value_and_gradient(solution.w)
    assert solution.value == pytest.approx(value + penalty.value(solution.w), rel=1e-14)
    assert solution.violation == pytest.approx(penalty.violation(solution.w, gradient), abs=1e-15)


@every_method
def test_zeros_are_exact(method: Method[Any]) -> None:
    """Parameters are zero if the gradient is clearly within the penalty's slope; and some are not zero."""
    objective, penalty = _problem("binary", "order 3")
    w = minimize(objective, method, penalty=penalty, tolerance=1e-8).w
    _, gradient = objective.value_and_gradient(w)
    inside = np.abs(gradient) < 0.999 * penalty.strength * penalty.weight
    assert inside.any()
    assert (w[inside] == 0).all()
    assert np.count_nonzero(w[penalty.weight > 0]) > 0


@every_descent_method
@every_problem
def test_the_trace_descends(method: Method[Any], shape: str, structure: str) -> None:
    """Full values never rise beyond rounding."""
    objective, penalty = _problem(shape, structure, 1.0)
    values = np.array([r.value for r in minimize(objective, method, penalty=penalty, tolerance=1e-9).trace])
    assert (np.diff(values) <= 8 * np.finfo(float).eps * np.abs(values[:-1])).all()


@every_method
@pytest.mark.parametrize("structure", ["complete", "order 3", "pairs without singles"])
def test_the_critical_strength(method: Method[Any], structure: str) -> None:
    """Everything penalised is zero at the critical strength; just below it something is not."""
    objective, penalty = _problem("mixed", structure)
    free = penalty.is_free(objective.n_parameters)
    base = minimize(objective, METHODS["newton"], bound=np.where(free, np.inf, 0.0), tolerance=1e-12)
    critical = penalty.critical_strength(objective.value_and_gradient(base.w)[1])
    for factor, any_left in [(1 + 1e-6, False), (1 - 1e-3, True)]:
        at = WeightedL1(factor * critical, penalty.weight)
        w = minimize(objective, method, penalty=at, tolerance=1e-9).w
        assert w[~free].any() == any_left


@every_method
def test_any_start_leads_to_the_same_optimum(method: Method[Any], rng: np.random.Generator) -> None:
    """Paths cross other orthants and leave zero."""
    objective, penalty = _problem("binary", "complete")
    from_zero = minimize(objective, method, penalty=penalty, tolerance=1e-9)
    for scale in (0.5, 3.0):
        start = scale * rng.standard_normal(objective.n_parameters)
        solution = minimize(objective, method, start, penalty=penalty, tolerance=1e-9)
        np.testing.assert_allclose(solution.w, from_zero.w, atol=1e-6)
        np.testing.assert_array_equal(solution.w == 0, from_zero.w == 0)


@every_method
@pytest.mark.parametrize("kinked", [False, True], ids=["free parameters", "penalised parameters"])
def test_bounds_hold_beside_the_penalty(method: Method[Any], kinked: bool) -> None:
    """Parameters at a bound are pushed further out; all others are optimal."""
    objective, penalty = _problem("mixed", "complete", 2.0)
    unbounded = minimize(objective, method, penalty=penalty, tolerance=1e-9).w
    bounded = np.argsort(-np.where((penalty.weight > 0) == kinked, np.abs(unbounded), -1.0))[:2]
    bound = np.full(len(unbounded), np.inf)
    bound[bounded] = 0.5 * np.abs(unbounded[bounded])
    solution = minimize(objective, method, penalty=penalty, bound=bound, tolerance=1e-9)
    assert solution.status is Status.CONVERGED
    assert solution.at_bound.size > 0
    assert set(solution.at_bound) <= set(bounded)
    s = penalty.min_norm_subgradient(solution.w, objective.value_and_gradient(solution.w)[1])
    assert (s[solution.at_bound] * np.sign(solution.w[solution.at_bound]) <= 1e-9).all()
    assert np.abs(np.delete(s, solution.at_bound)).max() <= 1e-9


@every_descent_method
@every_problem
def test_rounding_ends_the_search(method: Method[Any], shape: str, structure: str) -> None:
    """The status says so, at a point that is optimal to rounding."""
    objective, penalty = _problem(shape, structure)
    solution = minimize(objective, method, penalty=penalty, tolerance=1e-300, max_iterations=3000)
    assert solution.status is Status.NO_DECREASE
    assert solution.violation < 1e-9


@_each({"owlqn", "owlqn, one pair"})
@every_problem
def test_orthants_are_searched_down_to_the_rounding_of_the_gradient(
    method: Method[Any], shape: str, structure: str
) -> None:
    """Slopes still decide where values no longer can: those of the sum, the penalty's slope included."""
    objective, penalty = _problem(shape, structure)
    assert minimize(objective, method, penalty=penalty, tolerance=1e-300, max_iterations=3000).violation < 1e-14


@_each(WITH_MOMENTUM)
@every_problem
def test_rounding_is_reached_by_those_that_go_on(method: Method[Any], shape: str, structure: str) -> None:
    """The limit of iterations ends them, at the value of the others."""
    objective, penalty = _problem(shape, structure)
    solution = minimize(objective, method, penalty=penalty, tolerance=1e-300, max_iterations=1500)
    descent = minimize(objective, METHODS["owlqn"], penalty=penalty, tolerance=1e-10)
    assert solution.value == pytest.approx(descent.value, rel=1e-13)
    assert solution.violation < 1e-6


@pytest.mark.parametrize("blocks_at_once", [100, 1], ids=["many at once", "one at a time"])
@pytest.mark.parametrize("start", [0.0, 1.0], ids=["from zero", "from elsewhere"])
def test_groups_enter_as_a_whole(blocks_at_once: int, start: float) -> None:
    """The working set finds the optimum of proximal gradients, which know of no working set."""
    objective, _ = _problem("mixed", "complete")
    n = objective.n_parameters
    penalty = GroupL1(0.01, np.arange(n) // 2, np.ones(n))
    expected = minimize(objective, METHODS["fista"], penalty=penalty, tolerance=1e-9, max_iterations=5000)
    method = ProximalNewton(newcomers=blocks_at_once, growth=0.0)
    found = minimize(objective, method, np.full(n, start), penalty=penalty, tolerance=1e-9)
    assert (expected.status, found.status) == (Status.CONVERGED, Status.CONVERGED)
    np.testing.assert_allclose(found.w, expected.w, atol=1e-6)
    assert 0 < np.count_nonzero(found.w) < n
