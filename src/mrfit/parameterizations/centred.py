"""Tables without main effects, in an orthonormal basis: full coordinates for norms of whole scopes."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from mrfit._typing import Floats, Indices, Scope
from mrfit.core.transforms import kronecker
from mrfit.parameterizations.bases import CompleteBase, Contrasts, Walsh, contrasts, digits_of
from mrfit.parameterizations.parameterization import Parameterization


@dataclass(frozen=True)
class Centred(Parameterization):
    """theta_A = B_A w_A with an orthonormal basis B_A of the tables whose single-variable margins are all zero.

    A penalty on the norms of whole tables that leaves single variables free has its optimum here: the unpenalized
    single variables absorb the main effects of a larger table.

    w_A

    =

    theta_A

    . Of the 2^r entries of a table of r binary variables, r + 1 are saved: three of four for pairs, half for triples.
    """

    word: ClassVar[str] = "centred"
    meaning: ClassVar[str] = "a part of a table, by a product of contrasts"

    def n_features(self, scope: Scope) -> int:
        shape = self._shape(scope)
        return shape[0] - 1 if len(shape) == 1 else prod(shape) - 1 - sum(c - 1 for c in shape)

    def features(self, scope: Scope) -> Floats:
        shape = self._shape(scope)
        every: Floats = np.ones((1, 1))
        for c in shape:
            every = kronecker(every, contrasts(c))
        return np.asarray(_scale(shape) * every[:, _contrasts_without_main_effects(shape)], np.float64)

    def feature_name(self, scope: Scope, number: int) -> str:
        shape = self._shape(scope)
        digits = digits_of(_contrasts_without_main_effects(shape)[number : number + 1], shape)[0]
        parts = (f"{self.domain[i].name}[{digit}]" for i, digit in zip(scope, digits, strict=True) if digit)
        return f"{' × '.join(parts)} in {', '.join(self.domain[i].name for i in scope)}"

    @property
    def base(self) -> CompleteBase:
        binary = all(c <= 2 for c in self.domain.shape)
        return Walsh(self.domain.shape) if binary else Contrasts(self.domain.shape)

    def joint_entries(self) -> tuple[Indices, Indices, NDArray[np.float64]]:
        positions = np.empty(self.n_parameters, np.int64)
        values = np.empty(self.n_parameters)
        for block, first, features in self.alike():
            shape = self._shape(tuple(block[0].tolist()))
            digits = digits_of(_contrasts_without_main_effects(shape), shape)  # (parameters, variables)
            own = first[:, None] + np.arange(features.shape[1])
            positions[own] = self.base.strides[block] @ digits.T
            values[own] = _scale(shape)
        return positions, np.arange(self.n_parameters), values


def _contrasts_without_main_effects(shape: tuple[int, ...]) -> Indices:
    """Return the contrasts of a scope: products over two or more variables; for a single variable all of them."""
    digits = digits_of(np.arange(prod(shape)), shape)
    return np.flatnonzero((digits > 0).sum(axis=1) >= min(2, len(shape)))


def _scale(shape: tuple[int, ...]) -> float:
    """Return the factor that makes products of contrasts orthonormal; single variables have spectral coordinates."""
    return 1.0 if len(shape) == 1 else prod(shape) ** -0.5
