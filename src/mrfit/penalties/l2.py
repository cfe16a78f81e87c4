"""The squared Euclidean norm."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mrfit._typing import Floats
from mrfit.penalties.penalty import SmoothPenalty, Trait
from mrfit.penalties.penalty_strength import checked_strength


@dataclass(frozen=True, eq=False)
class Ridge(SmoothPenalty):
    """Half the squared norm: strength / 2 * sum of squares over the penalised parameters (Chou et al. 2018).

    Parameters
    ----------
    strength : float
        The papers' lambda, above 0, added to the sum (not the mean) over rows.
    penalized : ndarray of bool or None, default=None
        Mask of the penalised parameters; None means all, as in the paper.
    toward : ndarray of float or None, default=None
        Values towards which it draws the parameters; None means zero.

    See Also
    --------
    mrfit.L2 : The penalty as users choose it.

    Examples
    --------
    >>> import numpy as np
    >>> from mrfit.penalties import Ridge
    >>> Ridge(2.0).value(np.array([3.0, 1.0]))
    10.0
    """

    name = "L2"

    strength: float
    penalized: NDArray[np.bool_] | None = None
    toward: Floats | None = None

    traits = frozenset({Trait.DIFFERENTIABLE, Trait.SEPARABLE})

    def __post_init__(self) -> None:
        checked_strength(self.strength)

    def _touched(self, v: Floats) -> Floats:
        return v if self.penalized is None else np.where(self.penalized, v, 0.0)

    def _distance(self, w: Floats) -> Floats:
        return self._touched(w if self.toward is None else w - self.toward)

    def value(self, w: Floats) -> float:
        distance = self._distance(w)
        return 0.5 * self.strength * float(distance @ distance)

    def gradient(self, w: Floats) -> Floats:
        return self.strength * self._distance(w)

    def hessian_product(self, w: Floats, v: Floats) -> Floats:
        return self.strength * self._touched(v)

    def hessian_diagonal(self, w: Floats) -> Floats:
        return self.strength * self._touched(np.ones_like(w))

    def hessian(self, w: Floats) -> Floats:
        return np.diag(self.hessian_diagonal(w))

    def is_free(self, n_parameters: int) -> NDArray[np.bool_]:
        return np.zeros(n_parameters, bool) if self.penalized is None else ~self.penalized
