"""How well fits predict rows they were not learned from."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from mrfit.data.folds import folds_of
from mrfit.data.unique_rows import UniqueRows
from mrfit.learning.fits import Fit, Gain
from mrfit.learning.grids import Callback, Found
from mrfit.learning.problem import Problem
from mrfit.objectives.row_scores import row_ll, row_pll

_FIRST_PATIENCE = 8

Grid = Callable[[Problem, Callback | None], Iterator[Found]]


@dataclass(frozen=True)
class Judge:
    """Scores fits on validation rows, or by cross-validation, or not at all."""

    problem: Problem
    valid: UniqueRows | None
    done: Callable[[], None]  # called after every fit

    def fits(self, grid: Grid, callback: Callback | None) -> tuple[Fit, ...]:
        """Fits on all rows, with held-out scores."""
        fits: list[Fit] = []
        scores = self._fold_scores(grid)
        for found in grid(self.problem, callback):
            fits.append(self._fit(found, next(scores)))
            if self.problem.settings.walks_path and _has_passed_the_best(fits, self.problem.settings.patience):
                break
        return tuple(fits)

    def _fold_scores(self, grid: Grid) -> Iterator[tuple[float, ...]]:
        """The scores on every held-out part, point by point: all parts walk abreast, as far as they are asked to."""
        problem = self.problem
        rng = np.random.default_rng(problem.settings.seed)
        folds = list(folds_of(problem.rows, problem.settings.folds, rng))
        same = replace(problem.settings, strengths=None if problem.settings.penalty == "none" else problem.strengths)
        parts = [Problem(fold.train, problem.structure, same) for fold in folds]
        grids = [grid(part, None) for part in parts]
        while True:
            scores = []
            for part, points, fold in zip(parts, grids, folds, strict=True):
                scores.append(self._mean(part, next(points), fold.held_out))
                self.done()
            yield tuple(scores)

    def _mean(self, problem: Problem, found: Found, rows: UniqueRows) -> float:
        scores = problem.coordinates_of(found).row_scores(found.solution.w, rows)
        return float(rows.sample_weight @ scores) / rows.total_weight

    def _fit(self, found: Found, fold_scores: tuple[float, ...]) -> Fit:
        problem, rows = self.problem, self.problem.rows
        model, solution = problem.model(found)
        train = found.penalty / problem.rows.total_weight - solution.value
        held_out = None
        if self.valid is not None:
            held_out = self._mean(problem, found, self.valid)
        elif fold_scores:
            held_out = float(np.mean(fold_scores))
        exact = problem.settings.is_exact
        self.done()
        return Fit(
            strength=found.strength,
            model=model,
            solution=solution,
            train_pll=problem.coordinates_of(found).mean_pll(found.solution.w, rows) if exact else train,
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
        score, jobs = row_ll if self.problem.settings.is_exact else row_pll, self.problem.settings.jobs
        tied, plain = (score(fit.model.parameters, fit.model.w, rows.codes, jobs=jobs) for fit in (best, l2))
        difference = tied - plain
        share = rows.sample_weight / rows.total_weight
        mean = float(share @ difference)
        return Gain(mean, float(np.sqrt(share @ (difference - mean) ** 2 / rows.total_weight)), l2)


def _has_passed_the_best(fits: list[Fit], patience: int) -> bool:
    """Whether the last fits are no better than one before them.

    At the beginning, where next to nothing is in, none may be better than the first: there is more patience then.
    """
    ranks = [fit.rank for fit in fits]
    patience = patience if max(ranks) > ranks[0] else max(patience, _FIRST_PATIENCE)
    return len(ranks) > patience and max(ranks[-patience:]) <= max(ranks[:-patience])
