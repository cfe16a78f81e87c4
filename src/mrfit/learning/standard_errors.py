"""Standard errors of the parameters of a fit."""

from __future__ import annotations

import numpy as np

from mrfit._typing import Floats
from mrfit.core.errors import InputError, listed
from mrfit.learning.backend import Backend
from mrfit.learning.fit_problem import FitProblem
from mrfit.learning.fit_result import CandidateFit
from mrfit.model.standard_error_estimates import KINDS, ScoreCurvature, StandardErrors
from mrfit.objectives.hessian import MOST_DENSE
from mrfit.objectives.objective import Objective
from mrfit.parameterizations.parameterization import Parameterization
from mrfit.structures.base import StructureLearner

SHRUNKEN = (
    "The penalty has shrunken the estimates: intervals lie around shrunken values, and hold true ones less often than "
    "they say."
)
SELECTED = (
    "The structure was learned from the same rows, which errors do not know: intervals are too narrow and p-values too "
    "small. Learn the structure from one half of the rows, and the parameters from the other."
)


def check_errors(kind: str, problem: FitProblem) -> None:
    """Complain before the fit about errors that there will not be."""
    if kind not in KINDS:
        raise InputError(f"There are no errors of the kind {kind!r}; choose one of {listed(KINDS)}.")
    problem.learner.penalty.stiffness(1.0)
    if not problem.learner.objective.is_score:
        raise InputError(
            f"Standard errors are those of a likelihood or pseudo-likelihood; {problem.learner.objective.word} is "
            "neither. Use one of these, or resampling."
        )
    if problem.chain_problem is not None:
        raise InputError(
            "Standard errors need exact second derivatives, which chains do not give. Use a structure that an "
            "exact engine fits, the pseudo-likelihood, or resampling."
        )
    if problem.n_parameters > MOST_DENSE:
        raise InputError(
            f"Standard errors need a square matrix over the {problem.n_parameters:,} parameters; the limit is "
            f"{MOST_DENSE:,}. Use a sparser structure, or leave the errors out."
        )


def errors_of(problem: FitProblem, fit: CandidateFit, kind: str) -> StandardErrors:
    """Return the standard errors of a fit, ``sandwich`` or ``model``; see `StandardErrors`."""
    coordinates, objective = in_order(problem, fit.model.parameters)
    stiffness, expansion = stiffness_of(problem, fit), objective.expand(fit.model.w)
    curvature = ScoreCurvature(
        hessian=expansion.hessian(),
        products=coordinates.gradient_products(fit.model.w, problem.rows),
        stiffness=stiffness,
        value=expansion.value,
        n_rows=problem.rows.effective_rows,
        total_weight=problem.total_weight,
    )
    remarks = _remarks(problem.learner.structure, is_shrunken=bool(stiffness.any()))
    return curvature.errors(kind, held=fit.without_finite_optimum, remarks=remarks)


def stiffness_of(problem: FitProblem, fit: CandidateFit) -> Floats:
    """Second derivatives of the penalty in every parameter of the model."""
    penalized = ~np.isin(fit.model.parameters.order_without_covariates, problem.free_orders)
    return np.where(penalized, problem.learner.penalty.stiffness(fit.strength), 0.0)


def in_order(problem: FitProblem, parameters: Parameterization) -> tuple[Backend, Objective]:
    """Return backend and objective in the order of the model's parameters, which may differ from that of the fit."""
    if problem.coordinates.parameters is parameters:
        return problem.coordinates, problem.objective
    coordinates = problem.learner.objective.coordinates(parameters, listed=True, keep_zeros=False, jobs=problem.jobs)
    return coordinates, coordinates.objective(problem.rows)


def _remarks(structure: StructureLearner, *, is_shrunken: bool) -> tuple[str, ...]:
    return (SHRUNKEN,) * is_shrunken + (SELECTED,) * structure.is_learned
