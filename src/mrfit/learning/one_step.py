"""Refits on resamples by one Newton step from the optimum of the whole table."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from mrfit.data.unique_rows import UniqueRows
from mrfit.errors import InputError
from mrfit.learning.learner import Learner
from mrfit.learning.problem import Problem
from mrfit.learning.standard_errors import check_errors, in_order, stiffness_of
from mrfit.linear_systems import divided
from mrfit.model import MarkovNetwork

Floats = NDArray[np.float64]


def one_step(learner: Learner, rows: UniqueRows, weights: Floats, *, jobs: int = 1) -> tuple[MarkovNetwork, Floats]:
    """The model of the whole table, and the parameters after one step for every resample, (resamples, parameters).

    w - H^-1 (gradient of what is minimised, with the weights of the resample), H that of the whole table: what a refit
    would be if the objective were its quadratic. Standard deviations come within a few percent of those of refits.
    """
    if learner.structure.is_learned:
        raise InputError("One step refits parameters, not a structure; give the structure, or leave the one step out.")
    fitted = learner.fit(rows, jobs=jobs, compared=False)
    problem = Problem.within(rows, fitted.structure.structure, learner, jobs=jobs)
    check_errors("model", problem)
    if len(without := fitted.best.without_finite_optimum):
        name = fitted.model.parameters.name(int(without[0]))
        raise InputError(
            f"{name} has no finite optimum, from which one step could lead; use a penalty (l2), or leave the one step "
            "out."
        )
    model, stiffness = fitted.model, stiffness_of(problem, fitted.best)
    coordinates, objective = in_order(problem, model.parameters)
    hessian = rows.total_weight * objective.expand(model.w).hessian() + np.diag(stiffness)
    gradients = coordinates.gradient_sums(model.w, rows, weights) + stiffness * model.w
    return model, model.w - divided(hessian, gradients.T).T


def edge_weights(model: MarkovNetwork, w: Floats) -> Floats:
    """Of the edges of a model, with other parameters."""
    return replace(model, w=w, errors=None).edge_weights
