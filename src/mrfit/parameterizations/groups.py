"""Groups of parameters that share a value."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mrfit._typing import Floats, Indices
from mrfit.core.errors import InputError
from mrfit.data.kmeans1d import kmeans1d

WAYS = ("all", "apart", "orders")

# A value of this weight, relative to the number of values, fixes the center of its cluster to nine digits.
_ANCHOR = 1e9


@dataclass(frozen=True, eq=False)
class Groups:
    """An assignment of parameters to groups and the groups' centers.

    Parameters
    ----------
    assignment
        The group of every parameter; -1 for parameters without a group.
    centers
        The value of every group.
    pinned
        Whether each center is fixed at zero; none by default.
    """

    assignment: Indices
    centers: Floats
    pinned: NDArray[np.bool_] | None = None

    def __post_init__(self) -> None:
        assignment, centers = np.array(self.assignment, np.int64), np.array(self.centers, np.float64)
        pinned = np.zeros(len(centers), bool) if self.pinned is None else np.array(self.pinned, bool)
        if assignment.ndim != 1 or centers.ndim != 1 or pinned.shape != centers.shape:
            raise InputError("Groups are an assignment, one number for each parameter, and one center for each group.")
        if len(assignment) and not (assignment.min() >= -1 and assignment.max() < len(centers)):
            raise InputError(f"There are {len(centers)} groups, but the assignment names number {assignment.max()}.")
        if not np.isfinite(centers).all() or (centers[pinned] != 0.0).any():
            raise InputError("Centers must be finite numbers, and zero where they are pinned.")
        for name, array in (("assignment", assignment), ("centers", centers), ("pinned", pinned)):
            array.flags.writeable = False
            object.__setattr__(self, name, array)

    @property
    def n_groups(self) -> int:
        return len(self.centers)

    @cached_property
    def sizes(self) -> Indices:
        """Number of parameters in every group."""
        return np.bincount(self.assignment[self.assignment >= 0], minlength=self.n_groups)

    def tied(self, w: Floats) -> Floats:
        """Return ``w`` with every tied parameter at its center."""
        return np.where(self.assignment >= 0, np.append(self.centers, 0.0)[self.assignment], w)

    def cost(self, w: Floats) -> float:
        """Return the sum of squared distances to the centers."""
        distance = w - self.tied(w)
        return float(distance @ distance)


def classes_of(order: NDArray[np.integer], penalized: NDArray[np.bool_], way: str) -> Indices:
    """Return the class of each parameter: only parameters of one class may share a group; -1 means untied.

    ``all`` makes one class (Chou et al. 2018), ``apart`` separates single variables from interactions, and ``orders``
    separates all orders.
    """
    if way not in WAYS:
        raise InputError(f"There is no way {way!r} to tie parameters; choose one of {', '.join(WAYS)}.")
    classes = {"all": np.zeros_like(order), "apart": (order > 1).astype(np.int64), "orders": order - 1}[way]
    return np.where(penalized, classes, -1)


def clustered(w: Floats, classes: Indices, n_groups: int, *, pin_zero: bool = False) -> Groups:
    """Return the best ``n_groups`` groups of each class for ``w``: optimal one-dimensional k-means.

    With ``pin_zero`` one center is fixed at zero. A class with fewer values than groups gets one group for each value.
    """
    assignment = np.full(len(w), -1, np.int64)
    centers: list[Floats] = []
    pinned: list[NDArray[np.bool_]] = []
    offset = 0
    for number in np.unique(classes[classes >= 0]):
        members = np.flatnonzero(classes == number)
        values, weight = w[members], np.ones(len(members))
        if pin_zero:
            values, weight = np.append(values, 0.0), np.append(weight, _ANCHOR * len(members))
        found = kmeans1d(values, min(n_groups, len(values)), sample_weight=weight)
        is_pinned = np.zeros(found.n_clusters, bool)
        if pin_zero:
            is_pinned[found.assignment[-1]] = True
        assignment[members] = offset + found.assignment[: len(members)]
        centers.append(np.where(is_pinned, 0.0, found.centers))
        pinned.append(is_pinned)
        offset += found.n_clusters
    return Groups(assignment, np.concatenate(centers or [np.empty(0)]), np.concatenate(pinned or [np.empty(0, bool)]))
