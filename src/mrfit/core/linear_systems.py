"""Internal: division by a positive definite matrix: by Cholesky, or by conjugate gradients where products are held."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from mrfit._typing import Floats

_DENSER, _MOST_TERMS = 4, 64  # how much denser than a matrix its inverse may be; of the series that leads to it


def divided(matrix: Floats, r: Floats) -> Floats:
    """matrix^-1 r; where rounding made the matrix indefinite, with the least ridge that helps on its diagonal."""
    return np.asarray(cho_solve((cholesky(matrix), True), r, check_finite=False), np.float64)


def cholesky(matrix: Floats) -> Floats:
    """The lower factor, whatever stands above it; of the matrix with a ridge as for `divided`."""
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
    """A positive definite matrix in the form that it is divided by."""

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
    """Roughly the d with product(d) = r, and what is left of r (Hestenes and Stiefel 1952).

    ``is_enough`` sees the residual, its square in the norm of the preconditioner, and that square at the start. Ends
    also after ``most`` products, and where the matrix is flat to rounding: what was gathered so far is a direction of
    descent.
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
    """matrix^-1, where in some order of rows and columns the matrix is triangular; None for any other.

    With its diagonal D and the rest R, (D + R)^-1 = sum over k of (-D^-1 R)^k D^-1. Each factor leads on along the
    order, as from a scope to those within it, and the series ends. One that is far less sparse is not gathered.
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
    """Positive entries, none below a share of the largest."""
    return np.asarray(np.maximum(values, share * values.max(initial=1e-300)), np.float64)


def mirrored(lower: Floats) -> Floats:
    """The symmetric matrix of which this is the lower half, with zeros above."""
    out = np.asarray(lower + lower.T, np.float64)
    out.flat[:: len(out) + 1] *= 0.5
    return out
