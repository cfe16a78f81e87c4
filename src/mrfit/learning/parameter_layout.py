"""Layout of a parameter vector: the scope of each parameter, its size, and whether it is penalised."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mrfit._typing import Indices
from mrfit.structures.hierarchy import supersets
from mrfit.structures.structure import Structure


@dataclass(frozen=True)
class ParameterLayout:
    """Which scope each parameter belongs to, of which size, and whether it is penalised.

    ``tree`` gives the parameters of the smoothed tree within the structure, for those that are drawn there.
    """

    structure: Structure
    orders: NDArray[np.integer]
    scopes: Callable[[], Indices]
    penalized: NDArray[np.bool_]
    tree: Callable[[], NDArray[np.float64]]

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
