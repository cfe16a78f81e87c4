"""Ising coordinates: one parameter for each scope, active where all its variables agree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mrfit._typing import Floats, Scope
from mrfit.parameterizations.canonical import named_states
from mrfit.parameterizations.parameterization import Parameterization


@dataclass(frozen=True)
class Ising(Parameterization):
    """Ising coordinates: one parameter for each interaction, active where all its variables agree.

    theta_A(x_A) = w_A where all variables of A are in states of the same number (Buchman et al. 2012, section 3.2), and
    zero elsewhere. Single variables have one parameter for each state but the first.

    Parameters
    ----------
    domain : Domain
        Variables and states; states agree by their position.
    structure : Structure
        Interactions that have one parameter each. Triples of binary variables add nothing to their pairs.
    covariate_indices : tuple of int, default ()
        Positions of covariates, for a conditional model converted to these coordinates. Learning with covariates uses
        canonical or ordered ones.

    See Also
    --------
    GeneralizedIsing : A parameter for each state that variables share.
    Spectral : Complete coordinates of signs.

    Notes
    -----
    For two binary variables the log odds ratio is 2 w_A. The coordinates are incomplete for larger scopes and for more
    than two states.

    Examples
    --------
    >>> import mrfit
    >>> from mrfit.parameterizations import Ising
    >>> domain = mrfit.Domain.from_states(dict.fromkeys("abc", ["no", "yes"]))
    >>> list(Ising(domain, mrfit.Structure.complete(3)).names())
    ['a=yes', 'b=yes', 'c=yes', 'a = b', 'a = c', 'b = c']
    """

    word: ClassVar[str] = "ising"
    meaning: ClassVar[str] = "added to log p where all these variables agree"

    def n_features(self, scope: Scope) -> int:
        return 1 if len(scope) > 1 else self.domain.shape[scope[0]] - 1

    def features(self, scope: Scope) -> Floats:
        shape = self._shape(scope)
        if len(scope) == 1:
            return np.eye(shape[0])[:, 1:]
        states = np.indices(shape).reshape(len(shape), -1)
        return np.asarray((states == states[0]).all(axis=0)[:, None], np.float64)

    def feature_name(self, scope: Scope, number: int) -> str:
        if len(scope) == 1:
            return named_states(self, self.feature_states(scope, number))
        return " = ".join(self.domain[i].name for i in scope)

    def feature_states(self, scope: Scope, number: int) -> tuple[tuple[int, int], ...]:
        return ((scope[0], number + 1),) if len(scope) == 1 else ()
