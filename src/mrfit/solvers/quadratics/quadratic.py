"""A convex quadratic function around a point."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg.blas import dsymv

from mrfit._typing import Floats


@dataclass(frozen=True)
class Quadratic:
    """Convex quadratic function around a point: gradient . (v - w) + 1/2 (v - w)' H (v - w), with H positive definite.

    Parameters
    ----------
    w : array of shape (n,)
        The point.
    gradient : array of shape (n,)
        Gradient at ``w``.
    product : callable
        Multiplies a vector by H.
    matrix : array of shape (n, n), default None
        H itself, if it is stored.

    See Also
    --------
    minimize_quadratic : Minimize it together with a penalty.

    Examples
    --------
    >>> import numpy as np
    >>> from mrfit.solvers.quadratics import Quadratic
    >>> quadratic = Quadratic.of_matrix(np.zeros(2), np.array([1.0, -3.0]), np.eye(2))
    >>> quadratic.slope(np.array([0.0, 2.0]))
    array([ 1., -1.])
    """

    w: Floats
    gradient: Floats
    product: Callable[[Floats], Floats]
    matrix: Floats | None = None

    @classmethod
    def of_matrix(cls, w: Floats, gradient: Floats, matrix: Floats) -> Quadratic:
        """Return a quadratic whose products read one half of the matrix.

        Parameters
        ----------
        w : array of shape (n,)
            The point.
        gradient : array of shape (n,)
            Gradient at ``w``.
        matrix : array of shape (n, n)
            Symmetric positive definite H.

        Returns
        -------
        Quadratic
        """
        matrix = np.ascontiguousarray(matrix)
        return cls(w, gradient, lambda d: np.asarray(dsymv(1.0, matrix.T, d, lower=1), np.float64), matrix)

    def slope(self, v: Floats) -> Floats:
        """Return the gradient at v."""
        return self.gradient + self.product(v - self.w)
