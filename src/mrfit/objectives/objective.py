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


def no_previous_hessian() -> None:
    """Return None: no Hessian was computed before."""


def no_passes() -> int:
    """Return 0: nothing was spent yet."""
    return 0


@dataclass(frozen=True)
class ExplicitHessian:
    """Hessian that can be computed as a matrix, and its cost relative to products with it.

    Parameters
    ----------
    hessian : callable
        Computes the Hessian, an object with ``matrix()``.
    products : float
        Cost of the Hessian, in products.
    nanoseconds : float
        Time of one product.
    dividing : float
        Nanoseconds to prepare the first division by it.
    n_entries : int
        Number of stored entries, all of which are visited to derive another function's Hessian from it.
    reuse_across_steps : bool, default False
        Whether it pays off over many steps rather than within one. Blocks do: they only approximate the inverse.
    previous : callable, optional
        Returns the Hessian last computed at another point, if any, at no cost.
    spent : callable, optional
        Passes over the data since then, or since the beginning.

    See Also
    --------
    Expansion : Has one where memory can hold it.
    TruncatedNewton : Decides by these costs when to compute it.

    Examples
    --------
    >>> import mrfit, numpy as np
    >>> from mrfit.objectives import ConditionalCells, PseudoLikelihood
    >>> from mrfit.parameterizations import Canonical
    >>> rows = mrfit.UniqueRows.of({"rain": ["no", "no", "yes"], "wet": ["no", "yes", "yes"]})
    >>> parameters = Canonical(rows.domain, mrfit.Structure.complete(2))
    >>> objective = PseudoLikelihood(ConditionalCells.count(rows, parameters))
    >>> explicit = objective.expand(np.zeros(3)).explicit
    >>> explicit.n_entries, explicit.hessian().matrix().shape
    (9, (3, 3))
    """

    hessian: Callable[[], Hessian]
    products: float
    nanoseconds: float
    dividing: float
    n_entries: int
    reuse_across_steps: bool = False
    previous: Callable[[], Callable[[], Hessian] | None] = no_previous_hessian
    spent: Callable[[], int] = no_passes

    def mapped(self, change: Callable[[Hessian], Hessian], dividing: float = np.inf) -> ExplicitHessian:
        """Return the explicit Hessian of a related function.

        Parameters
        ----------
        change : callable
            Turns this Hessian into the other one.
        dividing : float, default inf
            Nanoseconds to prepare the first division by the other one, if that is less than for this one.

        Returns
        -------
        ExplicitHessian
        """

        def previous() -> Callable[[], Hessian] | None:
            hessian = self.previous()
            return None if hessian is None else lambda: change(hessian())

        dividing = min(dividing, self.dividing)
        return replace(self, hessian=lambda: change(self.hessian()), dividing=dividing, previous=previous)


@dataclass(frozen=True)
class Expansion:
    """Value, gradient and Hessian of an objective at one point.

    An expansion owns its data: it stays valid when the objective is evaluated or expanded elsewhere, and when the
    vector of parameters is overwritten.

    Parameters
    ----------
    value : float
        Value at the point.
    gradient : array of shape (n_parameters,)
        Gradient at the point.
    diagonal : callable
        Returns the diagonal of the Hessian, computed when first used.
    product : callable
        Multiplies a vector by the Hessian.
    precondition : callable, default None
        Multiplies a vector by a symmetric positive definite approximation of the inverse Hessian.
    nearly_diagonal : callable, default None
        Returns an approximation of the Hessian that is better than its diagonal, and as easy to invert.
    uncorrelated : callable, default None
        Returns such an approximation for objectives derived from this one. This one itself uses its diagonal, which
        adds up over shards.
    block : callable, default None
        Returns the Hessian of chosen parameters as a matrix, if that is cheaper than products.
    explicit : ExplicitHessian, default None
        The whole Hessian, if memory can hold it.
    dual : callable, default None
        Returns, for t, the value of the dual at the point whose gradient is t times this one. It is a lower bound on
        the value at any point at which a penalty's conjugate allows that gradient.

    See Also
    --------
    Objective : Returns an expansion from ``expand``.
    Solution : The ``gap`` comes from the dual.

    Examples
    --------
    >>> import mrfit, numpy as np
    >>> from mrfit.objectives import ConditionalCells, PseudoLikelihood
    >>> from mrfit.parameterizations import Canonical
    >>> rows = mrfit.UniqueRows.of({"rain": ["no", "no", "yes"], "wet": ["no", "yes", "yes"]})
    >>> parameters = Canonical(rows.domain, mrfit.Structure.complete(2))
    >>> objective = PseudoLikelihood(ConditionalCells.count(rows, parameters))
    >>> expansion = objective.expand(np.zeros(3))
    >>> expansion.product(np.array([0.0, 0.0, 1.0])).round(3)
    array([0.167, 0.083, 0.25 ])
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
    """Twice differentiable function of the parameters, to be minimized; scaled as a mean over rows, in nats.

    A subclass sets ``n_parameters`` and ``n_cells`` (visited in an evaluation), and defines ``value_and_gradient`` and
    ``expand``. If ``is_convex`` is false, solvers claim a stationary point and not an optimum.

    See Also
    --------
    PseudoLikelihood : The objective that learning uses by default.
    minimize : Minimize an objective.
    mrfit.testing.check_objective : Check one of your own.

    Examples
    --------
    >>> import mrfit, numpy as np
    >>> from mrfit.objectives import Likelihood, Objective
    >>> from mrfit.parameterizations import Canonical
    >>> rows = mrfit.UniqueRows.of({"rain": ["no", "no", "yes"], "wet": ["no", "yes", "yes"]})
    >>> parameters = Canonical(rows.domain, mrfit.Structure.complete(2))
    >>> objective: Objective = Likelihood(parameters, rows)
    >>> value, gradient = objective.value_and_gradient(np.zeros(3))
    >>> round(value, 3), gradient.round(3)
    (1.386, array([ 0.167, -0.167, -0.083]))
    """

    is_convex: bool = True
    n_parameters: int
    n_cells: int  # visited in an evaluation: states of neighbours, or joint states

    @abstractmethod
    def value_and_gradient(self, w: Floats) -> tuple[float, Floats]:
        """Return the value and the gradient at a point.

        Parameters
        ----------
        w : array of shape (n_parameters,)
            The point.

        Returns
        -------
        value : float
            Value, a mean over rows.
        gradient : array of shape (n_parameters,)
            Gradient of that mean.
        """

    @abstractmethod
    def expand(self, w: Floats) -> Expansion:
        """Return value, gradient and Hessian at a point.

        Parameters
        ----------
        w : array of shape (n_parameters,)
            The point.

        Returns
        -------
        Expansion
        """

    def rough_hessian(self) -> Floats | None:
        """Return a positive definite matrix that approximates the Hessian near the optimum, if one is known.

        Quasi-Newton methods start from it.
        """
        return None
