"""Minimization of a quadratic plus a penalty that is smooth along the manifold of nonzero groups (Lewis 2002)."""

from __future__ import annotations

import numpy as np

from mrfit._typing import Floats
from mrfit.core.linear_systems import divided
from mrfit.penalties.penalty import NonsmoothPenalty
from mrfit.penalties.penalty_curvature import PenaltyCurvature
from mrfit.solvers.quadratics.descent import Descent
from mrfit.solvers.quadratics.quadratic import Quadratic

_PATIENCE = 5  # proximal gradient steps with unchanged zeros before Newton's method
_FIRST_STEPS = 20
_MOST_STEPS = 1000
_MOST_FAILURES = 8  # rounds in a row that do not decrease the violation
_MOST_NEWTON = 30
_LEAST_STEP = 1 / 4
_LEAST_SHARE = 0.03  # of the violation, due to the nonzero groups, for Newton's method to continue


class ManifoldSearch(Descent):
    """Proximal gradients until the set of zeros settles, then Newton's method on the rest, alternating.

    It uses proximal gradients alone if the penalty does not know its curvature, or there is no matrix.
    """

    def __init__(self, quadratic: Quadratic, penalty: NonsmoothPenalty, *, tolerance: float) -> None:
        self.penalty, self.tolerance = penalty, tolerance
        self.matrix = None if penalty.curvature(quadratic.w) is None else quadratic.matrix  # None: without Newton
        guess = np.ones_like(quadratic.w) if quadratic.matrix is None else np.sqrt(np.diag(quadratic.matrix)) + 1e-300
        super().__init__(quadratic, penalty.prox_with_memory(), guess)
        self.firmness = 0.0

    def run(self) -> Floats:
        """Return the minimum, or the best point found if rounding does not allow the tolerance."""
        best, least, failures = self.v, np.inf, 0
        n_steps = _FIRST_STEPS
        while failures < _MOST_FAILURES:
            self.refresh()
            violation = self.penalty.violation(self.v, self.slope)
            failures = 0 if violation < 0.9 * least else failures + 1
            if violation < least:
                best, least = self.v, violation
            if least <= self.tolerance:
                break
            self.descend(n_steps, patience=_PATIENCE if self.matrix is not None else n_steps)
            if self.matrix is not None:
                self._newton(self.matrix)
            n_steps = min(2 * n_steps, _MOST_STEPS)
        return best

    def _newton(self, matrix: Floats) -> None:
        """Run Newton's method on the manifold of the nonzero groups; a group that crosses zero leaves it.

        A norm is linear along its own direction, so Newton steps from far away overshoot. ``firmness`` adds back a
        share of the curvature that the norm has across. With all of it the model lies above the norm, and every step
        descends.
        """
        for _ in range(_MOST_NEWTON):
            curvature = self.penalty.curvature(self.v)
            if curvature is None:
                return
            smooth = curvature.smooth
            left = self.slope[smooth] + curvature.gradient
            # Stop when this part is solved, or when the violation is due to zero groups that should not be zero.
            elsewhere = self.penalty.violation(self.v, self.slope)
            if np.max(np.abs(left), initial=0.0) <= max(0.25 * self.tolerance, _LEAST_SHARE * elsewhere):
                return
            step = np.zeros_like(self.v)
            step[smooth] = -_divided(matrix, curvature, left, self.firmness)
            share = self._line_search(step, float(left @ step[smooth]))
            if share == 1.0:
                self.firmness = self.firmness / 4 if self.firmness > 0.01 else 0.0
            elif self.firmness == 1.0 and share == 0.0:
                return
            else:
                self.firmness = min(1.0, max(4 * self.firmness, 0.01))

    def _line_search(self, step: Floats, descent: float) -> float:
        """Move by a share of the step that lowers the value; return the share, or zero without one."""
        share, value = 1.0, self.penalty.value(self.v)
        while share >= _LEAST_STEP:
            end = self.v + share * step
            truncated = self.penalty.truncate_at_zero_crossing(self.v, end)
            # Without truncation, a step of full firmness is certain to descend.
            for v in (truncated, end) if self.firmness == 1.0 else (truncated,):
                move = v - self.v
                bend = self.quadratic.product(move)
                change = float(move @ self.slope) + 0.5 * float(move @ bend) + self.penalty.value(v) - value
                # The penalty is exact only up to rounding.
                if change <= 1e-4 * share * descent + 1e-14 * value:
                    self.v, self.slope = v, self.slope + bend
                    return share
            share *= 0.5
        return 0.0


def _divided(hessian: Floats, curvature: PenaltyCurvature, r: Floats, firmness: float) -> Floats:
    """Divide r by the Hessian of quadratic and penalty on the manifold."""
    smooth = curvature.smooth
    matrix = hessian.copy() if len(smooth) == len(hessian) else hessian[np.ix_(smooth, smooth)]
    outer = (curvature.factor @ curvature.factor.T).tocoo()
    matrix[outer.row, outer.col] -= (1.0 - firmness) * outer.data
    np.fill_diagonal(matrix, matrix.diagonal() + curvature.diagonal)
    return divided(matrix, r)  # rounding of the large curvature of short groups may make it indefinite
