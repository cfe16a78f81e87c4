"""Internal: Hessians that are nearly diagonal, if not in the coordinates at hand: what they are divided by."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from mrfit._typing import Floats, Indices
from mrfit.core.linear_systems import at_least

_LEFT = 1e-6  # of a feature's curvature, at least, however much of it a constant explains


@dataclass(frozen=True)
class NearlyDiagonal:
    """Roughly a Hessian: that of 1/2 sum over k of diagonal[k] * x[k]^2, with w = back @ x."""

    back: sparse.csr_array
    diagonal: Floats

    def division(self, ridge: Floats) -> Callable[[Floats], Floats]:
        """By it with a ridge on the diagonal of w, that one as if it were diagonal in x."""
        forth = self.back.T.tocsr()
        alone = at_least(self.diagonal + forth.power(2) @ ridge, 1e-8)
        return lambda r: self.back @ (forth @ r / alone)

    def through(self, inverse: sparse.csr_array) -> NearlyDiagonal:
        """In other coordinates, of which those here are ``inverse^-1`` times."""
        return NearlyDiagonal(inverse @ self.back, self.diagonal)


class UncorrelatedFeatures:
    """The Hessian of many regressions on indicators, as if within each of them no two were correlated.

    A regression has a constant and features of 0 and 1, so that the curvature in a feature is also its product with the
    constant: those of features f and g have curvatures H_f and H_g, the constant H_1, and their product is taken for
    H_f H_g / H_1. Then the features, less their means H_f / H_1, and the constant at these means are apart, with
    curvatures H_f - H_f^2 / H_1 and H_1. The diagonal alone would be right for features that never meet.

    Parameters
    ----------
    parameter_of_slot
        Regressions one after another, the constant first; several may share a parameter, -1 is for none.
    constant_of_slot
        The slot of the constant in the regression of every slot.
    """

    def __init__(self, n_parameters: int, parameter_of_slot: Indices, constant_of_slot: Indices) -> None:
        self.n_parameters, self._parameter, self._constant = n_parameters, parameter_of_slot, constant_of_slot
        is_feature = constant_of_slot != np.arange(len(constant_of_slot))
        both = (parameter_of_slot >= 0) & (parameter_of_slot[constant_of_slot] >= 0)
        self._features = np.flatnonzero(is_feature & both)
        self._at = parameter_of_slot[constant_of_slot[self._features]], parameter_of_slot[self._features]

    def at(self, by_slot: Floats) -> NearlyDiagonal:
        """With these curvatures in constants and features."""
        curvature, constant = by_slot[self._features], by_slot[self._constant[self._features]]
        mean = curvature / np.maximum(constant, np.finfo(np.float64).tiny)
        left = by_slot.copy()
        left[self._features] = curvature * np.maximum(1.0 - mean, _LEFT)
        n, known = self.n_parameters, self._parameter >= 0
        means = sparse.csr_array((mean, self._at), shape=(n, n))
        diagonal = np.bincount(self._parameter[known], left[known], minlength=n).astype(np.float64)  # of no slot, too
        return NearlyDiagonal(sparse.eye_array(n, format="csr") - means, diagonal)
