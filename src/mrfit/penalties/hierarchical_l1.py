"""The weighted sum of the Euclidean norms of every block together with all blocks above it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from mrfit._kernels.fitting.dykstra import overlapping_prox, what_is_left
from mrfit._typing import Floats, Indices
from mrfit.core.errors import InputError
from mrfit.penalties.penalty import NonsmoothPenalty
from mrfit.penalties.penalty_curvature import PenaltyCurvature
from mrfit.penalties.penalty_weight import check_weight

# Tolerance of a prox, relative to the length of its argument; near the limit of rounding.
_TOLERANCE = 1e-14
# Tolerance of one prox in a sequence, whose errors the next ones correct.
_ROUGH_TOLERANCE = 1e-6
_ROUGH_SWEEPS = 100
_SCALE_SWEEPS = 100
_MOST_SWEEPS = 20_000


class _Groups(NamedTuple):
    """The groups of positive weight, the smallest first: in that order one sweep over nested groups is exact."""

    top: Indices  # the block that names each group
    start: Indices
    members: Indices
    owner: Indices  # the group of each member
    keeper: Indices  # for every block, a group that can take all of it in a dual point; -1 for free blocks


@dataclass(frozen=True, eq=False)
class HierarchicalL1(NonsmoothPenalty):
    """Hierarchical group norm: the weighted norms of every block together with all blocks above it.

    strength * sum over blocks A of weight[A] * sqrt(sum over B in members of A of ||w_B||^2)

    The members of A are the blocks whose scopes contain A (Buchman et al. 2012, eq. 10; Schmidt and Murphy 2010). If
    the group of A is zero, so are all interactions that contain A.

    Parameters
    ----------
    strength : float
        The papers' lambda, above 0, added to the sum (not the mean) over rows; there is no factor 1/2.
    block : ndarray of int
        Block of every parameter, 0, 1, ...
    weight : ndarray of float
        Weight of the group of each block, 0 or more; zero leaves the group out.
    start : ndarray of int
        Where the members of each block begin in ``members``, with one more entry at the end.
    members : ndarray of int
        Members of block A are ``members[start[A]:start[A + 1]]``, with A itself among them. They are closed: if B is a
        member of A, so are the members of B. A block in no group of positive weight is free.

    See Also
    --------
    mrfit.HierarchicalLasso : The penalty as users choose it.

    Notes
    -----
    Everything depends on a block only through its length: the proximal operator scales whole blocks. The vectors x_A of
    its dual start at zero, and an update multiplies the part of x_A in a block B by the same number as the residual
    there. All of them therefore stay parallel to w_B, and one number represents each.

    Examples
    --------
    >>> import numpy as np
    >>> from mrfit.penalties import HierarchicalL1
    >>> block, start, members = np.array([0, 1]), np.array([0, 2, 3]), np.array([0, 1, 1])
    >>> HierarchicalL1(1.0, block, np.ones(2), start, members).value(np.array([3.0, 4.0]))
    9.0
    """

    block: Indices
    weight: Floats
    start: Indices
    members: Indices

    is_norm = True

    def __post_init__(self) -> None:
        super().__post_init__()
        block, start, members = (np.array(x, np.int64) for x in (self.block, self.start, self.members))
        weight = np.array(self.weight, np.float64)
        _check(block, weight, start, members)
        for name, array in (("block", block), ("weight", weight), ("start", start), ("members", members)):
            array.flags.writeable = False
            object.__setattr__(self, name, array)
        object.__setattr__(self, "_groups", _groups(weight, start, members))

    @property
    def blocks(self) -> Indices:
        return self.block

    @property
    def _own(self) -> _Groups:
        groups: _Groups = self._groups  # type: ignore[attr-defined]
        return groups

    @property
    def _limit(self) -> Floats:
        return self.strength * self.weight[self._own.top]

    def _block_norms(self, w: Floats) -> Floats:
        return np.sqrt(np.bincount(self.block, w * w, minlength=len(self.weight)))

    def _group_norms(self, w: Floats) -> Floats:
        groups = self._own
        squares = np.bincount(self.block, w * w, minlength=len(self.weight))
        return np.sqrt(np.bincount(groups.owner, squares[groups.members], minlength=len(groups.top)))

    def _block_sums(self, values: Floats) -> Floats:
        """Return for every block the sum of a number of each group that contains it."""
        groups = self._own
        sums = np.bincount(groups.members, values[groups.owner], minlength=len(self.weight))
        return np.asarray(sums, np.float64)

    def _within(self, chosen: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return the mask of blocks that belong to the chosen groups."""
        inside = np.zeros(len(self.weight), bool)
        inside[self._own.members[chosen[self._own.owner]]] = True
        return inside

    def _kernel_prox(
        self, norm: Floats, limit: Floats, dual: Floats, tolerance: float = _TOLERANCE, most_sweeps: int = _MOST_SWEEPS
    ) -> Floats:
        """Return the prox of the sum of limit * norm over the groups, on lengths of blocks.

        ``dual`` is the start, and becomes the solution of the dual.
        """
        groups = self._own
        v: Floats
        v, _, _ = overlapping_prox(
            norm, limit, groups.start, groups.members, dual, tolerance=tolerance, most_sweeps=most_sweeps
        )
        return v

    def _resized(self, w: Floats, norm: Floats, new: Floats) -> Floats:
        """Return w with blocks of lengths ``norm`` scaled to lengths ``new``."""
        factor = np.ones_like(norm)
        np.divide(new, norm, out=factor, where=norm > 0)
        return w * factor[self.block]

    def value(self, w: Floats) -> float:
        return float(self._limit @ self._group_norms(w))

    def is_free(self, n_parameters: int) -> NDArray[np.bool_]:
        free: NDArray[np.bool_] = self._own.keeper[self.block] < 0
        return free

    def prox(self, w: Floats, step: float) -> Floats:
        """Solve by dual block-coordinate descent and Newton's method; groups that vanish are exactly zero."""
        norm = self._block_norms(w)
        return self._resized(w, norm, self._kernel_prox(norm, step * self._limit, np.zeros(len(self._own.members))))

    def prox_with_memory(self) -> Callable[[Floats, float], Floats]:
        """Return a prox whose calls start at the dual solution of the last call."""
        dual, last = np.zeros(len(self._own.members)), 1.0

        def prox(w: Floats, step: float) -> Floats:
            nonlocal last
            np.multiply(dual, step / last, out=dual)
            last = step
            norm = self._block_norms(w)
            new = self._kernel_prox(norm, step * self._limit, dual, _ROUGH_TOLERANCE, _ROUGH_SWEEPS)
            return self._resized(w, norm, new)

        return prox

    def min_norm_subgradient(self, w: Floats, gradient: Floats) -> Floats:
        """Return the gradient of the sum outside zero groups, and inside them the gradient beyond their balls.

        Other groups have no slope inside, so that part is the negative of the prox of the zero groups at -gradient.
        """
        norm = self._group_norms(w)
        pull = np.zeros_like(norm)
        np.divide(self._limit, norm, out=pull, where=norm > 0)
        derivative = self._block_sums(pull)[self.block] * w
        zero = norm == 0
        inside = self._within(zero)
        length = np.where(inside, self._block_norms(gradient), 0.0)
        left = self._kernel_prox(length, np.where(zero, self._limit, 0.0), np.zeros(len(self._own.members)))
        return np.where(inside[self.block], self._resized(gradient, length, left), gradient + derivative)

    def restricted(self, chosen: Indices) -> HierarchicalL1:
        """Return the penalty on some parameters. A group stays if one of its members does."""
        present = np.zeros(len(self.weight), bool)
        present[self.block[chosen]] = True
        owner = np.repeat(np.arange(len(self.weight)), np.diff(self.start))
        used = present | ((self.weight > 0) & (np.bincount(owner, present[self.members], len(self.weight)) > 0))
        number = np.cumsum(used) - 1
        inside = used[owner] & used[self.members]
        sizes = np.bincount(number[owner[inside]], minlength=int(used.sum()))
        return HierarchicalL1(
            self.strength,
            number[self.block[chosen]],
            self.weight[used],
            np.append(0, np.cumsum(sizes)),
            number[self.members[inside]],
        )

    def _excess(self, left: Floats) -> float:
        """Return the increase of strength at which the groups can take these lengths too, each block in one group."""
        keeper = self._own.keeper
        squares = np.bincount(keeper + 1, left * left, minlength=len(self._own.top) + 1)[1:]
        return float(np.max(np.sqrt(squares) / self.weight[self._own.top], initial=0.0))

    def dual_scale(self, gradient: Floats, *, at: Floats | None = None) -> float:
        """Return the dual scale from a decomposition of -gradient over the groups.

        Any decomposition gives a valid scale, and a better one a larger scale. At the optimum all nonzero groups are at
        their limits, and sweeps from zero approach such a decomposition slowly. The point ``at`` gives it directly
        there: nonzero groups take their slopes.
        """
        groups = self._own
        norm = np.where(groups.keeper >= 0, self._block_norms(gradient), 0.0)
        dual = np.zeros(len(groups.members)) if at is None else self._shares(norm, at)
        gauge = np.inf
        for n_sweeps in (0, _SCALE_SWEEPS):
            left = what_is_left(norm, self._limit, groups.start, groups.members, dual, most_sweeps=n_sweeps)
            gauge = min(gauge, 1.0 + self._excess(left) / self.strength, self._stretch(norm, norm - left, dual))
        return 1.0 if gauge <= 1.0 + 1e-14 else 1.0 / gauge

    def _stretch(self, norm: Floats, taken: Floats, dual: Floats) -> float:
        """Return the factor on the limits at which the groups take all of each block, in proportion to their parts."""
        groups = self._own
        ratio = np.zeros_like(norm)
        np.divide(norm, taken, out=ratio, where=taken > 0)
        squares = np.bincount(groups.owner, (dual * ratio[groups.members]) ** 2, minlength=len(groups.top))
        alone = (taken <= 0) & (norm > 0)  # no group takes any of it
        squares = squares + np.bincount(groups.keeper[alone], norm[alone] ** 2, minlength=len(groups.top))
        return float(np.max(np.sqrt(squares) / self._limit, initial=0.0))

    def _shares(self, norm: Floats, at: Floats) -> Floats:
        """Return each group's part of these lengths at a point: its slope there, or what fits if the group is zero."""
        groups, length = self._own, self._group_norms(at)
        zero, dual = length == 0, np.zeros(len(groups.members))
        self._kernel_prox(np.where(self._within(zero), norm, 0.0), np.where(zero, self._limit, 0.0), dual)
        slope = self._limit / np.where(zero, 1.0, length)
        return np.where(zero[groups.owner], dual, slope[groups.owner] * self._block_norms(at)[groups.members])

    def critical_strength(self, gradient: Floats) -> float:
        """Return the critical strength by Newton's method on the length of the residual.

        The length of the prox r at -gradient is a convex function of the strength, with derivative ``-value(r) / |r|``
        at strength one. So Newton's method for its root climbs from below. The decomposition of r gives an upper bound.
        """
        target = np.where(self.is_free(len(gradient)), 0.0, gradient)
        unit = replace(self, strength=1.0)
        strength, residual = 0.0, target
        for _ in range(100):
            cost = unit.value(residual)
            if cost == 0.0:
                break
            above = strength + unit._excess(self._block_norms(residual))
            strength += float(residual @ residual) / cost
            if above - strength <= 1e-13 * above:
                break
            residual = unit.prox(target, strength)
        return strength

    def curvature(self, w: Floats) -> PenaltyCurvature:
        """Return derivatives: a norm r = ||w_A|| > 0 has gradient w_A / r and Hessian I / r - w_A w_A' / r^3."""
        groups, norm = self._own, self._group_norms(w)
        alive = norm > 0
        smooth = np.flatnonzero(~self._within(~alive)[self.block])
        pull = np.zeros_like(norm)
        np.divide(self._limit, norm, out=pull, where=alive)
        diagonal = self._block_sums(pull)[self.block[smooth]]
        steepness = np.zeros_like(norm)
        np.divide(np.sqrt(pull), norm, out=steepness, where=alive)
        incidence = csr_array(
            (steepness[groups.owner], (groups.members, groups.owner)), shape=(len(self.weight), len(groups.top))
        )
        v = w[smooth]
        factor = incidence[self.block[smooth]]
        factor.data *= np.repeat(v, np.diff(factor.indptr))
        return PenaltyCurvature(smooth, diagonal * v, diagonal, factor)

    def truncate_at_zero_crossing(self, start: Floats, end: Floats) -> Floats:
        groups = self._own
        dots = np.bincount(self.block, start * end, minlength=len(self.weight))
        passed = np.bincount(groups.owner, dots[groups.members], minlength=len(groups.top)) <= 0
        return np.where(self._within(passed)[self.block], 0.0, end)


def _check(block: Indices, weight: Floats, start: Indices, members: Indices) -> None:
    if block.ndim != 1 or (len(block) and block.min() < 0):
        raise InputError("The blocks of a hierarchical penalty are one number for each parameter, 0, 1, ...")
    check_weight(weight, of="a hierarchical", each="block")
    n_blocks = len(weight)
    if len(block) and block.max() >= n_blocks:
        raise InputError(f"Block {block.max()} has no weight: there are {n_blocks}; give one for each block.")
    if start.shape != (n_blocks + 1,) or start[0] != 0 or start[-1] != len(members) or (np.diff(start) < 1).any():
        raise InputError(
            f"The start of the members of {n_blocks} blocks must be {n_blocks + 1} increasing numbers from 0 to the "
            f"number of members, {len(members)}."
        )
    if len(members) and not 0 <= members.min() <= members.max() < n_blocks:
        raise InputError(f"The members of blocks must be blocks themselves, 0 to {n_blocks - 1}.")
    owner = np.repeat(np.arange(n_blocks), np.diff(start))
    if np.count_nonzero(owner == members) != n_blocks:
        raise InputError("Every block must be among its own members, once.")


def _groups(weight: Floats, start: Indices, members: Indices) -> _Groups:
    size = np.diff(start)
    top = np.flatnonzero(weight > 0)
    top = top[np.argsort(size[top], kind="stable")]
    owner = np.repeat(np.arange(len(top)), size[top])
    begin = np.append(0, np.cumsum(size[top]))
    member = members[np.arange(len(owner)) - begin[owner] + start[top][owner]]
    keeper = np.full(len(weight), -1)
    by_weight = np.argsort(weight[top][owner], kind="stable")
    keeper[member[by_weight]] = owner[by_weight]  # of repeated indices the last counts: the heaviest group
    keeper[top] = np.arange(len(top))
    return _Groups(top, begin, member, owner, keeper)
