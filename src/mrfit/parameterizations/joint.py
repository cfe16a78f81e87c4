"""Parameters as functions of all joint states, expressed by the coefficients of a base."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from mrfit._typing import Floats, Indices
from mrfit.parameterizations.bases import CompleteBase, digits_of
from mrfit.parameterizations.parameterization import Parameterization
from mrfit.structures.structure import Structure


class Joint(ABC):
    """A vector of parameters and the function of all joint states that it represents."""

    base: CompleteBase
    n_parameters: int
    is_whole_base = False  # whether the parameters are exactly the base functions except the constant

    @property
    @abstractmethod
    def orders(self) -> NDArray[np.integer]:
        """Size of the scope of each parameter."""

    @property
    @abstractmethod
    def scopes(self) -> Indices:
        """Number of the scope of each parameter."""

    @abstractmethod
    def spread(self, w: Floats) -> Floats:
        """Turn parameters into coefficients of the base."""

    @abstractmethod
    def gather(self, a: Floats) -> Floats:
        """Apply the adjoint of `spread`."""

    @abstractmethod
    def variances(self, moments: Floats) -> Floats:
        """Return the variance of every feature, from the moments of the whole base."""

    @abstractmethod
    def covariance(self, moments: Floats, chosen: Indices, *, also: Floats | None = None) -> Floats:
        """Return the covariance of the chosen features from the moments of the whole base, plus ``also`` if given."""

    @abstractmethod
    def singles(self) -> list[Indices]:
        """Return each variable's own parameters, in the order of its features; empty for some variables."""

    @abstractmethod
    def pruned(self, w: Floats) -> tuple[Parameterization, Indices]:
        """Drop interactions whose parameters are all zero; return the rest and the numbers of its parameters."""


class Listed(Joint):
    """The parameters of a parameterization in its own order."""

    def __init__(self, parameters: Parameterization) -> None:
        self.parameters = parameters
        self.base = parameters.base
        self.n_parameters = parameters.n_parameters
        positions, columns, values = parameters.joint_entries()
        self._used, row = np.unique(positions, return_inverse=True)
        self._map: sparse.csr_array = sparse.csr_array(
            (values, (row.ravel(), columns)), shape=(len(self._used), self.n_parameters)
        )
        self._adjoint: sparse.csr_array = self._map.T.tocsr()

    @property
    def orders(self) -> NDArray[np.integer]:
        return self.parameters.order_of_parameter

    @property
    def scopes(self) -> Indices:
        return self.parameters.scope_of_parameter

    def spread(self, w: Floats) -> Floats:
        out = np.zeros(self.base.size)
        out[self._used] = self._map @ w
        return out

    def gather(self, a: Floats) -> Floats:
        return np.asarray(self._adjoint @ a[self._used], np.float64)

    def variances(self, moments: Floats) -> Floats:
        mean = self.gather(moments)
        if self._map.nnz == self.n_parameters:  # multiples of base functions
            second = self._adjoint.data**2 * self.base.squares(moments)[self._used[self._adjoint.indices]]
        elif self.parameters.are_indicators:  # indicators equal their squares
            second = mean
        else:  # sums of indicators, at most one of which is 1 in any state
            second = self._adjoint.power(2) @ moments[self._used]
        return np.asarray(second - mean * mean, np.float64)

    @cached_property
    def _is_selection(self) -> bool:
        return bool(self._map.nnz == self.n_parameters and (self._map.data == 1.0).all())

    def covariance(self, moments: Floats, chosen: Indices, *, also: Floats | None = None) -> Floats:
        if self._is_selection:
            return self.base.covariance(moments, self._used[self._adjoint.indices[chosen]], also=also)
        rows = self._adjoint[chosen]
        touched = np.unique(rows.indices)
        rows = rows[:, touched]
        return np.asarray(rows @ (rows @ self.base.covariance(moments, self._used[touched], also=also)).T, np.float64)

    def singles(self) -> list[Indices]:
        return self.parameters.singles()

    def pruned(self, w: Floats) -> tuple[Parameterization, Indices]:
        return self.parameters.pruned(w)


class Saturated(Joint):
    """One parameter for every base function except the constant, in the order of the base.

    All sets of variables are included without a list of scopes, so that 2^24 of them cost no more than a vector.
    """

    is_whole_base = True

    def __init__(self, parameters: Parameterization) -> None:
        self.parameters = parameters
        self.base = parameters.base
        self.n_parameters = self.base.size - 1

    def _by_digit(self, kind: type[np.integer], step: int) -> NDArray[np.integer]:
        """Return for every position the sum over variables in its scope of step^(number of later variables)."""
        out = np.zeros(1, kind)
        for c in self.base.shape:
            out = np.add.outer(out * kind(step), np.minimum(np.arange(c), 1).astype(kind)).ravel()
        return out[1:]

    @cached_property
    def orders(self) -> NDArray[np.integer]:
        return self._by_digit(np.uint8, 1)

    @property
    def scopes(self) -> Indices:
        return np.asarray(self._by_digit(np.int64, 2) - 1, np.int64)

    def spread(self, w: Floats) -> Floats:
        out = np.empty(self.base.size)
        out[0] = 0.0
        out[1:] = w
        return out

    def gather(self, a: Floats) -> Floats:
        return a[1:]

    def variances(self, moments: Floats) -> Floats:
        return self.base.squares(moments)[1:] - moments[1:] ** 2

    def covariance(self, moments: Floats, chosen: Indices, *, also: Floats | None = None) -> Floats:
        return self.base.covariance(moments, chosen + 1, also=also)

    def singles(self) -> list[Indices]:
        return [stride * np.arange(1, c) - 1 for stride, c in zip(self.base.strides, self.base.shape, strict=True)]

    def pruned(self, w: Floats) -> tuple[Parameterization, Indices]:
        n = len(self.base.shape)
        scopes = digits_of(np.flatnonzero(w) + 1, self.base.shape) > 0
        structure = Structure.from_membership(np.vstack([np.eye(n, dtype=bool), scopes]))
        smaller = self.parameters.on(structure)
        positions, _, _ = smaller.joint_entries()
        return smaller, positions - 1


_MOST_STATES = 2**22


def converted(source: Parameterization, w: Floats, target: Parameterization) -> Floats:
    """Convert parameters to another parameterization with the same distribution (Buchman et al. 2012, eq. 2, 5-7).

    If there are few joint states and the target is a selection of a base, it takes one transform to all joint states
    and one back. Otherwise it goes scope by scope.
    """
    if target.is_minimal and source.base.size <= _MOST_STATES:
        listed = Listed(source)
        values = listed.base.by_state(listed.base.potentials(listed.spread(w)))
        coefficients = target.base.coefficients(target.base.from_states(values))
        positions, _, _ = target.joint_entries()
        return np.asarray(coefficients[positions], np.float64)
    return target.from_canonical(source.canonical, source.to_canonical(w))
