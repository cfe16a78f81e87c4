"""Gradient steps, each followed by a projection to a convex set."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from mrfit._typing import Floats
from mrfit.penalties.penalty import Trait
from mrfit.solvers.method import CompositeProblem, Method, State, line_search


@dataclass(frozen=True)
class ProjectedGradientState(State):
    """A state whose ``gradient`` is the part of the gradient along which the set lets the point move."""

    full_gradient: Floats
    length: float = 1.0  # of the next step, in units of the gradient


@dataclass(frozen=True)
class ProjectedGradient(Method[ProjectedGradientState]):
    """Projected gradient method over a convex set.

    w becomes project(w - length * gradient), with lengths of Barzilai and Borwein (1988) and sufficient decrease.

    Parameters
    ----------
    project : callable
        Returns the nearest point of the set to a vector.

    See Also
    --------
    TruncatedNewton : Faster, where the set is a box of bounds.

    Examples
    --------
    >>> import mrfit, numpy as np
    >>> from mrfit.objectives import Likelihood
    >>> from mrfit.parameterizations import Canonical
    >>> from mrfit.solvers import ProjectedGradient, minimize
    >>> table = {"rain": ["no", "yes"] * 3, "wet": ["no", "yes", "no", "yes", "yes", "no"]}
    >>> rows = mrfit.UniqueRows.of(table)
    >>> objective = Likelihood(Canonical(rows.domain, mrfit.Structure.complete(2)), rows)
    >>> minimize(objective, ProjectedGradient(lambda w: np.maximum(w, 0.0))).w.round(2)
    array([0.  , 0.  , 0.41])
    """

    project: Callable[[Floats], Floats]

    needs = Trait.DIFFERENTIABLE

    def start(self, problem: CompositeProblem, w: Floats) -> ProjectedGradientState:
        w = self.project(w)
        value, gradient = problem.value_and_gradient(w)
        return ProjectedGradientState(w, value, self._residual(w, gradient), gradient)

    def advance(self, problem: CompositeProblem, state: ProjectedGradientState) -> ProjectedGradientState | None:
        direction = self.project(state.w - state.length * state.full_gradient) - state.w
        found = line_search(self.project, state, direction, problem.value_and_gradient)
        if found is None:
            return None
        w, value, gradient, step = found
        move, change = w - state.w, gradient - state.full_gradient
        curvature = float(move @ change)
        length = float(move @ move) / curvature if curvature > 0 else 2.0 * state.length
        return ProjectedGradientState(w, value, self._residual(w, gradient), gradient, length, step=step)

    def _residual(self, w: Floats, gradient: Floats) -> Floats:
        """Return w - project(w - gradient), which is zero at an optimum."""
        return w - self.project(w - gradient)
