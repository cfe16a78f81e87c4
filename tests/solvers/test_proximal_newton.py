"""Proximal Newton where the Hessian is only known roughly: what it learns on the way."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from mrfit.objectives.objective import Expansion, Objective
from mrfit.penalties.l1 import WeightedL1
from mrfit.solvers.method import CompositeProblem
from mrfit.solvers.proximal_newton import ProximalNewton


class RoughlyKnown(Objective):
    """1/2 w' matrix w - slope . w, of which the diagonal alone is known."""

    n_cells = 1

    def __init__(self, matrix: np.ndarray, slope: np.ndarray) -> None:
        self.matrix, self.slope, self.n_parameters = matrix, slope, len(slope)

    def value_and_gradient(self, w: np.ndarray) -> tuple[float, np.ndarray]:
        return 0.5 * float(w @ self.matrix @ w) - float(self.slope @ w), self.matrix @ w - self.slope

    def expand(self, w: np.ndarray) -> Expansion:
        value, gradient = self.value_and_gradient(w)
        return Expansion(value, gradient, lambda: np.diag(self.matrix).copy(), lambda v: self.matrix @ v)

    def rough_hessian(self) -> np.ndarray:
        return np.diag(np.diag(self.matrix))


def test_the_estimate_of_the_hessian_explains_the_last_step(rng: np.random.Generator) -> None:
    """The estimate maps the move to the change of the gradient, and stays symmetric and positive definite."""
    factor = rng.standard_normal((8, 5))
    objective = RoughlyKnown(factor.T @ factor, rng.standard_normal(5))
    problem = CompositeProblem(
        objective, WeightedL1(0.01, np.ones(5)), np.full(5, np.inf), {"evaluations": 0, "products": 0}
    )
    method, states = ProximalNewton(), []
    states.append(method.start(problem, np.zeros(5)))
    for _ in range(4):
        following = method.advance(problem, states[-1])
        assert following is not None
        states.append(following)
    for before, after in pairwise(states):
        estimate = after.estimate
        assert estimate is not None
        np.testing.assert_allclose(estimate @ (after.w - before.w), after.gradient - before.gradient, atol=1e-10)
        np.testing.assert_allclose(estimate, estimate.T)
        assert np.linalg.eigvalsh(estimate)[0] > 0.0
    assert problem.calls["products"] == 0


def test_damping_shortens_the_first_step(rng: np.random.Generator) -> None:
    """Damping is relative to the mean of the Hessian's diagonal."""
    factor = rng.standard_normal((8, 5))
    lengths = []
    for size in (1.0, 100.0):
        matrix = size * factor.T @ factor
        objective = RoughlyKnown(matrix, size * np.ones(5))
        problem = CompositeProblem(
            objective, WeightedL1(1e-6, np.ones(5)), np.full(5, np.inf), {"evaluations": 0, "products": 0}
        )
        for damping in (1e-6, 100.0):
            method = ProximalNewton(damping=damping)
            following = method.advance(problem, method.start(problem, np.zeros(5)))
            assert following is not None
            lengths.append(float(np.linalg.norm(following.w)))
    assert lengths[1] < 0.1 * lengths[0]
    np.testing.assert_allclose(lengths[2:], lengths[:2], rtol=1e-3)
