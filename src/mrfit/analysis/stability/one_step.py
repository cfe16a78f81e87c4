"""Refits on resamples by one Newton step from the optimum of the whole table."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mrfit._typing import Floats
from mrfit.core.errors import InputError
from mrfit.core.linear_systems import divided
from mrfit.data.unique_rows import UniqueRows
from mrfit.learning.fit_problem import FitProblem
from mrfit.learning.learner import Learner
from mrfit.learning.standard_errors import check_errors, in_order, stiffness_of
from mrfit.model.markov_network import MarkovNetwork


def one_step(learner: Learner, rows: UniqueRows, weights: Floats, *, jobs: int = 1) -> tuple[MarkovNetwork, Floats]:
    """The model of the whole table, and the parameters after one step for every resample, (resamples, parameters).

    w - H^-1 (gradient of what is minimised, with the weights of the resample), H that of the whole table: what a refit
    would be if the objective were its quadratic. Standard deviations come within a few percent of those of refits.
    """
    if learner.structure.is_learned:
        raise InputError(
            "One step refits parameters, not the structure; use a fixed structure, or leave the one step out."
        )
    fitted = learner.fit(rows, jobs=jobs, compared=False)
    problem = FitProblem.within(rows, fitted.structure.structure, learner, jobs=jobs)
    check_errors("model", problem)
    if len(without := fitted.best.without_finite_optimum):
        name = fitted.model.parameters.name(int(without[0]))
        raise InputError(
            f"{name} has no finite optimum to take one step from; use a penalty (l2), or leave the one step out."
        )
    model, stiffness = fitted.model, stiffness_of(problem, fitted.best)
    coordinates, objective = in_order(problem, model.parameters)
    hessian = rows.total_weight * objective.expand(model.w).hessian() + np.diag(stiffness)
    gradients = coordinates.gradient_sums(model.w, rows, weights) + stiffness * model.w
    return model, model.w - divided(hessian, gradients.T).T


def edge_weights(model: MarkovNetwork, w: Floats) -> Floats:
    """Edge weights of a model with other parameters."""
    return replace(model, w=w, errors=None).edge_weights
