"""The weighted sum of the Euclidean norms of disjoint groups."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from mrfit._typing import Floats, Indices
from mrfit.core.errors import InputError
from mrfit.penalties.penalty import NonsmoothPenalty
from mrfit.penalties.penalty_curvature import PenaltyCurvature
from mrfit.penalties.penalty_weight import check_weight


@dataclass(frozen=True, eq=False)
class GroupL1(NonsmoothPenalty):
    """Group l1 norm: strength * sum over groups g of weight[g] * ||w_g||_2.

    It is that of Buchman et al. (2012, eq. 9).

    Parameters
    ----------
    strength : float
        The papers' lambda, above 0, added to the sum (not the mean) over rows; there is no factor 1/2.
    group : ndarray of int
        Group of every parameter, 0, 1, ...; -1 leaves a parameter free.
    weight : ndarray of float
        Weight of each group, 0 or more; zero leaves its parameters free.

    See Also
    --------
    mrfit.GroupLasso : The penalty as users choose it.

    Examples
    --------
    >>> import numpy as np
    >>> from mrfit.penalties import GroupL1
    >>> GroupL1(1.0, np.array([0, 0]), np.ones(1)).value(np.array([3.0, 4.0]))
    5.0
    """

    group: Indices
    weight: Floats

    is_norm = True

    def __post_init__(self) -> None:
        super().__post_init__()
        group, weight = np.array(self.group, np.int64), np.array(self.weight, np.float64)
        if group.ndim != 1 or (len(group) and group.min() < -1):
            raise InputError(
                "The groups of a group penalty are one number for each parameter, 0, 1, ..., or -1 for none."
            )
        check_weight(weight, of="a group", each="group")
        n_groups = int(group.max(initial=-1)) + 1
        if len(weight) < n_groups:
            raise InputError(f"There are {n_groups} groups, but only {len(weight)} weights; give one for each group.")
        # Groups without weight are ignored, so that everything below has one kind of free parameter.
        touched = np.append(weight > 0, False)[group]
        # Every parameter without a group is a block of its own, numbered after the groups.
        block = np.where(group < 0, len(weight) + np.cumsum(group < 0) - 1, group)
        arrays = {"group": group, "weight": weight, "_block": block, "_touched": touched}
        for name, array in arrays.items():
            array.flags.writeable = False
            object.__setattr__(self, name, array)

    @property
    def blocks(self) -> Indices:
        block: Indices = self._block  # type: ignore[attr-defined]
        return block

    @property
    def _slope(self) -> Floats:
        return self.strength * self.weight

    def _norms(self, w: Floats) -> Floats:
        return np.sqrt(self._sums(w * w))

    def _sums(self, values: Floats) -> Floats:
        """Return the sum over every group."""
        return np.asarray(np.bincount(self.group + 1, values, minlength=len(self.weight) + 1)[1:], np.float64)

    def _spread(self, values: Floats, *, free: float) -> Floats:
        """Return the value of its group for every parameter, ``free`` for those without a group."""
        return np.where(self._touched, np.append(values, free)[self.group], free)  # type: ignore[attr-defined]

    def _shrunk(self, w: Floats, by: Floats) -> Floats:
        """Shorten every group by its entry of ``by``, at most to zero; leave free parameters as they are."""
        norm = self._norms(w)
        factor = np.zeros_like(norm)
        np.divide(norm - by, norm, out=factor, where=norm > by)
        return w * self._spread(factor, free=1.0)

    def value(self, w: Floats) -> float:
        return self.strength * float(self.weight @ self._norms(w))

    def is_free(self, n_parameters: int) -> NDArray[np.bool_]:
        free: NDArray[np.bool_] = ~self._touched  # type: ignore[attr-defined]
        return free

    def prox(self, w: Floats, step: float) -> Floats:
        """Shorten every group by step * strength * weight, or to zero where it is shorter than that."""
        return self._shrunk(w, step * self._slope)

    def common_steps(self, steps: Floats) -> Floats:
        return np.where(self._touched, np.append(self._smallest(steps), np.inf)[self.group], steps)  # type: ignore[attr-defined]

    def prox_by_steps(self, w: Floats, steps: Floats) -> Floats:
        smallest = self._smallest(steps)
        return self._shrunk(w, np.where(np.isfinite(smallest), smallest, 0.0) * self._slope)

    def _smallest(self, values: Floats) -> Floats:
        """Return the smallest value of every group; infinity for groups without parameters."""
        out = np.full(len(self.weight), np.inf)
        np.minimum.at(out, self.group[self._touched], values[self._touched])  # type: ignore[attr-defined]
        return out

    def min_norm_subgradient(self, w: Floats, gradient: Floats) -> Floats:
        """Return the gradient of the sum at nonzero groups, and the gradient beyond the group's ball at zero groups."""
        norm = self._norms(w)
        pull = np.zeros_like(norm)
        np.divide(self._slope, norm, out=pull, where=norm > 0)
        at_zero = self._spread((norm == 0).astype(np.float64), free=0.0) > 0
        return np.where(at_zero, self._shrunk(gradient, self._slope), gradient + self._spread(pull, free=0.0) * w)

    def restricted(self, chosen: Indices) -> GroupL1:
        groups, group = np.unique(self.group[chosen], return_inverse=True)
        n_without = int(np.count_nonzero(groups < 0))
        return GroupL1(self.strength, group - n_without, self.weight[groups[n_without:]])

    def critical_strength(self, gradient: Floats) -> float:
        touched = self.weight > 0
        return float(np.max(self._norms(gradient)[touched] / self.weight[touched], initial=0.0))

    def curvature(self, w: Floats) -> PenaltyCurvature:
        """Return derivatives: a norm r = ||w_g|| > 0 has gradient w_g / r and Hessian I / r - w_g w_g' / r^3."""
        norm = self._norms(w)
        alive = norm > 0
        smooth = np.flatnonzero(self._spread(alive.astype(np.float64), free=1.0) > 0)
        touched = np.flatnonzero(self._touched[smooth])  # type: ignore[attr-defined]
        group, v = self.group[smooth[touched]], w[smooth]
        diagonal = np.zeros(len(smooth))
        diagonal[touched] = self._slope[group] / norm[group]
        entry = v[touched] * np.sqrt(self._slope[group]) / norm[group] ** 1.5
        factor = csr_array((entry, (touched, group)), shape=(len(smooth), len(self.weight)))
        return PenaltyCurvature(smooth, diagonal * v, diagonal, factor)

    def truncate_at_zero_crossing(self, start: Floats, end: Floats) -> Floats:
        passed = (self._sums(start * end) <= 0) & (self.weight > 0)
        return end * self._spread((~passed).astype(np.float64), free=1.0)
