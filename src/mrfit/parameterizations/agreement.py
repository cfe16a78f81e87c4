"""Ising and generalized Ising parameters of all sets of binary variables, without listing the sets."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mrfit._typing import Floats, Indices
from mrfit.core.transforms import subset_sums, superset_sums
from mrfit.parameterizations.bases import covariance_of_sums, digits_of
from mrfit.parameterizations.joint import Joint, Saturated
from mrfit.parameterizations.parameterization import Parameterization
from mrfit.structures.structure import Structure


class SaturatedAgreement(Joint):
    """One parameter for every set of variables and each state they may share, or one for both states (Ising).

    Parameters of the second states come first, in the order of the base, where they are indicators. The feature "all
    variables of A are in their first states" is the product of 1 - indicator, which is an alternating sum over the
    subsets of A. One sum over supersets therefore serves all sets at once.
    """

    def __init__(self, parameters: Parameterization, *, shared: bool) -> None:
        self.parameters, self.shared = parameters, shared
        self.base = parameters.base
        self._second = Saturated(parameters)  # the parameters of the second states alone
        self._n = self._second.n_parameters
        self.n_parameters = self._n if shared else 2 * self._n

    @cached_property
    def orders(self) -> NDArray[np.integer]:
        return self._second.orders if self.shared else np.tile(self._second.orders, 2)

    @property
    def scopes(self) -> Indices:
        return self._second.scopes if self.shared else np.tile(self._second.scopes, 2)

    @cached_property
    def _signs(self) -> NDArray[np.int8]:
        return np.concatenate([[1], 1 - 2 * (self._second.orders & 1).astype(np.int8)]).astype(np.int8)

    def _of_first_states(self, w: Floats) -> Floats:
        """Return the parameters of the first states; in Ising models single variables have none."""
        return np.where(self.orders > 1, w, 0.0) if self.shared else w[self._n :]

    def spread(self, w: Floats) -> Floats:
        out = self._second.spread(self._of_first_states(w))
        superset_sums(out)
        out *= self._signs
        out[1:] += w[: self._n]
        return out

    def gather(self, a: Floats) -> Floats:
        first = a * self._signs
        subset_sums(first)
        if self.shared:
            return np.asarray(a[1:] + np.where(self.orders > 1, first[1:], 0.0), np.float64)
        return np.concatenate([a[1:], first[1:]])

    def variances(self, moments: Floats) -> Floats:
        mean = self.gather(moments)
        return mean - mean * mean  # all features are 0 or 1

    def covariance(self, moments: Floats, chosen: Indices, *, also: Floats | None = None) -> Floats:
        expansions = [self._expansion(parameter) for parameter in chosen.tolist()]
        return covariance_of_sums(expansions, lambda used: self.base.covariance(moments, used, also=also))

    def _expansion(self, parameter: int) -> tuple[Indices, Floats]:
        """Return the functions of the base whose signed sum is a feature, and their signs."""
        scope = parameter % self._n + 1
        single = scope & (scope - 1) == 0
        if parameter < self._n and (not self.shared or single):
            return np.array([scope]), np.ones(1)
        subsets = np.zeros(1, np.int64)
        for bit in (1 << b for b in range(scope.bit_length())):
            if scope & bit:
                subsets = np.concatenate([subsets, subsets | bit])
        values = self._signs[subsets].astype(np.float64)
        values[-1] += self.shared  # all in their second states
        return subsets, values

    def singles(self) -> list[Indices]:
        return [
            second if self.shared else np.concatenate([second + self._n, second]) for second in self._second.singles()
        ]

    def pruned(self, w: Floats) -> tuple[Parameterization, Indices]:
        alive = np.unique(np.flatnonzero(w) % self._n)
        scopes = digits_of(alive + 1, self.base.shape) > 0
        varied = np.array(self.base.shape) > 1
        structure = Structure.from_membership(np.vstack([np.eye(len(varied), dtype=bool), scopes]))
        sets = [
            self.base.strides[block[varied[block].all(axis=1)]].sum(axis=1) - 1 for block in structure.blocks.values()
        ]
        second = np.concatenate(sets)
        kept = second if self.shared else np.stack([second + self._n, second], axis=1).ravel()
        return self.parameters.on(structure), kept
