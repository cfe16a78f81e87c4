"""How well fits predict rows they were not learned from."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import repeat

import numpy as np
from numpy.typing import NDArray

from mrfit.data.folds import folds_of
from mrfit.data.unique_rows import UniqueRows
from mrfit.learning.fits import Fit, Gain
from mrfit.learning.grids import Callback, Found
from mrfit.learning.problem import Problem

Floats = NDArray[np.float64]
Grid = Callable[[Problem, Callback | None], Iterator[Found]]


@dataclass(frozen=True)
class Judge:
    """Scores fits on validation rows, or by cross-validation, or not at all."""

    problem: Problem
    valid: UniqueRows | None
    done: Callable[[], None]  # called after every fit

    def fits(self, grid: Grid, callback: Callback | None) -> tuple[Fit, ...]:
        """Fits on all rows, with held-out scores."""
        by_fold = self._fold_scores(grid)
        scores = zip(*by_fold, strict=True) if by_fold else repeat(())
        return tuple(self._fit(found, each) for found, each in zip(grid(self.problem, callback), scores, strict=False))

    def _fold_scores(self, grid: Grid) -> list[list[float]]:
        """For every held-out part the scores of all points."""
        problem = self.problem
        rng = np.random.default_rng(problem.settings.seed)
        scores: list[list[float]] = []
        for fold in folds_of(problem.rows, problem.settings.folds, rng):
            part = Problem(fold.train, problem.parameters.structure, problem.settings)
            scores.append([])
            for found in grid(part, None):
                scores[-1].append(self._mean(found.solution.w, fold.held_out))
                self.done()
        return scores

    def _mean(self, w: Floats, rows: UniqueRows) -> float:
        return float(rows.sample_weight @ self.problem.row_scores(w, rows)) / rows.total_weight

    def _fit(self, found: Found, fold_scores: tuple[float, ...]) -> Fit:
        problem, solution = self.problem, found.solution
        model = problem.model(found)
        train = found.penalty / problem.rows.total_weight - solution.value
        held_out = None
        if self.valid is not None:
            held_out = self._mean(solution.w, self.valid)
        elif fold_scores:
            held_out = float(np.mean(fold_scores))
        exact = problem.is_exact
        self.done()
        return Fit(
            strength=found.strength,
            model=model,
            solution=solution,
            train_pll=model.pll(problem.rows) if exact else train,
            valid_pll=None if exact else held_out,
            seconds=found.seconds,
            passes=found.passes,
            train_ll=train if exact else None,
            valid_ll=held_out if exact else None,
            n_groups=found.n_groups,
            rounds=found.rounds,
            fold_scores=fold_scores,
        )

    def gain(self, best: Fit, l2: Fit) -> Gain:
        if self.valid is None:
            difference = np.array(best.fold_scores) - np.array(l2.fold_scores)
            return Gain(float(difference.mean()), float(difference.std(ddof=1) / np.sqrt(len(difference))), l2)
        rows = self.valid
        difference = self.problem.row_scores(best.model.w, rows) - self.problem.row_scores(l2.model.w, rows)
        share = rows.sample_weight / rows.total_weight
        mean = float(share @ difference)
        return Gain(mean, float(np.sqrt(share @ (difference - mean) ** 2 / rows.total_weight)), l2)
