"""What a solver may ask of a smooth function."""

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
    """A Hessian that can be worked out, and what that costs beside products with it.

    Parameters
    ----------
    hessian
        Works it out.
    products
        So many products take as long.
    nanoseconds
        Of one product.
    dividing
        Nanoseconds before the first division by it.
    n_entries
        Numbers it consists of, all of which are gone over to make another function's Hessian of it.
    is_lasting
        Whether it pays over many steps rather than within one: blocks are never the whole of it, a matrix is.
    remembered
        Gives that of a point that was expanded before, if one was worked out: roughly this one, for nothing but what
        is made of it.
    spent
        Passes over the data since that, or since the beginning.
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
        """Of a function whose Hessian is another function of this one, which may be faster to divide by."""

        def previous() -> Callable[[], Hessian] | None:
            hessian = self.previous()
            return None if hessian is None else lambda: change(hessian())

        dividing = min(dividing, self.dividing)
        return replace(self, hessian=lambda: change(self.hessian()), dividing=dividing, previous=previous)


@dataclass(frozen=True)
class Expansion:
    """A function to second order at one point. ``product(v)`` is the Hessian times v.

    ``precondition``, where it is given, is a symmetric positive definite guess at the inverse of the Hessian.
    ``nearly_diagonal()``, where it is given, is roughly the Hessian: better than its diagonal, as easily divided by.
    ``uncorrelated()`` is the same for objectives made from this one, which is itself divided by its diagonal: that one
    adds up over shards.
    ``diagonal()`` is that of the Hessian, worked out when it is first asked for.
    ``block(chosen)`` is the Hessian of the chosen parameters as a matrix, where that is cheaper than products.
    ``explicit`` is the whole of it, where it can be held.
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
    nearly_diagonal: Callable[[], NearlyDiagonal] | None = None
    uncorrelated: Callable[[], NearlyDiagonal] | None = None
    block: Callable[[Indices], Floats] | None = None
    explicit: ExplicitHessian | None = None
    dual: Callable[[float], float] | None = None

    def hessian(self) -> Floats:
        """The whole of it as a matrix, by a product for each parameter where nothing faster is there."""
        n = len(self.gradient)
        if self.explicit is not None:
            return self.explicit.hessian().matrix()
        if self.block is not None:
            return self.block(np.arange(n))
        matrix = np.stack([self.product(column) for column in np.eye(n)]) if n else np.zeros((0, 0))
        return np.asarray(0.5 * (matrix + matrix.T), np.float64)  # products by differences are not quite symmetric

    def preconditioned(self, r: Floats) -> Floats:
        """Roughly the inverse Hessian times r: by the best guess there is."""
        if self.precondition is not None:
            return self.precondition(r)
        if self._division is not None:
            return self._division(r)
        return r / at_least(self.diagonal(), 1e-8)

    @cached_property
    def _division(self) -> Division | None:
        return self.nearly_diagonal and self.nearly_diagonal().division(np.zeros(len(self.gradient)))


def read_only(w: Floats) -> Floats:
    """A point that nobody writes to: itself where it is read-only, else a copy."""
    return w.copy() if w.flags.writeable else w


class Objective(ABC):
    """A twice differentiable function of the parameters, to be minimised; scaled as a mean over rows.

    ``is_convex`` says whether it is convex. Where it is not, solvers claim a stationary point and not an optimum.
    """

    is_convex: bool = True
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
