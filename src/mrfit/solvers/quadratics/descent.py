"""Accelerated proximal gradients on a quadratic plus a penalty, whose result other methods improve."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mrfit._typing import Floats
from mrfit.solvers.accelerated import Accelerated, Iterate, Smooth
from mrfit.solvers.quadratics.quadratic import Quadratic

_MARGIN = 1.02  # power iterations approach the largest eigenvalue from below


class Descent(Smooth[Iterate]):
    """A search for the minimum of a quadratic plus a penalty.

    ``v`` is the current point and ``slope`` the gradient of the quadratic there. ``guess`` is the start of power
    iterations for the largest eigenvalue.
    """

    def __init__(self, quadratic: Quadratic, prox: Callable[[Floats, float], Floats], guess: Floats) -> None:
        self.quadratic, self.prox = quadratic, prox
        self.v, self.slope = quadratic.w, quadratic.gradient
        self._guess = guess
        self._length = 0.0  # of a step, computed when first needed

    def refresh(self) -> None:
        """Compute the slope again, without the rounding that updates have accumulated."""
        self.slope = self.quadratic.slope(self.v)

    def descend(self, most: int, *, patience: int) -> None:
        """Make at most ``most`` steps, fewer once ``patience`` of them changed no zeros."""
        here = Iterate(self.v, self.slope)
        length = self._length or 1.0 / (_MARGIN * self._largest_eigenvalue())
        steps, unchanged = Accelerated(here, here, length), 0
        for _ in range(most):
            following = steps.advanced(self, self.prox)
            if following is None:
                break
            unchanged = unchanged + 1 if np.array_equal(following.here.w != 0, steps.here.w != 0) else 0
            steps = following
            if unchanged >= patience:
                break
        self.v, self.slope, self._length = steps.here.w, steps.here.gradient, steps.length

    def ahead(self, before: Iterate, here: Iterate, push: float) -> Iterate:
        """Return the extrapolated point. Slopes are linear, so this takes no product."""
        return Iterate(here.w + push * (here.w - before.w), here.gradient + push * (here.gradient - before.gradient))

    def reached(self, ahead: Iterate, w: Floats, length: float) -> tuple[Iterate, float]:
        """Return the iterate at w. The curvature along this move, which is known, is a lower bound on the largest."""
        move = w - ahead.w
        change = self.quadratic.product(move)
        bend, size = float(move @ change), float(move @ move)
        return Iterate(w, ahead.gradient + change), length if length * bend <= size else size / (1.05 * bend)

    def _largest_eigenvalue(self) -> float:
        """Return a lower estimate of the largest eigenvalue, by power iterations."""
        x = self._guess
        for _ in range(8):
            x = self.quadratic.product(x / np.linalg.norm(x))
        return float(np.linalg.norm(x))
