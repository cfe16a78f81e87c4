"""Penalties by name, set up for the scopes of a structure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mrfit.penalties.group import GroupL1
from mrfit.penalties.hierarchical import HierarchicalL1
from mrfit.penalties.l1 import L1
from mrfit.penalties.l2 import L2
from mrfit.penalties.penalty import NoPenalty, Penalty
from mrfit.solvers.fista import Fista
from mrfit.solvers.method import Method
from mrfit.solvers.newton import TruncatedNewton
from mrfit.solvers.owlqn import OWLQN
from mrfit.solvers.proximal_newton import ProximalNewton
from mrfit.structure.hierarchy import supersets
from mrfit.structure.structure import Structure

Indices = NDArray[np.int64]


@dataclass(frozen=True)
class Layout:
    """Which scope each parameter belongs to, of which size, and whether it is penalised."""

    structure: Structure
    orders: NDArray[np.integer]
    scopes: Callable[[], Indices]
    penalized: NDArray[np.bool_]

    @cached_property
    def weight(self) -> NDArray[np.float64]:
        """2^(r - 2) for a scope of r variables: one for pairs, twice as much with every variable more; 0 for free."""
        weight: NDArray[np.float64] = np.exp2(np.arange(-2.0, 254.0))[self.orders]
        weight *= self.penalized
        weight.flags.writeable = False
        return weight

    @cached_property
    def supersets(self) -> tuple[Indices, Indices]:
        """The scopes that contain each scope, which are the same at every strength."""
        return supersets(self.structure)

    def of_scopes(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Of numbers that are the same for all parameters of a scope, one for each scope."""
        scopes = self.scopes()
        out = np.zeros(max(self.structure.n_scopes, int(scopes.max(initial=-1)) + 1))
        out[scopes] = values
        return out


@dataclass(frozen=True)
class Preset:
    """What goes with a penalty unless the user says otherwise.

    Parameters
    ----------
    penalty
        Its class.
    free_orders
        Scope sizes it leaves alone; None for all.
    method, exact_method
        The solvers that suit it best, for the pseudo-likelihood and for the exact likelihood.
    build
        The penalty itself from its strength and the layout of the parameters.
    is_sparse
        Whether it makes parameters exactly zero, all of them from some strength on.
    """

    penalty: type[Penalty]
    free_orders: tuple[int, ...] | None
    method: type[Method[Any]]
    exact_method: type[Method[Any]]
    build: Callable[[float, Layout], Penalty]
    is_sparse: bool = False


def _hierarchical(strength: float, layout: Layout) -> HierarchicalL1:
    """A scope together with all that contain it (Buchman et al. 2012, eq. 10)."""
    start, members = layout.supersets
    return HierarchicalL1(strength, layout.scopes(), layout.of_scopes(layout.weight), start, members)


def _flat_l2(strength: float, layout: Layout) -> L2:
    """strength times the sum of squares, without a factor 1/2 (Buchman et al. 2012, eq. 11)."""
    return L2(2.0 * strength, layout.penalized)


PRESETS: dict[str, Preset] = {
    "l2": Preset(L2, (), TruncatedNewton, TruncatedNewton, lambda strength, layout: L2(strength, layout.penalized)),
    "l1": Preset(L1, (1,), OWLQN, ProximalNewton, lambda strength, layout: L1(strength, layout.weight), is_sparse=True),
    "group": Preset(
        GroupL1,
        (1,),
        Fista,
        ProximalNewton,
        lambda strength, layout: GroupL1(strength, layout.scopes(), layout.of_scopes(layout.weight)),
        is_sparse=True,
    ),
    "hierarchical": Preset(HierarchicalL1, (1,), Fista, ProximalNewton, _hierarchical, is_sparse=True),
    "flat-l1": Preset(
        L1,
        (),
        OWLQN,
        ProximalNewton,
        lambda strength, layout: L1(strength, layout.penalized.astype(np.float64)),
        is_sparse=True,
    ),
    "flat-l2": Preset(L2, (), TruncatedNewton, TruncatedNewton, _flat_l2),
    "none": Preset(NoPenalty, None, TruncatedNewton, TruncatedNewton, lambda strength, layout: NoPenalty()),
}
