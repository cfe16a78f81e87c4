"""Generalized Ising coordinates: for each scope one parameter for each state that all its variables can share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mrfit._typing import Floats, Scope
from mrfit.parameterizations.canonical import named_states
from mrfit.parameterizations.parameterization import Parameterization


@dataclass(frozen=True)
class GeneralizedIsing(Parameterization):
    """Generalized Ising coordinates: one parameter for each state that all variables of an interaction can share.

    theta_A(x_A) = w_As where all variables of A are in their state number s (Buchman et al. 2012, section 3.2), and
    zero elsewhere.

    Parameters
    ----------
    domain : Domain
        Variables and states; a scope has as many parameters as its smallest variable has states.
    structure : Structure
        Interactions, single variables among them, that have such parameters.
    covariate_indices : tuple of int, default ()
        Positions of covariates, for a conditional model converted to these coordinates. Learning with covariates uses
        canonical or ordered ones.

    See Also
    --------
    Ising : One parameter for all shared states.
    Full : One parameter for each combination of states.

    Notes
    -----
    Complete for binary variables, with twice as many parameters as necessary, and incomplete otherwise.

    Examples
    --------
    >>> import mrfit
    >>> from mrfit.parameterizations import GeneralizedIsing
    >>> domain = mrfit.Domain.from_states({"a": ["no", "yes"], "b": ["no", "yes"]})
    >>> list(GeneralizedIsing(domain, mrfit.Structure.complete(2)).names())
    ['a=no', 'a=yes', 'b=no', 'b=yes', 'a=no & b=no', 'a=yes & b=yes']
    """

    word: ClassVar[str] = "generalized-ising"
    meaning: ClassVar[str] = "added to log p where all these variables share this state"

    def n_features(self, scope: Scope) -> int:
        return min(self._shape(scope))

    def features(self, scope: Scope) -> Floats:
        shape = self._shape(scope)
        states = np.indices(shape).reshape(len(shape), -1)
        return np.stack([(states == s).all(axis=0) for s in range(min(shape))], axis=1).astype(np.float64)

    def feature_name(self, scope: Scope, number: int) -> str:
        return named_states(self, self.feature_states(scope, number))

    def feature_states(self, scope: Scope, number: int) -> tuple[tuple[int, int], ...]:
        return tuple((i, number) for i in scope)
