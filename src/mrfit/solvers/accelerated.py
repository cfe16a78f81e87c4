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
    """What the steps ask of the smooth part of what is minimised."""

    @abstractmethod
    def ahead(self, before: AnyPlace, here: AnyPlace, push: float) -> AnyPlace:
        """``here`` carried on by a share of the move that led to it."""

    @abstractmethod
    def reached(self, ahead: AnyPlace, w: Floats, length: float) -> tuple[AnyPlace, float]:
        """The place at w, and the length of the step that led there from ahead, or a shorter one if it was too long.

        It was not if the quadratic through ahead with curvature 1 / length lies above the function at w.
        """


@dataclass(frozen=True)
class Accelerated(Generic[AnyPlace]):
    """Where the steps stand: w <- prox(ahead - length * gradient(ahead)), with ahead beyond w along its last move."""

    here: AnyPlace
    before: AnyPlace
    length: float  # of a gradient step: one over the curvature
    momentum: float = 1.0
    push: float = 0.0  # how far ahead is beyond here, as a share of the last move

    def advanced(
        self, smooth: Smooth[AnyPlace], prox: Callable[[Floats, float], Floats]
    ) -> Accelerated[AnyPlace] | None:
        """One step on; None if no length is short enough."""
        ahead = smooth.ahead(self.before, self.here, self.push)
        length = self.length
        for _ in range(_SHORTENINGS):
            # 1. A proximal step that is not too long.
            w = prox(ahead.w - length * ahead.gradient, length)
            here, allowed = smooth.reached(ahead, w, length)
            if allowed == length:
                break
            length = allowed
        else:
            return None
        # 2. Momentum, which starts anew where it points uphill.
        if float((ahead.w - w) @ (w - self.here.w)) > 0.0:
            return Accelerated(here, self.here, length)
        momentum = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * self.momentum**2))
        return Accelerated(here, self.here, length, momentum, (self.momentum - 1.0) / momentum)
