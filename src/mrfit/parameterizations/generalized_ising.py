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
    """theta_A(x_A) = w_As where all variables of A are in their state number s (Buchman et al. 2012, 3.2).

    The model is complete for binary variables, with twice as many parameters as necessary, and incomplete otherwise.
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
