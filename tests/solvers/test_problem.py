"""Problem as a method sees it: bounds, parameters held at them, and the fallback of Newton's method there."""

from __future__ import annotations

import numpy as np
import pytest

from mrfit.objectives.objective import Expansion, Objective
from mrfit.penalties.penalty import ZeroPenalty
from mrfit.solvers.method import CompositeProblem
from mrfit.solvers.minimize import minimize
from mrfit.solvers.newton import TruncatedNewton
from mrfit.solvers.solution import Status


class Parabola(Objective):
    """1/2 (w - centre)' matrix (w - centre)."""

    n_cells = 1

    def __init__(self, matrix: np.ndarray, centre: np.ndarray) -> None:
        self.matrix, self.centre, self.n_parameters = matrix, centre, len(centre)

    def value_and_gradient(self, w: np.ndarray) -> tuple[float, np.ndarray]:
        gradient = self.matrix @ (w - self.centre)
        return 0.5 * float(gradient @ (w - self.centre)), gradient

    def expand(self, w: np.ndarray) -> Expansion:
        value, gradient = self.value_and_gradient(w)
        return Expansion(value, gradient, lambda: np.diag(self.matrix).copy(), lambda v: self.matrix @ v)


BOUND = np.array([1.0, 1.0, 1.0, 1.0, 1.0, np.inf])
AT = np.array([1.0, 1.0, -1.0, -1.0, 0.5, 9.0])


@pytest.fixture
def problem() -> CompositeProblem:
    return CompositeProblem(Parabola(np.eye(6), np.zeros(6)), ZeroPenalty(), BOUND, {"evaluations": 0, "products": 0})


def test_what_is_pushed_out_at_its_bound_is_held(problem: CompositeProblem) -> None:
    """Descent goes against the gradient."""
    gradient = np.array([-1.0, 1.0, 1.0, -1.0, -1.0, -1.0])
    assert problem.held(AT, gradient).tolist() == [True, False, True, False, False, False]
    assert problem.violation(AT, np.array([-9.0, 1.0, 9.0, 0.0, -0.5, 0.0])) == 1.0
    assert problem.violation(AT, np.array([-9.0, 0.0, 9.0, -2.0, -0.5, 0.0])) == 2.0


def test_what_a_direction_pushes_out_at_its_bound_is_leaving(problem: CompositeProblem) -> None:
    direction = np.array([1.0, -1.0, -1.0, 1.0, 1.0, 1.0])
    assert problem.leaving(AT, direction).tolist() == [True, False, True, False, False, False]
    assert not problem.leaving(AT, np.zeros(6)).any()


def test_points_are_clipped_at_both_ends(problem: CompositeProblem) -> None:
    far = np.array([3.0, -3.0, 0.5, -1.0, 1.0, 30.0])
    assert problem.clip(far).tolist() == [1.0, -1.0, 0.5, -1.0, 1.0, 30.0]
    assert problem.clip(AT) is AT


def test_the_gradient_of_a_problem_is_not_written_to(problem: CompositeProblem) -> None:
    """Entries of the subgradient at a bound are zeroed in a copy."""
    gradient = np.array([-1.0, 1.0, 1.0, -1.0, -1.0, -1.0])
    slope = problem.slope(AT, gradient)
    assert gradient.tolist() == [-1.0, 1.0, 1.0, -1.0, -1.0, -1.0]
    assert slope.subgradient.tolist() == [0.0, 1.0, 0.0, -1.0, -1.0, -1.0]


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_newton_goes_on_where_a_bound_cuts_its_direction_off(sign: float) -> None:
    """So near a bound all of the step that descends is cut off, and what is left of it climbs."""
    matrix, near = np.array([[1.0, 0.99], [0.99, 1.0]]), np.array([1.0 - 1e-13, 0.0])
    objective = Parabola(matrix, sign * (near + np.linalg.solve(matrix, np.array([1.0, 0.3]))))
    bound = np.array([1.0, np.inf])
    solution = minimize(objective, TruncatedNewton(), sign * near, bound=bound, tolerance=1e-10)
    assert solution.status is Status.CONVERGED
    assert solution.at_bound.tolist() == [0]
    assert solution.w[1] == pytest.approx(objective.centre[1] - 0.99 * (sign - objective.centre[0]))
