"""Penalties that are smooth along the parameters that are not zero."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.linalg.blas import dsymv
from scipy.sparse import csr_array

from mrfit.penalties.penalty import NonsmoothPenalty
from mrfit.penalties.proximal_gradients import ProximalGradients

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]


class Curvature(NamedTuple):
    """Derivatives of a penalty at a point, in the parameters that can move from there without meeting a kink."""

    smooth: Indices  # these parameters, ascending
    gradient: Floats
    diagonal: Floats
    factor: csr_array  # the Hessian is diag(diagonal) - factor factor'


class PartlySmooth(NonsmoothPenalty):
    """A penalty with kinks that has two derivatives along the manifold of its nonzero groups (Lewis 2002)."""

    block: Indices | None = None  # a field of its dataclasses, so no property as in the interface

    @abstractmethod
    def curvature(self, w: Floats) -> Curvature:
        """Its derivatives at w along the manifold that w lies in."""

    @abstractmethod
    def clipped(self, start: Floats, end: Floats) -> Floats:
        """``end``, with those groups zero that have passed by zero on the straight way from ``start``."""

    def prox_with_memory(self) -> Callable[[Floats, float], Floats]:
        """The prox for a sequence of points near each other."""
        return self.prox

    def scaled_prox(self, w: Floats, gradient: Floats, hessian: Floats, *, tolerance: float) -> Floats:
        """Proximal gradients until the kinks at zero settle, then Newton's method on the rest, in turns."""
        return _Search(self, w, gradient, hessian, tolerance).run()


_PATIENCE = 5  # proximal gradients without a change at zero before Newton's method is tried
_FIRST_STEPS = 20
_MOST_STEPS = 1000
_MOST_FAILURES = 8  # rounds in a row that do not bring the violation down
_MOST_NEWTON = 30
_LEAST_STEP = 1 / 4
_LEAST_SHARE = 0.03  # of the violation, by the nonzero groups, for Newton's method to go on


class _Search(ProximalGradients):
    """Proximal gradients and Newton's method in turns, with the Hessian as a matrix."""

    def __init__(self, penalty: PartlySmooth, w: Floats, gradient: Floats, hessian: Floats, tolerance: float) -> None:
        self.penalty, self.hessian, self.tolerance = penalty, np.ascontiguousarray(hessian), tolerance
        guess = np.sqrt(np.diag(self.hessian)) + 1e-300
        super().__init__(w, gradient, self._times, penalty.prox_with_memory(), guess)
        self.firmness = 0.0

    def run(self) -> Floats:
        """Where rounding does not allow the tolerance, the best point found."""
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
            self.descend(n_steps, patience=_PATIENCE)
            self._newton()
            n_steps = min(2 * n_steps, _MOST_STEPS)
        return best

    def _times(self, d: Floats) -> Floats:
        """hessian @ d, reading one half of it."""
        product: Floats = dsymv(1.0, self.hessian.T, d, lower=1)
        return product

    def _newton(self) -> None:
        """Newton's method on the manifold of the nonzero groups; a group on the other side of zero leaves it.

        A norm is straight along its own direction, so Newton steps from afar overshoot. ``firmness`` puts back a share
        of the curvature that it has across; with all of it the model lies above the norm and every step descends.
        """
        for _ in range(_MOST_NEWTON):
            curvature = self.penalty.curvature(self.v)
            smooth = curvature.smooth
            left = self.slope[smooth] + curvature.gradient
            # Done here, or groups that are zero and should not be are all that is worth work.
            elsewhere = self.penalty.violation(self.v, self.slope)
            if np.max(np.abs(left), initial=0.0) <= max(0.25 * self.tolerance, _LEAST_SHARE * elsewhere):
                return
            step = np.zeros_like(self.v)
            step[smooth] = -_solved(self.hessian, curvature, left, self.firmness)
            share = self._line_search(step, float(left @ step[smooth]))
            if share == 1.0:
                self.firmness = self.firmness / 4 if self.firmness > 0.01 else 0.0
            elif self.firmness == 1.0 and share == 0.0:
                return
            else:
                self.firmness = min(1.0, max(4 * self.firmness, 0.01))

    def _line_search(self, step: Floats, descent: float) -> float:
        """Move by a share of the step that lowers the value; the share, zero if there is none."""
        share, value = 1.0, self.penalty.value(self.v)
        while share >= _LEAST_STEP:
            end = self.v + share * step
            clipped = self.penalty.clipped(self.v, end)
            # Only without the zeros is the firmest step sure to descend.
            for v in (clipped, end) if self.firmness == 1.0 else (clipped,):
                move = v - self.v
                bend = self._times(move)
                change = float(move @ self.slope) + 0.5 * float(move @ bend) + self.penalty.value(v) - value
                # The penalty is known to its rounding only.
                if change <= 1e-4 * share * descent + 1e-14 * value:
                    self.v, self.slope = v, self.slope + bend
                    return share
            share *= 0.5
        return 0.0


def _solved(hessian: Floats, curvature: Curvature, r: Floats, firmness: float) -> Floats:
    """Division of r by the Hessian of quadratic and penalty on the manifold."""
    smooth = curvature.smooth
    matrix = hessian.copy() if len(smooth) == len(hessian) else hessian[np.ix_(smooth, smooth)]
    outer = (curvature.factor @ curvature.factor.T).tocoo()
    matrix[outer.row, outer.col] -= (1.0 - firmness) * outer.data
    diagonal = matrix.diagonal() + curvature.diagonal
    ridge = 0.0
    while True:
        np.fill_diagonal(matrix, diagonal + ridge)
        try:
            return np.asarray(cho_solve(cho_factor(matrix.T, lower=True, check_finite=False), r), np.float64)
        except LinAlgError:
            # Rounding of the large curvature of short groups made it indefinite.
            ridge = max(10.0 * ridge, 1e-14 * float(diagonal.max()))
