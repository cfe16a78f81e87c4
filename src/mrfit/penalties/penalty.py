"""What an objective or a solver may ask of a penalty."""

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
    """What a method may need of a penalty; the value is the adjective in the error."""

    DIFFERENTIABLE = "differentiable"
    SEPARABLE = "separable"  # a sum over parameters: its kinks are where single parameters vanish
    PROXIMAL = "proximal"  # known by its proximal operators


class Penalty(ABC):
    """A function of the parameters that stands against the sum over rows.

    ``is_convex`` says whether it is convex. Where it is not, solvers claim a stationary point instead of an optimum,
    and no duality gap.
    """

    name: ClassVar[str] = ""  # that users know it by, in messages; the class's own if empty
    traits: ClassVar[frozenset[Trait]]
    is_convex: ClassVar[bool] = True

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

    def hessian(self, w: Floats) -> Floats:
        """As a matrix."""
        return np.stack([self.hessian_product(w, column) for column in np.eye(len(w))])

    def stiffness(self, w: Floats) -> Floats:
        """Of every parameter, where what it is drawn to holds still."""
        return self.hessian_diagonal(w)

    def preconditioner(self, diagonal: Floats) -> Callable[[Floats], Floats] | None:
        """Division by (this Hessian + ``diagonal``), where that is cheap and better than by its diagonal alone."""
        return None

    def added_to(self, objective: Objective, *, total_weight: float) -> tuple[Objective, NonsmoothPenalty]:
        return PenalizedObjective(objective, self, total_weight=total_weight), ZeroPenalty()


@dataclass(frozen=True, eq=False)
class NonsmoothPenalty(Penalty):
    """A function with kinks that is least, and zero, where all parameters are zero.

    A penalty is a frozen dataclass with five methods: `value`, `is_free`, `prox`, `min_norm_subgradient`, `restricted`.
    All else follows from them for any penalty; one that knows better says so.

    ``strength`` is the papers' lambda. It need not be a factor: the penalty may depend on it in any way. Where
    ``is_norm`` says so, it is a factor and the other one a norm, or zero for some parameters (a seminorm).
    """

    strength: float

    traits: ClassVar[frozenset[Trait]] = frozenset({Trait.PROXIMAL})
    is_norm: ClassVar[bool] = False

    def __post_init__(self) -> None:
        checked_strength(self.strength)

    @abstractmethod
    def prox(self, w: Floats, step: float) -> Floats:
        """The v that minimises 1/2 ||v - w||^2 + step * value(v)."""

    @abstractmethod
    def min_norm_subgradient(self, w: Floats, gradient: Floats) -> Floats:
        """The element nearest zero of gradient + subdifferential at w; its negative is steepest descent."""

    @abstractmethod
    def restricted(self, chosen: Indices) -> Self:
        """This penalty as a function of some parameters alone, all others zero; whole blocks at a time."""

    # -- what follows ---------------------------------------------------------------------------------------------

    def scaled(self, factor: float) -> NonsmoothPenalty:
        """``factor`` times this penalty."""
        return replace(self, strength=factor * self.strength) if self.is_norm else Scaled(factor, self)

    def violation(self, w: Floats, gradient: Floats) -> float:
        """Largest entry of the distance from -gradient to the subdifferential at w; zero at an optimum."""
        return float(np.max(np.abs(self.min_norm_subgradient(w, gradient)), initial=0.0))

    def critical_strength(self, gradient: Floats) -> float:
        """The smallest strength at which zero is optimal, or stationary, for all penalised parameters.

        ``gradient`` is that of the sum over rows where they are zero and the free ones are at their optimum. Found by
        bisection.
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
        """A factor t <= 1 for which no w has value(w) + t * gradient . w < 0, free parameters left out.

        Then t * gradient is a dual point, and with it a bound on how far any point is from the optimum. The point
        ``at`` which the gradient was taken may help to find a good one. At an optimum it is 1 for a norm. Other
        penalties return None, and no bound is claimed.
        """
        return self.strength / max(self.strength, self.critical_strength(gradient)) if self.is_norm else None

    def added_to(self, objective: Objective, *, total_weight: float) -> tuple[Objective, NonsmoothPenalty]:
        return objective, self.scaled(1.0 / total_weight)

    # -- what makes solvers faster --------------------------------------------------------------------------------

    @property
    def blocks(self) -> Indices | None:
        """Number of the block each parameter belongs to, which enters a working set as a whole; None: each its own."""
        return None

    @property
    def thresholds(self) -> Floats | None:
        """Of a weighted sum of absolute values, what the gradient of each parameter at zero must exceed."""
        return None

    def curvature(self, w: Floats) -> PenaltyCurvature | None:
        """Its derivatives at w along the manifold of what is not zero; None if it does not know them."""
        return None

    def truncate_at_zero_crossing(self, start: Floats, end: Floats) -> Floats:
        """``end``, with those groups zero that have passed by zero on the straight way from ``start``."""
        return end

    def common_steps(self, steps: Floats) -> Floats:
        """The largest steps, none above these, for which `prox_by_steps` is known: one for what a kink holds together.

        Here that is all it touches, which is right for any penalty.
        """
        touched = ~self.is_free(len(steps))
        return np.where(touched, steps[touched].min(initial=np.inf), steps)

    def prox_by_steps(self, w: Floats, steps: Floats) -> Floats:
        """The v that minimises 1/2 sum_k (v_k - w_k)^2 / steps_k + value(v); steps are shared ones."""
        touched = ~self.is_free(len(steps))
        return self.prox(w, float(steps[touched][0])) if touched.any() else w

    def prox_with_memory(self) -> Callable[[Floats, float], Floats]:
        """The prox for a sequence of points near each other."""
        return self.prox


@dataclass(frozen=True, eq=False)
class ZeroPenalty(NonsmoothPenalty):
    """Zero, at any strength: what a smooth problem carries in the place of a penalty with kinks."""

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
    """``strength`` times another penalty, which need not be proportional to its own strength."""

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
