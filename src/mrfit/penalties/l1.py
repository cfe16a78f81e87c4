"""The weighted sum of absolute values."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from mrfit.errors import InputError
from mrfit.penalties.lasso import minimize_quadratic
from mrfit.penalties.penalty import Indices, NonsmoothPenalty, Trait
from mrfit.penalties.strength import checked_strength

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class L1(NonsmoothPenalty):
    """strength * sum over parameters k of weight[k] * |w[k]|.

    Parameters
    ----------
    strength
        The papers' lambda, against the sum over rows; there is no factor 1/2.
    weight
        How much each parameter counts, zero or more; zero leaves it free.
    """

    strength: float
    weight: Floats

    traits = frozenset({Trait.SEPARABLE, Trait.PROXIMAL})

    def __post_init__(self) -> None:
        checked_strength(self.strength)
        weight = np.array(self.weight, np.float64)
        if weight.ndim != 1 or not (np.isfinite(weight) & (weight >= 0)).all():
            raise InputError("The weight of an l1 penalty is one finite number, zero or more, for each parameter.")
        weight.flags.writeable = False
        object.__setattr__(self, "weight", weight)

    @property
    def _slope(self) -> Floats:
        return self.strength * self.weight

    def value(self, w: Floats) -> float:
        return self.strength * float(self.weight @ np.abs(w))

    def is_free(self, n_parameters: int) -> NDArray[np.bool_]:
        free: NDArray[np.bool_] = self.weight == 0
        return free

    def prox(self, w: Floats, step: float) -> Floats:
        """Every entry moved towards zero by step * strength * weight, and not beyond."""
        return np.sign(w) * np.maximum(np.abs(w) - step * self._slope, 0.0)

    def least_subgradient(self, w: Floats, gradient: Floats) -> Floats:
        """The pseudo-gradient of Andrew and Gao (2007, eq. 4)."""
        at_zero = np.sign(gradient) * np.maximum(np.abs(gradient) - self._slope, 0.0)
        return np.where(w == 0, at_zero, gradient + np.sign(w) * self._slope)

    def scaled(self, factor: float) -> L1:
        return replace(self, strength=factor * self.strength)

    def restricted(self, chosen: Indices) -> L1:
        return replace(self, weight=self.weight[chosen])

    def dual_scale(self, gradient: Floats, *, at: Floats | None = None) -> float:
        worst = self.critical_strength(gradient)
        return 1.0 if worst <= self.strength else self.strength / worst

    def scaled_prox(self, w: Floats, gradient: Floats, hessian: Floats, *, tolerance: float) -> Floats:
        return minimize_quadratic(w, gradient, hessian, self._slope, tolerance=tolerance)

    def critical_strength(self, gradient: Floats) -> float:
        """The smallest strength at which all penalised parameters are zero.

        ``gradient`` is that of the sum over rows where they are zero and the free ones are at their optimum.
        """
        touched = self.weight > 0
        return float(np.max(np.abs(gradient[touched]) / self.weight[touched], initial=0.0))
