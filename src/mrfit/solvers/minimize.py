"""The driver: one loop around any method, for a smooth objective with optional penalty and bounds."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mrfit._typing import Floats
from mrfit.objectives.objective import Objective
from mrfit.penalties.penalty import NonsmoothPenalty, Scaled, ZeroPenalty
from mrfit.solvers.method import AnyState, CompositeProblem, Method
from mrfit.solvers.solution import Record, Solution, Status
from mrfit.solvers.suitability import check_suitable

Callback = Callable[[Record], bool | None]


def minimize(
    objective: Objective,
    method: Method[AnyState],
    w: Floats | None = None,
    *,
    penalty: NonsmoothPenalty | None = None,
    bound: Floats | None = None,
    tolerance: float = 1e-6,
    gap_tolerance: float | None = None,
    max_iterations: int = 1000,
    callback: Callback | None = None,
    watch: Callable[[Floats], None] | None = None,
) -> Solution:
    """Minimize an objective, with an optional penalty and bounds, until a certificate of optimality holds.

    Parameters
    ----------
    objective : Objective
        Smooth function, a mean over rows.
    method : Method
        Solver that suits the penalty, such as ``LBFGS()``.
    w : array of shape (n_parameters,), default None
        Starting point; None starts at zero.
    penalty : NonsmoothPenalty, default None
        Penalty with kinks on the scale of a mean over rows, as `Penalty.added_to` returns it. Smooth penalties are part
        of the objective.
    bound : array of shape (n_parameters,), default None
        Largest absolute value of each parameter, or infinity. None sets no bounds.
    tolerance : float, default 1e-06
        Largest acceptable violation: the largest entry of the gradient, or of the least subgradient.
    gap_tolerance : float, default None
        Largest acceptable duality gap, in nats per row, where the objective has a dual. None accepts any.
    max_iterations : int, default 1000
        Largest number of iterations.
    callback : callable, default None
        Called with the `Record` of every iteration; it may return True to stop.
    watch : callable, default None
        Called with every point.

    Returns
    -------
    Solution
        The last point, its value and violation, the reason for stopping, and a record of every iteration.

    Raises
    ------
    MrfitError
        If the method does not suit the penalty; the error names those that do.

    See Also
    --------
    Solution : The result.
    SolverOptions : The same settings in the estimator.
    Learner : Makes the problem, and calls this function.

    Examples
    --------
    >>> import mrfit
    >>> from mrfit.objectives import Likelihood
    >>> from mrfit.parameterizations import Canonical
    >>> from mrfit.solvers import LBFGS, minimize
    >>> table = {"rain": ["no", "yes"] * 3, "wet": ["no", "yes", "no", "yes", "yes", "no"]}
    >>> rows = mrfit.UniqueRows.of(table)
    >>> objective = Likelihood(Canonical(rows.domain, mrfit.Structure.complete(2)), rows)
    >>> solution = minimize(objective, LBFGS(), tolerance=1e-8)
    >>> solution.converged, solution.w.round(3)
    (True, array([-0.693, -0.693,  1.386]))
    """
    n = objective.n_parameters
    penalty = ZeroPenalty() if penalty is None else penalty
    check_suitable(type(method), type(penalty.penalty if isinstance(penalty, Scaled) else penalty))
    bound = np.full(n, np.inf) if bound is None else bound
    problem = CompositeProblem(objective, penalty, bound, {"evaluations": 0, "products": 0})
    state = method.start(problem, problem.clip(np.zeros(n) if w is None else np.array(w, np.float64)))
    # Invariant of the loop: state.w is within the bounds, and value, gradient and violation are all of this same point.
    # The certificate is therefore that of the point returned, not of an earlier or an extrapolated one.
    trace: list[Record] = []
    at_rest = Status.CONVERGED if problem.is_convex else Status.STATIONARY
    for iteration in range(max_iterations + 1):
        if watch is not None:
            watch(state.w)
        # 1. Measure the point: the distance of 0 from the subdifferential, and the duality gap if there is one.
        violation = problem.violation(state.w, state.gradient)
        gap = problem.gap(state)
        trace.append(Record(iteration, state.value, violation, **problem.calls, step=state.step, gap=gap))
        # 2. Stop, or step. Convergence is tested first, so that a callback or the iteration limit cannot hide it.
        if violation <= tolerance and (gap is None or gap_tolerance is None or gap <= gap_tolerance):
            status = at_rest
        elif callback is not None and callback(trace[-1]):
            status = Status.INTERRUPTED
        elif iteration == max_iterations:
            status = Status.ITERATION_LIMIT
        elif (following := method.advance(problem, state)) is None:
            # A gap that rounding keeps from falling further is as small as it gets.
            status = at_rest if violation <= tolerance else Status.NO_DECREASE
        else:
            state = following
            continue
        break
    at_bound = problem.bounded[np.abs(state.w[problem.bounded]) >= problem.bound[problem.bounded]]
    return Solution(state.w, state.value, violation, status, tuple(trace), at_bound)
