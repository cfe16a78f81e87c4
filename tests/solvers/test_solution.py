"""Results of a solver."""

from __future__ import annotations

import numpy as np
import pytest

from mrfit.solvers.solution import Solution, Status

ARRIVED = {Status.CONVERGED, Status.STATIONARY, Status.MOMENTS_MATCHED}


@pytest.mark.parametrize("status", Status)
def test_what_has_arrived_has_converged(status: Status) -> None:
    """Convergence is an optimum, or the strongest claim that can be made."""
    solution = Solution(np.zeros(1), 0.0, 0.0, status, (), np.zeros(0, int))
    assert solution.converged == (status in ARRIVED)
