"""Held-out scores by the number of groups or the strength, as a picture shows them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from mrfit._typing import Floats
from mrfit.core.errors import InputError
from mrfit.data.unique_rows import UniqueRows
from mrfit.learning.cross_validation import mean_over_folds, mean_over_rows
from mrfit.learning.fit_result import CandidateFit, FitResult
from mrfit.learning.objective_specs import JUDGES
from mrfit.plots.page import WIDTH, new_panel, printable
from mrfit.plots.scores_plot import ScoreCurve, draw_curves

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MEASURES = {"pll": "pseudo-log-likelihood", "ll": "log-likelihood"}


def plot_scores(
    fitted: FitResult, ax: Axes | None = None, *, valid: UniqueRows | None = None, title: str | None = None
) -> Axes:
    """Draw the negative held-out scores of all fits of a grid, lower is better.

    The horizontal axis is the penalty strength, or the number of groups for tied parameters, with the score of L2 as a
    dotted line. A ring marks the best fit.

    Parameters
    ----------
    fitted : FitResult
        Result of learning with several strengths, and with validation rows or folds.
    ax : matplotlib Axes, default None
        Axes to draw on; None makes a new figure.
    valid : UniqueRows, default None
        Validation rows that selected the fit, for standard errors of differences from the best. Folds need none.
    title : str, default None
        Title above the axes.

    Returns
    -------
    matplotlib Axes
        The axes drawn on.

    Raises
    ------
    MrfitError
        If there are no held-out scores.

    See Also
    --------
    FitResult : All fits of a grid, with their scores.
    plot_parameters : The parameters of the selected model.

    Examples
    --------
    >>> import mrfit
    >>> table = {"rain": ["no", "yes"] * 20, "wet": ["no", "yes", "no", "no"] * 10}
    >>> fitted = mrfit.learn(table, penalty=mrfit.L2((0.1, 1.0, 10.0)), folds=3)
    >>> mrfit.plot_scores(fitted).get_xlabel()
    'penalty strength'
    """
    curves = score_curves({"tied" if _is_tied(fitted) else "held-out": fitted}, valid)
    axes = new_panel(WIDTH, 4.4) if ax is None else ax
    if title:
        axes.set_title(printable(title), parse_math=False)
    draw_curves(axes, curves, MEASURES[fitted.best.judge])
    return axes


def score_curves(learned: Mapping[str, FitResult], valid: UniqueRows | None) -> list[ScoreCurve]:
    """The best score at every number of groups, and that of L2, or at every strength, for every labelled grid of fits.

    Errors are those of the paired difference from the best fit of the grid: over the rows of ``valid``, or over folds.
    """
    return [_curve(label, each, valid) for label, each in learned.items()]


def _is_tied(fitted: FitResult) -> bool:
    return any(fit.n_groups is not None for fit in fitted.fits)


def _curve(label: str, learned: FitResult, valid: UniqueRows | None) -> ScoreCurve:
    tied, best = _is_tied(learned), dict[float, CandidateFit]()
    for fit in learned.fits:
        place = fit.n_groups if tied else fit.strength
        if place is not None and np.isfinite(fit.rank) and (place not in best or fit.rank > best[place].rank):
            best[place] = fit
    if not best:
        raise InputError("There are no held-out scores to draw; learn with validation rows or with folds.")
    at = sorted(best)
    fits = [best[place] for place in at]
    scores = [-fit.rank for fit in fits]
    l2 = None if learned.gain is None else -learned.gain.l2.rank
    errors = _errors(fits, int(np.argmin(scores)), valid)
    return ScoreCurve(label, at, scores, l2, errors, by="groups" if tied else "strength")


def _errors(fits: list[CandidateFit], winner: int, valid: UniqueRows | None) -> list[float]:
    if valid is None:
        if not fits[winner].fold_scores:
            return []
        folds = np.array([fit.fold_scores for fit in fits])
        return [mean_over_folds(each).standard_error for each in folds - folds[winner]]
    best = _row_scores(fits[winner], valid)
    return [mean_over_rows(_row_scores(fit, valid) - best, valid).standard_error for fit in fits]


def _row_scores(fit: CandidateFit, rows: UniqueRows) -> Floats:
    """Score each row by the metric of the held-out scores, which need not be the fitted objective."""
    return JUDGES[fit.judge].row_scores(fit.model, rows, 1)
