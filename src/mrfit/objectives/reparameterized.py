"""An objective in other coordinates."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, cached_property

import numpy as np
from scipy import sparse

from mrfit._typing import Floats, Indices
from mrfit.core.diagonal_in_basis import NearlyDiagonal
from mrfit.core.linear_systems import inverse_by_series
from mrfit.objectives.hessian import Matrix
from mrfit.objectives.objective import Expansion, Objective


class Reparameterized(Objective):
    """objective(matrix @ w): an objective in parameters w from which its own follow linearly."""

    def __init__(self, objective: Objective, matrix: sparse.csr_array) -> None:
        self.objective, self.matrix = objective, matrix
        self._adjoint = matrix.T.tocsr()
        self.n_parameters, self.n_cells, self.is_convex = int(matrix.shape[1]), objective.n_cells, objective.is_convex

    def value_and_gradient(self, w: Floats) -> tuple[float, Floats]:
        value, gradient = self.objective.value_and_gradient(self.matrix @ w)
        return value, self._adjoint @ gradient

    def rough_hessian(self) -> Floats | None:
        matrix = self.objective.rough_hessian()
        return None if matrix is None else Matrix(matrix).through(self._adjoint).entries

    def expand(self, w: Floats) -> Expansion:
        inner = self.objective.expand(self.matrix @ w)

        def diagonal() -> Floats:
            # The true diagonal would take a product for each parameter. This one, as if the inner parameters were
            # independent, has the right scale, which is enough.
            return np.asarray(self._adjoint.power(2) @ inner.diagonal(), np.float64)

        def block(chosen: Indices) -> Floats:
            return Matrix(inner.hessian()).through(self._adjoint[chosen]).entries

        return Expansion(
            value=inner.value,
            gradient=self._adjoint @ inner.gradient,
            diagonal=cache(diagonal),
            product=lambda v: self._adjoint @ inner.product(self.matrix @ v),
            nearly_diagonal=self._nearly_diagonal(inner),
            block=None if inner.block is None else block,
            explicit=inner.explicit and inner.explicit.mapped(lambda hessian: hessian.through(self._adjoint)),
            dual=inner.dual,
        )

    @cached_property
    def _inverse(self) -> sparse.csr_array | None:
        """The map back from the inner objective's parameters, if it is known."""
        return inverse_by_series(self.matrix)

    def _nearly_diagonal(self, inner: Expansion) -> Callable[[], NearlyDiagonal] | None:
        """Return the approximate Hessian of the inner objective, in these parameters.

        Where data are sparse, signs hardly vary and all their products are nearly constant, so that the Hessian in
        spectral coordinates is far from diagonal. In canonical coordinates it is not.
        """
        inverse, uncorrelated = self._inverse, inner.uncorrelated
        if inverse is None or uncorrelated is None:
            return None
        return cache(lambda: uncorrelated().through(inverse))
