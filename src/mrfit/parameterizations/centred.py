"""Tables without what single variables say, in an orthonormal basis: full coordinates for norms of whole scopes."""

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
    """theta_A = B_A w_A with an orthonormal basis B_A of the tables whose margins of single variables are all zero.

    A penalty on the lengths of whole tables that leaves single variables free has its optimum here: what a larger
    table says of single variables they can say without a price, so that it has no such part. ||w_A|| = ||theta_A||, and
    of the 2^r entries of a table of r yes/no variables r + 1 are saved: three of four for pairs, half for triples.
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
        return np.asarray(_scale(shape) * every[:, _kept(shape)], np.float64)

    def feature_name(self, scope: Scope, number: int) -> str:
        shape = self._shape(scope)
        digits = digits_of(_kept(shape)[number : number + 1], shape)[0]
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
            digits = digits_of(_kept(shape), shape)  # (parameters, variables)
            mine = first[:, None] + np.arange(features.shape[1])
            positions[mine] = self.base.strides[block] @ digits.T
            values[mine] = _scale(shape)
        return positions, np.arange(self.n_parameters), values


def _kept(shape: tuple[int, ...]) -> Indices:
    """Products of contrasts of two variables or more; of a single variable its own."""
    digits = digits_of(np.arange(prod(shape)), shape)
    return np.flatnonzero((digits > 0).sum(axis=1) >= min(2, len(shape)))


def _scale(shape: tuple[int, ...]) -> float:
    """Makes products of contrasts orthonormal; those of single variables are as spectral coordinates have them."""
    return 1.0 if len(shape) == 1 else prod(shape) ** -0.5
