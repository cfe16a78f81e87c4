"""C_min: the smallest eigenvalue of the Hessian of an objective, and how well it is known."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mrfit._typing import Floats
from mrfit.core.errors import InputError
from mrfit.objectives.objective import Expansion, Objective

Product = Callable[[Floats], Floats]

MOST_DENSE = 1500  # parameters: a Hessian of 18 MB, one product for each column
TOLERANCE = 1e-5  # of the residual, relative to the eigenvalue
_BLOCK = 4  # vectors that iterate together: nearly equal eigenvalues do not hold each other up
_ROUNDS, _ITERATIONS = 40, 50


@dataclass(frozen=True)
class SmallestEigenvalue:
    """An eigenvalue by a full decomposition (``dense``) or by ``iterative`` products.

    ``accuracy`` is the norm of the residual H v - value v of a unit vector v, relative to the value: some eigenvalue
    is that close, and none is known to be smaller. It is zero for a decomposition, right to rounding.
    """

    value: float
    method: str
    accuracy: float = 0.0


def smallest_eigenvalue(objective: Objective, w: Floats) -> float:
    """The value of `smallest_eigenvalue_of` alone."""
    return smallest_eigenvalue_of(objective, w).value


def smallest_eigenvalue_of(objective: Objective, w: Floats) -> SmallestEigenvalue:
    """C_min of the Hessian of ``objective`` at ``w``; zero where rounding cannot tell.

    The paper's Hessian is that of the mean (per-sample) negative log-likelihood. For the exact likelihood it is the
    covariance of the features under w and does not depend on the data. A model learned from data gives an estimate of
    C_min at the true parameters.

    m products and O(m^3) for up to 1,500 parameters; beyond, locally optimal block conjugate gradients (LOBPCG,
    Knyazev 2001), some hundred products. What has not converged is refused, never returned.
    """
    w = checked_point(w)
    if len(w) != objective.n_parameters:
        raise InputError(
            f"w holds {len(w)} parameters; expected {objective.n_parameters}, those of the objective. Pass its own."
        )
    expansion = objective.expand(w)
    return _iterated(expansion) if len(w) > MOST_DENSE else _dense(expansion.product, len(w))


def checked_point(w: Floats) -> Floats:
    w = np.asarray(w, np.float64)
    if w.ndim != 1 or not np.isfinite(w).all():
        raise InputError(f"w has shape {w.shape}; expected one finite number for each parameter. Pass a model's w.")
    return w


def _dense(product: Product, m: int) -> SmallestEigenvalue:
    hessian = np.stack([product(column) for column in np.eye(m)])
    eigenvalues = np.linalg.eigvalsh(0.5 * (hessian + hessian.T))
    return SmallestEigenvalue(_above_rounding(float(eigenvalues[0]), m, float(eigenvalues[-1])), "dense")


def _iterated(expansion: Expansion) -> SmallestEigenvalue:
    diagonal, m = expansion.diagonal(), len(expansion.gradient)
    largest = float(diagonal.max())
    if _above_rounding(float(diagonal.min()), m, largest) == 0.0:
        return SmallestEigenvalue(0.0, "iterative")  # no smallest eigenvalue is above a diagonal entry
    value, residual = _lowest(expansion.product, diagonal)
    if _above_rounding(value, m, largest) == 0.0:
        return SmallestEigenvalue(0.0, "iterative")
    if not residual <= TOLERANCE * value:
        raise InputError(
            f"The smallest eigenvalue of the Hessian did not settle in {_ROUNDS * _ITERATIONS:,} iterations: it is at "
            f"most {value:.2g}, with a residual of {residual:.1g}. Use more rows, or a model with fewer parameters."
        )
    return SmallestEigenvalue(value, "iterative", residual / value)


def _lowest(product: Product, diagonal: Floats) -> tuple[float, float]:
    """The smallest value v . H v of a unit vector v that was found, and the norm of H v - value v.

    The start is fixed: the unit vector of the least diagonal entry, so that the value is no larger, and random ones,
    which no symmetry of the model shares. Plain Lanczos iterations are not an alternative: on dna (1,939 parameters,
    eigenvalues from 4e-10 to 1) they converge to a wrong one. Divided by the diagonal, eigenvalues are of one size.
    """
    from scipy.sparse.linalg import lobpcg

    def products(columns: Floats) -> Floats:
        return np.stack([product(np.ascontiguousarray(column)) for column in columns.T], axis=1)

    block = np.random.default_rng(0).normal(size=(len(diagonal), _BLOCK))
    block[:, 0] = np.arange(len(diagonal)) == diagonal.argmin()
    value, residual = math.inf, math.inf
    # LOBPCG stops when its whole block has converged, absolutely; in rounds, it stops when the lowest has, relatively.
    for _ in range(_ROUNDS):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that it has not converged: the residual is looked at here
            values, found = lobpcg(
                products, block, M=lambda r: r / diagonal[:, None], tol=1e-300, maxiter=_ITERATIONS, largest=False
            )
        block = np.asarray(found, np.float64)
        v = block[:, int(np.argmin(values))]
        v = v / np.linalg.norm(v)
        image = product(v)
        value = float(v @ image)
        residual = float(np.linalg.norm(image - value * v))
        if residual <= TOLERANCE * value:
            break
    return value, residual


def _above_rounding(value: float, m: int, largest: float) -> float:
    return value if value > m * np.finfo(np.float64).eps * largest else 0.0
