"""Function that all kinds of tying minimise, and their stopping rule."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from mrfit._typing import Floats
from mrfit.objectives.cached import CachedObjective
from mrfit.objectives.objective import Objective
from mrfit.parameterizations.groups import Groups
from mrfit.penalties.cluster_penalty import ClusterPenalty
from mrfit.solvers.method import CompositeProblem, Method
from mrfit.solvers.minimize import minimize
from mrfit.solvers.newton import TruncatedNewton
from mrfit.solvers.solution import Solution, Status


@dataclass(frozen=True, eq=False)
class TyingProblem:
    """An objective whose parameters are to be tied.

    Parameters
    ----------
    objective
        The mean over rows.
    total_weight
        Sum of the row weights; penalty strengths are not divided by it.
    solver
        Method for the smooth subproblems.
    bound
        Largest absolute value of a parameter: one whose feature never occurs has no finite optimum.
    tolerance, max_iterations
        Limits of the solver, over all its calls.
    race
        Early stopping: takes the start, and returns a function of later points that is true to abandon the fit.
    """

    objective: CachedObjective
    total_weight: float
    solver: Method[Any] = field(default_factory=TruncatedNewton)
    bound: float = np.inf
    tolerance: float = 1e-6
    max_iterations: int = 1000
    race: Callable[[Floats], Callable[[Floats], bool]] | None = None

    def minimum(self, smooth: Objective, w: Floats, *, max_iterations: int | None = None) -> Solution:
        """Minimise the objective plus an added term, or in fewer unknowns, starting at ``w``."""
        limit = self.max_iterations if max_iterations is None else max_iterations
        bound = np.full(len(w), self.bound)
        return minimize(smooth, self.solver, w, bound=bound, tolerance=self.tolerance, max_iterations=limit)

    def minimize_with_early_stopping(self, smooth: Objective, v: Floats, full: Callable[[Floats], Floats]) -> Solution:
        """Minimise in unknowns ``v`` of parameters ``full(v)``; abandon a fit that cannot win on validation rows."""
        if self.race is None:
            return self.minimum(smooth, v)
        is_lost, latest, bound = self.race(full(v)), [v], np.full(len(v), self.bound)
        solution = minimize(
            smooth, self.solver, v, bound=bound, tolerance=self.tolerance, max_iterations=self.max_iterations,
            watch=partial(operator.setitem, latest, 0), callback=lambda _: is_lost(full(latest[0])),
        )  # fmt: skip
        return replace(solution, status=Status.ABANDONED) if solution.status is Status.INTERRUPTED else solution

    def certificate(self, groups: Groups, w: Floats, strength: float) -> tuple[Groups, float, float]:
        """The groups with the centers that ``w`` implies, and value and violation of the whole objective there."""
        penalty = ClusterPenalty(strength, groups.assignment, groups.pinned)
        smooth, none = penalty.added_to(self.objective, total_weight=self.total_weight)
        value, gradient = smooth.value_and_gradient(w)
        violation = CompositeProblem(smooth, none, np.full(len(w), self.bound), {}).violation(w, gradient)
        return replace(groups, centers=penalty.centers(w)), value, violation
