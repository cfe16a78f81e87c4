"""Accelerated proximal gradients on a quadratic plus a penalty, for methods that then do better on what they found."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_MARGIN = 1.02  # power iterations find the largest eigenvalue from below


class ProximalGradients:
    """A search for the v that minimises gradient . (v - w) + 1/2 (v - w)' H (v - w) + penalty(v).

    ``v`` is where it stands and ``slope`` the gradient of the quadratic there; ``product(d)`` is H d. ``guess`` is
    where power iterations for the largest eigenvalue start.
    """

    def __init__(
        self,
        w: Floats,
        gradient: Floats,
        product: Callable[[Floats], Floats],
        prox: Callable[[Floats, float], Floats],
        guess: Floats,
    ) -> None:
        self.w, self.gradient, self.product, self.prox = w, gradient, product, prox
        self.v, self.slope = w, gradient
        self._guess = guess
        self._steepest = 0.0  # a bound on the largest eigenvalue, once it is needed

    def refresh(self) -> None:
        """The slope, without what many updates gathered in rounding."""
        self.slope = self.gradient + self.product(self.v - self.w)

    def descend(self, most: int, *, patience: int) -> None:
        """With momentum, which starts anew where it points uphill.

        Ends after ``most`` steps, or after ``patience`` of them in which nothing changed between zero and not.
        """
        self._steepest = self._steepest or _MARGIN * self._largest_eigenvalue()
        before, slope_before, momentum, unchanged = self.v, self.slope, 1.0, 0
        for _ in range(most):
            following = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * momentum**2))
            push = (momentum - 1.0) / following
            y = self.v + push * (self.v - before)
            slope_y = self.slope + push * (self.slope - slope_before)
            v = self.prox(y - slope_y / self._steepest, 1.0 / self._steepest)
            move = v - y
            bend = self.product(move)
            if move @ bend > self._steepest * (move @ move):
                self._steepest = 1.05 * float(move @ bend) / float(move @ move)
                before, slope_before, momentum = self.v, self.slope, 1.0
                continue
            uphill = float(move @ (v - self.v)) < 0.0
            unchanged = unchanged + 1 if np.array_equal(v != 0, self.v != 0) else 0
            before, slope_before, self.v, self.slope = self.v, self.slope, v, slope_y + bend
            momentum = 1.0 if uphill else following
            if unchanged >= patience:
                return

    def _largest_eigenvalue(self) -> float:
        """From below, by power iterations; `descend` raises it where it is too small."""
        x = self._guess
        for _ in range(8):
            x = self.product(x / np.linalg.norm(x))
        return float(np.linalg.norm(x))
