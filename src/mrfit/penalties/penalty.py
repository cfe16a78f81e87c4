"""What an objective or a solver may ask of a penalty."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from enum import Enum
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from mrfit.objectives.objective import Objective
from mrfit.penalties.penalized import Penalized

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]


class Trait(Enum):
    """What a method may need of a penalty; the value is the adjective in the error."""

    DIFFERENTIABLE = "differentiable"
    SEPARABLE = "separable"  # a sum over parameters: its kinks are where single parameters vanish
    PROXIMAL = "proximal"  # known by its proximal operators
    MATRIX_FREE = "matrix-free"  # a scaled prox needs products with the Hessian only


class Penalty(ABC):
    """A convex function of the parameters that stands against the sum over rows."""

    traits: ClassVar[frozenset[Trait]]

    @abstractmethod
    def value(self, w: Floats) -> float: ...

    @abstractmethod
    def is_free(self, n_parameters: int) -> NDArray[np.bool_]:
        """Which parameters the penalty does not touch, and so does not keep finite."""

    @abstractmethod
    def added_to(self, objective: Objective, *, total_weight: float) -> tuple[Objective, NonsmoothPenalty]:
        """objective + penalty / total_weight as a smooth function and what is not smooth, both means over rows."""


class SmoothPenalty(Penalty):
    """A penalty with two derivatives everywhere."""

    @abstractmethod
    def gradient(self, w: Floats) -> Floats: ...

    @abstractmethod
    def hessian_product(self, w: Floats, v: Floats) -> Floats: ...

    @abstractmethod
    def hessian_diagonal(self, w: Floats) -> Floats: ...

    def preconditioner(self, diagonal: Floats) -> Callable[[Floats], Floats] | None:
        """Division by (this Hessian + ``diagonal``), where that is cheap and better than by its diagonal alone."""
        return None

    def added_to(self, objective: Objective, *, total_weight: float) -> tuple[Objective, NonsmoothPenalty]:
        return Penalized(objective, self, total_weight=total_weight), NoPenalty()


class NonsmoothPenalty(Penalty):
    """A penalty with kinks, known by its proximal operator and its subgradients."""

    @abstractmethod
    def prox(self, w: Floats, step: float) -> Floats:
        """The v that minimises 1/2 ||v - w||^2 + step * value(v)."""

    @abstractmethod
    def least_subgradient(self, w: Floats, gradient: Floats) -> Floats:
        """The element nearest zero of gradient + subdifferential at w; its negative is steepest descent."""

    @abstractmethod
    def scaled(self, factor: float) -> Self:
        """``factor`` times this penalty."""

    @abstractmethod
    def restricted(self, chosen: Indices) -> Self:
        """This penalty as a function of some parameters alone, all others zero; whole blocks at a time."""

    @abstractmethod
    def dual_scale(self, gradient: Floats, *, at: Floats | None = None) -> float:
        """A factor t <= 1 for which no w has value(w) + t * gradient . w < 0, free parameters left out.

        Then t * gradient is a dual point, and with it a bound on how far any point is from the optimum. The point
        ``at`` which the gradient was taken may help to find a good one.
        """

    @abstractmethod
    def scaled_prox(self, w: Floats, gradient: Floats, hessian: Floats, *, tolerance: float) -> Floats:
        """The v that minimises gradient . (v - w) + 1/2 (v - w)' hessian (v - w) + value(v).

        It is found to a violation of ``tolerance``; ``hessian`` is positive definite.
        """

    def scaled_prox_by_products(
        self, w: Floats, gradient: Floats, product: Callable[[Floats], Floats], *, tolerance: float
    ) -> Floats:
        """The same where the Hessian is known by products; of penalties with `Trait.MATRIX_FREE`."""
        raise NotImplementedError

    @abstractmethod
    def critical_strength(self, gradient: Floats) -> float:
        """The smallest strength at which all penalised parameters are zero.

        ``gradient`` is that of the sum over rows where they are zero and the free ones are at their optimum.
        """

    @property
    def block(self) -> Indices | None:
        """Number of the block each parameter belongs to, which enters a working set as a whole; None: each its own."""
        return None

    def violation(self, w: Floats, gradient: Floats) -> float:
        """Largest entry of the distance from -gradient to the subdifferential at w; zero at an optimum."""
        return float(np.max(np.abs(self.least_subgradient(w, gradient)), initial=0.0))

    def added_to(self, objective: Objective, *, total_weight: float) -> tuple[Objective, NonsmoothPenalty]:
        return objective, self.scaled(1.0 / total_weight)


class NoPenalty(NonsmoothPenalty):
    """Zero: what a smooth problem carries in the place of a penalty with kinks."""

    traits = frozenset({Trait.DIFFERENTIABLE, Trait.SEPARABLE, Trait.PROXIMAL})

    def value(self, w: Floats) -> float:
        return 0.0

    def is_free(self, n_parameters: int) -> NDArray[np.bool_]:
        return np.ones(n_parameters, bool)

    def prox(self, w: Floats, step: float) -> Floats:
        return w

    def least_subgradient(self, w: Floats, gradient: Floats) -> Floats:
        return gradient

    def scaled(self, factor: float) -> NoPenalty:
        return self

    def restricted(self, chosen: Indices) -> NoPenalty:
        return self

    def dual_scale(self, gradient: Floats, *, at: Floats | None = None) -> float:
        return 1.0

    def critical_strength(self, gradient: Floats) -> float:
        return 0.0

    def scaled_prox(self, w: Floats, gradient: Floats, hessian: Floats, *, tolerance: float) -> Floats:
        return np.asarray(w - np.linalg.solve(hessian, gradient), np.float64)
