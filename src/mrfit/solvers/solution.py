"""Results of solvers."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray


class Status(Enum):
    """The outcome of a solver; the value is the message."""

    CONVERGED = "converged"
    STATIONARY = "converged to a stationary point; the objective is not convex, and other points may be better"
    MOMENTS_MATCHED = "the means of chains match those of the rows as well as so many chains can tell"
    ITERATION_LIMIT = "did not converge: stopped at the iteration limit before the maximum gradient met the tolerance"
    MOVING = "did not converge: stopped at the iteration limit while the average of the parameters still moved"
    NO_DECREASE = "stopped where rounding hides any further decrease, before the violation met the tolerance"
    INTERRUPTED = "stopped by the callback"
    ABANDONED = "left where validation rows were predicted worse and worse, behind other fits of the grid"
    SPURIOUS_MODE = (
        "the model has a mode where the rows are not, which the search for it did not remove; see mrfit check"
    )
    MOVING_PHANTOM = (
        "did not converge: stopped at the iteration limit; and the model has a mode where the rows are not, which the "
        "search for it did not remove; see mrfit check"
    )
    NOT_MIXING = "chains do not mix, so that nothing is known of the likelihood"

    @property
    def is_at_limit(self) -> bool:
        """Whether the iteration limit ended the fit."""
        return self in (Status.ITERATION_LIMIT, Status.MOVING, Status.MOVING_PHANTOM)


@dataclass(frozen=True)
class Record:
    """One iteration, as a person may want to see it."""

    iteration: int
    value: float
    violation: float
    evaluations: int
    products: int
    step: float
    gap: float | None = None


@dataclass(frozen=True)
class Solution:
    """A point with its certificate of optimality.

    ``violation`` is the largest entry of the gradient at ``w`` (with a penalty that has kinks, of the subgradient
    nearest zero). It leaves out entries that push a bounded parameter further into its bound. It is zero at an optimum
    (where the sum is not convex, at every stationary point).
    ``gap``, if the objective has a dual, bounds the distance of ``value`` from the optimum.
    ``evaluations`` counts values with gradients, ``products`` Hessian-vector products.
    """

    w: NDArray[np.float64]
    value: float
    violation: float
    status: Status
    trace: tuple[Record, ...]
    at_bound: NDArray[np.int64]

    @property
    def converged(self) -> bool:
        return self.status in (Status.CONVERGED, Status.STATIONARY, Status.MOMENTS_MATCHED)

    @property
    def gap(self) -> float | None:
        return self.trace[-1].gap

    @property
    def iterations(self) -> int:
        return self.trace[-1].iteration

    @property
    def evaluations(self) -> int:
        return self.trace[-1].evaluations

    @property
    def products(self) -> int:
        return self.trace[-1].products
