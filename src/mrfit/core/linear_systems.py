"""Internal: division by a positive definite matrix, by Cholesky factors or by conjugate gradients."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from mrfit._typing import Floats

_DENSER, _MOST_TERMS = 4, 64  # most entries of an inverse, as a multiple of the matrix's; most terms of its series


def divided(matrix: Floats, r: Floats) -> Floats:
    """Return matrix^-1 r; a matrix made indefinite by rounding gets the least sufficient ridge on its diagonal."""
    return np.asarray(cho_solve((cholesky(matrix), True), r, check_finite=False), np.float64)


def cholesky(matrix: Floats) -> Floats:
    """Return the lower Cholesky factor, with the ridge of `divided` if needed; its upper triangle is arbitrary."""
    ridge, diagonal = 0.0, matrix.diagonal().copy()
    while True:
        try:
            return np.asarray(cho_factor(matrix.T, lower=True, check_finite=False)[0], np.float64)
        except LinAlgError:
            ridge = max(10.0 * ridge, 1e-14 * float(diagonal.max()))
            matrix = matrix.copy()
            np.fill_diagonal(matrix, diagonal + ridge)


@dataclass(frozen=True)
class Factor:
    """A positive definite matrix, stored as its Cholesky factor."""

    lower: Floats

    @classmethod
    def of(cls, matrix: Floats) -> Factor:
        return cls(cholesky(matrix))

    def divide(self, r: Floats) -> Floats:
        return np.asarray(cho_solve((self.lower, True), r, check_finite=False), np.float64)


def conjugate_gradients(
    product: Callable[[Floats], Floats],
    r: Floats,
    *,
    is_enough: Callable[[Floats, float, float], bool],
    most: int,
    precondition: Callable[[Floats], Floats] = lambda r: r,
) -> tuple[Floats, Floats]:
    """Return an approximate solution d of product(d) = r, and the residual (Hestenes and Stiefel 1952).

    ``is_enough`` gets the residual, its square in the norm of the preconditioner, and that square at the start. The
    iteration also ends after ``most`` products, and where the curvature is zero to rounding: the result so far is a
    descent direction.
    """
    d, r = np.zeros_like(r), r.copy()
    y = precondition(r)
    p = y.copy()
    size = first = float(r @ y)
    for _ in range(most):
        if is_enough(r, size, first):
            break
        hp = product(p)
        curvature = float(p @ hp)
        if curvature <= 0.0:
            break
        length = size / curvature
        d += length * p
        r -= length * hp
        y = precondition(r)
        size, last = float(r @ y), size
        p = y + (size / last) * p
    return d, r


def inverse_by_series(matrix: sparse.csr_array) -> sparse.csr_array | None:
    """Return the inverse of a matrix that is triangular in some order of rows and columns; None for any other.

    With the diagonal D and the rest R, (D + R)^-1 = sum over k of (-D^-1 R)^k D^-1. Each factor moves along the order,
    for example from a scope to its subsets, so the series ends. None also if the inverse would be much denser than the
    matrix.
    """
    diagonal = matrix.diagonal()
    if matrix.shape[0] != matrix.shape[1] or not diagonal.all():
        return None
    rest = matrix - sparse.diags_array(diagonal)
    rest.eliminate_zeros()
    step, term = sparse.diags_array(-1.0 / diagonal) @ rest, sparse.csr_array(sparse.diags_array(1.0 / diagonal))
    inverse = term
    for _ in range(_MOST_TERMS):
        term = step @ term
        if not term.nnz:
            return inverse
        inverse = inverse + term
        if inverse.nnz > _DENSER * matrix.nnz:
            return None
    return None


def at_least(values: Floats, share: float) -> Floats:
    """Raise entries to at least a share of the largest; the result is positive."""
    return np.asarray(np.maximum(values, share * values.max(initial=1e-300)), np.float64)


def mirrored(lower: Floats) -> Floats:
    """Return the symmetric matrix with this lower triangle; entries above the diagonal must be zero."""
    out = np.asarray(lower + lower.T, np.float64)
    out.flat[:: len(out) + 1] *= 0.5
    return out
