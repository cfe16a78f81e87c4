"""Smoothing by rows that were never seen."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from mrfit.core.errors import InputError
from mrfit.learning.closed_forms import closed_form_path, has_all_sets, product_path, pseudo_counts
from mrfit.learning.fit_problem import FitProblem
from mrfit.learning.fit_result import Optimum
from mrfit.learning.objective_specs import ObjectiveSpec
from mrfit.learning.penalty_spec import Callback, Grid, PenaltySpec
from mrfit.learning.penalty_specs import path_down
from mrfit.parameterizations.parameterization import Parameterization
from mrfit.solvers.method import Method

_STRENGTHS = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0)  # for tables of a few cells


@dataclass(frozen=True)
class PseudoCounts(PenaltySpec):
    """Smoothing by pseudo-counts: ``strength`` additional rows of every joint state.

    For a tree it is ``strength`` rows of every state of the largest pair table. It needs the likelihood, and a
    structure with a closed form: all interactions, a tree, or another decomposable graph.

    Parameters
    ----------
    strength : float, sequence of float or None, default=None
        Pseudo-counts of each joint state, above 0; a number of rows, not divided by anything. None means 1, or with
        held-out rows a grid from which they choose.
    free_orders : sequence of int or None, default=None
        Without effect: pseudo-counts smooth whole tables.

    See Also
    --------
    L2 : Shrinks parameters, with any structure and objective.

    Examples
    --------
    >>> from mrfit import PseudoCounts, learn
    >>> table = {"smokes": ["yes", "yes", "no", "no"] * 25, "coughs": ["yes", "no", "no", "no"] * 25}
    >>> model = learn(table, "tree", penalty=PseudoCounts(1.0), objective="likelihood").model
    >>> model.marginals(evidence={"smokes": "no"}).marginals["coughs"]
    {'no': 0.98..., 'yes': 0.019...}
    """

    word: ClassVar[str] = "pseudo-counts"

    def check(
        self, objective: ObjectiveSpec, parameterization: type[Parameterization], solver: Method[Any] | None
    ) -> None:
        if not objective.is_joint:
            raise InputError(f"The penalty {self.word!r} smooths whole rows; it needs the likelihood.")
        if not parameterization.is_minimal:
            raise InputError(
                f"The penalty {self.word!r} needs complete and minimal coordinates, canonical or spectral; got "
                f"{parameterization.word!r}."
            )

    def grid(self, problem: FitProblem, *, selecting: bool) -> Grid:
        if self.strengths is None and selecting:
            if not has_all_sets(problem.coordinates):
                return Grid(_STRENGTHS)
            return path_down(16.0 * problem.total_weight / problem.objective.n_cells)  # next to nothing of the rows
        return super().grid(problem, selecting=selecting)

    def fits(self, problem: FitProblem, grid: Grid, callback: Callback | None) -> Iterator[Optimum]:
        if has_all_sets(problem.coordinates):
            return closed_form_path(problem, grid.strengths, pseudo_counts, squares=False)
        return product_path(problem, grid.strengths)

    def guarantee(self) -> str:
        return "smoothed counts"
