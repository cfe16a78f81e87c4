"""From distinct rows and a structure to fitted models and the one to keep."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import count

from threadpoolctl import threadpool_limits

from mrfit.data.dataset import Dataset
from mrfit.data.unique_rows import UniqueRows
from mrfit.errors import InputError
from mrfit.learning.closed_forms import CLOSED_FORMS
from mrfit.learning.fits import Learned
from mrfit.learning.grids import Callback
from mrfit.learning.judge import Judge
from mrfit.learning.problem import Problem
from mrfit.learning.searches import fitted
from mrfit.learning.settings import SEARCHES, Settings
from mrfit.structure.structure import Structure


def learn(
    rows: UniqueRows | Dataset,
    structure: Structure,
    settings: Settings | None = None,
    *,
    valid: UniqueRows | Dataset | None = None,
    callback: Callback | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Learned:
    """Fit a Markov network with the given structure by penalised maximum (pseudo-)likelihood.

    The fit with the best score on ``valid``, or in cross-validation, is kept; without either, the one with the weakest
    penalty. ``callback`` is told the strength and every record, and may return True to stop that fit; ``progress`` how
    many fits are done, and of how many.
    """
    rows = UniqueRows.of(rows)
    valid = None if valid is None else UniqueRows.of(valid).recoded(rows.domain)
    settings = settings or Settings()
    if settings.folds and valid is not None:
        raise InputError("Give validation rows or a number of folds, not both.")
    choosable = valid is not None or settings.folds > 0
    # Without held-out rows there is nothing to say where a path should end.
    problem = Problem(rows, structure, replace(settings, path=settings.path and choosable))
    if settings.is_tied and not choosable and problem.n_points > 1:
        raise InputError(
            f"Choosing one of {problem.n_points} fits needs held-out rows: give validation rows or a number of folds, "
            "or just one number of groups and one strength."
        )
    with threadpool_limits(limits=1, user_api="blas"):  # on small matrices more threads wait for each other
        return _judged(problem, valid, callback, progress)


def _judged(
    problem: Problem,
    valid: UniqueRows | None,
    callback: Callback | None,
    progress: Callable[[int, int], None] | None,
) -> Learned:
    settings = problem.settings
    choosable = valid is not None or settings.folds > 0
    compared = settings.is_tied and choosable
    total = (problem.n_points + (len(problem.l2_strengths) if compared else 0)) * (1 + settings.folds)
    done = count(1)
    judge = Judge(
        problem,
        None if valid is None else valid.recoded(problem.rows.domain),
        (lambda: None) if progress is None else (lambda: progress(next(done), total)),
    )
    fits = judge.fits(fitted, callback)
    best = max(fits, key=lambda fit: fit.rank) if choosable else min(fits, key=lambda fit: fit.strength)
    gain = None
    if compared:
        gain = judge.gain(best, max(judge.fits(Problem.l2_grid, None), key=lambda fit: fit.rank))
    coordinates = problem.coordinates
    guarantee = "smoothed counts" if settings.penalty in CLOSED_FORMS else SEARCHES[settings.search]
    return Learned(fits, best, coordinates.n_cells, coordinates.n_parameters, guarantee, gain)
