"""A convex quadratic function around a point."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg.blas import dsymv

from mrfit._typing import Floats


@dataclass(frozen=True)
class Quadratic:
    """gradient . (v - w) + 1/2 (v - w)' H (v - w) as a function of v, with H positive definite.

    ``product(d)`` is H d; ``matrix`` is H itself if it is stored.
    """

    w: Floats
    gradient: Floats
    product: Callable[[Floats], Floats]
    matrix: Floats | None = None

    @classmethod
    def of_matrix(cls, w: Floats, gradient: Floats, matrix: Floats) -> Quadratic:
        """Return a quadratic whose products read one half of the matrix."""
        matrix = np.ascontiguousarray(matrix)
        return cls(w, gradient, lambda d: np.asarray(dsymv(1.0, matrix.T, d, lower=1), np.float64), matrix)

    def slope(self, v: Floats) -> Floats:
        """Return the gradient at v."""
        return self.gradient + self.product(v - self.w)
