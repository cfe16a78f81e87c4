"""Parameters tied to a few learned values: softly, hard, or by learning, tying and relearning (Chou et al. 2018)."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from mrfit.errors import InputError, listed
from mrfit.learning.grid import Callback, Grid, Optimum
from mrfit.learning.penalized import L2, l2_path
from mrfit.learning.penalty_choice import PenaltyChoice, several_in_words
from mrfit.learning.problem import Problem
from mrfit.learning.sampled import optimum_of
from mrfit.learning.start import HELD_AT
from mrfit.penalties import l2, tied
from mrfit.penalties.penalty import NoPenalty, Penalty
from mrfit.solvers.minimize import minimize
from mrfit.solvers.newton import TruncatedNewton
from mrfit.stochastic.fit import ChainProblem
from mrfit.tying.chains import tie_hard_by_chains, tie_softly_by_chains
from mrfit.tying.groups import WAYS, Groups, classes_of, clustered
from mrfit.tying.hard import tie_hard, tie_hard_by_projection
from mrfit.tying.problem import TyingProblem
from mrfit.tying.soft import SoftTying, TiedSolution, Tying, tie_softly
from mrfit.tying.stochastic import Stochastic, tie_stochastically

Floats = NDArray[np.float64]

# The grids of Chou et al. (2018).
GROUPS = (1, 2, 5, 10, 20, 100, 500, 1000, 5000, 10000)
STRENGTHS = (0.01, 0.1, 0.5, 1.0, 10.0, 15.0, 30.0, 50.0, 100.0)

RELEARN = ("reduced", "projected")

# The rough L2 fit from which soft tying starts: weak, so that parameters stand where the data want them.
_START_STRENGTH = 0.1
_START_TOLERANCE = 1e-3
_RANDOM_SCALE = 0.01


@dataclass(frozen=True)
class TiedChoice(PenaltyChoice):
    """What the three ways to tie have in common.

    Parameters
    ----------
    groups
        Numbers of groups to try, cut at the number of parameters.
    tie
        ``all`` parameters together, as in the paper; single variables ``apart`` from interactions; or each of the
        ``orders`` for itself. Every class has as many groups.
    pin_zero
        Whether one group of each class has its center at zero.
    """

    groups: int | Sequence[int] = GROUPS
    tie: str = "all"
    pin_zero: bool = False

    function: ClassVar[type[Penalty]] = tied.Tied
    own_strengths: ClassVar[tuple[float, ...]] = STRENGTHS
    is_tied: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        groups = tuple(self.groups) if isinstance(self.groups, Iterable) else (self.groups,)
        if not groups or any(
            isinstance(k, bool) or not isinstance(k, Real) or not k >= 1 or k % 1 != 0 for k in groups
        ):
            raise InputError(f"Numbers of groups are whole numbers of at least 1; got {self.groups!r}.")
        object.__setattr__(self, "groups", tuple(sorted({int(k) for k in groups})))
        _check_word("way to tie", self.tie, WAYS)

    def grid(self, problem: Problem, *, selecting: bool) -> Grid:
        classes = self._classes(problem)
        most = int(np.bincount(classes[classes >= 0]).max(initial=1))
        groups: Sequence[int] = self.groups  # type: ignore[assignment]
        return Grid(self.strengths or self.own_strengths, tuple(sorted({min(k, most) for k in groups})))

    @abstractmethod
    def run_on(self, problem: Problem, optimum: Optimum) -> Optimum:
        """A rough optimum of another tolerance, brought to that of the problem with the groups it has."""

    def baseline_strengths(self) -> tuple[float, ...]:
        """Of the L2 fits to measure tying against: the paper's too, so that few and strong ones flatter nothing."""
        return tuple(sorted({*STRENGTHS, *(self.strengths or ())}))

    def guarantee(self) -> str:
        return "an optimum for the groups that were found; other groups may be better"

    def in_words(self) -> str:
        groups: Sequence[int] = self.groups  # type: ignore[assignment]
        return f"{super().in_words()}, {several_in_words(groups)} groups"

    def described(self, optimum: Optimum, free_orders: tuple[int, ...]) -> dict[str, Any]:
        if optimum.n_groups is None:  # the L2 fit it is measured against
            return L2().described(optimum, free_orders)
        return {**super().described(optimum, free_orders), "groups": optimum.n_groups, "tie": self.tie}

    def _classes(self, problem: Problem) -> NDArray[np.int64]:
        return classes_of(problem.layout.orders, problem.layout.penalized, self.tie)


@dataclass(frozen=True)
class Tied(TiedChoice):
    """Parameters drawn to a few learned values (automatic parameter tying).

    Parameters
    ----------
    start
        ``l2``: a rough L2 fit at a weak strength; ``random``: small normal values.
    restarts
        Further random starts; the one with the best objective is kept.
    how
        The alternation of soft tying.
    stochastic
        Instead: stochastic gradients over batches of rows.
    """

    start: str = "l2"
    restarts: int = 0
    how: SoftTying = field(default_factory=SoftTying)
    stochastic: Stochastic | None = None

    word: ClassVar[str] = "tied"

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_word("start", self.start, ("l2", "random"))
        if self.restarts < 0:
            raise InputError(f"The number of restarts must not be negative; got {self.restarts}.")

    def fits(self, problem: Problem, grid: Grid, callback: Callback | None) -> Iterator[Optimum]:
        """For every number of groups, from the weakest strength to the strongest, each from the last.

        The first number of groups begins at a rough L2 fit, every other where the one before ended at the weakest
        strength: with hardly any penalty all of them lie close together, and far from that rough fit. Growing strengths
        are what Chou et al. (2018) advise.
        """
        if problem.by_chains is not None:
            yield from self._fits_by_chains(problem, problem.by_chains, grid)
            return
        weakest = min(grid.strengths)
        starts: list[tuple[Floats, Groups | None]] = [(w, None) for w in self._starts(problem)]
        for n_groups in grid.groups:
            latest = starts
            for strength in sorted(grid.strengths):
                begun = time.perf_counter()
                what = Tying(n_groups, strength, self._classes(problem), self.pin_zero)
                tried = [self._softly(problem, w, groups, what, callback) for w, groups in latest]
                # Where a fit converged its groups are the best ones, whatever the strength.
                latest = [(found.w, found.groups if found.solution.converged else None) for found in tried]
                if strength == weakest:
                    starts = [(found.w, None) for found in tried]
                best = min(tried, key=lambda found: found.solution.value)
                passes, seconds = sum(found.passes for found in tried), time.perf_counter() - begun
                yield _softly_tied(problem, what, best, passes, seconds)

    def run_on(self, problem: Problem, optimum: Optimum) -> Optimum:
        begun, n_groups = time.perf_counter() - optimum.seconds, optimum.n_groups or 1
        what = Tying(n_groups, optimum.strength, self._classes(problem), self.pin_zero)
        found = self._softly(problem, optimum.solution.w, optimum.groups, what, None)
        return _softly_tied(problem, what, found, optimum.passes + found.passes, time.perf_counter() - begun)

    def _fits_by_chains(self, problem: Problem, chains: ChainProblem, grid: Grid) -> Iterator[Optimum]:
        """In the same order; from an L2 fit that is as weak, and without choices that take exact values."""
        self._check_plain()
        start = chains.fit(l2.L2(_START_STRENGTH, problem.layout.penalized)).w
        for n_groups in grid.groups:
            w = start
            for strength in sorted(grid.strengths):
                begun, what = time.perf_counter(), Tying(n_groups, strength, self._classes(problem), self.pin_zero)
                found = tie_softly_by_chains(chains, w, what)
                w = found.fit.w
                penalty = tied.Tied(strength, found.groups.assignment, found.groups.pinned)
                optimum = optimum_of(chains, found.fit, strength, penalty, begun=begun, tied=found)
                yield replace(optimum, n_groups=n_groups)

    def _check_plain(self) -> None:
        if (self.start, self.restarts, self.how, self.stochastic) != ("l2", 0, SoftTying(), None):
            raise InputError(
                "By chains, soft tying begins at an L2 fit and alternates in its own way. Leave start, restarts, how "
                "and stochastic out, or take a structure that an exact engine fits."
            )

    def _starts(self, problem: Problem) -> Iterator[Floats]:
        rng = np.random.default_rng(problem.seed)
        start, penalized = problem.start, problem.layout.penalized
        if self.start == "l2":
            weak = l2.L2(_START_STRENGTH, penalized)
            rough, _ = weak.added_to(problem.objective, total_weight=problem.total_weight)
            yield minimize(rough, TruncatedNewton(), start, bound=problem.bound, tolerance=_START_TOLERANCE).w
        for _ in range(self.restarts + (self.start == "random")):
            yield np.where(penalized, rng.normal(0.0, _RANDOM_SCALE, len(start)), start)

    def _softly(
        self, problem: Problem, w: Floats, groups: Groups | None, what: Tying, callback: Callback | None
    ) -> TiedSolution:
        each_round = None if callback is None else partial(callback, what.strength)

        def tied_softly() -> TiedSolution:
            if self.stochastic is None:
                return tie_softly(_to_tie(problem), w, what, self.how, groups=groups, callback=each_round)
            batches, rng = problem.batches(self.stochastic.batch_rows), np.random.default_rng(problem.seed)
            return tie_stochastically(_to_tie(problem), batches, w, what, self.stochastic, rng=rng, callback=each_round)

        return problem.kept.result(tied_softly)


@dataclass(frozen=True)
class HardTied(Tied):
    """Soft tying, then the same groups relearned as equal.

    Parameters
    ----------
    relearn
        ``reduced`` to one unknown for each group, or by ``projected`` gradients as in the paper.
    """

    relearn: str = "reduced"

    word: ClassVar[str] = "hard"

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_word("way to relearn", self.relearn, RELEARN)

    def fits(self, problem: Problem, grid: Grid, callback: Callback | None) -> Iterator[Optimum]:
        for soft in super().fits(problem.roughly(None), grid, callback):  # groups come from true optima
            if soft.groups is not None:
                yield _relearned(problem, soft, soft.groups, self.relearn, soft.solution.w)

    def run_on(self, problem: Problem, optimum: Optimum) -> Optimum:
        return _run_on(problem, optimum, self.relearn)


@dataclass(frozen=True)
class LearnTieRelearn(TiedChoice):
    """Learn with L2, tie by clustering, relearn as equal; ``relearn`` as for `HardTied`."""

    relearn: str = "reduced"

    word: ClassVar[str] = "ltr"

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_word("way to relearn", self.relearn, RELEARN)

    def fits(self, problem: Problem, grid: Grid, callback: Callback | None) -> Iterator[Optimum]:
        """For every strength, from the weakest to the strongest, all numbers of groups.

        Many groups leave hardly any constraint and no penalty: their optimum is far from an L2 fit, but near to the one
        with as many groups at the strength before. What is clustered are true optima, however rough the rest.
        """
        classes = self._classes(problem)
        latest: dict[int, Floats] = {}
        for plain in reversed(list(l2_path(problem.roughly(None), grid.strengths))):
            for n_groups in grid.groups:
                groups = clustered(plain.solution.w, classes, n_groups, pin_zero=self.pin_zero)
                starts = [plain.solution.w, *([latest[n_groups]] if n_groups in latest else [])]
                optimum = _relearned(problem, plain, groups, self.relearn, *starts)
                latest[n_groups] = optimum.solution.w
                yield replace(optimum, n_groups=n_groups)

    def run_on(self, problem: Problem, optimum: Optimum) -> Optimum:
        return _run_on(problem, optimum, self.relearn)


def _to_tie(problem: Problem) -> TyingProblem:
    race = None if problem.race is None else problem.race.begun
    tolerance, most = problem.tolerance, problem.max_iterations
    return TyingProblem(problem.objective, problem.total_weight, problem.solver, HELD_AT, tolerance, most, race)


def _softly_tied(problem: Problem, what: Tying, found: TiedSolution, passes: int, seconds: float) -> Optimum:
    score, groups = problem.score(found.w), found.groups
    return Optimum(what.strength, found.solution, score, passes, seconds, what.n_groups, groups, found.rounds)


def _run_on(problem: Problem, optimum: Optimum, how: str) -> Optimum:
    """What is relearned already, with its groups."""
    if optimum.groups is None:
        return optimum
    return _relearned(problem, optimum, optimum.groups, how, optimum.solution.w)


def _relearned(problem: Problem, optimum: Optimum, groups: Groups, how: str, *starts: Floats) -> Optimum:
    """The parameters of every group as one."""
    if problem.by_chains is not None:
        return _relearned_by_chains(problem.by_chains, optimum, groups, how, starts[0])
    relearn = tie_hard_by_projection if how == "projected" else tie_hard

    def relearned() -> Optimum:
        begun, before = time.perf_counter(), problem.objective.passes
        hard = relearn(_to_tie(problem), groups, *starts)
        passes = optimum.passes + problem.objective.passes - before
        seconds = optimum.seconds + time.perf_counter() - begun
        score = problem.score(hard.solution.w)
        return replace(optimum, solution=hard.solution, score=score, passes=passes, seconds=seconds, groups=hard.groups)

    return problem.kept.result(relearned)


def _relearned_by_chains(chains: ChainProblem, optimum: Optimum, groups: Groups, how: str, start: Floats) -> Optimum:
    if how == "projected":
        raise InputError("Chains relearn one unknown for each group: use relearn 'reduced'.")
    begun = time.perf_counter() - optimum.seconds
    hard = tie_hard_by_chains(chains, groups, start)
    relearned = optimum_of(chains, hard.fit, optimum.strength, NoPenalty(), begun=begun, tied=hard)
    passes = optimum.passes + relearned.passes
    return replace(relearned, n_groups=optimum.n_groups, passes=passes, rounds=optimum.rounds)


def _check_word(name: str, value: str, words: Sequence[str]) -> None:
    if value not in words:
        raise InputError(f"There is no {name} {value!r}; choose one of {listed(words)}.")
