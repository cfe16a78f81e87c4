"""How to learn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

import numpy as np

from mrfit.errors import InputError, listed
from mrfit.learning.grids import TIED_GRIDS
from mrfit.penalties.strength import checked_strength
from mrfit.penalties.tied import Tied
from mrfit.presets import PRESETS
from mrfit.solvers.method import Method
from mrfit.solvers.newton import TruncatedNewton
from mrfit.solvers.suitability import check_suitable
from mrfit.structure.structure import Structure
from mrfit.tying.settings import STRENGTHS, TyingSettings

PENALTIES = (*PRESETS, *TIED_GRIDS)
OBJECTIVES = ("pseudo-likelihood", "likelihood")


@dataclass(frozen=True)
class Settings:
    """How to learn; what to learn from is given apart.

    Parameters
    ----------
    strengths
        Strengths of the penalty to fit, each warm-started from the next; by default 1, for tied parameters the paper's
        grid.
    penalty
        ``l2`` or ``l1`` (see `mrfit.presets`); ``tied`` softly to learned values; ``hard``: the groups of soft tying
        relearned as equal; ``ltr``: learned with L2, tied by clustering, relearned as equal.
    tying
        What is tied, for the last three.
    objective
        ``pseudo-likelihood``, or the exact ``likelihood`` for few variables.
    free_orders
        Scope sizes the penalty leaves alone; by default none, for l1 single variables.
    method
        The solver; by default the one that suits the penalty.
    tolerance, max_iterations
        When it stops: at a violation (largest subgradient entry of the mean objective) of ``tolerance``.
    folds, seed
        Cross-validation where there are no validation rows: parts to cut the rows into, and how to deal them.
    jobs
        Threads.
    """

    strengths: Sequence[float] | None = None
    penalty: str = "l2"
    tying: TyingSettings = field(default_factory=TyingSettings)
    objective: str = "pseudo-likelihood"
    free_orders: Sequence[int] | None = None
    method: Method[Any] | None = None
    tolerance: float = 1e-6
    max_iterations: int = 1000
    folds: int = 0
    seed: int = 0
    jobs: int = 1

    def __post_init__(self) -> None:
        for name, value, words in (("penalty", self.penalty, PENALTIES), ("objective", self.objective, OBJECTIVES)):
            if value not in words:
                raise InputError(f"There is no {name} {value!r}; choose one of {listed(words)}.")
        # Plain numbers, whatever came in: they go into the model file.
        if self.strengths is not None:
            object.__setattr__(self, "strengths", tuple(_plain(strength) for strength in self.strengths))
        if not self.chosen_strengths:
            raise InputError("At least one strength is needed.")
        if self.free_orders is not None:
            object.__setattr__(self, "free_orders", tuple(int(order) for order in self.free_orders))
        check_suitable(type(self.chosen_method), Tied if self.is_tied else PRESETS[self.penalty].penalty)
        if not 0 < self.tolerance < np.inf:
            raise InputError(f"The tolerance must be positive and finite; got {self.tolerance:g}.")
        if self.max_iterations < 0:
            raise InputError(f"The limit of iterations must not be negative; got {self.max_iterations}.")
        if self.folds < 0 or self.folds == 1:
            raise InputError(f"Cross-validation needs at least 2 folds, or 0 for none; got {self.folds}.")

    @property
    def is_tied(self) -> bool:
        return self.penalty in TIED_GRIDS

    @property
    def chosen_strengths(self) -> Sequence[float]:
        if self.strengths is not None:
            return self.strengths
        return STRENGTHS if self.is_tied else (1.0,)

    @property
    def chosen_method(self) -> Method[Any]:
        if self.method is not None:
            return self.method
        return TruncatedNewton() if self.is_tied else PRESETS[self.penalty].method()

    def chosen_free_orders(self, structure: Structure) -> tuple[int, ...]:
        """The user's, which must be there, or those of the penalty's own that are."""
        if self.free_orders is None:
            own = () if self.is_tied else PRESETS[self.penalty].free_orders
            return tuple(order for order in own if order in structure.blocks)
        absent = sorted(set(self.free_orders) - set(structure.blocks))
        if absent:
            orders = list(structure.blocks)
            raise InputError(f"Order {absent[0]} cannot be left free: the structure has orders {orders}.")
        return tuple(self.free_orders)


def _plain(strength: Any) -> float:
    if not isinstance(strength, Real):
        raise InputError(f"A strength must be a number; got {strength!r}.")
    return checked_strength(float(strength))
