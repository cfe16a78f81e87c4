"""Accelerated proximal gradients (Beck and Teboulle 2009) with restarts (O'Donoghue and Candès 2015)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from mrfit._typing import Floats

_SHORTENINGS = 60


@dataclass(frozen=True)
class Iterate:
    """A point, and the gradient of a smooth function there."""

    w: Floats
    gradient: Floats


AnyPlace = TypeVar("AnyPlace", bound=Iterate)


class Smooth(ABC, Generic[AnyPlace]):
    """The smooth part of the function to minimise, as accelerated steps need it."""

    @abstractmethod
    def ahead(self, before: AnyPlace, here: AnyPlace, push: float) -> AnyPlace:
        """Return the extrapolated point: ``here`` moved on by the share ``push`` of its last move."""

    @abstractmethod
    def reached(self, ahead: AnyPlace, w: Floats, length: float) -> tuple[AnyPlace, float]:
        """Return the iterate at w, and the length of the step from ``ahead``, or a shorter length if it was too long.

        A length is short enough if the quadratic through ahead with curvature 1 / length lies above the function at w.
        """


@dataclass(frozen=True)
class Accelerated(Generic[AnyPlace]):
    """The state of the steps w <- prox(ahead - length * gradient(ahead)), with ahead beyond w along its last move."""

    here: AnyPlace
    before: AnyPlace
    length: float  # of a gradient step: one over the curvature
    momentum: float = 1.0
    push: float = 0.0  # the distance of ahead from here, as a share of the last move

    def advanced(
        self, smooth: Smooth[AnyPlace], prox: Callable[[Floats, float], Floats]
    ) -> Accelerated[AnyPlace] | None:
        """Make one step; return None if no length is short enough."""
        ahead = smooth.ahead(self.before, self.here, self.push)
        length = self.length
        for _ in range(_SHORTENINGS):
            # 1. A proximal step, shortened until the quadratic model bounds the function.
            w = prox(ahead.w - length * ahead.gradient, length)
            here, allowed = smooth.reached(ahead, w, length)
            if allowed == length:
                break
            length = allowed
        else:
            return None
        # 2. Momentum, restarted where it points uphill.
        if float((ahead.w - w) @ (w - self.here.w)) > 0.0:
            return Accelerated(here, self.here, length)
        momentum = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * self.momentum**2))
        return Accelerated(here, self.here, length, momentum, (self.momentum - 1.0) / momentum)
