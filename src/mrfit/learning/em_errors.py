"""Standard errors of parameters learned from incomplete rows."""

from __future__ import annotations

import numpy as np

from mrfit._typing import Floats
from mrfit.core.errors import InputError
from mrfit.data.completions import Completions
from mrfit.data.unique_rows import UniqueRows
from mrfit.inference.exact.row_tables import RowTables
from mrfit.learning.fit_problem import FitProblem
from mrfit.learning.fit_result import CandidateFit
from mrfit.learning.learner import Learner
from mrfit.learning.standard_errors import SHRUNKEN
from mrfit.model.standard_error_estimates import StandardErrors
from mrfit.parameterizations.parameterization import Parameterization

_MOST_COMPLETE = 2**13  # distinct complete rows, whose gradients are held at once


def check_incomplete_errors(kind: str, learner: Learner) -> None:
    if kind != "sandwich":
        raise InputError(f"With missing values, standard errors must be of the kind 'sandwich'; got {kind!r}.")
    if not learner.parameterization_kind.takes_covariates or learner.reference != "first":
        raise InputError(
            "Standard errors from incomplete rows need ordered parameters, or canonical ones whose reference "
            "categories are the first states. Change the parameterization, or leave the errors out."
        )


def incomplete_errors(
    learner: Learner, fit: CandidateFit, completions: Completions, weighted: UniqueRows, *, jobs: int = 1
) -> StandardErrors:
    """A^-1 J A^-T, for the gradients g_r = E[s | what is observed of row r], whose sum is zero at the optimum.

    J is the sum of g_r g_r'; A = -dg/dw = E[-ds] - Cov(s, f | observed), f the features: the second term is what the
    missing cells would have said.
    """
    if len(fit.without_finite_optimum):
        raise InputError("Some parameters have no finite optimum, so they have no standard errors; use an l2 penalty.")
    if completions.complete.n_distinct > _MOST_COMPLETE:
        raise InputError(
            f"Standard errors need the gradients of {completions.complete.n_distinct:,} completed rows; the limit "
            f"is {_MOST_COMPLETE:,}. Leave the errors out, or rows with many missing values."
        )
    model = fit.model
    problem = FitProblem(weighted, model.structure, learner, jobs)
    coordinates = learner.objective.coordinates(model.parameters, listed=True, keep_zeros=True, jobs=jobs)
    expansion = coordinates.objective(weighted).expand(model.w)
    features = feature_values(model.parameters, completions.complete)
    gradients = _gradients(learner, model.parameters, model.w, completions.complete, features)
    shares = completions.shares(model.factors.log_potential(completions.complete.codes.astype(np.int64)))
    count = completions.observed.sample_weight
    g, f = (_expected(values, completions, shares) for values in (gradients, features))
    both = gradients.T @ (np.bincount(completions.way, count[completions.row] * shares)[:, None] * features)
    lost = both - g.T @ (count[:, None] * f)
    penalized = ~np.isin(model.parameters.order_without_covariates, problem.free_orders)
    stiffness = np.where(penalized, learner.penalty.stiffness(fit.strength), 0.0)
    information = weighted.total_weight * expansion.hessian() + np.diag(stiffness) - lost
    return _errors(information, g.T @ (count[:, None] * g), completions.observed, shrunken=bool(stiffness.any()))


def feature_values(parameters: Parameterization, rows: UniqueRows) -> Floats:
    """The value of every feature in every row, (rows, parameters)."""
    tables = RowTables(parameters)
    return np.concatenate([tables.features(cells).toarray() for _, cells in tables.cells(rows)])


def _gradients(learner: Learner, parameters: Parameterization, w: Floats, rows: UniqueRows, features: Floats) -> Floats:
    """Gradient of the log-likelihood of each complete row, (rows, parameters)."""
    coordinates = learner.objective.coordinates(parameters, listed=True, keep_zeros=True, jobs=1)
    if learner.objective.is_joint and not parameters.covariate_indices:
        _, gradient = coordinates.objective(rows).value_and_gradient(w)
        means = gradient + rows.sample_weight @ features / rows.total_weight  # of the features, under the model
        return features - means
    return -coordinates.gradient_sums(w, rows, np.eye(rows.n_distinct))


def _expected(values: Floats, completions: Completions, shares: Floats) -> Floats:
    """E[values | what is observed] for every incomplete row."""
    out = np.zeros((completions.observed.n_distinct, values.shape[1]))
    np.add.at(out, completions.row, shares[:, None] * values[completions.way])
    return out


def _errors(information: Floats, products: Floats, rows: UniqueRows, *, shrunken: bool) -> StandardErrors:
    """Weights that are no counts are worth fewer rows; criteria would need a likelihood of what is observed."""
    scale = rows.total_weight / rows.effective_rows
    bread = np.linalg.inv(information)
    covariance = scale * bread @ products @ bread.T
    return StandardErrors(
        "sandwich",
        0.5 * (covariance + covariance.T),
        float(np.sum(bread.T * products)),
        np.nan,
        np.nan,
        (SHRUNKEN,) * shrunken,
    )
