"""Held-out scores by the number of groups, as a picture shows them."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from mrfit.data.unique_rows import UniqueRows
from mrfit.learning.fits import Fit, Learned
from mrfit.objectives.row_scores import row_ll, row_pll
from mrfit.report.scores import ScoreCurve

Floats = NDArray[np.float64]


def score_curves(learned: Mapping[str, Learned], valid: UniqueRows | None) -> list[ScoreCurve]:
    """The best score of every number of groups, and that of L2, for every labelled grid of tied fits.

    Errors are those of the paired difference from the best fit of the grid: over the rows of ``valid``, or over folds.
    """
    return [_curve(label, each, valid) for label, each in learned.items()]


def _curve(label: str, learned: Learned, valid: UniqueRows | None) -> ScoreCurve:
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
        difference = folds - folds[winner]
        return [float(each.std(ddof=1) / math.sqrt(len(each))) for each in difference]
    # Rows count once each, whatever they weigh: weights say whom a row stands for, not how often it was seen.
    share = valid.sample_weight / valid.total_weight
    best = _row_scores(fits[winner], valid)
    errors = []
    for fit in fits:
        difference = _row_scores(fit, valid) - best
        errors.append(math.sqrt(float(share @ (difference - share @ difference) ** 2) / valid.n_rows))
    return errors


def _row_scores(fit: Fit, rows: UniqueRows) -> Floats:
    score = row_pll if fit.train_ll is None else row_ll
    return score(fit.model.parameters, fit.model.w, rows.codes)
