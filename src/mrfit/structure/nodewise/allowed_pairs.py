"""Which pairs of variables the user wants to be neighbours, or not to be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from mrfit.domain import Domain
from mrfit.errors import StructureError, listed

Pairs = Sequence[tuple[str, str]]

HARDLY = 1.0  # rows in other states than most: a variable with no more hardly varies


@dataclass(frozen=True)
class AllowedPairs:
    """Pairs that may not and that must be neighbours, as symmetric 0/1 matrices; no variable is its own neighbour."""

    forbidden: NDArray[np.bool_]
    required: NDArray[np.bool_]

    @classmethod
    def all(cls, n_variables: int) -> AllowedPairs:
        return cls(np.eye(n_variables, dtype=bool), np.zeros((n_variables, n_variables), bool))

    @classmethod
    def of(cls, domain: Domain, *, require: Pairs = (), forbid: Pairs = ()) -> AllowedPairs:
        """From pairs of names."""
        pairs = cls.all(len(domain))
        for names, matrix in ((require, pairs.required), (forbid, pairs.forbidden)):
            for pair in names:
                a, b = _indices(domain, pair)
                matrix[a, b] = matrix[b, a] = True
        clash = np.argwhere(np.triu(pairs.required & pairs.forbidden, 1))
        if len(clash):
            a, b = (domain.names[k] for k in clash[0])
            raise StructureError(f"The edge {a!r} - {b!r} is both required and forbidden; decide.")
        return pairs

    def without(self, variables: NDArray[np.bool_]) -> AllowedPairs:
        """The same, and no pairs of some variables but those required."""
        return replace(self, forbidden=self.forbidden | variables | variables[:, None])


def _indices(domain: Domain, pair: Sequence[str]) -> tuple[int, int]:
    if len(pair) != 2 or pair[0] == pair[1]:
        raise StructureError(f"An edge joins two different variables; got {listed(pair)}.")
    return domain.index(pair[0]), domain.index(pair[1])
