"""Pairs of variables that must, or must not, be neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mrfit._typing import Indices
from mrfit.core.domain import Domain
from mrfit.core.errors import StructureError, listed

Pairs = Sequence[tuple[str, str]]

HARDLY = 1.0  # rows outside its most frequent state that a nearly constant variable has at most


@dataclass(frozen=True)
class AllowedPairs:
    """Pairs that may not and that must be neighbours; no variable is its own neighbour.

    The pairs are lists; the symmetric 0/1 matrices are computed on first use.
    """

    n_variables: int
    forbidden_pairs: Indices = field(default_factory=lambda: np.empty((0, 2), np.int64))  # (pairs, 2), first < second
    required_pairs: Indices = field(default_factory=lambda: np.empty((0, 2), np.int64))
    left_out: Indices = field(default_factory=lambda: np.empty(0, np.int64))  # variables without pairs

    @classmethod
    def all(cls, n_variables: int) -> AllowedPairs:
        return cls(n_variables)

    @classmethod
    def of(cls, domain: Domain, *, require: Pairs = (), forbid: Pairs = ()) -> AllowedPairs:
        """Convert pairs of names."""
        required, forbidden = ({_indices(domain, pair) for pair in pairs} for pairs in (require, forbid))
        if clash := sorted(required & forbidden):
            a, b = (domain.names[k] for k in clash[0])
            raise StructureError(f"The edge {a!r} - {b!r} is both required and forbidden; decide.")
        lists = (np.array(sorted(pairs), np.int64).reshape(-1, 2) for pairs in (forbidden, required))
        return cls(len(domain), *lists)

    def without(self, variables: NDArray[np.bool_]) -> AllowedPairs:
        """Forbid all pairs of some variables except the required ones."""
        return replace(self, left_out=np.flatnonzero(variables))

    @cached_property
    def forbidden(self) -> NDArray[np.bool_]:
        """(variables, variables), the diagonal included."""
        matrix = np.eye(self.n_variables, dtype=bool)
        matrix[tuple(self.forbidden_pairs.T)] = True
        matrix[self.left_out] = True
        return matrix | matrix.T

    @cached_property
    def required(self) -> NDArray[np.bool_]:
        """(variables, variables)."""
        matrix = np.zeros((self.n_variables, self.n_variables), bool)
        matrix[tuple(self.required_pairs.T)] = True
        return matrix | matrix.T

    @property
    def forbidden_both_ways(self) -> Indices:
        """The forbidden pairs and the same turned round, by their first variable."""
        both = np.concatenate([self.forbidden_pairs, self.forbidden_pairs[:, ::-1]])
        return both[np.argsort(both[:, 0], kind="stable")]

    def on(self, edges: Indices) -> Indices:
        """The edges, (edges, 2), that are not forbidden, and all that are required; sorted."""
        out = np.isin(edges, self.left_out).any(axis=1) | np.isin(
            self._numbers(edges), self._numbers(self.forbidden_pairs)
        )
        return np.unique(np.concatenate([edges[~out], self.required_pairs]), axis=0)

    def _numbers(self, edges: Indices) -> Indices:
        return edges[:, 0] * self.n_variables + edges[:, 1]


def _indices(domain: Domain, pair: Sequence[str]) -> tuple[int, int]:
    if len(pair) != 2 or pair[0] == pair[1]:
        raise StructureError(f"An edge joins two different variables; got {listed(pair)}.")
    a, b = sorted(map(domain.index, pair))
    return a, b
