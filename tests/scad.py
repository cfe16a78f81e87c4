"""A penalty of somebody else's that is neither convex nor proportional to its strength: SCAD (Fan and Li 2001)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mrfit.learning.layout import Layout
from mrfit.learning.penalized import Sparse
from mrfit.penalties.penalty import NonsmoothPenalty

A = 3.7  # where it stops to grow, in strengths; the authors' choice


@dataclass(frozen=True, eq=False)
class SmoothlyClipped(NonsmoothPenalty):
    """strength * |w| near zero, constant beyond A * strength, and a parabola in between, for each parameter."""

    touched: np.ndarray

    is_convex = False

    def value(self, w: np.ndarray) -> float:
        return float(self._values(np.abs(w))[self.touched].sum())

    def _values(self, size: np.ndarray) -> np.ndarray:
        near, bent = self.strength * size, (2 * A * self.strength * size - size**2 - self.strength**2) / (2 * (A - 1))
        far = np.full_like(size, (A + 1) * self.strength**2 / 2)
        return np.where(size <= self.strength, near, np.where(size <= A * self.strength, bent, far))

    def is_free(self, n_parameters: int) -> np.ndarray:
        return ~self.touched

    def prox(self, w: np.ndarray, step: float) -> np.ndarray:
        """The best of the three points that may be: one of each piece."""
        size, s = np.abs(w), self.strength
        with np.errstate(divide="ignore", invalid="ignore"):
            bent = ((A - 1) * size - step * A * s) / (A - 1 - step)
        points = np.stack([
            np.clip(size - step * s, 0.0, s),
            np.clip(np.where(np.isfinite(bent), bent, s), s, A * s),
            np.maximum(size, A * s),
        ])  # fmt: skip
        costs = 0.5 * (points - size) ** 2 + step * self._values(points)
        best = np.take_along_axis(points, costs.argmin(axis=0)[None], axis=0)[0]
        return np.where(self.touched, np.sign(w) * best, w)

    def least_subgradient(self, w: np.ndarray, gradient: np.ndarray) -> np.ndarray:
        size, s = np.abs(w), self.strength
        slope = np.where(size <= s, s, np.maximum(A * s - size, 0.0) / (A - 1))
        at_zero = np.sign(gradient) * np.maximum(np.abs(gradient) - s, 0.0)
        return np.where(self.touched, np.where(w == 0, at_zero, gradient + np.sign(w) * slope), gradient)

    def restricted(self, chosen: np.ndarray) -> SmoothlyClipped:
        return SmoothlyClipped(self.strength, self.touched[chosen])


@dataclass(frozen=True)
class SCAD(Sparse):
    """As a user of the estimator gives it."""

    word = "scad"
    function = SmoothlyClipped

    def built(self, strength: float, layout: Layout) -> SmoothlyClipped:
        return SmoothlyClipped(strength, layout.penalized)
