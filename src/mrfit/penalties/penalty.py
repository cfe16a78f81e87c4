"""What an objective or a solver may ask of a penalty."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class SmoothPenalty(ABC):
    """A convex, twice differentiable function of the parameters that stands against the sum over rows."""

    @abstractmethod
    def value(self, w: Floats) -> float: ...

    @abstractmethod
    def gradient(self, w: Floats) -> Floats: ...

    @abstractmethod
    def hessian_product(self, w: Floats, v: Floats) -> Floats: ...

    @abstractmethod
    def hessian_diagonal(self, w: Floats) -> Floats: ...

    @abstractmethod
    def is_free(self, n_parameters: int) -> NDArray[np.bool_]:
        """Which parameters the penalty does not touch, and so does not keep finite."""
