"""The interface of smooth objectives: values, gradients and second derivatives."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from mrfit._typing import Floats, Indices
from mrfit.core.diagonal_in_basis import NearlyDiagonal
from mrfit.core.linear_systems import at_least
from mrfit.objectives.hessian import Division, Hessian


@dataclass(frozen=True)
class ExplicitHessian:
    """A Hessian that can be computed, and its cost relative to products with it.

    Parameters
    ----------
    hessian
        Computes it.
    products
        Cost of the Hessian, in products.
    nanoseconds
        Time of one product.
    dividing
        Nanoseconds to prepare the first division by it.
    n_entries
        Number of stored entries, all of which are visited to derive another function's Hessian from it.
    reuse_across_steps
        Whether it pays off over many steps rather than within one. Blocks do: they only approximate the inverse.
    previous
        Returns the Hessian last computed at another point, if any, at no cost.
    spent
        Passes over the data since then, or since the beginning.
    """

    hessian: Callable[[], Hessian]
    products: float
    nanoseconds: float
    dividing: float
    n_entries: int
    reuse_across_steps: bool = False
    previous: Callable[[], Callable[[], Hessian] | None] = lambda: None
    spent: Callable[[], int] = lambda: 0

    def mapped(self, change: Callable[[Hessian], Hessian], dividing: float = np.inf) -> ExplicitHessian:
        """Return the explicit Hessian ``change(self)`` of a related function, which may be faster to divide by."""

        def previous() -> Callable[[], Hessian] | None:
            hessian = self.previous()
            return None if hessian is None else lambda: change(hessian())

        dividing = min(dividing, self.dividing)
        return replace(self, hessian=lambda: change(self.hessian()), dividing=dividing, previous=previous)


@dataclass(frozen=True)
class Expansion:
    """A function to second order at one point.

    An expansion owns its data: it stays valid when the objective is evaluated or expanded elsewhere, and when the
    vector of parameters is overwritten.

    Parameters
    ----------
    value, gradient
        Value and gradient at the point.
    diagonal
        Returns the diagonal of the Hessian, computed when first used.
    product
        Multiplies a vector by the Hessian.
    precondition
        Multiplies a vector by a symmetric positive definite approximation of the inverse Hessian.
    nearly_diagonal
        Returns an approximation of the Hessian that is better than its diagonal, and as easy to invert.
    uncorrelated
        Returns the same for objectives derived from this one. This one itself uses its diagonal, which adds up over
        shards.
    block
        Returns the Hessian of chosen parameters as a matrix, if that is cheaper than products.
    explicit
        The whole Hessian, if memory can hold it.
    dual
        Returns, for t, the value of the dual at the point whose gradient is t times this one. No point at which a
        penalty's conjugate allows that gradient has a smaller value.
    """

    value: float
    gradient: Floats
    diagonal: Callable[[], Floats]
    product: Callable[[Floats], Floats]
    precondition: Callable[[Floats], Floats] | None = None
    nearly_diagonal: Callable[[], NearlyDiagonal] | None = None
    uncorrelated: Callable[[], NearlyDiagonal] | None = None
    block: Callable[[Indices], Floats] | None = None
    explicit: ExplicitHessian | None = None
    dual: Callable[[float], float] | None = None

    def hessian(self) -> Floats:
        """Return the Hessian as a matrix, by a product for each parameter if nothing faster is available."""
        n = len(self.gradient)
        if self.explicit is not None:
            return self.explicit.hessian().matrix()
        if self.block is not None:
            return self.block(np.arange(n))
        matrix = np.stack([self.product(column) for column in np.eye(n)]) if n else np.zeros((0, 0))
        return np.asarray(0.5 * (matrix + matrix.T), np.float64)  # finite-difference products are not quite symmetric

    def preconditioned(self, r: Floats) -> Floats:
        """Multiply r by the best available approximation of the inverse Hessian."""
        if self.precondition is not None:
            return self.precondition(r)
        if self._division is not None:
            return self._division(r)
        return r / at_least(self.diagonal(), 1e-8)

    @cached_property
    def _division(self) -> Division | None:
        return self.nearly_diagonal and self.nearly_diagonal().division(np.zeros(len(self.gradient)))


def read_only(w: Floats) -> Floats:
    """Return a copy of a point, or the point itself if it is read-only."""
    return w.copy() if w.flags.writeable else w


class Objective(ABC):
    """A twice differentiable function of the parameters, to be minimised; scaled as a mean over rows.

    If ``is_convex`` is False, solvers claim a stationary point and not an optimum.
    """

    is_convex: bool = True
    n_parameters: int
    n_cells: int  # visited in an evaluation: states of neighbours, or joint states

    @abstractmethod
    def value_and_gradient(self, w: Floats) -> tuple[float, Floats]: ...

    @abstractmethod
    def expand(self, w: Floats) -> Expansion: ...

    def rough_hessian(self) -> Floats | None:
        """Return a positive definite matrix that approximates the Hessian near the optimum, if one is known.

        Quasi-Newton methods start from it.
        """
        return None
