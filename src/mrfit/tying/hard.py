"""Hard tying: the parameters of a group are equal, and only the groups' values are learned."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from mrfit.objectives.objective import Expansion, Objective
from mrfit.solvers.minimize import minimize
from mrfit.solvers.projected_gradient import ProjectedGradient
from mrfit.solvers.solution import Solution
from mrfit.tying.groups import Groups
from mrfit.tying.problem import TyingProblem

Floats = NDArray[np.float64]

_STEPS_FOR_ONE = 10  # a step of the solver takes about ten passes over the data, a projected gradient one


class Reduced(Objective):
    """objective(S v + rest): one unknown for each group that is not pinned and for each parameter not tied at all.

    S has one 1 in each row; products with it are lookups, with its transpose sums over groups.
    """

    def __init__(self, objective: Objective, groups: Groups) -> None:
        self.objective, self.groups = objective, groups
        tied = groups.assignment >= 0
        # Unknowns: groups with a center to learn, in order, then the untied parameters; -1 is the constant zero.
        learned = ~groups.pinned  # type: ignore[operator]
        number = np.where(learned, np.cumsum(learned) - 1, -1)
        self._unknown = np.empty(len(tied), np.int64)
        self._unknown[tied] = number[groups.assignment[tied]]
        self._unknown[~tied] = int(learned.sum()) + np.arange(int((~tied).sum()))
        self._learned = learned
        self.n_parameters, self.n_cells = int(learned.sum()) + int((~tied).sum()), objective.n_cells

    def full(self, v: Floats) -> Floats:
        """All parameters from the unknowns."""
        return np.append(v, 0.0)[self._unknown]

    def unknowns(self, w: Floats) -> Floats:
        """The unknowns nearest to ``w``: group means, and the untied parameters themselves."""
        return self._sums(w) / np.maximum(self._sums(np.ones_like(w)), 1.0)

    def centers(self, v: Floats) -> Floats:
        """The value of every group."""
        centers = np.zeros(self.groups.n_groups)
        centers[self._learned] = v[: int(self._learned.sum())]
        return centers

    def _sums(self, g: Floats) -> Floats:
        kept = self._unknown >= 0
        return np.asarray(np.bincount(self._unknown[kept], g[kept], minlength=self.n_parameters), np.float64)

    def value_and_gradient(self, w: Floats) -> tuple[float, Floats]:
        value, gradient = self.objective.value_and_gradient(self.full(w))
        return value, self._sums(gradient)

    def rough_hessian(self) -> Floats | None:
        matrix = self.objective.rough_hessian()
        return None if matrix is None else self._summed(matrix)

    def expand(self, w: Floats) -> Expansion:
        inner = self.objective.expand(self.full(w))
        # The true diagonal would take a product for each group; the members' own curvature has the right scale.
        return Expansion(
            value=inner.value,
            gradient=self._sums(inner.gradient),
            diagonal=lambda: self._sums(inner.diagonal()),
            product=lambda v: self._sums(inner.product(self.full(v))),
            dense=inner.dense and inner.dense.mapped(self._summed),
        )

    def _summed(self, matrix: Floats) -> Floats:
        """S' matrix S."""
        kept = np.flatnonzero(self._unknown >= 0)
        shape = (self.n_parameters, len(self._unknown))
        adjoint = csr_array((np.ones(len(kept)), (self._unknown[kept], kept)), shape=shape)
        return np.asarray(adjoint @ (adjoint @ matrix).T, np.float64)


@dataclass(frozen=True)
class HardSolution:
    """The optimum under equality, in all parameters; its certificate is that of the reduced problem."""

    solution: Solution
    groups: Groups


def tie_hard(problem: TyingProblem, groups: Groups, *starts: Floats) -> HardSolution:
    """Relearn with all parameters of a group equal: one unknown for each group. Begins at the best of ``starts``."""
    reduced = Reduced(problem.objective, groups)
    unknowns = [np.clip(reduced.unknowns(w), -problem.bound, problem.bound) for w in starts]
    best = min(unknowns, key=lambda v: reduced.value_and_gradient(v)[0]) if len(unknowns) > 1 else unknowns[0]
    solution = problem.minimum(reduced, best)
    return HardSolution(
        replace(solution, w=reduced.full(solution.w), at_bound=_members(reduced, solution)),
        replace(groups, centers=reduced.centers(solution.w)),
    )


def tie_hard_by_projection(problem: TyingProblem, groups: Groups, *starts: Floats) -> HardSolution:
    """The same by projected gradient, as Chou et al. (2018) describe it: step, then average each group.

    Begins at the first of ``starts``, as there.
    """
    reduced = Reduced(problem.objective, groups)

    def project(w: Floats) -> Floats:
        return reduced.full(np.clip(reduced.unknowns(w), -problem.bound, problem.bound))

    solution = minimize(
        problem.objective,
        ProjectedGradient(project),
        project(starts[0]),
        tolerance=problem.tolerance,
        max_iterations=_STEPS_FOR_ONE * problem.max_iterations,
    )
    return HardSolution(solution, replace(groups, centers=reduced.centers(reduced.unknowns(solution.w))))


def _members(reduced: Reduced, solution: Solution) -> NDArray[np.int64]:
    at_bound = np.zeros(reduced.n_parameters)
    at_bound[solution.at_bound] = 1.0
    return np.flatnonzero(reduced.full(at_bound))
