"""Cross-validation: scores of fits on held-out rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mrfit.core.cluster import is_in_use, mapped
from mrfit.core.threads import one_blas_thread, resolve_jobs
from mrfit.data.folds import Fold, folds_of
from mrfit.data.unique_rows import UniqueRows
from mrfit.learning.candidates import candidate_of, mean_score
from mrfit.learning.checkpoint import NoCheckpoint
from mrfit.learning.early_stopping import EarlyStopping
from mrfit.learning.fit_problem import FitProblem
from mrfit.learning.fit_result import CandidateFit, MeanScore, Optimum
from mrfit.learning.partitioned_rows import Rows
from mrfit.learning.penalty_spec import Callback, Grid
from mrfit.solvers.solution import Status
from mrfit.structures.structure import Structure

if TYPE_CHECKING:
    from mrfit.learning.learner import Learner

_FIRST_PATIENCE = 8

# Rough fits whose score is worse than the best by no more than this share of it are run on. From a violation of 1e-4
# no score rose by more than a third of that (tmovie, d = 5); those of fits that follow every row fall.
_NEAR = 3e-4

Walk = Callable[[FitProblem, Callback | None], Iterator[Optimum]]
RunOn = Callable[[FitProblem, Optimum], Optimum]  # to the tolerance of the problem


@dataclass(frozen=True)
class FoldProblem:
    """A problem, and rows it has not seen."""

    problem: FitProblem
    held_out: Rows

    def with_checkpoint(self, kept: NoCheckpoint) -> FoldProblem:
        """Return the fold with a checkpoint for its fits."""
        return replace(self, problem=self.problem.with_checkpoint(kept))


def fold_problems(learner: Learner, rows: UniqueRows, *, jobs: int) -> list[FoldProblem]:
    """Every fold of a cross-validation with a structure learned from its own rows; none without folds."""
    folds = list(folds_of(rows, learner.folds, np.random.default_rng(learner.seed)))
    # On a cluster folds learn side by side, with all threads of a worker each; here one after the other.
    structures = mapped(_structure_of, folds, shared=(learner, -1 if is_in_use() else jobs), name=lambda _: "a fold")
    return [
        FoldProblem(FitProblem.within(fold.train, structure, learner, jobs=jobs), fold.held_out)
        for fold, structure in zip(folds, structures, strict=True)
    ]


def _structure_of(learner: Learner, jobs: int, fold: Fold) -> Structure:
    return learner.learn_structure(fold.train, jobs=resolve_jobs(jobs)).structure


def _scores_of(walk: Walk, fold: FoldProblem) -> list[float]:
    """Return the held-out scores of one fold, for all points of the grid."""
    with one_blas_thread():
        return [mean_score(fold.problem, point, fold.held_out) for point in walk(fold.problem, None)]


@dataclass(frozen=True)
class Evaluation:
    """Fits on all rows, each with its score on rows it has not seen."""

    problem: FitProblem
    folds: list[FoldProblem]
    valid: UniqueRows | None
    done: Callable[[], None]  # called after every fit

    def fits(self, walk: Walk, grid: Grid, callback: Callback | None) -> tuple[CandidateFit, ...]:
        fits: list[CandidateFit] = []
        scores = self._side_by_side(walk) if is_in_use() and self.folds and not grid.is_path else self._abreast(walk)
        for optimum in walk(self.problem, callback):
            fits.append(self._candidate(optimum, self._chosen_on(grid), fold_scores=next(scores)))
            self.done()
            if grid.is_path and _has_passed_the_best(fits, self.problem.learner.patience):
                break
        return tuple(fits)

    def refine(self, walk: Walk, grid: Grid, refine: RunOn, rough: float) -> tuple[CandidateFit, ...]:
        """Fits to a rough tolerance, those near the best run on; until nothing near the best is rough or was left."""
        score = self._counted_score() if self.problem.selects_by_objective else None
        race = None if score is None else EarlyStopping(self.problem.objective, score)

        def judged(optimum: Optimum) -> CandidateFit:
            return self._candidate(optimum, self._chosen_on(grid), None if score is None else score(optimum.solution.w))

        optima: list[Optimum] = []
        fits: list[CandidateFit] = []
        for optimum in walk(self.problem.with_tolerance(rough).with_early_stopping(race), None):
            optima.append(optimum)
            fits.append(judged(optimum))
            _tell_best(race, fits)
            self.done()
        unfinished = set(range(len(fits)))
        while near := {i for i in unfinished if fits[i].rank >= _least_near(max(fit.rank for fit in fits))}:
            for i in sorted(near):
                _tell_best(race, [*fits[:i], *fits[i + 1 :]])
                optima[i] = refine(self.problem.with_early_stopping(race), optima[i])
                fits[i] = judged(optima[i])
            unfinished -= {i for i in near if fits[i].solution.status is not Status.ABANDONED}
        return tuple(fits)

    def _counted_score(self) -> Callable[[NDArray[np.float64]], float]:
        """Return the score of parameters on the validation rows, by what is maximised.

        Counting the cells of these rows costs as much as scoring them row by row a few times. A large grid scores them
        a hundred times or more.
        """
        assert self.valid is not None  # rough fits are refused without
        objective = self.problem.coordinates.objective(self.valid)
        return lambda w: -objective.value_and_gradient(w)[0]

    def _chosen_on(self, grid: Grid) -> str | None:
        """Return which rows choose among several fits, if any."""
        if len(grid) < 2:
            return None
        return "folds" if self.folds else None if self.valid is None else "valid"

    def _side_by_side(self, walk: Walk) -> Iterator[tuple[float, ...]]:
        """Yield the held-out scores of all folds, which a cluster fits side by side."""
        for scores in zip(*mapped(_scores_of, self.folds, shared=(walk,), name=lambda _: "a fold"), strict=True):
            for _ in scores:
                self.done()
            yield scores

    def _abreast(self, walk: Walk) -> Iterator[tuple[float, ...]]:
        """Yield the held-out scores of all folds, point by point of the grid."""
        walks = [walk(fold.problem, None) for fold in self.folds]
        while True:
            scores = []
            for fold, points in zip(self.folds, walks, strict=True):
                scores.append(mean_score(fold.problem, next(points), fold.held_out))
                self.done()
            yield tuple(scores)

    def _candidate(
        self,
        optimum: Optimum,
        chosen_on: str | None,
        validated: float | None = None,
        fold_scores: tuple[float, ...] = (),
    ) -> CandidateFit:
        """Return the fit with its score on the validation rows, where that is not known yet, or in the folds."""
        held_out = float(np.mean(fold_scores)) if fold_scores else None
        if self.valid is not None:
            held_out = mean_score(self.problem, optimum, self.valid) if validated is None else validated
        return candidate_of(self.problem, optimum, chosen_on=chosen_on, held_out=held_out, fold_scores=fold_scores)


def _tell_best(race: EarlyStopping | None, fits: list[CandidateFit]) -> None:
    """Update the best score for early stopping; abandoned fits do not count."""
    if race is not None:
        race.best = max((fit.rank for fit in fits if fit.solution.status is not Status.ABANDONED), default=-np.inf)


def _least_near(best: float) -> float:
    return best - _NEAR * abs(best)


def _has_passed_the_best(fits: list[CandidateFit], patience: int) -> bool:
    """Whether the last fits are no better than one before them.

    At the beginning, where next to nothing is in, none may be better than the first: there is more patience then.
    """
    ranks = [fit.rank for fit in fits]
    patience = patience if max(ranks) > ranks[0] else max(patience, _FIRST_PATIENCE)
    return len(ranks) > patience and max(ranks[-patience:]) <= max(ranks[:-patience])


def mean_over_rows(scores: NDArray[np.float64], rows: UniqueRows) -> MeanScore:
    """The weighted mean of a score of every distinct row."""
    share = rows.sample_weight / rows.total_weight
    mean = float(share @ scores)
    return MeanScore(mean, float(np.sqrt(share @ (scores - mean) ** 2 / rows.effective_rows)))


def mean_over_folds(scores: NDArray[np.float64]) -> MeanScore:
    """The mean of one score for each fold of a cross-validation."""
    return MeanScore(float(scores.mean()), float(scores.std(ddof=1) / np.sqrt(len(scores))))
