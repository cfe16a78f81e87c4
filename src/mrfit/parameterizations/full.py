"""Full coordinates: one parameter for each scope and combination of states."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import ClassVar

import numpy as np

from mrfit._typing import Floats, Scope
from mrfit.core.factors import Factors
from mrfit.parameterizations.canonical import named_states
from mrfit.parameterizations.centred import Centred
from mrfit.parameterizations.parameterization import Parameterization


@dataclass(frozen=True)
class Full(Parameterization):
    """Full coordinates: one parameter for each combination of states of each scope, an overcomplete form.

    theta_A(x_A) = w of the states x_A: the parameters are the tables themselves (Buchman et al. 2012, section 3.1).

    Parameters
    ----------
    domain : Domain
        Variables and states; a scope has a parameter for each of its joint states.
    structure : Structure
        Interactions that have tables.
    covariate_indices : tuple of int, default ()
        Positions of covariates, for a conditional model converted to these coordinates. Learning with covariates uses
        canonical or ordered ones.

    See Also
    --------
    Canonical : The same distributions with as few parameters as possible.
    Factors : The tables by themselves, as a distribution.

    Notes
    -----
    Complete, but not minimal: many vectors of parameters give one distribution, and without a penalty none is
    preferred. A parameter may be minus infinity, which makes its states impossible.

    Examples
    --------
    >>> import mrfit
    >>> from mrfit.parameterizations import Full
    >>> domain = mrfit.Domain.from_states({"a": ["no", "yes"], "b": ["no", "yes"]})
    >>> list(Full(domain, mrfit.Structure.complete(2)).names())
    ['a=no', 'a=yes', 'b=no', 'b=yes', 'a=no & b=no', 'a=no & b=yes', 'a=yes & b=no', 'a=yes & b=yes']
    """

    word: ClassVar[str] = "full"
    is_complete: ClassVar[bool] = True
    meaning: ClassVar[str] = "added to log p in these states"
    may_be_impossible: ClassVar[bool] = True

    def n_features(self, scope: Scope) -> int:
        return prod(self._shape(scope))

    def features(self, scope: Scope) -> Floats:
        return np.eye(prod(self._shape(scope)))

    def for_lengths(self) -> Parameterization:
        """Return coordinates of the tables without main effects, if single variables have their own parameters."""
        singles = self.structure.blocks.get(1, ())
        return Centred(self.domain, self.structure) if len(singles) == len(self.domain) else self

    def from_lengths(self, w: Floats) -> Floats:
        tables = self.for_lengths().to_tables(w)
        return np.concatenate([np.ravel(table) for table in tables.values()]) if tables else w

    def to_factors(self, w: Floats) -> Factors:
        """Return the parameters as tables; minus infinity makes a state of a scope impossible."""
        return Factors(self.domain.shape, self.table_scopes, w)

    def _n_entries(self, size: int) -> float:
        # An indicator of a state has one coefficient, but that of the first state has one for each of the c states.
        shapes = 2.0 * np.array(self.domain.shape)[self.structure.blocks[size]] - 1.0
        return float(shapes.prod(axis=1).sum())

    def feature_name(self, scope: Scope, number: int) -> str:
        return named_states(self, self.feature_states(scope, number))

    def feature_states(self, scope: Scope, number: int) -> tuple[tuple[int, int], ...]:
        states = np.unravel_index(number, self._shape(scope))
        return tuple((i, int(s)) for i, s in zip(scope, states, strict=True))
