"""Penalties by name, set up for the scopes of a structure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mrfit.penalties.l1 import L1
from mrfit.penalties.l2 import L2
from mrfit.penalties.penalty import Penalty
from mrfit.solvers.method import Method
from mrfit.solvers.newton import TruncatedNewton
from mrfit.solvers.owlqn import OWLQN

Orders = NDArray[np.int64]


@dataclass(frozen=True)
class Preset:
    """What goes with a penalty unless the user says otherwise.

    Parameters
    ----------
    penalty
        Its class.
    free_orders
        Scope sizes it leaves alone.
    method
        The solver that suits it best.
    build
        The penalty itself from its strength, the scope size of every parameter and which of them are penalised.
    """

    penalty: type[Penalty]
    free_orders: tuple[int, ...]
    method: type[Method[Any]]
    build: Callable[[float, Orders, NDArray[np.bool_]], Penalty]


def _l2(strength: float, order: Orders, penalized: NDArray[np.bool_]) -> L2:
    """Every parameter alike (Chou et al. 2018)."""
    return L2(strength, penalized)


def _l1(strength: float, order: Orders, penalized: NDArray[np.bool_]) -> L1:
    """A scope of r variables weighs 2^(r - 2): one for pairs, twice as much with every variable more."""
    return L1(strength, np.where(penalized, 2.0 ** (order - 2), 0.0))


PRESETS: dict[str, Preset] = {
    "l2": Preset(L2, (), TruncatedNewton, _l2),
    "l1": Preset(L1, (1,), OWLQN, _l1),
}
