"""The interface of penalties."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from mrfit._typing import Floats, Indices
from mrfit.objectives.objective import Objective
from mrfit.penalties.penalized_objective import PenalizedObjective
from mrfit.penalties.penalty_curvature import PenaltyCurvature
from mrfit.penalties.penalty_strength import checked_strength


class Trait(Enum):
    """Property that a method may need of a penalty; the value is the adjective in the error.

    Attributes
    ----------
    DIFFERENTIABLE : Trait
        It has a gradient everywhere.
    SEPARABLE : Trait
        It is a sum over parameters, with kinks where single parameters vanish.
    PROXIMAL : Trait
        It is known by its proximal operator.

    See Also
    --------
    Penalty : Has a set of ``traits``.

    Examples
    --------
    >>> from mrfit.penalties import Ridge, Trait
    >>> Trait.DIFFERENTIABLE in Ridge.traits, Trait.PROXIMAL in Ridge.traits
    (True, False)
    """

    DIFFERENTIABLE = "differentiable"
    SEPARABLE = "separable"  # a sum over parameters: its kinks are where single parameters vanish
    PROXIMAL = "proximal"  # known by its proximal operators


class Penalty(ABC):
    """Base class of functions of the parameters that are added to the objective summed (not averaged) over rows.

    Attributes
    ----------
    name : str
        Class variable: the name in messages; the name of the class if empty.
    traits : frozenset of Trait
        Class variable: what solvers may use.
    is_convex : bool
        Class variable: whether it is convex. If not, solvers claim a stationary point instead of an optimum, and no
        duality gap.

    See Also
    --------
    SmoothPenalty : Base class of penalties with two derivatives.
    NonsmoothPenalty : Base class of penalties with kinks.

    Examples
    --------
    >>> from mrfit.penalties import Penalty, Ridge, WeightedL1
    >>> issubclass(Ridge, Penalty), issubclass(WeightedL1, Penalty)
    (True, True)
    """

    name: ClassVar[str] = ""  # that users know it by, in messages; the class's own if empty
    traits: ClassVar[frozenset[Trait]]
    is_convex: ClassVar[bool] = True

    @abstractmethod
    def value(self, w: Floats) -> float:
        """Return the penalty at ``w``."""

    @abstractmethod
    def is_free(self, n_parameters: int) -> NDArray[np.bool_]:
        """Return the mask of parameters that the penalty does not affect, and so does not keep finite."""

    @abstractmethod
    def added_to(self, objective: Objective, *, total_weight: float) -> tuple[Objective, NonsmoothPenalty]:
        """Return objective + penalty / total_weight as a smooth function and a nonsmooth one, both means over rows.

        These are the arguments of `mrfit.solvers.minimize`.

        Parameters
        ----------
        objective : Objective
            Mean over rows of what is minimised.
        total_weight : float
            Sum of the weights of the rows.
        """


class SmoothPenalty(Penalty):
    """Base class of penalties with two derivatives everywhere.

    A subclass defines `value`, `is_free`, `gradient`, `hessian_product` and `hessian_diagonal`.

    See Also
    --------
    Ridge : The squared norm.

    Examples
    --------
    >>> import numpy as np
    >>> from mrfit.penalties import Ridge, SmoothPenalty
    >>> penalty = Ridge(2.0)
    >>> isinstance(penalty, SmoothPenalty), penalty.gradient(np.array([3.0, 1.0]))
    (True, array([6., 2.]))
    """

    @abstractmethod
    def gradient(self, w: Floats) -> Floats:
        """Return the gradient at ``w``."""

    @abstractmethod
    def hessian_product(self, w: Floats, v: Floats) -> Floats:
        """Return the product of the Hessian at ``w`` with a vector.

        Parameters
        ----------
        w : ndarray
            Parameters.
        v : ndarray
            The vector.
        """

    @abstractmethod
    def hessian_diagonal(self, w: Floats) -> Floats:
        """Return the diagonal of the Hessian at ``w``."""

    def hessian(self, w: Floats) -> Floats:
        """Return the Hessian as a matrix."""
        return np.stack([self.hessian_product(w, column) for column in np.eye(len(w))])

    def stiffness(self, w: Floats) -> Floats:
        """Return the second derivative in every parameter, with the values that parameters are drawn to held fixed."""
        return self.hessian_diagonal(w)

    def preconditioner(self, diagonal: Floats) -> Callable[[Floats], Floats] | None:
        """Return a division by (this Hessian + ``diagonal``), if it is cheap and better than one by its diagonal."""
        return None

    def added_to(self, objective: Objective, *, total_weight: float) -> tuple[Objective, NonsmoothPenalty]:
        return PenalizedObjective(objective, self, total_weight=total_weight), ZeroPenalty()


@dataclass(frozen=True, eq=False)
class NonsmoothPenalty(Penalty):
    """Base class of penalties with kinks whose minimum, zero, is where all parameters are zero.

    A penalty is a frozen dataclass with five methods: `value`, `is_free`, `prox`, `min_norm_subgradient`, `restricted`.
    All others have defaults that follow from these; override them if you know a faster way.

    Parameters
    ----------
    strength : float
        The papers' lambda, above 0. It need not be a factor: the penalty may depend on it in any way.

    Attributes
    ----------
    is_norm : bool
        Class variable: whether ``strength`` is the factor of a norm or seminorm. Fits then report a duality gap.

    See Also
    --------
    mrfit.testing.check_penalty : Checks a penalty of your own.

    Examples
    --------
    >>> import numpy as np
    >>> from mrfit.penalties import NonsmoothPenalty, WeightedL1
    >>> penalty = WeightedL1(1.0, np.ones(2))
    >>> isinstance(penalty, NonsmoothPenalty), penalty.critical_strength(np.array([0.5, -2.0]))
    (True, 2.0)
    """

    strength: float

    traits: ClassVar[frozenset[Trait]] = frozenset({Trait.PROXIMAL})
    is_norm: ClassVar[bool] = False

    def __post_init__(self) -> None:
        checked_strength(self.strength)

    @abstractmethod
    def prox(self, w: Floats, step: float) -> Floats:
        """Return the v that minimises 1/2 ||v - w||^2 + step * value(v).

        Parameters
        ----------
        w : ndarray
            Parameters.
        step : float
            Length of the step, above 0.
        """

    @abstractmethod
    def min_norm_subgradient(self, w: Floats, gradient: Floats) -> Floats:
        """Return the element nearest zero of gradient + subdifferential at w; its negative is steepest descent.

        Parameters
        ----------
        w : ndarray
            Parameters.
        gradient : ndarray
            Gradient of the smooth part at ``w``.
        """

    @abstractmethod
    def restricted(self, chosen: Indices) -> Self:
        """Return this penalty as a function of some parameters alone, all others zero; they are whole blocks."""

    # -- defaults that follow --------------------------------------------------------------------------------------

    def scaled(self, factor: float) -> NonsmoothPenalty:
        """Return ``factor`` times this penalty."""
        return replace(self, strength=factor * self.strength) if self.is_norm else Scaled(factor, self)

    def violation(self, w: Floats, gradient: Floats) -> float:
        """Return the largest entry of the distance from -gradient to the subdifferential at w; zero at an optimum.

        Parameters
        ----------
        w : ndarray
            Parameters.
        gradient : ndarray
            Gradient of the smooth part at ``w``.
        """
        return float(np.max(np.abs(self.min_norm_subgradient(w, gradient)), initial=0.0))

    def critical_strength(self, gradient: Floats) -> float:
        """Return the smallest strength at which zero is optimal, or stationary, for all penalised parameters.

        ``gradient`` is that of the sum over rows where they are zero and the free ones are at their optimum. The
        strength is found by bisection.
        """
        target, zero = np.where(self.is_free(len(gradient)), 0.0, gradient), np.zeros_like(gradient)
        if not target.any():
            return 0.0

        def is_too_weak(strength: float) -> bool:
            return bool(replace(self, strength=strength).min_norm_subgradient(zero, target).any())

        low, high = 0.0, 1.0
        while high < np.inf and is_too_weak(high):
            low, high = high, 2.0 * high
        while low == 0.0 or high - low > 1e-14 * high:
            middle = 0.5 * (low + high)
            if not low < middle < high:
                break
            low, high = (middle, high) if is_too_weak(middle) else (low, middle)
        return high

    def dual_scale(self, gradient: Floats, *, at: Floats | None = None) -> float | None:
        """Return a factor t <= 1 for which no w has value(w) + t * gradient . w < 0, free parameters left out.

        Then t * gradient is a dual point, and bounds the distance of any value from the optimum. At an optimum the
        factor is 1 for a norm. Other penalties return None, and no bound is claimed.

        Parameters
        ----------
        gradient : ndarray
            Gradient of the smooth part.
        at : ndarray or None, default=None
            The point with this gradient, which may help to find a good factor.
        """
        return self.strength / max(self.strength, self.critical_strength(gradient)) if self.is_norm else None

    def added_to(self, objective: Objective, *, total_weight: float) -> tuple[Objective, NonsmoothPenalty]:
        return objective, self.scaled(1.0 / total_weight)

    # -- overrides that make solvers faster ------------------------------------------------------------------------

    @property
    def blocks(self) -> Indices | None:
        """Block number of each parameter; blocks enter a working set as a whole. None: each parameter by itself."""
        return None

    @property
    def thresholds(self) -> Floats | None:
        """Magnitude that the gradient of each parameter must exceed at zero, for weighted absolute values."""
        return None

    def curvature(self, w: Floats) -> PenaltyCurvature | None:
        """Return the derivatives at w along the manifold of nonzero parameters, or None if they are unknown."""
        return None

    def truncate_at_zero_crossing(self, start: Floats, end: Floats) -> Floats:
        """Return ``end``, with those groups set to zero that pass zero on the straight line from ``start``.

        Parameters
        ----------
        start : ndarray
            Parameters at which the line starts.
        end : ndarray
            Parameters at which it ends.
        """
        return end

    def common_steps(self, steps: Floats) -> Floats:
        """Return the largest steps, none above these, that `prox_by_steps` allows: equal within a common kink.

        By default all penalised parameters have one step, which is right for any penalty.
        """
        touched = ~self.is_free(len(steps))
        return np.where(touched, steps[touched].min(initial=np.inf), steps)

    def prox_by_steps(self, w: Floats, steps: Floats) -> Floats:
        """Return the v that minimises 1/2 sum_k (v_k - w_k)^2 / steps_k + value(v).

        Parameters
        ----------
        w : ndarray
            Parameters.
        steps : ndarray
            Step of each parameter, from `common_steps`.
        """
        touched = ~self.is_free(len(steps))
        return self.prox(w, float(steps[touched][0])) if touched.any() else w

    def prox_with_memory(self) -> Callable[[Floats, float], Floats]:
        """Return a prox for a sequence of nearby points."""
        return self.prox


@dataclass(frozen=True, eq=False)
class ZeroPenalty(NonsmoothPenalty):
    """Penalty of zero at any strength: the nonsmooth part of a smooth problem.

    Parameters
    ----------
    strength : float, default=1.0
        Without effect.

    See Also
    --------
    mrfit.NoPenalty : The penalty as users choose it.

    Examples
    --------
    >>> import numpy as np
    >>> from mrfit.penalties import ZeroPenalty
    >>> ZeroPenalty().value(np.array([3.0, 1.0]))
    0.0
    """

    strength: float = 1.0

    traits = frozenset({Trait.DIFFERENTIABLE, Trait.SEPARABLE, Trait.PROXIMAL})
    is_norm = True

    def value(self, w: Floats) -> float:
        return 0.0

    def is_free(self, n_parameters: int) -> NDArray[np.bool_]:
        return np.ones(n_parameters, bool)

    def prox(self, w: Floats, step: float) -> Floats:
        return w

    def min_norm_subgradient(self, w: Floats, gradient: Floats) -> Floats:
        return gradient

    def restricted(self, chosen: Indices) -> ZeroPenalty:
        return self

    def dual_scale(self, gradient: Floats, *, at: Floats | None = None) -> float:
        return 1.0

    def curvature(self, w: Floats) -> PenaltyCurvature:
        nothing = np.zeros_like(w)
        return PenaltyCurvature(np.arange(len(w)), nothing, nothing, csr_array((len(w), 0)))


@dataclass(frozen=True, eq=False)
class Scaled(NonsmoothPenalty):
    """Another penalty times a factor, for penalties that are not proportional to their own strength.

    Parameters
    ----------
    strength : float
        The factor, above 0.
    penalty : NonsmoothPenalty
        The penalty.

    See Also
    --------
    NonsmoothPenalty.scaled : Makes it where it is needed.

    Examples
    --------
    >>> import numpy as np
    >>> from mrfit.penalties import Scaled, WeightedL1
    >>> Scaled(2.0, WeightedL1(1.0, np.ones(2))).value(np.array([1.0, -1.0]))
    4.0
    """

    penalty: NonsmoothPenalty

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("traits", "is_convex", "is_norm"):
            object.__setattr__(self, name, getattr(self.penalty, name))

    def scaled(self, factor: float) -> Scaled:
        return replace(self, strength=factor * self.strength)

    def value(self, w: Floats) -> float:
        return self.strength * self.penalty.value(w)

    def is_free(self, n_parameters: int) -> NDArray[np.bool_]:
        return self.penalty.is_free(n_parameters)

    def prox(self, w: Floats, step: float) -> Floats:
        return self.penalty.prox(w, self.strength * step)

    def min_norm_subgradient(self, w: Floats, gradient: Floats) -> Floats:
        return self.strength * self.penalty.min_norm_subgradient(w, gradient / self.strength)

    def restricted(self, chosen: Indices) -> Scaled:
        return replace(self, penalty=self.penalty.restricted(chosen))

    def dual_scale(self, gradient: Floats, *, at: Floats | None = None) -> float | None:
        return self.penalty.dual_scale(gradient / self.strength, at=at)

    @property
    def blocks(self) -> Indices | None:
        return self.penalty.blocks

    @property
    def thresholds(self) -> Floats | None:
        own = self.penalty.thresholds
        return None if own is None else self.strength * own

    def curvature(self, w: Floats) -> PenaltyCurvature | None:
        own = self.penalty.curvature(w)
        if own is None:
            return None
        smooth, gradient, diagonal, factor = own
        return PenaltyCurvature(
            smooth, self.strength * gradient, self.strength * diagonal, np.sqrt(self.strength) * factor
        )

    def truncate_at_zero_crossing(self, start: Floats, end: Floats) -> Floats:
        return self.penalty.truncate_at_zero_crossing(start, end)

    def common_steps(self, steps: Floats) -> Floats:
        return self.penalty.common_steps(steps)

    def prox_by_steps(self, w: Floats, steps: Floats) -> Floats:
        return self.penalty.prox_by_steps(w, self.strength * steps)

    def prox_with_memory(self) -> Callable[[Floats, float], Floats]:
        prox = self.penalty.prox_with_memory()
        return lambda w, step: prox(w, self.strength * step)
