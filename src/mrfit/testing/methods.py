"""Promises of every minimisation method under the one driver, `minimize`."""

from __future__ import annotations

from typing import Any

import numpy as np

from mrfit._typing import Floats
from mrfit.objectives.counts.conditional_cells import ConditionalCells
from mrfit.objectives.objective import Expansion, Objective
from mrfit.objectives.pseudo_likelihood import PseudoLikelihood
from mrfit.parameterizations.canonical import Canonical
from mrfit.penalties.l1 import WeightedL1
from mrfit.penalties.l2 import Ridge
from mrfit.penalties.penalized_objective import PenalizedObjective
from mrfit.solvers.method import Method
from mrfit.solvers.minimize import minimize
from mrfit.solvers.solution import Record, Status
from mrfit.testing.assertions import close, same
from mrfit.testing.promises import check_promises
from mrfit.testing.samples import domain_of, random_rows, structures

Generator = np.random.Generator


def check_method(method: Method[Any], *, descends: bool = True, seed: int = 0) -> None:
    """Check that a method of minimization keeps every promise of the driver.

    Parameters
    ----------
    method : Method
        Method to check, with its settings.
    descends : bool, default True
        Whether its values never rise; momentum may raise them.
    seed : int, default 0
        Random seed of the problems.

    Raises
    ------
    AssertionError
        If the method misses an optimum or breaks another promise; the message names it.

    See Also
    --------
    Method : The interface.
    register : Make the method known by its word.

    Examples
    --------
    >>> from mrfit.solvers import LBFGS
    >>> from mrfit.testing import check_method
    >>> check_method(LBFGS())
    """
    check_promises(PROMISES, method, seed=seed)
    if descends:
        check_promises(DESCENT, method, seed=seed)
    if method.needs in WeightedL1.traits:
        check_promises(WITH_KINKS, method, seed=seed)


def problems(strength: float = 1.0) -> list[PenalizedObjective]:
    """Pseudo-likelihoods with an L2 penalty, over tables of two shapes and two structures."""
    found = []
    for shape in ((2, 2, 2, 2), (2, 3, 2), (1,)):
        rows = random_rows(np.random.default_rng(3), shape, 40)
        for structure in structures(len(shape))[:2]:
            parameters = Canonical(rows.domain, structure)
            objective = PseudoLikelihood(ConditionalCells.count(rows, parameters))
            found.append(PenalizedObjective(objective, Ridge(strength), total_weight=rows.total_weight))
    return found


def _with_kinks(strength: float = 4.0) -> tuple[Objective, WeightedL1]:
    """Return a problem with a kink for interactions and none for single variables, on the scale of a mean."""
    rows = random_rows(np.random.default_rng(3), (2, 2, 2, 2, 2), 200)
    parameters = Canonical(domain_of((2,) * 5), structures(5)[0])
    objective = PseudoLikelihood(ConditionalCells.count(rows, parameters))
    return objective, WeightedL1(strength / rows.total_weight, np.where(parameters.order_of_parameter == 1, 0.0, 1.0))


def it_reaches_the_optimum(method: Method[Any], rng: Generator) -> None:
    """Full Newton steps reach the same optimum, and the violation certifies it."""
    for objective in problems(2.0):
        solution = minimize(objective, method, tolerance=1e-9)
        assert solution.status is Status.CONVERGED, f"the status is {solution.status}"
        at_solution = np.abs(objective.value_and_gradient(solution.w)[1]).max(initial=0.0)
        assert solution.violation <= 1e-9, f"the violation is {solution.violation}"
        close(solution.violation, at_solution, "the violation is not that of the returned point", atol=1e-15)
        close(solution.w, _newton(objective), "the optimum", atol=1e-7)
        assert solution.at_bound.size == 0, "no parameter has a bound"


def _newton(objective: Objective) -> Floats:
    """Return the optimum by full Newton steps; from zero these problems need no step control."""
    w = np.zeros(objective.n_parameters)
    for _ in range(30):
        expansion = objective.expand(w)
        if np.abs(expansion.gradient).max(initial=0.0) < 1e-13:
            break
        w = w - np.linalg.solve(expansion.hessian(), expansion.gradient)
    return w


def the_trace_ends_at_the_solution(method: Method[Any], rng: Generator) -> None:
    """Counts never fall; the last record is the certificate."""
    for objective in problems():
        solution = minimize(objective, method, tolerance=1e-9)
        assert [record.iteration for record in solution.trace] == list(range(solution.iterations + 1)), "iterations"
        assert (np.diff([record.evaluations for record in solution.trace]) > 0).all(), "evaluations fall"
        assert (np.diff([record.products for record in solution.trace]) >= 0).all(), "products fall"
        last = solution.trace[-1]
        assert (last.value, last.violation) == (solution.value, solution.violation), "the last record is another point"


class _Counting(Objective):
    """An objective that counts its evaluations and products."""

    def __init__(self, objective: Objective) -> None:
        self.objective, self.n_parameters = objective, objective.n_parameters
        self.evaluations = self.products = 0

    def value_and_gradient(self, w: Floats) -> tuple[float, Floats]:
        self.evaluations += 1
        return self.objective.value_and_gradient(w)

    def expand(self, w: Floats) -> Expansion:
        self.evaluations += 1
        expansion = self.objective.expand(w)

        def product(v: Floats) -> Floats:
            self.products += 1
            return expansion.product(v)

        return Expansion(expansion.value, expansion.gradient, expansion.diagonal, product)


def the_reported_counts_are_what_was_asked(method: Method[Any], rng: Generator) -> None:
    """Evaluations and products in the trace equal those the objective saw."""
    counting = _Counting(problems()[0])
    solution = minimize(counting, method)
    found, expected = (solution.evaluations, solution.products), (counting.evaluations, counting.products)
    assert found == expected, f"reported {found}, asked {expected}"


def starting_at_the_optimum_takes_no_iteration(method: Method[Any], rng: Generator) -> None:
    """A warm start that meets the tolerance is returned as it is."""
    objective = problems()[0]
    first = minimize(objective, method, tolerance=1e-8)
    again = minimize(objective, method, first.w, tolerance=1e-8)
    assert again.status is Status.CONVERGED, f"the status is {again.status}"
    assert again.iterations == 0, f"it took {again.iterations} iterations"
    same(again.w, first.w, "the start was changed")


def the_start_is_not_written_to(method: Method[Any], rng: Generator) -> None:
    """The caller's array stays as it was."""
    objective = problems()[0]
    start = rng.standard_normal(objective.n_parameters)
    before = start.copy()
    minimize(objective, method, start)
    same(start, before, "the start was written to")


def the_callback_sees_every_record_and_may_stop(method: Method[Any], rng: Generator) -> None:
    """Stopping returns the point reached, with its certificate."""
    objective, seen = problems()[0], list[Record]()

    def callback(record: Record) -> bool:
        seen.append(record)
        return len(seen) == 2

    solution = minimize(objective, method, tolerance=1e-12, callback=callback)
    assert solution.status is Status.INTERRUPTED, f"the status is {solution.status}"
    assert tuple(seen) == solution.trace, "the callback saw another trace"
    at_solution = np.abs(objective.value_and_gradient(solution.w)[1]).max()
    close(solution.violation, at_solution, "the violation of the point reached", rtol=1e-9)


def the_iteration_limit_is_kept(method: Method[Any], rng: Generator) -> None:
    """The status says that the tolerance was not met."""
    for limit in (0, 1):
        solution = minimize(problems()[0], method, tolerance=1e-12, max_iterations=limit)
        assert solution.status is Status.ITERATION_LIMIT, f"the status is {solution.status}"
        assert solution.iterations == limit, f"it took {solution.iterations} iterations, not {limit}"


def bounds_are_respected_and_reported(method: Method[Any], rng: Generator) -> None:
    """Parameters at a bound are optimal there: the gradient pushes them further out, and all others vanish."""
    objective = problems(0.1)[0]
    free = minimize(objective, method, tolerance=1e-9)
    bound = np.full(objective.n_parameters, np.inf)
    bounded = np.argsort(-np.abs(free.w))[:4]
    bound[bounded] = 0.5 * np.abs(free.w[bounded])
    solution = minimize(objective, method, bound=bound, tolerance=1e-9)
    assert solution.status is Status.CONVERGED, f"the status is {solution.status}"
    assert (np.abs(solution.w) <= bound).all(), "a parameter is outside its bound"
    assert solution.at_bound.size > 0, "at_bound is empty"
    assert set(solution.at_bound) <= set(bounded), "at_bound names a parameter without a bound"
    _, gradient = objective.value_and_gradient(solution.w)
    held = np.isin(np.arange(len(bound)), solution.at_bound)
    assert (gradient[held] * np.sign(solution.w[held]) <= 1e-9).all(), "a parameter at its bound wants back inside"
    assert np.abs(gradient[~held]).max() <= 1e-9, "a parameter off its bound is not optimal"


def a_problem_without_parameters_is_solved(method: Method[Any], rng: Generator) -> None:
    """A problem without parameters converges at once."""
    solution = minimize(problems()[-1], method)
    assert (solution.status, solution.iterations, solution.w.shape) == (Status.CONVERGED, 0, (0,)), f"{solution}"


def the_trace_descends(method: Method[Any], rng: Generator) -> None:
    """Values never rise beyond rounding."""
    for objective in problems():
        values = np.array([record.value for record in minimize(objective, method, tolerance=1e-9).trace])
        rises = np.diff(values) > 8 * np.finfo(float).eps * np.abs(values[:-1])
        assert not rises.any(), f"the value rises at iteration {np.argmax(rises) + 1}"


def an_unreachable_tolerance_ends(method: Method[Any], rng: Generator) -> None:
    """The method stops when rounding hides any decrease, at a point that is optimal to rounding."""
    solution = minimize(problems()[0], method, tolerance=1e-300, max_iterations=5000)
    assert solution.status is Status.NO_DECREASE, f"the status is {solution.status}"
    assert solution.violation < 1e-9, f"the violation is {solution.violation}"


def it_is_stationary_with_kinks(method: Method[Any], rng: Generator) -> None:
    """The least subgradient at the returned point certifies the optimum with an l1 penalty."""
    for strength in (0.3, 4.0, 15.0):
        objective, penalty = _with_kinks(strength)
        solution = minimize(objective, method, penalty=penalty, tolerance=1e-8)
        assert solution.status is Status.CONVERGED, f"the status is {solution.status}"
        value, gradient = objective.value_and_gradient(solution.w)
        close(solution.value, value + penalty.value(solution.w), "the value of the returned point", rtol=1e-14)
        close(solution.violation, penalty.violation(solution.w, gradient), "its violation", atol=1e-15)
        assert solution.violation <= 1e-8, f"the violation is {solution.violation}"


def zeros_are_exact(method: Method[Any], rng: Generator) -> None:
    """Parameters whose gradient is clearly within the penalty's slope are exactly zero; others are not."""
    objective, penalty = _with_kinks(15.0)
    w = minimize(objective, method, penalty=penalty, tolerance=1e-8).w
    _, gradient = objective.value_and_gradient(w)
    inside = np.abs(gradient) < 0.999 * penalty.strength * penalty.weight
    assert inside.any(), "nothing is zero"
    assert (w[inside] == 0).all(), "a parameter is nearly zero, and not zero"
    assert np.count_nonzero(w[penalty.weight > 0]) > 0, "all is zero"


PROMISES = (
    it_reaches_the_optimum,
    the_trace_ends_at_the_solution,
    the_reported_counts_are_what_was_asked,
    starting_at_the_optimum_takes_no_iteration,
    the_start_is_not_written_to,
    the_callback_sees_every_record_and_may_stop,
    the_iteration_limit_is_kept,
    bounds_are_respected_and_reported,
    a_problem_without_parameters_is_solved,
)
DESCENT = (the_trace_descends, an_unreachable_tolerance_ends)
WITH_KINKS = (it_is_stationary_with_kinks, zeros_are_exact)
