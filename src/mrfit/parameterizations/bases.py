"""Complete bases of the functions of all joint states: tensor products of one small matrix for each variable.

A coefficient belongs to a choice of one digit for every variable, zero for "not in the scope"; the digits give its
index in C order. A joint state has an index in the same way, by the digits of its values. Values and moments of all
features cost one transform over all joint states, O(variables * states); no feature matrix is ever formed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from math import prod
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from mrfit._kernels.fitting.second_moments import binary_covariance, state_covariance
from mrfit._typing import Floats, Indices
from mrfit.core.transforms import (
    inverse_subset_sums,
    subset_sums,
    superset_sums,
    tensor_product,
    walsh_hadamard,
)
from mrfit.parameterizations.reference_states import digits_of_states


def digits_of(positions: Indices, shape: tuple[int, ...]) -> Indices:
    """Return one row of digits for each position in C order: shape (positions, variables)."""
    if not shape:
        return np.zeros((len(positions), 0), np.int64)
    return np.stack(np.unravel_index(positions, shape), axis=1).astype(np.int64)


@dataclass(frozen=True)
class CompleteBase(ABC):
    """A base of the functions of all joint states, for variables with the given numbers of states."""

    shape: tuple[int, ...]

    is_closed: ClassVar[bool] = True  # a product of two functions is one of the base: covariances are looked up

    @property
    def size(self) -> int:
        """Number of joint states, which is also the number of coefficients."""
        return prod(self.shape)

    @cached_property
    def strides(self) -> Indices:
        """Distance of one step of each digit in C order."""
        return np.array([prod(self.shape[i + 1 :]) for i in range(len(self.shape))], np.int64)

    @property
    @abstractmethod
    def digits(self) -> list[Indices]:
        """Digit of each state, for every variable."""

    @abstractmethod
    def potentials(self, a: Floats, *, jobs: int = 1) -> Floats:
        """Turn coefficients into values at all joint states; ``a`` may be overwritten."""

    @abstractmethod
    def moments(self, a: Floats, *, jobs: int = 1) -> Floats:
        """Return the sums over all states of ``a`` times each function (the adjoint); ``a`` may be overwritten."""

    @abstractmethod
    def coefficients(self, a: Floats, *, jobs: int = 1) -> Floats:
        """Invert `potentials`; ``a`` may be overwritten."""

    @abstractmethod
    def squares(self, moments: Floats) -> Floats:
        """Return the moments of the squares of all functions."""

    @abstractmethod
    def covariance(self, moments: Floats, positions: Indices, *, also: Floats | None = None) -> Floats:
        """Return the covariance of the functions at ``positions``, from the moments of all functions.

        ``also`` is added to the moments, only where they are read.
        """

    def positions(self, codes: NDArray[np.uint8]) -> Indices:
        """Return the index of the joint state of each row of codes."""
        out = np.zeros(len(codes), np.int64)
        for i, (digits, stride) in enumerate(zip(self.digits, self.strides.tolist(), strict=True)):
            out += (stride * digits)[codes[:, i]]
        return out

    def from_states(self, a: Floats) -> Floats:
        """Invert `by_state`; the result is flat."""
        for axis, digits in enumerate(self.digits):
            if (digits != np.arange(len(digits))).any():
                a = np.take(a, np.argsort(digits), axis=axis)
        return np.array(a, np.float64).ravel()

    def by_state(self, a: Floats) -> Floats:
        """Reshape numbers of all states to one axis for each variable, with states in the order of the domain."""
        out = a.reshape(self.shape)
        for axis, digits in enumerate(self.digits):
            if (digits != np.arange(len(digits))).any():
                out = np.take(out, digits, axis=axis)
        return out


@dataclass(frozen=True)
class Zeta(CompleteBase):
    """Indicators that all variables of a scope are in given states, none of them its reference state."""

    reference: tuple[int, ...] | None = None  # the first states by default

    @cached_property
    def digits(self) -> list[Indices]:
        return digits_of_states(self.shape, self.reference or (0,) * len(self.shape))

    @cached_property
    def _is_binary(self) -> bool:
        return all(c <= 2 for c in self.shape)

    def _matrices(self) -> list[Floats]:
        """Return the values of 1 and of each state's indicator for every variable, the reference state first."""
        matrices = [np.eye(c) for c in self.shape]
        for matrix in matrices:
            matrix[:, 0] = 1.0
        return matrices

    def potentials(self, a: Floats, *, jobs: int = 1) -> Floats:
        if self._is_binary:
            subset_sums(a, jobs=jobs)
            return a
        return tensor_product(a.reshape(self.shape), self._matrices()).ravel()

    def moments(self, a: Floats, *, jobs: int = 1) -> Floats:
        if self._is_binary:
            superset_sums(a, jobs=jobs)
            return a
        return tensor_product(a.reshape(self.shape), [matrix.T for matrix in self._matrices()]).ravel()

    def coefficients(self, a: Floats, *, jobs: int = 1) -> Floats:
        if self._is_binary:
            inverse_subset_sums(a, jobs=jobs)
            return a
        return tensor_product(a.reshape(self.shape), [np.linalg.inv(matrix) for matrix in self._matrices()]).ravel()

    def squares(self, moments: Floats) -> Floats:
        return moments

    def covariance(self, moments: Floats, positions: Indices, *, also: Floats | None = None) -> Floats:
        if self._is_binary:
            return _looked_up(moments, positions, also, signs=False)
        moments = moments if also is None else moments + also
        out = np.empty((len(positions), len(positions)))
        state_covariance(moments, positions, digits_of(positions, self.shape), self.strides, out)
        return out


@dataclass(frozen=True)
class Walsh(CompleteBase):
    """Products of signs, +1 for the second state of a variable and -1 for its first (Buchman et al. 2012, eq. 3)."""

    @cached_property
    def digits(self) -> list[Indices]:
        # The transform has +1 where a digit is zero (eq. 4), so digit zero is the second state.
        return [np.arange(c)[::-1].copy() for c in self.shape]

    def potentials(self, a: Floats, *, jobs: int = 1) -> Floats:
        walsh_hadamard(a, jobs=jobs)
        return a

    moments = potentials  # the matrix is symmetric

    def coefficients(self, a: Floats, *, jobs: int = 1) -> Floats:
        walsh_hadamard(a, jobs=jobs)
        a /= self.size
        return a

    def squares(self, moments: Floats) -> Floats:
        return np.ones_like(moments)

    def covariance(self, moments: Floats, positions: Indices, *, also: Floats | None = None) -> Floats:
        return _looked_up(moments, positions, also, signs=True)


@dataclass(frozen=True)
class Contrasts(CompleteBase):
    """Products of orthonormal contrasts of each variable, scaled so that their squares sum to its states.

    For two states they are the signs of `Walsh`. The sum of squares of a scope's coefficients does not depend on the
    order of the states, nor on which orthonormal contrasts are taken.
    """

    is_closed: ClassVar[bool] = False

    @cached_property
    def digits(self) -> list[Indices]:
        return [np.arange(c) for c in self.shape]

    def _matrices(self) -> list[Floats]:
        return [contrasts(c) for c in self.shape]

    def potentials(self, a: Floats, *, jobs: int = 1) -> Floats:
        return tensor_product(a.reshape(self.shape), self._matrices()).ravel()

    def moments(self, a: Floats, *, jobs: int = 1) -> Floats:
        return tensor_product(a.reshape(self.shape), [matrix.T for matrix in self._matrices()]).ravel()

    def coefficients(self, a: Floats, *, jobs: int = 1) -> Floats:
        out = self.moments(a, jobs=jobs)
        out /= self.size
        return out

    def squares(self, moments: Floats) -> Floats:
        in_contrasts = [(contrasts(c).T @ contrasts(c) ** 2 / c).T for c in self.shape]
        return tensor_product(moments.reshape(self.shape), in_contrasts).ravel()

    def covariance(self, moments: Floats, positions: Indices, *, also: Floats | None = None) -> Floats:
        """Expand the contrasts in indicators, as many as the states of a scope, and combine their covariances."""
        moments = moments if also is None else moments + also
        indicators = Zeta(self.shape)
        pairs = [(contrasts(c), zeta) for c, zeta in zip(self.shape, indicators._matrices(), strict=True)]
        to_zeta = [(np.linalg.inv(matrix) @ zeta).T for matrix, zeta in pairs]
        in_zeta = [np.linalg.inv(zeta) @ matrix for matrix, zeta in pairs]  # a contrast's coefficients by column
        of_indicators = tensor_product(moments.reshape(self.shape), to_zeta).ravel()
        expansions = []
        for digits in digits_of(positions, self.shape).tolist():
            at, value = np.zeros(1, np.int64), np.ones(1)
            for v in np.flatnonzero(digits):
                at = np.add.outer(at, np.arange(self.shape[v]) * self.strides[v]).ravel()
                value = np.outer(value, in_zeta[v][:, digits[v]]).ravel()
            expansions.append((at, value))
        return covariance_of_sums(expansions, lambda used: indicators.covariance(of_indicators, used))


def _looked_up(moments: Floats, positions: Indices, also: Floats | None, *, signs: bool) -> Floats:
    out = np.empty((len(positions), len(positions)))
    binary_covariance(moments, np.empty(0) if also is None else also, positions, signs, out)
    return out


def covariance_of_sums(expansions: Sequence[tuple[Indices, Floats]], covariance: Callable[[Indices], Floats]) -> Floats:
    """Return the covariance of sums of base functions, each sum given by positions and values."""
    positions = np.concatenate([np.empty(0, np.int64), *(at for at, _ in expansions)])
    values = np.concatenate([np.empty(0), *(value for _, value in expansions)])
    used, column = np.unique(positions, return_inverse=True)
    row = np.repeat(np.arange(len(expansions)), [len(at) for at, _ in expansions])
    sums = sparse.csr_array((values, (row, column.ravel())), shape=(len(expansions), len(used)))
    return np.asarray(sums @ (sums @ covariance(used)).T, np.float64)


@cache  # an evaluation of an objective asks for one a variable
def contrasts(c: int) -> Floats:
    """Return the constant 1 and sqrt(c) times Helmert's orthonormal contrasts, by column.

    Column j compares state j with the states before it. For two states the matrix is [[1, -1], [1, 1]]. matrix.T @
    matrix = c * identity. The array is read-only: all callers share it.
    """
    matrix = np.ones((c, c))
    for j in range(1, c):
        matrix[:, j] = np.concatenate([-np.ones(j), [j], np.zeros(c - j - 1)]) * np.sqrt(c / (j * (j + 1)))
    matrix.flags.writeable = False
    return matrix
