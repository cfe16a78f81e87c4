"""What a solver may ask of a smooth function."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]


@dataclass(frozen=True)
class Dense:
    """A Hessian as a matrix, and what that costs beside products with it.

    Parameters
    ----------
    matrix
        Works it out.
    products
        So many products take as long.
    nanoseconds
        Of one product.
    remembered
        The matrix of a point that was expanded before, if one was worked out: roughly this one, for nothing.
    """

    matrix: Callable[[], Floats]
    products: float
    nanoseconds: float
    remembered: Callable[[], Floats | None] = lambda: None

    def mapped(self, change: Callable[[Floats], Floats]) -> Dense:
        """Of a function whose Hessian is another function of this matrix."""

        def remembered() -> Floats | None:
            matrix = self.remembered()
            return None if matrix is None else change(matrix)

        return replace(self, matrix=lambda: change(self.matrix()), remembered=remembered)


@dataclass(frozen=True)
class Expansion:
    """A function to second order at one point. ``product(v)`` is the Hessian times v.

    ``precondition``, where it is given, is a symmetric positive definite guess at the inverse of the Hessian.
    ``diagonal()`` is that of the Hessian, worked out when it is first asked for.
    ``block(chosen)`` is the Hessian of the chosen parameters as a matrix, where that is cheaper than products.
    ``dense`` is the whole of it as a matrix, where there are few enough parameters for that.
    ``dual(t)``, where it is given, is the value of the dual at the point whose gradient is t times this one: no point
    at which a penalty's conjugate allows that gradient has a smaller value.

    It owns what it needs: it stays what it was when the objective is evaluated or expanded elsewhere, and when the
    vector it was asked for is written to.
    """

    value: float
    gradient: Floats
    diagonal: Callable[[], Floats]
    product: Callable[[Floats], Floats]
    precondition: Callable[[Floats], Floats] | None = None
    block: Callable[[Indices], Floats] | None = None
    dense: Dense | None = None
    dual: Callable[[float], float] | None = None

    def preconditioned(self, r: Floats) -> Floats:
        """Roughly the inverse Hessian times r: by ``precondition`` where there is one, else by the diagonal."""
        if self.precondition is not None:
            return self.precondition(r)
        return r / at_least(self.diagonal(), 1e-8)


def owned(w: Floats) -> Floats:
    """A point that nobody writes to: itself where it is read-only, else a copy."""
    return w.copy() if w.flags.writeable else w


def at_least(values: Floats, share: float) -> Floats:
    """Positive entries, none below a share of the largest."""
    return np.asarray(np.maximum(values, share * values.max(initial=1e-300)), np.float64)


class Objective(ABC):
    """A convex, twice differentiable function of the parameters, to be minimised; scaled as a mean over rows."""

    n_parameters: int
    n_cells: int  # that an evaluation goes over: states of neighbours, or joint states

    @abstractmethod
    def value_and_gradient(self, w: Floats) -> tuple[float, Floats]: ...

    @abstractmethod
    def expand(self, w: Floats) -> Expansion: ...

    def rough_hessian(self) -> Floats | None:
        """One positive definite matrix that is roughly the Hessian wherever the optimum may be, if there is one.

        Methods that would have to learn the curvature step by step begin with it.
        """
        return None
