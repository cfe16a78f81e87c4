"""What rows, and counts of rows that are elsewhere, both can tell."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from mrfit.core.domain import Domain


class Tallied(Protocol):
    """How much weight there is, and in which states."""

    @property
    def domain(self) -> Domain: ...

    @property
    def total_weight(self) -> float: ...

    @property
    def state_weights(self) -> tuple[NDArray[np.float64], ...]: ...
