"""Parameters tied to a few learned values: softly, hard, or by learning, tying and relearning (Chou et al. 2018)."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from mrfit._typing import Floats
from mrfit.core.errors import InputError, listed
from mrfit.learning.backend import HELD_AT
from mrfit.learning.chain_backend import optimum_of
from mrfit.learning.chains.chain_fit import ChainProblem
from mrfit.learning.fit_problem import FitProblem
from mrfit.learning.fit_result import Optimum
from mrfit.learning.penalty_spec import Callback, Grid, PenaltySpec, several_in_words
from mrfit.learning.penalty_specs import L2, l2_path
from mrfit.learning.tying.hard_tying import tie_hard, tie_hard_by_projection
from mrfit.learning.tying.soft_tying import AlternationSettings, TiedSolution, TyingTask, tie_softly
from mrfit.learning.tying.stochastic_tying import Stochastic, tie_stochastically
from mrfit.learning.tying.tied_chains import tie_hard_by_chains, tie_softly_by_chains
from mrfit.learning.tying.tying_problem import TyingProblem
from mrfit.parameterizations.groups import WAYS, Groups, classes_of, clustered
from mrfit.penalties.cluster_penalty import ClusterPenalty
from mrfit.penalties.l2 import Ridge
from mrfit.penalties.penalty import Penalty, ZeroPenalty
from mrfit.solvers.minimize import minimize
from mrfit.solvers.newton import TruncatedNewton

# The grids of Chou et al. (2018).
GROUPS = (1, 2, 5, 10, 20, 100, 500, 1000, 5000, 10000)
STRENGTHS = (0.01, 0.1, 0.5, 1.0, 10.0, 15.0, 30.0, 50.0, 100.0)

RELEARN = ("reduced", "projected")

# The rough L2 fit from which soft tying starts: weak, so that parameters stand where the data want them.
_START_STRENGTH = 0.1
_START_TOLERANCE = 1e-3
_RANDOM_SCALE = 0.01


@dataclass(frozen=True)
class TyingSpec(PenaltySpec):
    """Base class of penalties that tie parameters to a few values.

    Parameters
    ----------
    strength : float, sequence of float or None, default=None
        Penalty strength, added to the summed (not averaged) log-likelihood; None for the grid of the paper.
    free_orders : sequence of int or None, default=None
        Sizes of scopes that are not tied.
    groups : int or sequence of int, default=(1, 2, 5, 10, 20, 100, 500, 1000, 5000, 10000)
        Numbers of groups to try, each cut at the number of parameters of its class.
    tie : {"all", "apart", "orders"}, default="all"
        Which parameters may share a group: ``all`` together, as in the paper; ``apart``, single variables and
        interactions separately; ``orders``, each size of scope separately. Every class has as many groups.
    pin_zero : bool, default=False
        Whether one group of each class has its center at zero.
    """

    groups: int | Sequence[int] = GROUPS
    tie: str = "all"
    pin_zero: bool = False

    function: ClassVar[type[Penalty]] = ClusterPenalty
    default_strengths: ClassVar[tuple[float, ...]] = STRENGTHS
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

    def grid(self, problem: FitProblem, *, selecting: bool) -> Grid:
        classes = self._classes(problem)
        most = int(np.bincount(classes[classes >= 0]).max(initial=1))
        groups: Sequence[int] = self.groups  # type: ignore[assignment]
        return Grid(self.strengths or self.default_strengths, tuple(sorted({min(k, most) for k in groups})))

    @abstractmethod
    def refine(self, problem: FitProblem, optimum: Optimum) -> Optimum:
        """Return a rough optimum brought to the tolerance of the problem, with the groups it has.

        Parameters
        ----------
        problem : FitProblem
            Rows, structure and learner together.
        optimum : Optimum
            A fit of another tolerance.
        """

    def baseline_strengths(self) -> tuple[float, ...]:
        """Return the strengths of the L2 baseline: the paper's too, for a few strong ones would flatter tying."""
        return tuple(sorted({*STRENGTHS, *(self.strengths or ())}))

    def guarantee(self) -> str:
        return "an optimum for the groups that were found; other groups may be better"

    def describe(self) -> str:
        groups: Sequence[int] = self.groups  # type: ignore[assignment]
        return f"{super().describe()}, {several_in_words(groups)} groups"

    def described(self, optimum: Optimum, free_orders: tuple[int, ...]) -> dict[str, Any]:
        if optimum.n_groups is None:  # the L2 fit it is measured against
            return L2().described(optimum, free_orders)
        return {**super().described(optimum, free_orders), "groups": optimum.n_groups, "tie": self.tie}

    def _classes(self, problem: FitProblem) -> NDArray[np.int64]:
        return classes_of(problem.layout.orders, problem.layout.penalized, self.tie)


@dataclass(frozen=True)
class SoftTied(TyingSpec):
    """Automatic parameter tying: parameters are drawn towards the mean of their group, and groups are learned.

    The penalty is strength / 2 times the sum of squared distances to the center of the group (Chou et al. 2018, eq. 2).
    It is minimised over parameters, groups and centers by turns. Its word is ``tied``.

    Parameters
    ----------
    strength : float, sequence of float or None, default=None
        Penalty strength, the papers' lambda, above 0. The penalty is added to the summed (not averaged) log-likelihood,
        so the same value weighs less with more rows. Several values are a grid, which needs held-out rows to choose.
        None means nine strengths from 0.01 to 100, the grid of the paper.
    free_orders : sequence of int or None, default=None
        Sizes of scopes that the penalty leaves alone: 1 for single variables, 2 for pairs. None means that all are
        tied.
    groups : int or sequence of int, default=(1, 2, 5, 10, 20, 100, 500, 1000, 5000, 10000)
        Numbers of groups to try, each cut at the number of parameters of its class. One group is `L2` around a learned
        mean. A grid of several points needs validation rows or folds.
    tie : {"all", "apart", "orders"}, default="all"
        Which parameters may share a group: ``all`` together, as in the paper; ``apart``, single variables and
        interactions separately; ``orders``, each size of scope separately. Every class has as many groups.
    pin_zero : bool, default=False
        Whether one group of each class has its center at zero.
    start : {"l2", "random"}, default="l2"
        Where the first fit starts: at a rough L2 fit of strength 0.1, or at small normal values.
    restarts : int, default=0
        Number of further random starts, 0 or more. The fit with the best objective wins.
    how : AlternationSettings, default=AlternationSettings()
        When parameters are clustered again during the fit.
    stochastic : Stochastic or None, default=None
        Use stochastic gradients over batches of rows instead, as in the paper; for comparison, not for speed.

    See Also
    --------
    HardTied : Makes the parameters of each group equal.
    LearnTieRelearn : Clusters the parameters of an L2 fit.

    Notes
    -----
    The objective is not convex in the groups: a converged fit is an optimum for the groups that were found. The how-to
    page "Automatic parameter tying" shows when tying pays off. ``fitted.gain`` compares the best tied fit with the best
    L2 fit.

    Examples
    --------
    >>> from mrfit import SoftTied, learn
    >>> table = {"a": [0, 0, 1, 1] * 25, "b": [0, 1, 1, 1] * 25, "c": [0, 0, 1, 0] * 25}
    >>> fitted = learn(table, penalty=SoftTied(strength=10, groups=2))
    >>> fitted.model.n_groups
    2
    """

    start: str = "l2"
    restarts: int = 0
    how: AlternationSettings = AlternationSettings()  # noqa: RUF009 - a frozen value
    stochastic: Stochastic | None = None

    word: ClassVar[str] = "tied"

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_word("start", self.start, ("l2", "random"))
        if self.restarts < 0:
            raise InputError(f"The number of restarts must not be negative; got {self.restarts}.")

    def fits(self, problem: FitProblem, grid: Grid, callback: Callback | None) -> Iterator[Optimum]:
        """Yield fits for every number of groups, from the weakest strength to the strongest, each from the last.

        The first number of groups begins at a rough L2 fit, every other where the one before ended at the weakest
        strength: with hardly any penalty all of them lie close together, and far from that rough fit. Growing strengths
        are what Chou et al. (2018) advise.
        """
        if problem.chain_problem is not None:
            yield from self._fits_by_chains(problem, problem.chain_problem, grid)
            return
        weakest, classes = min(grid.strengths), self._classes(problem)
        starts: list[tuple[Floats, Groups | None]] = [(w, None) for w in self._starts(problem)]
        for n_groups in grid.groups:
            latest = starts
            for strength in sorted(grid.strengths):
                begun = time.perf_counter()
                what = TyingTask(n_groups, strength, classes, self.pin_zero)
                tried = [self._softly(problem, w, groups, what, callback) for w, groups in latest]
                # Where a fit converged its groups are the best ones at any strength.
                latest = [(found.w, found.groups if found.solution.converged else None) for found in tried]
                if strength == weakest:
                    starts = [(found.w, None) for found in tried]
                best = min(tried, key=lambda found: found.solution.value)
                passes, seconds = sum(found.passes for found in tried), time.perf_counter() - begun
                yield _softly_tied(problem, what, best, passes, seconds)

    def refine(self, problem: FitProblem, optimum: Optimum) -> Optimum:
        begun, n_groups = time.perf_counter() - optimum.seconds, optimum.n_groups or 1
        what = TyingTask(n_groups, optimum.strength, self._classes(problem), self.pin_zero)
        found = self._softly(problem, optimum.solution.w, optimum.groups, what, None)
        return _softly_tied(problem, what, found, optimum.passes + found.passes, time.perf_counter() - begun)

    def _fits_by_chains(self, problem: FitProblem, chains: ChainProblem, grid: Grid) -> Iterator[Optimum]:
        """Yield fits by chains in the same order, from an equally weak L2 fit."""
        self._check_plain()
        start = chains.fit(Ridge(_START_STRENGTH, problem.layout.penalized)).w
        for n_groups in grid.groups:
            w = start
            for strength in sorted(grid.strengths):
                begun, what = time.perf_counter(), TyingTask(n_groups, strength, self._classes(problem), self.pin_zero)
                found = tie_softly_by_chains(chains, w, what)
                w = found.fit.w
                penalty = ClusterPenalty(strength, found.groups.assignment, found.groups.pinned)
                optimum = optimum_of(chains, found.fit, strength, penalty, begun=begun, tied=found)
                yield replace(optimum, n_groups=n_groups)

    def _check_plain(self) -> None:
        if (self.start, self.restarts, self.how, self.stochastic) != ("l2", 0, AlternationSettings(), None):
            raise InputError(
                "With chains, soft tying starts at an L2 fit and has its own alternation. Leave start, restarts, "
                "how and stochastic out, or use a structure that an exact engine fits."
            )

    def _starts(self, problem: FitProblem) -> Iterator[Floats]:
        rng = np.random.default_rng(problem.learner.seed)
        start, penalized = problem.start, problem.layout.penalized
        if self.start == "l2":
            weak = Ridge(_START_STRENGTH, penalized)
            rough, _ = weak.added_to(problem.objective, total_weight=problem.total_weight)
            yield minimize(rough, TruncatedNewton(), start, bound=problem.bound, tolerance=_START_TOLERANCE).w
        for _ in range(self.restarts + (self.start == "random")):
            yield np.where(penalized, rng.normal(0.0, _RANDOM_SCALE, len(start)), start)

    def _softly(
        self, problem: FitProblem, w: Floats, groups: Groups | None, what: TyingTask, callback: Callback | None
    ) -> TiedSolution:
        each_round = None if callback is None else partial(callback, what.strength)

        def tied_softly() -> TiedSolution:
            if self.stochastic is None:
                return tie_softly(_to_tie(problem), w, what, self.how, groups=groups, callback=each_round)
            batches, rng = problem.batches(self.stochastic.batch_rows), np.random.default_rng(problem.learner.seed)
            return tie_stochastically(_to_tie(problem), batches, w, what, self.stochastic, rng=rng, callback=each_round)

        return problem.checkpoint.result(tied_softly)


@dataclass(frozen=True)
class HardTied(SoftTied):
    """Hard parameter tying: soft tying, then a fit in which the parameters of each group are equal.

    Its word is ``hard``.

    Parameters
    ----------
    strength : float, sequence of float or None, default=None
        Penalty strength, the papers' lambda, above 0. The penalty is added to the summed (not averaged) log-likelihood,
        so the same value weighs less with more rows. Several values are a grid, which needs held-out rows to choose. It
        applies to soft tying, which finds the groups; None means the grid of the paper, nine strengths from 0.01 to
        100.
    free_orders : sequence of int or None, default=None
        Sizes of scopes that the penalty leaves alone: 1 for single variables, 2 for pairs. None ties all of them.
    groups : int or sequence of int, default=(1, 2, 5, 10, 20, 100, 500, 1000, 5000, 10000)
        Numbers of groups to try, each cut at the number of parameters of its class. The model has as many distinct
        parameters.
    tie : {"all", "apart", "orders"}, default="all"
        Which parameters may share a group: ``all`` together, as in the paper; ``apart``, single variables and
        interactions separately; ``orders``, each size of scope separately. Every class has that many groups of its own.
    pin_zero : bool, default=False
        Whether one group of each class has its center at zero, so that its parameters are zero.
    start : {"l2", "random"}, default="l2"
        Where soft tying starts: at a rough L2 fit of strength 0.1, or at small normal values.
    restarts : int, default=0
        Number of further random starts of soft tying, 0 or more.
    how : AlternationSettings, default=AlternationSettings()
        Settings of soft tying.
    stochastic : Stochastic or None, default=None
        Find the groups by stochastic gradients instead.
    relearn : {"reduced", "projected"}, default="reduced"
        How equal parameters are fitted: as one unknown for each group, or by projected gradients as in the paper. Both
        reach the same optimum; ``reduced`` is faster.

    See Also
    --------
    SoftTied : Draws parameters towards a common value without making them equal.

    Examples
    --------
    >>> from mrfit import HardTied, learn
    >>> table = {"a": [0, 0, 1, 1] * 25, "b": [0, 1, 1, 1] * 25, "c": [0, 0, 1, 0] * 25}
    >>> fitted = learn(table, penalty=HardTied(strength=10, groups=2))
    >>> fitted.model.n_groups
    2
    >>> fitted.model.n_distinct
    2
    """

    relearn: str = "reduced"

    word: ClassVar[str] = "hard"

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_word("way to relearn", self.relearn, RELEARN)

    def fits(self, problem: FitProblem, grid: Grid, callback: Callback | None) -> Iterator[Optimum]:
        for soft in super().fits(problem.with_tolerance(None), grid, callback):  # groups come from true optima
            if soft.groups is not None:
                yield _relearned(problem, soft, soft.groups, self.relearn, soft.solution.w)

    def refine(self, problem: FitProblem, optimum: Optimum) -> Optimum:
        return _run_on(problem, optimum, self.relearn)


@dataclass(frozen=True)
class LearnTieRelearn(TyingSpec):
    """Tying in three steps: learn with L2, cluster the parameters, relearn those of a cluster as equal.

    Its word is ``ltr``. Clustering is optimal one-dimensional k-means (Chou et al. 2018).

    Parameters
    ----------
    strength : float, sequence of float or None, default=None
        Penalty strength, the papers' lambda, above 0. The penalty is added to the summed (not averaged) log-likelihood,
        so the same value weighs less with more rows. Several values are a grid, which needs held-out rows to choose. It
        applies to the L2 fit that is clustered; None means the nine strengths of the paper.
    free_orders : sequence of int or None, default=None
        Sizes of scopes that the penalty leaves alone: 1 for single variables, 2 for pairs. None clusters all
        parameters.
    groups : int or sequence of int, default=(1, 2, 5, 10, 20, 100, 500, 1000, 5000, 10000)
        Numbers of groups to try, each cut at the number of parameters of its class. More groups fit the rows better and
        generalise worse.
    tie : {"all", "apart", "orders"}, default="all"
        Which parameters may share a group: ``all`` together, as in the paper; ``apart``, single variables and
        interactions separately; ``orders``, each size of scope separately. Every class has its own groups, as many as
        the others.
    pin_zero : bool, default=False
        Whether one group of each class has its center at zero, also in the clustering.
    relearn : {"reduced", "projected"}, default="reduced"
        How equal parameters are fitted: as one unknown for each group, or by projected gradients as in the paper.
        ``reduced`` is faster.

    See Also
    --------
    HardTied : Learns groups and parameters together before it makes them equal.

    Examples
    --------
    >>> from mrfit import LearnTieRelearn, learn
    >>> table = {"a": [0, 0, 1, 1] * 25, "b": [0, 1, 1, 1] * 25, "c": [0, 0, 1, 0] * 25}
    >>> fitted = learn(table, penalty=LearnTieRelearn(strength=10, groups=2))
    >>> fitted.model.n_groups
    2
    """

    relearn: str = "reduced"

    word: ClassVar[str] = "ltr"

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_word("way to relearn", self.relearn, RELEARN)

    def fits(self, problem: FitProblem, grid: Grid, callback: Callback | None) -> Iterator[Optimum]:
        """Yield fits for every strength, from the weakest to the strongest, with all numbers of groups.

        Many groups leave hardly any constraint and no penalty: their optimum is far from an L2 fit, but near the one
        with as many groups at the strength before. The parameters that are clustered are true optima, however rough the
        rest.
        """
        classes = self._classes(problem)
        latest: dict[int, Floats] = {}
        for plain in reversed(list(l2_path(problem.with_tolerance(None), grid.strengths))):
            for n_groups in grid.groups:
                groups = clustered(plain.solution.w, classes, n_groups, pin_zero=self.pin_zero)
                starts = [plain.solution.w, *([latest[n_groups]] if n_groups in latest else [])]
                optimum = _relearned(problem, plain, groups, self.relearn, *starts)
                latest[n_groups] = optimum.solution.w
                yield replace(optimum, n_groups=n_groups)

    def refine(self, problem: FitProblem, optimum: Optimum) -> Optimum:
        return _run_on(problem, optimum, self.relearn)


def _to_tie(problem: FitProblem) -> TyingProblem:
    race = None if problem.early_stopping is None else problem.early_stopping.begun
    tolerance, most = problem.tolerance, problem.learner.max_iterations
    return TyingProblem(problem.objective, problem.total_weight, problem.solver, HELD_AT, tolerance, most, race)


def _softly_tied(problem: FitProblem, what: TyingTask, found: TiedSolution, passes: int, seconds: float) -> Optimum:
    score, groups = problem.score(found.w), found.groups
    return Optimum(what.strength, found.solution, score, passes, seconds, what.n_groups, groups, found.rounds)


def _run_on(problem: FitProblem, optimum: Optimum, how: str) -> Optimum:
    """Relearn an optimum again with the groups it has."""
    if optimum.groups is None:
        return optimum
    return _relearned(problem, optimum, optimum.groups, how, optimum.solution.w)


def _relearned(problem: FitProblem, optimum: Optimum, groups: Groups, how: str, *starts: Floats) -> Optimum:
    """The parameters of every group as one."""
    if problem.chain_problem is not None:
        return _relearned_by_chains(problem.chain_problem, optimum, groups, how, starts[0])
    relearn = tie_hard_by_projection if how == "projected" else tie_hard

    def relearned() -> Optimum:
        begun, before = time.perf_counter(), problem.objective.passes
        hard = relearn(_to_tie(problem), groups, *starts)
        passes = optimum.passes + problem.objective.passes - before
        seconds = optimum.seconds + time.perf_counter() - begun
        score = problem.score(hard.solution.w)
        return replace(optimum, solution=hard.solution, score=score, passes=passes, seconds=seconds, groups=hard.groups)

    return problem.checkpoint.result(relearned)


def _relearned_by_chains(chains: ChainProblem, optimum: Optimum, groups: Groups, how: str, start: Floats) -> Optimum:
    if how == "projected":
        raise InputError("Chains relearn one unknown for each group: use relearn 'reduced'.")
    begun = time.perf_counter() - optimum.seconds
    hard = tie_hard_by_chains(chains, groups, start)
    relearned = optimum_of(chains, hard.fit, optimum.strength, ZeroPenalty(), begun=begun, tied=hard)
    passes = optimum.passes + relearned.passes
    return replace(relearned, n_groups=optimum.n_groups, passes=passes, rounds=optimum.rounds)


def _check_word(name: str, value: str, words: Sequence[str]) -> None:
    if value not in words:
        raise InputError(f"There is no {name} {value!r}; choose one of {listed(words)}.")
