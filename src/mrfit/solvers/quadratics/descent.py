"""Accelerated proximal gradients on a quadratic plus a penalty, for methods that then do better on what they found."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mrfit._typing import Floats
from mrfit.solvers.accelerated import Accelerated, Iterate, Smooth
from mrfit.solvers.quadratics.quadratic import Quadratic

_MARGIN = 1.02  # power iterations find the largest eigenvalue from below


class Descent(Smooth[Iterate]):
    """A search for the best point of a quadratic plus a penalty.

    ``v`` is where it stands and ``slope`` the gradient of the quadratic there. ``guess`` is where power iterations for
    the largest eigenvalue start.
    """

    def __init__(self, quadratic: Quadratic, prox: Callable[[Floats, float], Floats], guess: Floats) -> None:
        self.quadratic, self.prox = quadratic, prox
        self.v, self.slope = quadratic.w, quadratic.gradient
        self._guess = guess
        self._length = 0.0  # of a step, once it is needed

    def refresh(self) -> None:
        """The slope, without what many updates gathered in rounding."""
        self.slope = self.quadratic.slope(self.v)

    def descend(self, most: int, *, patience: int) -> None:
        """So many steps, fewer once ``patience`` of them changed nothing between zero and not."""
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
        """Slopes are linear: this takes no product."""
        return Iterate(here.w + push * (here.w - before.w), here.gradient + push * (here.gradient - before.gradient))

    def reached(self, ahead: Iterate, w: Floats, length: float) -> tuple[Iterate, float]:
        """The curvature along one move, which is known here, bounds that along all from below."""
        move = w - ahead.w
        change = self.quadratic.product(move)
        bend, size = float(move @ change), float(move @ move)
        return Iterate(w, ahead.gradient + change), length if length * bend <= size else size / (1.05 * bend)

    def _largest_eigenvalue(self) -> float:
        """From below, by power iterations."""
        x = self._guess
        for _ in range(8):
            x = self.quadratic.product(x / np.linalg.norm(x))
        return float(np.linalg.norm(x))
