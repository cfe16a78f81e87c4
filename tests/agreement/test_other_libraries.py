"""SciPy and scikit-learn as oracles."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy import optimize
from sklearn.linear_model import LogisticRegression

from mrfit.data.unique_rows import UniqueRows
from mrfit.learning.specification import learn
from mrfit.parameterizations.canonical import Canonical
from mrfit.solvers.method import Method
from mrfit.solvers.minimize import minimize
from mrfit.structures.structure import Structure
from populations import METHODS, SHAPES, STRUCTURES, full_rows, penalized, random_rows
from words import learner

every_method = pytest.mark.parametrize("method", METHODS.values(), ids=METHODS.keys())


@every_method
@pytest.mark.parametrize("structure", ["complete", "order 3", "pairs without singles"])
@pytest.mark.parametrize("shape", ["binary", "mixed"])
def test_scipy_reaches_the_same_value(
    shape: str, structure: str, method: Method[Any], rng: np.random.Generator
) -> None:
    """L-BFGS-B on the same function."""
    rows = random_rows(rng, SHAPES[shape], 200, fractional=True)
    parameters = Canonical(rows.domain, STRUCTURES[structure](len(rows.domain)))
    objective = penalized(rows, parameters, strength=0.5)
    oracle = optimize.minimize(
        objective.value_and_gradient,
        np.zeros(objective.n_parameters),
        jac=True,
        method="L-BFGS-B",
        options={"ftol": 1e-15, "gtol": 1e-9, "maxiter": 5000, "maxfun": 10_000},
    )
    assert minimize(objective, method).value == pytest.approx(oracle.fun, rel=1e-8)


def test_scipy_reaches_the_same_point_between_bounds(rng: np.random.Generator) -> None:
    """L-BFGS-B with the same box; the objective is strictly convex, so the point is unique."""
    rows = random_rows(rng, SHAPES["mixed"], 200)
    objective = penalized(rows, Canonical(rows.domain, STRUCTURES["complete"](4)), strength=0.5)
    bound = np.full(objective.n_parameters, 0.4)
    oracle = optimize.minimize(
        objective.value_and_gradient,
        np.zeros(objective.n_parameters),
        jac=True,
        method="L-BFGS-B",
        bounds=optimize.Bounds(-bound, bound),
        options={"ftol": 1e-16, "gtol": 1e-10, "maxiter": 5000, "maxfun": 10_000},
    )
    for method in METHODS.values():
        solution = minimize(objective, method, bound=bound, tolerance=1e-9)
        assert solution.at_bound.size > 0
        np.testing.assert_allclose(solution.w, oracle.x, atol=1e-5)


def _logistic(design: np.ndarray, target: np.ndarray, weight: np.ndarray, *, strength: float) -> LogisticRegression:
    model = LogisticRegression(
        C=1.0 / strength if strength else np.inf,
        fit_intercept=False,
        tol=1e-10,
        solver="newton-cholesky",
        max_iter=1000,
    )
    return model.fit(design, target, sample_weight=weight)


@pytest.mark.parametrize("strength", [0.2, 5.0])
@pytest.mark.parametrize("structure", ["independent", "complete", "order 3", "a triple without its parts"])
def test_scikit_learn_on_the_stacked_regression(structure: str, strength: float, rng: np.random.Generator) -> None:
    """The pseudo-likelihood of binary variables is one logistic regression on rows times variables.

    Its features are the changes of the network's features as x_i goes from 0 to 1; C is one over the strength.
    """
    rows = random_rows(rng, SHAPES["binary"], 100, fractional=True)
    n = len(rows.domain)
    fit = learn(rows, STRUCTURES[structure](n), learner((strength,), tolerance=1e-10)).best
    parameters = fit.model.parameters
    design = np.zeros((rows.n_distinct, n, parameters.n_parameters))
    for k in range(parameters.n_parameters):
        members = [i for i, _ in parameters.assignment(k)]
        for i in members:
            design[:, i, k] = rows.codes[:, [j for j in members if j != i]].all(axis=1)
    oracle = _logistic(
        design.reshape(-1, parameters.n_parameters),
        rows.codes.ravel(),
        np.repeat(rows.sample_weight, n),
        strength=strength,
    )
    np.testing.assert_allclose(fit.model.w, oracle.coef_[0], atol=1e-6)


@pytest.mark.parametrize("variable", [0, 1, 2])
def test_scikit_learn_on_one_node_of_a_saturated_model(variable: int, rng: np.random.Generator) -> None:
    """Conditional of a node in the saturated model without a penalty: its own regression has the same parameters."""
    rows = full_rows(rng, (2, 2, 2))
    settings = learner((1.0,), free_orders=(1, 2, 3), tolerance=1e-10)
    model = learn(rows, Structure.up_to_order(3, 3), settings).best.model
    others = [i for i in range(3) if i != variable]
    subsets = [[i for i, inside in zip(others, mask, strict=True) if inside] for mask in product([0, 1], repeat=2)]
    design = np.stack([_all(rows, subset) for subset in subsets], axis=1)
    oracle = _logistic(design, rows.codes[:, variable], rows.sample_weight, strength=0.0)
    number = {frozenset(i for i, _ in model.parameters.assignment(k)): k for k in range(len(model.w))}
    mine = [model.w[number[frozenset([variable, *subset])]] for subset in subsets]
    np.testing.assert_allclose(mine, oracle.coef_[0], atol=1e-6)


def _all(rows: UniqueRows, variables: list[int]) -> np.ndarray:
    return rows.codes[:, variables].all(axis=1).astype(float)
