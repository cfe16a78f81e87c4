"""Hard tying: the parameters of a group are equal, and only the groups' values are learned."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from mrfit._typing import Floats
from mrfit.learning.tying.reduced_parameters import Unknowns
from mrfit.learning.tying.tying_problem import TyingProblem
from mrfit.objectives.hessian import Hessian, Matrix
from mrfit.objectives.objective import Expansion, ExplicitHessian, Objective
from mrfit.parameterizations.groups import Groups
from mrfit.solvers.minimize import minimize
from mrfit.solvers.projected_gradient import ProjectedGradient
from mrfit.solvers.solution import Solution

_NANOSECONDS_SUMMED = 10.0  # for each entry of a Hessian whose parameters become one
_STEPS_FOR_ONE = 10  # a step of the solver takes about ten passes over the data, a projected gradient one


class TiedObjective(Objective):
    """objective(S v): the unknowns v of an objective whose parameters are tied."""

    def __init__(self, objective: Objective, groups: Groups) -> None:
        self.objective, self.unknowns = objective, Unknowns(groups)
        self.n_parameters, self.n_cells, self.is_convex = self.unknowns.n, objective.n_cells, objective.is_convex

    def value_and_gradient(self, w: Floats) -> tuple[float, Floats]:
        value, gradient = self.objective.value_and_gradient(self.unknowns.full(w))
        return value, self.unknowns.sums(gradient)

    def rough_hessian(self) -> Floats | None:
        matrix = self.objective.rough_hessian()
        return None if matrix is None else Matrix(matrix).summed(self.unknowns.of_parameter, self.n_parameters).entries

    def expand(self, w: Floats) -> Expansion:
        inner, sums, full = self.objective.expand(self.unknowns.full(w)), self.unknowns.sums, self.unknowns.full
        # The true diagonal would take a product for each group; the members' own curvature has the right scale.
        return Expansion(
            value=inner.value,
            gradient=sums(inner.gradient),
            diagonal=lambda: sums(inner.diagonal()),
            product=lambda v: sums(inner.product(full(v))),
            explicit=inner.explicit and inner.explicit.mapped(self._summed, self._dividing(inner.explicit)),
        )

    def _dividing(self, explicit: ExplicitHessian) -> float:
        """Cost of the groups' Hessian in nanoseconds; for few groups, products without it are often faster."""
        return Matrix.nanoseconds(self.n_parameters) + _NANOSECONDS_SUMMED * explicit.n_entries

    def _summed(self, hessian: Hessian) -> Hessian:
        """S' hessian S."""
        return hessian.summed(self.unknowns.of_parameter, self.n_parameters)


@dataclass(frozen=True)
class HardSolution:
    """The optimum under equality, in all parameters; its certificate is that of the reduced problem."""

    solution: Solution
    groups: Groups


def tie_hard(problem: TyingProblem, groups: Groups, *starts: Floats) -> HardSolution:
    """Relearn with all parameters of a group equal: one unknown for each group. Begins at the best of ``starts``."""
    reduced = TiedObjective(problem.objective, groups)
    unknowns = reduced.unknowns
    means = [np.clip(unknowns.means(w), -problem.bound, problem.bound) for w in starts]
    best = min(means, key=lambda v: reduced.value_and_gradient(v)[0]) if len(means) > 1 else means[0]
    solution = problem.minimize_with_early_stopping(reduced, best, unknowns.full)
    return HardSolution(
        replace(solution, w=unknowns.full(solution.w), at_bound=_members(unknowns, solution)),
        replace(groups, centers=unknowns.centers(solution.w)),
    )


def tie_hard_by_projection(problem: TyingProblem, groups: Groups, *starts: Floats) -> HardSolution:
    """Relearn with equal parameters by projected gradient (Chou et al. 2018): take a step, then average each group.

    Starts at the first of ``starts``, as the paper does.
    """
    unknowns = Unknowns(groups)

    def project(w: Floats) -> Floats:
        return unknowns.full(np.clip(unknowns.means(w), -problem.bound, problem.bound))

    solution = minimize(
        problem.objective,
        ProjectedGradient(project),
        project(starts[0]),
        tolerance=problem.tolerance,
        max_iterations=_STEPS_FOR_ONE * problem.max_iterations,
    )
    return HardSolution(solution, replace(groups, centers=unknowns.centers(unknowns.means(solution.w))))


def _members(unknowns: Unknowns, solution: Solution) -> NDArray[np.int64]:
    at_bound = np.zeros(unknowns.n)
    at_bound[solution.at_bound] = 1.0
    return np.flatnonzero(unknowns.full(at_bound))
