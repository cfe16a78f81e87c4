"""A penalty that draws parameters towards the mean of their group."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mrfit._typing import Floats, Indices
from mrfit.core.errors import InputError
from mrfit.core.linear_systems import at_least
from mrfit.penalties.penalty import SmoothPenalty, Trait
from mrfit.penalties.penalty_strength import checked_strength


@dataclass(frozen=True, eq=False)
class ClusterPenalty(SmoothPenalty):
    """Squared distance to the mean of a group: strength / 2 * sum over j of (w[j] - center of its group)^2.

    The centers are the best ones for w. For a fixed assignment the objective of Chou et al. (2018, eq. 2) is convex in
    parameters and centers together. The best center is the mean of its group. The penalty is therefore strength / 2
    times the squared distance of w from the space "equal within groups". That is a projection, so all derivatives are
    as cheap as those of the squared norm.

    Parameters
    ----------
    strength : float
        The papers' lambda, above 0, added to the sum (not the mean) over rows.
    assignment : ndarray of int
        Group of every parameter, 0, 1, ...; -1 leaves a parameter free.
    pinned : ndarray of bool or None, default=None
        For every group, whether its center is fixed at zero; None means no group. One pinned group is `Ridge`.

    See Also
    --------
    mrfit.SoftTied : The penalty as users choose it.

    Examples
    --------
    >>> import numpy as np
    >>> from mrfit.penalties import ClusterPenalty
    >>> ClusterPenalty(1.0, np.array([0, 0, -1])).centers(np.array([1.0, 3.0, 9.0]))
    array([2.])
    """

    name = "SoftTied"

    strength: float
    assignment: Indices
    pinned: NDArray[np.bool_] | None = None

    traits = frozenset({Trait.DIFFERENTIABLE})

    def __post_init__(self) -> None:
        checked_strength(self.strength)
        assignment = np.array(self.assignment, np.int64)
        if assignment.ndim != 1 or (len(assignment) and assignment.min() < -1):
            raise InputError("An assignment is one group for each parameter, 0, 1, ..., or -1 for none.")
        n_groups = int(assignment.max(initial=-1)) + 1
        pinned = np.zeros(n_groups, bool) if self.pinned is None else np.array(self.pinned, bool)
        if len(pinned) < n_groups:
            raise InputError(f"There are {n_groups} groups, but only {len(pinned)} entries say which are pinned.")
        for name, array in (("assignment", assignment), ("pinned", pinned)):
            array.flags.writeable = False
            object.__setattr__(self, name, array)
        sizes = np.bincount(assignment[assignment >= 0], minlength=len(pinned)).astype(np.float64)
        object.__setattr__(self, "_share", np.where(pinned, 0.0, 1.0 / np.maximum(sizes, 1.0)))

    def centers(self, w: Floats) -> Floats:
        """Return the mean of every group, zero where it is pinned."""
        tied = self.assignment >= 0
        share: Floats = self._share  # type: ignore[attr-defined]
        sums = np.bincount(self.assignment[tied], w[tied], minlength=len(share))
        return np.asarray(sums * share, np.float64)

    def _from_center(self, v: Floats) -> Floats:
        """Return v minus its projection on "equal within groups"; zero where nothing is tied."""
        centers = np.append(self.centers(v), 0.0)
        return np.where(self.assignment >= 0, v - centers[self.assignment], 0.0)

    def value(self, w: Floats) -> float:
        distance = self._from_center(w)
        return 0.5 * self.strength * float(distance @ distance)

    def gradient(self, w: Floats) -> Floats:
        return self.strength * self._from_center(w)

    def hessian_product(self, w: Floats, v: Floats) -> Floats:
        return self.strength * self._from_center(v)

    def hessian_diagonal(self, w: Floats) -> Floats:
        share = np.append(self._share, 1.0)  # type: ignore[attr-defined]
        return np.asarray(self.strength * (1.0 - share[self.assignment]), np.float64)

    def hessian(self, w: Floats) -> Floats:
        share = np.append(self._share, 0.0)  # type: ignore[attr-defined]
        is_same_group = self.assignment[:, None] == self.assignment
        matrix = np.where(is_same_group, -self.strength * share[self.assignment], 0.0)
        np.fill_diagonal(matrix, np.where(self.assignment >= 0, matrix.diagonal() + self.strength, 0.0))
        return matrix

    def stiffness(self, w: Floats) -> Floats:
        return np.where(self.assignment >= 0, self.strength, 0.0)

    def preconditioner(self, diagonal: Floats) -> Callable[[Floats], Floats]:
        """Return the exact inverse, by Sherman and Morrison (1950) for each group.

        The matrix of a group is diagonal + strength, minus strength / n 1 1'. A diagonal preconditioner would suppress
        the common move of a group, which the penalty does not resist, because each of its members is stiff.
        """
        share: Floats = self._share  # type: ignore[attr-defined]
        tied = self.assignment >= 0
        group = self.assignment[tied]
        inverse = 1.0 / at_least(diagonal + np.where(tied, self.strength, 0.0), 1e-8)
        loose = 1.0 - self.strength * share * np.bincount(group, inverse[tied], minlength=len(share))
        # The common move of a group without data has no resistance; bound it as a diagonal preconditioner would.
        gain = self.strength * share / np.maximum(loose, 1e-8)

        def divide(r: Floats) -> Floats:
            y = inverse * r
            common = gain * np.bincount(group, y[tied], minlength=len(share))
            y[tied] += inverse[tied] * common[group]
            return y

        return divide

    def is_free(self, n_parameters: int) -> NDArray[np.bool_]:
        """Return the mask of parameters in no group, or alone in one. The mean of an unpinned group is free as well."""
        share = np.append(self._share, 1.0)  # type: ignore[attr-defined]
        return np.asarray(share[self.assignment] == 1.0)
