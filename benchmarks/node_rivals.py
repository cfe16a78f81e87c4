"""Other programs that fit l1 logistic regressions: each solves one node at given strengths, in its own best way.

The judge of all of them is `Node.violation`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
from scipy import sparse

from mrfit.data.unique_rows import UniqueRows

VIOLATION = 1e-5  # of every solution, as a share of the critical strength


@dataclass(frozen=True, eq=False)
class Node:
    """One variable's regression, as others see it: minimise sum of logistic losses + strength * l1 norm."""

    rows: UniqueRows
    variable: int
    strengths: np.ndarray
    critical: float

    @cache  # noqa: B019 - a handful of nodes, which live as long as the process
    def data(self, form: str, repeated: bool, column: float) -> tuple[Any, np.ndarray, np.ndarray]:
        """(X, y, sample_weight); ``repeated`` rows for who takes no weights, a last ``column`` for no constant."""
        X, y = np.delete(self.rows.codes, self.variable, axis=1).astype(float), self.rows.codes[:, self.variable]
        weight = self.rows.sample_weight
        if column:
            X = np.column_stack([X, np.full(len(X), column)])
        if repeated:
            X, y = (np.repeat(each, weight.astype(int), axis=0) for each in (X, y))
            weight = np.ones(len(y))
        X = np.asarray(X, order=form) if form in "CF" else sparse.csr_matrix(X).asformat(form)
        return X, y.astype(float), weight

    def violation(self, constant: float, beta: np.ndarray, strength: float) -> float:
        """The judge: largest distance of minus the gradient to the subdifferential, over the critical strength."""
        X, y, weight = self.data("F", False, 0.0)
        residual = weight * (1.0 / (1.0 + np.exp(-(X @ beta + constant))) - y)
        gradient = X.T @ residual
        inside = np.maximum(np.abs(gradient) - strength, 0.0)
        distance = np.where(beta != 0, np.abs(gradient + strength * np.sign(beta)), inside)
        return float(max(abs(residual.sum()), distance.max())) / self.critical


Solutions = Iterator[tuple[float, np.ndarray]]
FREE = 3e5  # of a penalised constant: its share of the strength is 3e-6, below the violation asked for


def adelie(node: Node, X: Any, y: np.ndarray, weight: np.ndarray, tolerance: float) -> Solutions:
    import adelie as ad

    matrix = ad.matrix.sparse(X, method="naive") if sparse.issparse(X) else X
    loss, path = ad.glm.binomial(y, weights=weight / weight.sum()), node.strengths / weight.sum()
    exact = {"tol": tolerance, "irls_tol": tolerance, "early_exit": False, "progress_bar": False}
    state = ad.grpnet(matrix, loss, lmda_path=path, **exact)
    yield from zip(state.intercepts, state.betas.toarray(), strict=True)


def glmnet(node: Node, X: Any, y: np.ndarray, weight: np.ndarray, tolerance: float) -> Solutions:
    from glmnet import LogitNet

    path = node.strengths / weight.sum()
    model = LogitNet(alpha=1, lambda_path=path, standardize=False, tol=tolerance, n_splits=0, max_iter=10**6)
    model.fit(X, y, sample_weight=weight)
    yield from zip(model.intercept_path_.ravel(), model.coef_path_.reshape(-1, len(path)).T, strict=True)


def skglm(node: Node, X: Any, y: np.ndarray, weight: np.ndarray, tolerance: float) -> Solutions:
    from skglm import SparseLogisticRegression

    tolerance *= node.critical / len(y)  # its tolerance is the violation of the mean objective
    model = SparseLogisticRegression(tol=tolerance, max_iter=1000, warm_start=True)
    for strength in node.strengths:
        model.set_params(alpha=strength / len(y)).fit(X, 2 * y - 1)
        yield float(np.ravel(model.intercept_)[0]), model.coef_.ravel().copy()


def celer(node: Node, X: Any, y: np.ndarray, weight: np.ndarray, tolerance: float) -> Solutions:
    from celer import LogisticRegression

    model = LogisticRegression(tol=tolerance, max_iter=500, warm_start=True)
    for strength in node.strengths:
        beta = model.set_params(C=1 / strength).fit(X, 2 * y - 1).coef_.ravel()
        yield beta[-1] * FREE, beta[:-1].copy()


def scikit_learn(node: Node, X: Any, y: np.ndarray, weight: np.ndarray, tolerance: float, **solver: Any) -> Solutions:
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(l1_ratio=1.0, tol=tolerance, warm_start=True, intercept_scaling=FREE, **solver)
    for strength in node.strengths:
        model.set_params(C=1 / strength).fit(X, y, sample_weight=weight)
        yield float(model.intercept_[0]), model.coef_[0].copy()


@dataclass(frozen=True)
class Rival:
    """A solver, its loosest tolerance worth a try, and the rows it takes."""

    name: str
    package: str
    solve: Callable[..., Solutions]
    loosest: float
    forms: tuple[str, ...]
    repeated: bool = False
    column: float = 0.0


LIBLINEAR = partial(scikit_learn, solver="liblinear", max_iter=1000)
SAGA = partial(scikit_learn, solver="saga", max_iter=1000)
RIVALS = (
    Rival("adelie", "adelie", adelie, 1e-6, ("F", "csc")),
    Rival("glmnet", "glmnet", glmnet, 1e-7, ("F", "csc")),
    Rival("skglm", "skglm", skglm, VIOLATION, ("F", "csc"), repeated=True),
    Rival("celer", "celer", celer, 1e-4, ("F", "csc"), repeated=True, column=FREE),
    Rival("liblinear", "sklearn", LIBLINEAR, 1e-5, ("C", "csr")),
    Rival("saga", "sklearn", SAGA, 1e-4, ("C", "csr"), repeated=True),  # its steps are too long for large weights
)
