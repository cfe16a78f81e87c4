"""Held-out scores by the number of groups, as a picture shows them."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from mrfit.data.unique_rows import UniqueRows
from mrfit.learning.fitted import Fit, Fitted
from mrfit.learning.held_out import mean_over_folds, mean_over_rows
from mrfit.objectives.row_scores import row_ll, row_pll
from mrfit.report.scores import ScoreCurve

Floats = NDArray[np.float64]


def score_curves(learned: Mapping[str, Fitted], valid: UniqueRows | None) -> list[ScoreCurve]:
    """The best score of every number of groups, and that of L2, for every labelled grid of tied fits.

    Errors are those of the paired difference from the best fit of the grid: over the rows of ``valid``, or over folds.
    """
    return [_curve(label, each, valid) for label, each in learned.items()]


def _curve(label: str, learned: Fitted, valid: UniqueRows | None) -> ScoreCurve:
    best: dict[int, Fit] = {}
    for fit in learned.fits:
        if fit.n_groups is not None and (fit.n_groups not in best or fit.rank > best[fit.n_groups].rank):
            best[fit.n_groups] = fit
    groups = sorted(best)
    fits = [best[k] for k in groups]
    scores = [-fit.rank for fit in fits]
    l2 = math.nan if learned.gain is None else -learned.gain.l2.rank
    return ScoreCurve(label, groups, scores, l2, _errors(fits, int(np.argmin(scores)), valid))


def _errors(fits: list[Fit], winner: int, valid: UniqueRows | None) -> list[float]:
    if valid is None:
        folds = np.array([fit.fold_scores for fit in fits])
        return [mean_over_folds(each).standard_error for each in folds - folds[winner]]
    best = _row_scores(fits[winner], valid)
    return [mean_over_rows(_row_scores(fit, valid) - best, valid).standard_error for fit in fits]


def _row_scores(fit: Fit, rows: UniqueRows) -> Floats:
    score = row_pll if fit.measure == "pll" else row_ll
    return score(fit.model.parameters, fit.model.w, rows.codes)
