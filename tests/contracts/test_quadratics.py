"""What minimisers of quadratics promise, for every penalty with kinks."""

from __future__ import annotations

import numpy as np
import pytest

from contracts.test_penalties import NONSMOOTH, N, _points
from mrfit.penalties.penalty import NonsmoothPenalty
from mrfit.solvers.quadratics import Quadratic, minimize_quadratic


def _positive_definite(rng: np.random.Generator, rank: int) -> np.ndarray:
    root = rng.standard_normal((rank, N))
    return np.asarray(root.T @ root + 1e-3 * np.eye(N))


@pytest.mark.parametrize("penalty", NONSMOOTH)
@pytest.mark.parametrize("rank", [2, N])
def test_the_minimiser_is_found(penalty: NonsmoothPenalty, rank: int, rng: np.random.Generator) -> None:
    """Its violation is as small as asked for, and no other point is better, wherever it starts."""
    for w in _points(rng):
        gradient, hessian = rng.standard_normal(N), _positive_definite(rng, rank)

        def function(v: np.ndarray, w: np.ndarray = w, g: np.ndarray = gradient, H: np.ndarray = hessian) -> float:
            return float(g @ (v - w) + 0.5 * (v - w) @ H @ (v - w)) + penalty.value(v)

        v = minimize_quadratic(Quadratic.of_matrix(w, gradient, hessian), penalty, tolerance=1e-9)
        assert penalty.violation(v, gradient + hessian @ (v - w)) <= 1e-9
        for rival in [*_points(rng), w, *(v + 1e-3 * rng.standard_normal((5, N)))]:
            assert function(rival) >= function(v) - 1e-9 * (1 + abs(function(rival)))


@pytest.mark.parametrize("penalty", NONSMOOTH)
def test_of_a_multiple_of_the_identity_it_is_the_prox(penalty: NonsmoothPenalty, rng: np.random.Generator) -> None:
    """Completing the square."""
    for w in _points(rng):
        gradient = rng.standard_normal(N)
        v = minimize_quadratic(Quadratic.of_matrix(w, gradient, np.eye(N) / 0.3), penalty, tolerance=1e-11)
        np.testing.assert_allclose(v, penalty.prox(w - 0.3 * gradient, 0.3), atol=1e-10)
