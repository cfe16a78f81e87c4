"""Accelerated proximal gradients: momentum pays, and so does starting it anew."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from mrfit.solvers.quadratics.descent import Descent
from mrfit.solvers.quadratics.quadratic import Quadratic

N = 50
STEPS = 300

Prox = Callable[[np.ndarray, float], np.ndarray]


def _free(w: np.ndarray, _: float) -> np.ndarray:
    return w


def _shrink(w: np.ndarray, step: float) -> np.ndarray:
    return np.sign(w) * np.maximum(np.abs(w) - 1e-3 * step, 0.0)


@pytest.mark.parametrize("prox", [_free, _shrink], ids=["no penalty", "l1"])
def test_accelerated_steps_go_far_where_plain_ones_do_not(prox: Prox, rng: np.random.Generator) -> None:
    """Curvatures of 1 to 1,000; plain steps shrink the slowest part by a thousandth each."""
    turned, _ = np.linalg.qr(rng.standard_normal((N, N)))
    matrix = turned * np.geomspace(1.0, 1000.0, N) @ turned.T
    quadratic = Quadratic.of_matrix(np.zeros(N), turned @ np.ones(N), matrix)
    search = Descent(quadratic, prox, np.ones(N))
    search.descend(STEPS, patience=STEPS)
    length = 1.0 / 1000.0
    plain = np.zeros(N)
    for _ in range(STEPS):
        plain = prox(plain - length * quadratic.slope(plain), length)

    def distance(v: np.ndarray) -> float:
        """Length of one more step."""
        return float(np.abs(v - prox(v - length * quadratic.slope(v), length)).max()) / length

    np.testing.assert_allclose(search.slope, quadratic.slope(search.v), atol=1e-10)
    assert distance(search.v) < 1e-2 * distance(plain)
