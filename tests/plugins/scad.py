"""SCAD, an l1 penalty that leaves large parameters alone (Fan and Li 2001): not convex, and its strength no factor."""

from dataclasses import dataclass, replace

import numpy as np

from mrfit.penalties import NonsmoothPenalty, SparsePenaltySpec

A = 3.7  # strengths beyond which it is constant; the authors' choice


@dataclass(frozen=True, eq=False)
class SmoothlyClipped(NonsmoothPenalty):
    touched: np.ndarray

    is_convex = False

    def value(self, w):
        return float(self._values(np.abs(w))[self.touched].sum())

    def _values(self, size):
        s = self.strength
        bent = (2 * A * s * size - size**2 - s**2) / (2 * (A - 1))
        return np.where(size <= s, s * size, np.where(size <= A * s, bent, (A + 1) * s**2 / 2))

    def is_free(self, n_parameters):
        return ~self.touched

    def prox(self, w, step):  # the best point of three pieces: a kink, a parabola, a constant
        size, s = np.abs(w), self.strength
        bent = ((A - 1) * size - step * A * s) / (A - 1 - step) if step != A - 1 else size
        points = np.stack([np.clip(size - step * s, 0.0, s), np.clip(bent, s, A * s), np.maximum(size, A * s)])
        costs = 0.5 * (points - size) ** 2 + step * self._values(points)
        best = np.take_along_axis(points, costs.argmin(axis=0)[None], axis=0)[0]
        return np.where(self.touched, np.sign(w) * best, w)

    def min_norm_subgradient(self, w, gradient):
        size, s = np.abs(w), self.strength
        slope = np.where(size <= s, s, np.maximum(A * s - size, 0.0) / (A - 1))
        at_zero = np.sign(gradient) * np.maximum(np.abs(gradient) - s, 0.0)
        return np.where(self.touched, np.where(w == 0, at_zero, gradient + np.sign(w) * slope), gradient)

    def restricted(self, chosen):
        return replace(self, touched=self.touched[chosen])


@dataclass(frozen=True)
class SCAD(SparsePenaltySpec):
    word = "scad"
    function = SmoothlyClipped

    def build(self, strength, layout):
        return SmoothlyClipped(strength, layout.penalized)
