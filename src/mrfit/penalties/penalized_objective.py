"""An objective plus a smooth penalty."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from mrfit._typing import Floats
from mrfit.objectives.hessian import Division
from mrfit.objectives.objective import Expansion, Objective, read_only

if TYPE_CHECKING:
    from mrfit.penalties.penalty import SmoothPenalty


class PenalizedObjective(Objective):
    """objective(w) + penalty(w) / total_weight.

    Penalties are added to sums over rows, and objectives are means. The division happens here and, for penalties with
    kinks, in `NonsmoothPenalty.added_to`.
    """

    def __init__(self, objective: Objective, penalty: SmoothPenalty, *, total_weight: float) -> None:
        self.objective, self.penalty, self.total_weight = objective, penalty, total_weight
        self.n_parameters, self.n_cells = objective.n_parameters, objective.n_cells
        self.is_convex = objective.is_convex and penalty.is_convex

    def value_and_gradient(self, w: Floats) -> tuple[float, Floats]:
        value, gradient = self.objective.value_and_gradient(w)
        return (
            value + self.penalty.value(w) / self.total_weight,
            gradient + self.penalty.gradient(w) / self.total_weight,
        )

    def rough_hessian(self) -> Floats | None:
        matrix = self.objective.rough_hessian()
        return None if matrix is None else matrix + self.penalty.hessian(np.zeros(len(matrix))) / self.total_weight

    def expand(self, w: Floats) -> Expansion:
        w = read_only(w)
        smooth = self.objective.expand(w)
        scale = 1.0 / self.total_weight
        return Expansion(
            value=smooth.value + scale * self.penalty.value(w),
            gradient=smooth.gradient + scale * self.penalty.gradient(w),
            diagonal=cache(lambda: smooth.diagonal() + scale * self.penalty.hessian_diagonal(w)),
            product=lambda v: smooth.product(v) + scale * self.penalty.hessian_product(w, v),
            precondition=self._division(smooth, w),
            explicit=smooth.explicit and smooth.explicit.mapped(lambda hessian: hessian.plus(self.penalty, w, scale)),
        )

    def _division(self, smooth: Expansion, w: Floats) -> Division | None:
        """Return an approximate inverse of the whole Hessian, if there is a better one than by its diagonal."""
        if (nearly := smooth.nearly_diagonal) is not None:
            division = cache(lambda: nearly().division(self.penalty.hessian_diagonal(w) / self.total_weight))
            return lambda r: division()(r)
        own = self.penalty.preconditioner(smooth.diagonal() * self.total_weight)
        return None if own is None else lambda r: self.total_weight * own(r)
