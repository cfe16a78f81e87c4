"""Spectral coordinates: products of one contrast for each variable of the scope."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from mrfit._typing import Floats, Indices, Scope
from mrfit.core.transforms import kronecker
from mrfit.parameterizations.bases import CompleteBase, Contrasts, Walsh, contrasts
from mrfit.parameterizations.canonical import joint_selection
from mrfit.parameterizations.parameterization import Parameterization


@dataclass(frozen=True)
class Spectral(Parameterization):
    """Spectral coordinates (Walsh-Hadamard, effect coding): one parameter for each product of contrasts.

    For binary variables theta_A(x_A) = w_A * product of signs, -1 for the first and +1 for the second state (Buchman et
    al. 2012, eq. 3). A variable with c > 2 states has c - 1 orthonormal contrasts, scaled by sqrt(c), instead of a
    sign: the second state against the first, the third against these two, and so on (Helmert).

    Parameters
    ----------
    domain : Domain
        Variables and states, whose order determines signs and contrasts.
    structure : Structure
        Interactions that have contrasts of their own.
    covariate_indices : tuple of int, default ()
        Positions of covariates, for a conditional model converted to these coordinates. Learning with covariates uses
        canonical or ordered ones.

    See Also
    --------
    Canonical : Coordinates relative to reference states.
    GroupLasso : Penalty on the norm of all parameters of an interaction.
    interaction_spectrum : Mean size of spectral parameters by order.

    Notes
    -----
    Minimal, complete and orthogonal. The norm of a scope's parameters does not depend on the choice of contrasts, nor
    on the order of the states, so penalize them as a group. For two binary variables w_A is a quarter of the log odds
    ratio.

    Examples
    --------
    >>> import mrfit
    >>> from mrfit.parameterizations import Spectral
    >>> states = {"mood": ["low", "mid", "high"], "rain": ["no", "yes"]}
    >>> domain = mrfit.Domain.from_states(states)
    >>> list(Spectral(domain, mrfit.Structure.complete(2)).names())
    ['mood[mid]', 'mood[high]', 'rain', 'mood[mid] × rain', 'mood[high] × rain']
    """

    word: ClassVar[str] = "spectral"
    is_complete: ClassVar[bool] = True
    is_minimal: ClassVar[bool] = True
    is_orthogonal: ClassVar[bool] = True
    meaning: ClassVar[str] = (
        "change of log p by the product (×) of signs, + for a variable's second state and - for its first; "
        "[s] contrasts state s with those before it"
    )

    def n_features(self, scope: Scope) -> int:
        return prod(c - 1 for c in self._shape(scope))

    def features(self, scope: Scope) -> Floats:
        out: Floats = np.ones((1, 1))
        for i in scope:
            out = kronecker(out, contrasts(self.domain.shape[i])[:, 1:])
        return out

    def feature_name(self, scope: Scope, number: int) -> str:
        """Return a name such as "lung × smoker"; a contrast of more than two states is named by its highest state.

        Parameters
        ----------
        scope : tuple of int
            Positions of the variables of an interaction.
        number : int
            Number of the parameter within the scope, from 0.

        Returns
        -------
        str
        """
        at = np.unravel_index(number, tuple(self.domain.shape[i] - 1 for i in scope))
        return " × ".join(
            variable.name if variable.n_states == 2 else f"{variable.name}[{variable.states[k + 1]}]"
            for variable, k in zip((self.domain[i] for i in scope), at, strict=True)
        )

    @property
    def base(self) -> CompleteBase:
        """Base of functions of all joint states that exact computations use, products of signs or contrasts."""
        binary = all(c <= 2 for c in self.domain.shape)
        return Walsh(self.domain.shape) if binary else Contrasts(self.domain.shape)

    def joint_entries(self) -> tuple[Indices, Indices, NDArray[np.float64]]:
        return joint_selection(self)
