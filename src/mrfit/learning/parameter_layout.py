"""Layout of the parameters: which scope each belongs to."""

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
    """Layout of the parameters: the scope of each, its size, and whether it is penalised.

    `PenaltySpec` gets it to build the function of the parameters; users do not make one.

    Parameters
    ----------
    structure : Structure
        The scopes of the model.
    orders : ndarray of int
        Size of the scope of each parameter.
    scopes : callable
        Returns the number of the scope of each parameter.
    penalized : ndarray of bool
        Whether each parameter is penalised.
    tree : callable
        Returns the parameters of the smoothed tree within the structure, for penalties that draw towards it.

    See Also
    --------
    ConvexPenaltySpec : Takes the layout in ``build``.

    Examples
    --------
    >>> import numpy as np
    >>> from mrfit import Structure
    >>> from mrfit.penalties import ParameterLayout
    >>> orders, scopes = np.array([1, 1, 2]), np.array([0, 1, 2])
    >>> layout = ParameterLayout(Structure.complete(2), orders, lambda: scopes, orders > 1, lambda: np.zeros(3))
    >>> layout.weight
    array([0., 0., 1.])
    """

    structure: Structure
    orders: NDArray[np.integer]
    scopes: Callable[[], Indices]
    penalized: NDArray[np.bool_]
    tree: Callable[[], NDArray[np.float64]]

    @cached_property
    def weight(self) -> NDArray[np.float64]:
        """Weight of each parameter: 2^(r - 2) for a scope of r variables, which is 1 for pairs; 0 for a free one."""
        weight: NDArray[np.float64] = np.exp2(np.arange(-2.0, 254.0))[self.orders]
        weight *= self.penalized
        weight.flags.writeable = False
        return weight

    @cached_property
    def supersets(self) -> tuple[Indices, Indices]:
        """Scopes that contain each scope, the same at every strength."""
        return supersets(self.structure)

    def of_scopes(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return one number for each scope, from numbers that are equal for all parameters of a scope."""
        scopes = self.scopes()
        out = np.zeros(max(self.structure.n_scopes, int(scopes.max(initial=-1)) + 1))
        out[scopes] = values
        return out
