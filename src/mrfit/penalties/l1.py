"""The weighted sum of absolute values."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from mrfit._kernels.fitting.absolute_values import exceeds, pseudo_gradient, weighted_sum
from mrfit._typing import Floats, Indices
from mrfit.penalties.penalty import NonsmoothPenalty, Trait
from mrfit.penalties.penalty_weight import check_weight


@dataclass(frozen=True, eq=False)
class WeightedL1(NonsmoothPenalty):
    """Weighted l1 norm: strength * sum over parameters k of weight[k] * abs(w[k]).

    Parameters
    ----------
    strength : float
        The papers' lambda, above 0, added to the sum (not the mean) over rows; there is no factor 1/2.
    weight : ndarray of float
        Weight of each parameter, 0 or more; zero leaves it free.

    See Also
    --------
    mrfit.L1 : The penalty as users choose it.

    Examples
    --------
    >>> import numpy as np
    >>> from mrfit.penalties import WeightedL1
    >>> WeightedL1(1.0, np.ones(2)).prox(np.array([3.0, 0.5]), 1.0)
    array([2., 0.])
    """

    weight: Floats

    name = "L1"
    traits = frozenset({Trait.SEPARABLE, Trait.PROXIMAL})
    is_norm = True

    def __post_init__(self) -> None:
        super().__post_init__()
        weight = np.asarray(self.weight, np.float64)
        if weight.flags.writeable:  # a read-only array is shared: with 2^24 parameters a copy takes time
            weight = weight.copy()
        check_weight(weight, of="an l1", each="parameter")
        weight.flags.writeable = False
        object.__setattr__(self, "weight", weight)

    @property
    def thresholds(self) -> Floats:
        return self.strength * self.weight

    def value(self, w: Floats) -> float:
        return self.strength * float(weighted_sum(w, self.weight))

    def is_free(self, n_parameters: int) -> NDArray[np.bool_]:
        free: NDArray[np.bool_] = self.weight == 0
        return free

    def prox(self, w: Floats, step: float) -> Floats:
        """Move every entry towards zero by step * strength * weight, at most to zero."""
        return np.sign(w) * np.maximum(np.abs(w) - step * self.thresholds, 0.0)

    def common_steps(self, steps: Floats) -> Floats:
        return steps

    def prox_by_steps(self, w: Floats, steps: Floats) -> Floats:
        return np.sign(w) * np.maximum(np.abs(w) - steps * self.thresholds, 0.0)

    def min_norm_subgradient(self, w: Floats, gradient: Floats) -> Floats:
        """Return the pseudo-gradient of Andrew and Gao (2007, eq. 4)."""
        out = np.empty_like(gradient)
        pseudo_gradient(w, gradient, self.strength, self.weight, out)
        return out

    def restricted(self, chosen: Indices) -> WeightedL1:
        return replace(self, weight=self.weight[chosen])

    def dual_scale(self, gradient: Floats, *, at: Floats | None = None) -> float:
        return self.strength / float(exceeds(gradient, self.weight, self.strength))

    def critical_strength(self, gradient: Floats) -> float:
        return float(exceeds(gradient, self.weight, 0.0))
