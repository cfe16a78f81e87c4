"""Row totals that both rows and remote counts of rows provide."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from mrfit.core.domain import Domain


class Tallied(Protocol):
    """Total weight, and the weight in each state."""

    @property
    def domain(self) -> Domain: ...

    @property
    def total_weight(self) -> float: ...

    @property
    def state_weights(self) -> tuple[NDArray[np.float64], ...]: ...
