"""Results of solvers."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray


class Status(Enum):
    """Outcome of a solver; the value of a member is its message.

    Examples
    --------
    >>> from mrfit.solvers import Status
    >>> Status("converged").is_at_limit
    False
    """

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
    """One iteration of a solver.

    Parameters
    ----------
    iteration : int
        Number of the iteration, from 0 for the start.
    value : float
        Objective plus penalty, a mean over rows.
    violation : float
        Largest entry of the gradient or least subgradient; zero at an optimum.
    evaluations : int
        Values with gradients computed so far.
    products : int
        Hessian-vector products computed so far.
    step : float
        Length of the last step, relative to the full one.
    gap : float, default None
        Upper bound on the distance of ``value`` from the optimum; None without a dual.

    See Also
    --------
    Solution : Has the records of all iterations in ``trace``.
    minimize : Passes each record to its callback.

    Examples
    --------
    >>> from mrfit.solvers import Record
    >>> record = Record(0, value=1.39, violation=0.17, evaluations=1, products=0, step=1.0)
    >>> record.violation
    0.17
    """

    iteration: int
    value: float
    violation: float
    evaluations: int
    products: int
    step: float
    gap: float | None = None


@dataclass(frozen=True)
class Solution:
    """Point with its certificate of optimality; the result of `minimize`.

    Parameters
    ----------
    w : array of shape (n_parameters,)
        The point.
    value : float
        Objective plus penalty there, a mean over rows.
    violation : float
        Largest entry of the gradient at ``w`` (with a penalty that has kinks, of the subgradient nearest zero), without
        entries that push a bounded parameter further into its bound. Zero at an optimum; if the sum is not convex, at
        every stationary point.
    status : Status
        Reason for stopping.
    trace : tuple of Record
        All iterations, from the start.
    at_bound : int array
        Numbers of parameters at a bound.

    See Also
    --------
    minimize : Returns a solution.
    Status : Reasons for stopping.

    Examples
    --------
    >>> import mrfit
    >>> from mrfit.objectives import Likelihood
    >>> from mrfit.parameterizations import Canonical
    >>> from mrfit.penalties import WeightedL1
    >>> from mrfit.solvers import ProximalNewton, minimize
    >>> table = {"rain": ["no", "yes"] * 3, "wet": ["no", "yes", "no", "yes", "yes", "no"]}
    >>> rows = mrfit.UniqueRows.of(table)
    >>> objective = Likelihood(Canonical(rows.domain, mrfit.Structure.complete(2)), rows)
    >>> penalty = WeightedL1(0.05, [1.0, 1.0, 1.0])
    >>> solution = minimize(objective, ProximalNewton(), penalty=penalty)
    >>> solution.status.value, solution.violation < 1e-6, abs(solution.gap) < 1e-6
    ('converged', True, True)
    """

    w: NDArray[np.float64]
    value: float
    violation: float
    status: Status
    trace: tuple[Record, ...]
    at_bound: NDArray[np.int64]

    @property
    def converged(self) -> bool:
        """Whether the tolerances were met, at an optimum or a stationary point."""
        return self.status in (Status.CONVERGED, Status.STATIONARY, Status.MOMENTS_MATCHED)

    @property
    def gap(self) -> float | None:
        """Upper bound on the distance of ``value`` from the optimum, by duality; None without a dual.

        It is infinite as long as a parameter without penalty and bound has a gradient that is not exactly zero.
        """
        return self.trace[-1].gap

    @property
    def iterations(self) -> int:
        """Number of iterations."""
        return self.trace[-1].iteration

    @property
    def evaluations(self) -> int:
        """Number of values with gradients that were computed."""
        return self.trace[-1].evaluations

    @property
    def products(self) -> int:
        """Number of Hessian-vector products that were computed."""
        return self.trace[-1].products
