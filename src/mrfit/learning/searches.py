"""Which way of fitting goes with which settings."""

from __future__ import annotations

from collections.abc import Iterator

from mrfit.learning.closed_forms import CLOSED_FORMS, closed_form_path, flat_l2, has_squares_form
from mrfit.learning.grids import TIED_GRIDS, Callback, Found, penalized_path
from mrfit.learning.growing import growing_path
from mrfit.learning.problem import Problem
from mrfit.presets import PRESETS


def fitted(problem: Problem, callback: Callback | None) -> Iterator[Found]:
    """All points of the grid, in the order that makes it cheap."""
    settings = problem.settings
    if settings.is_tied:
        return TIED_GRIDS[settings.penalty](problem.task(callback), settings.tying, problem.strengths)
    if settings.penalty in CLOSED_FORMS:
        return closed_form_path(problem, CLOSED_FORMS[settings.penalty], squares=False)
    if settings.penalty == "flat-l2" and not problem.free_orders and has_squares_form(problem.coordinates):
        return closed_form_path(problem, flat_l2, squares=True)
    if settings.search == "hierarchical":
        return growing_path(problem, callback)
    return penalized_path(problem.task(callback), PRESETS[settings.penalty], problem.strengths)
