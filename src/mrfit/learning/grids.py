"""Fitting parameters along a grid of strengths and numbers of groups, in the order that makes it cheap."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mrfit.learning.coordinates import Coordinates
from mrfit.objectives.objective import Objective
from mrfit.objectives.remembered import Remembered
from mrfit.penalties.l2 import L2
from mrfit.penalties.tied import Tied
from mrfit.presets import PRESETS, Layout, Preset
from mrfit.solvers.method import Method
from mrfit.solvers.minimize import minimize
from mrfit.solvers.newton import TruncatedNewton
from mrfit.solvers.solution import Record, Solution
from mrfit.tying.groups import Groups, classes_of, clustered
from mrfit.tying.hard import tie_hard, tie_hard_by_projection
from mrfit.tying.settings import TyingSettings
from mrfit.tying.soft import Round, TiedSolution, Tying, tie_softly
from mrfit.tying.stochastic import tie_stochastically

Floats = NDArray[np.float64]
Callback = Callable[[float, Record | Round], bool | None]

# The rough L2 fit from which soft tying starts: weak, so that parameters stand where the data want them.
_START_STRENGTH = 0.1
_START_TOLERANCE = 1e-3
_RANDOM_SCALE = 0.01


@dataclass(frozen=True)
class Task:
    """What is the same at every point of a grid."""

    objective: Remembered
    layout: Layout
    start: Floats
    bound: Floats  # largest absolute value of every parameter
    held_at: float  # largest absolute value of what nothing keeps finite
    total_weight: float
    method: Method[Any]
    tolerance: float
    gap_tolerance: float
    max_iterations: int
    callback: Callback | None = None
    batches: Callable[[int], Sequence[Objective]] | None = None  # of about so many rows each

    @property
    def orders(self) -> NDArray[np.integer]:
        return self.layout.orders

    @property
    def penalized(self) -> NDArray[np.bool_]:
        return self.layout.penalized

    def told(self, strength: float) -> Callable[[Any], bool | None] | None:
        return None if self.callback is None else partial(self.callback, strength)


@dataclass(frozen=True)
class Found:
    """The optimum at one point of the grid. ``passes`` over the data include what led from the last point to it."""

    strength: float
    solution: Solution
    penalty: float  # its value, against the sum over rows
    passes: int
    seconds: float
    n_groups: int | None = None
    groups: Groups | None = None
    rounds: tuple[Round, ...] = ()
    coordinates: Coordinates | None = None  # where they are not those of the problem


def penalized_path(task: Task, preset: Preset, strengths: Sequence[float]) -> Iterator[Found]:
    """From the strongest penalty to the weakest, each from the last."""
    w = task.start
    for strength in sorted(strengths, reverse=True):
        found = penalized_fit(task, preset, strength, w)
        w = found.solution.w
        yield found


def penalized_fit(task: Task, preset: Preset, strength: float, w: Floats) -> Found:
    begun, before = time.perf_counter(), task.objective.passes
    penalty = preset.build(strength, task.layout)
    smooth, nonsmooth = penalty.added_to(task.objective, total_weight=task.total_weight)
    solution = minimize(
        smooth, task.method, w, penalty=nonsmooth, bound=task.bound, tolerance=task.tolerance,
        gap_tolerance=task.gap_tolerance, max_iterations=task.max_iterations, callback=task.told(strength),
    )  # fmt: skip
    passes, seconds = task.objective.passes - before, time.perf_counter() - begun
    return Found(strength, solution, penalty.value(solution.w), passes, seconds)


def critical_strength(task: Task, preset: Preset) -> float:
    """The smallest strength at which all penalised parameters are zero."""
    overwhelming = penalized_fit(replace(task, callback=None), preset, 1e9 * task.total_weight, task.start)
    _, gradient = task.objective.value_and_gradient(overwhelming.solution.w)
    _, penalty = preset.build(1.0, task.layout).added_to(task.objective, total_weight=1.0)
    return penalty.critical_strength(task.total_weight * gradient)


def soft_grid(task: Task, tying: TyingSettings, strengths: Sequence[float]) -> Iterator[Found]:
    """For every number of groups, from the weakest strength to the strongest, each from the last.

    All numbers of groups begin at one rough L2 fit. Growing strengths are what Chou et al. (2018) advise.
    """
    classes = classes_of(task.orders, task.penalized, tying.tie)
    starts: list[tuple[Floats, Groups | None]] = [(w, None) for w in _starts(task, tying)]
    for n_groups in numbers_of_groups(task.orders, task.penalized, tying):
        latest = starts
        for strength in sorted(strengths):
            begun = time.perf_counter()
            what = Tying(n_groups, strength, classes, tying.pin_zero)
            tried = [_softly(task, w, groups, what, tying) for w, groups in latest]
            # Where a fit converged its groups are the best ones, whatever the strength.
            latest = [(found.w, found.groups if found.solution.converged else None) for found in tried]
            best = min(tried, key=lambda found: found.solution.value)
            penalty = Tied(strength, best.groups.assignment, best.groups.pinned).value(best.w)
            passes, seconds = sum(found.passes for found in tried), time.perf_counter() - begun
            yield Found(strength, best.solution, penalty, passes, seconds, n_groups, best.groups, best.rounds)


def hard_grid(task: Task, tying: TyingSettings, strengths: Sequence[float]) -> Iterator[Found]:
    """Soft tying, then the same groups relearned as equal."""
    for soft in soft_grid(task, tying, strengths):
        if soft.groups is not None:
            yield _hardened(task, soft, soft.groups, soft.n_groups, tying)


def relearned_grid(task: Task, tying: TyingSettings, strengths: Sequence[float]) -> Iterator[Found]:
    """Learn with L2, tie by clustering, relearn as equal."""
    classes = classes_of(task.orders, task.penalized, tying.tie)
    for l2 in l2_path(task, strengths):
        for n_groups in numbers_of_groups(task.orders, task.penalized, tying):
            groups = clustered(l2.solution.w, classes, n_groups, pin_zero=tying.pin_zero)
            yield _hardened(task, l2, groups, n_groups, tying)


# Ways to learn tied parameters, by the name of the penalty.
TIED_GRIDS: dict[str, Callable[[Task, TyingSettings, Sequence[float]], Iterator[Found]]] = {
    "tied": soft_grid,
    "hard": hard_grid,
    "ltr": relearned_grid,
}


def l2_path(task: Task, strengths: Sequence[float]) -> Iterator[Found]:
    """What tying is measured against."""
    return penalized_path(replace(task, method=TruncatedNewton()), PRESETS["l2"], strengths)


def numbers_of_groups(
    orders: NDArray[np.integer], penalized: NDArray[np.bool_], tying: TyingSettings
) -> tuple[int, ...]:
    """Those asked for, cut at the size of the largest class of parameters."""
    classes = classes_of(orders, penalized, tying.tie)
    return tying.groups_up_to(int(np.bincount(classes[classes >= 0]).max(initial=0)))


def _starts(task: Task, tying: TyingSettings) -> Iterator[Floats]:
    rng = np.random.default_rng(tying.seed)
    if tying.start == "l2":
        rough, _ = L2(_START_STRENGTH, task.penalized).added_to(task.objective, total_weight=task.total_weight)
        yield minimize(rough, TruncatedNewton(), task.start, bound=task.bound, tolerance=_START_TOLERANCE).w
    for _ in range(tying.restarts + (tying.start == "random")):
        yield np.where(task.penalized, rng.normal(0.0, _RANDOM_SCALE, len(task.start)), task.start)


def _softly(task: Task, w: Floats, groups: Groups | None, what: Tying, tying: TyingSettings) -> TiedSolution:
    if tying.stochastic is not None and task.batches is not None:
        return tie_stochastically(
            task.objective, task.batches(tying.stochastic.batch_rows), w, what, tying.stochastic,
            total_weight=task.total_weight, bound=np.full(len(w), task.held_at),
            rng=np.random.default_rng(tying.seed), callback=task.told(what.strength),
        )  # fmt: skip
    return tie_softly(
        task.objective, w, what, tying.how, total_weight=task.total_weight, groups=groups, method=task.method,
        bound=np.full(len(w), task.held_at), tolerance=task.tolerance, max_iterations=task.max_iterations,
        callback=task.told(what.strength),
    )  # fmt: skip


def _hardened(task: Task, found: Found, groups: Groups, n_groups: int | None, tying: TyingSettings) -> Found:
    begun, before = time.perf_counter(), task.objective.passes
    if tying.relearn == "projected":
        hard = tie_hard_by_projection(
            task.objective, groups, found.solution.w, bound=task.held_at, tolerance=task.tolerance
        )
    else:
        hard = tie_hard(
            task.objective, groups, found.solution.w, method=task.method, bound=task.held_at, tolerance=task.tolerance,
            max_iterations=task.max_iterations,
        )  # fmt: skip
    passes = found.passes + task.objective.passes - before
    seconds = found.seconds + time.perf_counter() - begun
    return Found(found.strength, hard.solution, 0.0, passes, seconds, n_groups, hard.groups, found.rounds)
