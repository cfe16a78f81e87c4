"""Automatic parameter tying: parameters softly tied to k learned values (Chou et al. 2018, Algorithm 1).

    minimise over w, groups a and centers mu:   objective(w) + strength / (2 N) * sum over j of (w[j] - mu[a[j]])^2

by turns: given w, the best groups and centers are an optimal one-dimensional k-means; given the groups, the problem is
convex in w and mu together. Neither step can increase the sum, and there are finitely many partitions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from mrfit._typing import Floats, Indices
from mrfit.core.errors import InputError
from mrfit.learning.tying.tying_problem import TyingProblem
from mrfit.parameterizations.groups import Groups, clustered
from mrfit.penalties.cluster_penalty import ClusterPenalty
from mrfit.penalties.l2 import Ridge
from mrfit.solvers.solution import Solution, Status

_ALL = "all"
_ROUNDING = 1e-14  # of the objective: a smaller gain from other groups counts as zero


@dataclass(frozen=True)
class AlternationSettings:
    """Settings of the alternation of soft tying between parameters and groups.

    With the defaults, a fit needs about as many passes over the data as an L2 fit.

    Parameters
    ----------
    inner_iterations : int, "all" or None, default=2
        Iterations of the solver between two clusterings, doubled each time that no parameter changes its group.
        ``"all"`` or None solves to the tolerance each time, as Algorithm 1 of Chou et al. (2018) is written.
    centers : {"joint", "fixed"}, default="joint"
        ``joint`` centers move with the parameters; ``fixed`` ones stay until the next clustering, as in Algorithm 1.
    first_share : float, default=1.0
        Share of the strength in the first round, in (0, 1].
    growth : float, default=1.0
        Factor on that share in each further round, up to the full strength; 1 or more, and above 1 if it starts below.
    max_rounds : int, default=500
        Largest number of clusterings.

    See Also
    --------
    mrfit.SoftTied : Takes these settings as ``how``.

    Examples
    --------
    >>> from mrfit import SoftTied
    >>> from mrfit.penalties import AlternationSettings
    >>> SoftTied(groups=5, how=AlternationSettings(inner_iterations="all", centers="fixed")).how.centers
    'fixed'
    """

    inner_iterations: int | str | None = 2
    centers: str = "joint"
    first_share: float = 1.0
    growth: float = 1.0
    max_rounds: int = 500

    word: ClassVar[str] = "SoftTying"  # in descriptions of learners, which saved models and stored results hold

    def __post_init__(self) -> None:
        steps = self.inner_iterations
        if steps not in (None, _ALL) and not (isinstance(steps, int) and steps >= 1):
            raise InputError(f"inner_iterations is {steps!r}; expected a whole number from 1 on, 'all' or None.")
        if self.centers not in ("joint", "fixed"):
            raise InputError(f"Centers are 'joint' or 'fixed' while the parameters move; got {self.centers!r}.")
        if not 0 < self.first_share <= 1 or not self.growth >= 1:
            raise InputError("A strength schedule starts at a share in (0, 1] and grows by a factor of 1 or more.")
        if self.first_share < 1 and self.growth == 1:
            raise InputError("A strength schedule that starts below the full strength needs a growth above 1.")

    @property
    def solver_steps(self) -> int | None:
        """Iterations of the solver between two clusterings; None if there is no limit."""
        return self.inner_iterations if isinstance(self.inner_iterations, int) else None

    def share(self, round_: int) -> float:
        """Return the share of the full strength in a round, counted from 0."""
        return min(1.0, self.first_share * self.growth**round_)


@dataclass(frozen=True)
class TyingRecord:
    """One turn: what a person may want to know. ``value`` is the whole objective at this round's strength."""

    round: int
    strength: float
    value: float
    violation: float
    moved: int  # parameters whose group changed
    passes: int  # over the data, since the start


@dataclass(frozen=True)
class TiedSolution:
    """A point that neither block can improve, with the certificate of each.

    ``solution`` is the optimum of the parameters (and centers) given the groups; ``clustering_gap`` is what better
    groups could still take off the objective at that point, zero when the loop converged.
    """

    solution: Solution
    groups: Groups
    clustering_gap: float
    rounds: tuple[TyingRecord, ...]
    passes: int

    @property
    def w(self) -> Floats:
        return self.solution.w


@dataclass(frozen=True)
class TyingTask:
    """A task of tying: k groups in every class of parameters, with a strength against the sum over rows."""

    n_groups: int
    strength: float
    classes: Indices
    pin_zero: bool = False

    def groups(self, w: Floats) -> Groups:
        return clustered(w, self.classes, self.n_groups, pin_zero=self.pin_zero)


def tie_softly(
    problem: TyingProblem,
    w: Floats,
    tying: TyingTask,
    how: AlternationSettings | None = None,
    *,
    groups: Groups | None = None,
    callback: Callable[[TyingRecord], bool | None] | None = None,
) -> TiedSolution:
    """Learn parameters, groups and centers from ``w``.

    Rounds go on until the groups of the last optimum are its best groups. ``groups`` are those of ``w``, where they are
    known. ``callback`` sees every round and may return True to stop.
    """
    how = how or AlternationSettings()
    objective, total_weight = problem.objective, problem.total_weight
    first, iterations = objective.passes, 0
    rounds: list[TyingRecord] = []
    inner = how.solver_steps
    if groups is None:
        groups = tying.groups(w)
    elif inner is not None:
        inner *= 2  # known groups come from a neighbouring optimum and seldom change
    while True:
        t = len(rounds)
        strength = how.share(t) * tying.strength
        # 1. The parameters, and with "joint" the centers too, for the present groups: a few steps of a convex problem.
        smooth, _ = _penalty(strength, groups, how.centers).added_to(objective, total_weight=total_weight)
        left = problem.max_iterations - iterations
        solution = problem.minimum(smooth, w, max_iterations=left if inner is None else min(inner, left))
        w, iterations = solution.w, iterations + solution.iterations
        # 2. The groups for the present parameters: an optimal k-means, exact because it is one-dimensional.
        # Both blocks at the new point: the parameters with the centers they imply, and the groups.
        groups, value, violation = problem.certificate(groups, w, strength)
        best = tying.groups(w)
        gap = 0.5 * strength * max(groups.cost(w) - best.cost(w), 0.0) / total_weight
        # Groups change only if that lowers the objective by more than rounding. At the full strength each partition is
        # then left for good, and there are finitely many, so the loop ends. Equally good partitions would alternate for
        # ever.
        moved = int((best.assignment != groups.assignment).sum()) if gap > _ROUNDING * abs(value) else 0
        rounds.append(TyingRecord(t, strength, value, violation, moved, objective.passes - first))
        status = _status(solution, rounds[-1], tying, how, problem.tolerance, iterations >= problem.max_iterations)
        if status is None and callback is not None and callback(rounds[-1]):
            status = Status.INTERRUPTED
        if status is not None:
            break
        if moved:
            groups, inner = best, how.solver_steps
        elif inner is not None:
            # Groups that rest get twice the steps each time, until one solve reaches the tolerance.
            inner *= 2
    solution = replace(solution, value=value, violation=violation, status=status)
    return TiedSolution(solution, groups, gap, tuple(rounds), objective.passes - first)


def _status(
    solution: Solution,
    latest: TyingRecord,
    tying: TyingTask,
    how: AlternationSettings,
    tolerance: float,
    exhausted: bool,
) -> Status | None:
    """Return the status with which the loop ends; None while it continues."""
    if latest.moved == 0 and latest.strength == tying.strength:
        if latest.violation <= tolerance:
            return Status.CONVERGED
        if solution.status is Status.NO_DECREASE:
            return Status.NO_DECREASE
    return Status.ITERATION_LIMIT if exhausted or latest.round + 1 >= how.max_rounds else None


def _penalty(strength: float, groups: Groups, centers: str) -> ClusterPenalty | Ridge:
    if centers == "joint":
        return ClusterPenalty(strength, groups.assignment, groups.pinned)
    return Ridge(strength, groups.assignment >= 0, toward=groups.tied(np.zeros(len(groups.assignment))))
