"""What every method promises under the one driver."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from mrfit.data.unique_rows import UniqueRows
from mrfit.objectives.objective import Expansion, Objective
from mrfit.parameterizations.canonical import Canonical
from mrfit.solvers.method import Method
from mrfit.solvers.minimize import minimize
from mrfit.solvers.solution import Record, Status
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
@pytest.mark.parametrize(("shape", "structure"), PROBLEMS)
def test_the_trace_ends_at_the_solution(method: Method[Any], shape: str, structure: str) -> None:
    """Counts never fall; the last record is the certificate."""
    rows, parameters = _problem(shape, structure)
    solution = minimize(penalized(rows, parameters), method, tolerance=1e-9)
    assert [record.iteration for record in solution.trace] == list(range(solution.iterations + 1))
    assert (np.diff([record.evaluations for record in solution.trace]) > 0).all()
    assert (np.diff([record.products for record in solution.trace]) >= 0).all()
    last = solution.trace[-1]
    assert (last.value, last.violation) == (solution.value, solution.violation)
    assert (last.evaluations, last.products) == (solution.evaluations, solution.products)


class _Counting(Objective):
    """An objective that counts what is asked of it."""

    def __init__(self, objective: Objective) -> None:
        self.objective, self.n_parameters = objective, objective.n_parameters
        self.evaluations = self.products = 0

    def value_and_gradient(self, w: np.ndarray) -> tuple[float, np.ndarray]:
        self.evaluations += 1
        return self.objective.value_and_gradient(w)

    def expand(self, w: np.ndarray) -> Expansion:
        self.evaluations += 1
        expansion = self.objective.expand(w)

        def product(v: np.ndarray) -> np.ndarray:
            self.products += 1
            return expansion.product(v)

        return Expansion(expansion.value, expansion.gradient, expansion.diagonal, product)


@every_method
def test_the_reported_counts_are_what_was_asked(method: Method[Any]) -> None:
    """Evaluations and products in the trace equal those the objective saw."""
    counting = _Counting(penalized(*_problem("mixed", "complete")))
    solution = minimize(counting, method)
    assert (solution.evaluations, solution.products) == (counting.evaluations, counting.products)


@every_method
def test_starting_at_the_optimum_takes_no_iteration(method: Method[Any]) -> None:
    """A warm start that meets the tolerance is returned as it is."""
    objective = penalized(*_problem("mixed", "complete"))
    first = minimize(objective, method, tolerance=1e-8)
    again = minimize(objective, method, first.w, tolerance=1e-8)
    assert again.status is Status.CONVERGED
    assert again.iterations == 0
    np.testing.assert_array_equal(again.w, first.w)


@every_method
def test_the_start_is_not_written_to(method: Method[Any], rng: np.random.Generator) -> None:
    """The caller's array stays as it was."""
    objective = penalized(*_problem("mixed", "complete"))
    start = rng.standard_normal(objective.n_parameters)
    before = start.copy()
    minimize(objective, method, start)
    np.testing.assert_array_equal(start, before)


@every_method
def test_the_callback_sees_every_record_and_may_stop(method: Method[Any]) -> None:
    """Stopping returns the point reached, with its certificate."""
    objective = penalized(*_problem("mixed", "complete"))
    seen: list[Record] = []

    def callback(record: Record) -> bool:
        seen.append(record)
        return len(seen) == 3

    solution = minimize(objective, method, tolerance=1e-9, callback=callback)
    assert solution.status is Status.INTERRUPTED
    assert not solution.converged
    assert solution.iterations == 2
    assert tuple(seen) == solution.trace
    at_solution = np.abs(objective.value_and_gradient(solution.w)[1]).max()
    assert solution.violation == pytest.approx(at_solution, rel=1e-9)


@every_method
@pytest.mark.parametrize("limit", [0, 1])
def test_the_iteration_limit_is_kept(method: Method[Any], limit: int) -> None:
    """The status says that the tolerance was not met."""
    solution = minimize(penalized(*_problem("mixed", "complete")), method, tolerance=1e-9, max_iterations=limit)
    assert solution.status is Status.ITERATION_LIMIT
    assert solution.iterations == limit
    assert solution.violation > 1e-9


@every_descent_method
def test_an_unreachable_tolerance_ends(method: Method[Any]) -> None:
    """Where rounding hides any decrease the method stops, at a point that is optimal to rounding."""
    objective = penalized(*_problem("mixed", "complete"))
    solution = minimize(objective, method, tolerance=1e-300, max_iterations=5000)
    assert solution.status is Status.NO_DECREASE
    assert solution.violation < 1e-9
    assert solution.value == pytest.approx(minimize(objective, METHODS["newton"], tolerance=1e-10).value, rel=1e-13)


@every_method
def test_bounds_are_respected_and_reported(method: Method[Any]) -> None:
    """Parameters at a bound are optimal there: the gradient pushes them further out and all others vanish."""
    objective = penalized(*_problem("mixed", "complete"), strength=0.1)
    free = minimize(objective, method, tolerance=1e-9)
    bound = np.full(objective.n_parameters, np.inf)
    bounded = np.argsort(-np.abs(free.w))[:5]
    bound[bounded] = 0.5 * np.abs(free.w[bounded])
    solution = minimize(objective, method, bound=bound, tolerance=1e-9)
    assert solution.status is Status.CONVERGED
    assert (np.abs(solution.w) <= bound).all()
    assert solution.at_bound.size > 0
    assert set(solution.at_bound) <= set(bounded)
    np.testing.assert_array_equal(np.abs(solution.w[solution.at_bound]), bound[solution.at_bound])
    _, gradient = objective.value_and_gradient(solution.w)
    held = np.zeros(objective.n_parameters, bool)
    held[solution.at_bound] = True
    assert (gradient[held] * np.sign(solution.w[held]) <= 1e-9).all()
    assert np.abs(gradient[~held]).max() <= 1e-9
    assert solution.value >= free.value


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


@every_method
@pytest.mark.parametrize("structure", ["no scopes", "independent"])
def test_a_problem_without_parameters(method: Method[Any], structure: str) -> None:
    """Nothing to learn is learned at once."""
    shape = "one variable with one state" if structure == "independent" else "mixed"
    solution = minimize(penalized(*_problem(shape, structure)), method)
    assert solution.status is Status.CONVERGED
    assert solution.iterations == 0
    assert solution.w.shape == (0,)
