"""Internal: approximate Hessians that are diagonal after a change of coordinates, and division by them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from mrfit._typing import Floats, Indices
from mrfit.core.linear_systems import at_least

_LEAST_REMAINING_SHARE = 1e-6  # least share of a feature's curvature that remains after the constant explains the rest


@dataclass(frozen=True)
class NearlyDiagonal:
    """An approximate Hessian: that of 1/2 sum over k of diagonal[k] * x[k]^2, with w = back @ x."""

    back: sparse.csr_array
    diagonal: Floats

    def division(self, ridge: Floats) -> Callable[[Floats], Floats]:
        """Return the division by this Hessian plus a ridge on the diagonal of w, approximated as diagonal in x."""
        forth = self.back.T.tocsr()
        in_x = at_least(self.diagonal + forth.power(2) @ ridge, 1e-8)
        return lambda r: self.back @ (forth @ r / in_x)

    def through(self, inverse: sparse.csr_array) -> NearlyDiagonal:
        """Change coordinates: the coordinates here are ``inverse^-1`` times the new ones."""
        return NearlyDiagonal(inverse @ self.back, self.diagonal)


class UncorrelatedFeatures:
    """Approximate Hessian of many regressions on indicators, as if the features of each were uncorrelated.

    A regression has a constant and features of 0 and 1. The curvature of a feature is therefore also its product with
    the constant. Features f and g have curvatures H_f and H_g, the constant has H_1, and the product of f and g is
    approximated by H_f H_g / H_1. Then the centred features (minus their means H_f / H_1) and the constant at these
    means are orthogonal, with curvatures H_f - H_f^2 / H_1 and H_1. The plain diagonal would be right only for features
    that never occur together.

    Parameters
    ----------
    parameter_of_slot
        Parameter of each slot. A regression has consecutive slots, its constant first. Several slots may share a
        parameter; -1 means none.
    constant_of_slot
        Slot of the constant in the regression of each slot.
    """

    def __init__(self, n_parameters: int, parameter_of_slot: Indices, constant_of_slot: Indices) -> None:
        self.n_parameters, self._parameter, self._constant = n_parameters, parameter_of_slot, constant_of_slot
        is_feature = constant_of_slot != np.arange(len(constant_of_slot))
        both = (parameter_of_slot >= 0) & (parameter_of_slot[constant_of_slot] >= 0)
        self._features = np.flatnonzero(is_feature & both)
        self._at = parameter_of_slot[constant_of_slot[self._features]], parameter_of_slot[self._features]

    def at(self, by_slot: Floats) -> NearlyDiagonal:
        """Return the approximate Hessian for these curvatures of constants and features, one for each slot."""
        curvature, constant = by_slot[self._features], by_slot[self._constant[self._features]]
        mean = curvature / np.maximum(constant, np.finfo(np.float64).tiny)
        left = by_slot.copy()
        left[self._features] = curvature * np.maximum(1.0 - mean, _LEAST_REMAINING_SHARE)
        n, known = self.n_parameters, self._parameter >= 0
        means = sparse.csr_array((mean, self._at), shape=(n, n))
        diagonal = np.bincount(self._parameter[known], left[known], minlength=n).astype(np.float64)  # of no slot, too
        return NearlyDiagonal(sparse.eye_array(n, format="csr") - means, diagonal)
