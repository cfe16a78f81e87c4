"""Learning from rows with missing cells by EM (Dempster, Laird and Rubin 1977).

E: every incomplete row becomes all complete rows it may be, each with its probability given what is observed, for which
no log Z is needed. M: a fit of these. With the likelihood this finds a maximum of that of what is observed; with the
pseudo-likelihood, where the expected gradient given what is observed is zero. Right where whether a cell is missing
depends on observed cells only.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mrfit._typing import Floats
from mrfit.core.errors import InputError
from mrfit.data.completions import Completions
from mrfit.data.dataset import Dataset
from mrfit.data.encoding import has_all_cells
from mrfit.data.unique_rows import UniqueRows
from mrfit.learning.em_errors import check_incomplete_errors, incomplete_errors
from mrfit.learning.fit_result import FitResult
from mrfit.learning.learner import Learner
from mrfit.learning.penalty_specs import L2, NoPenalty, SumOfSquares

_STEADY = 1e-7  # change of log-weights of complete rows at which rounds end
_TOLERANCE = 1e-8  # of the fits: what they leave open adds up over rounds
_MOST_ROUNDS = 1000


@dataclass(frozen=True, eq=False)
class IncompleteFit:
    """Result of `fit_incomplete`: the last fit, with the completed rows that it was made of.

    Attributes
    ----------
    fitted : FitResult
        Fit of the last M-step.
    completions : Completions
        All complete rows that each incomplete row may be.
    rows : UniqueRows
        Those complete rows, weighted by their probability given the observed values.
    rounds : int
        Number of EM iterations.
    converged : bool
        Whether the weights settled before the limit of 1,000 iterations.

    Examples
    --------
    >>> from mrfit import L2, Learner, fit_incomplete
    >>> table = {"a": ["no", "yes", None, "yes"] * 25, "b": ["no", "yes", "yes", "no"] * 25}
    >>> found = fit_incomplete(Learner(penalty=L2(1)), table)
    >>> found.converged, found.fitted.model.n_edges
    (True, 1)
    """

    fitted: FitResult
    completions: Completions
    rows: UniqueRows
    rounds: int
    converged: bool

    def __repr__(self) -> str:
        return f"<IncompleteFit: {self.rounds} rounds; {self.fitted!r}>"


def fit_incomplete(
    learner: Learner,
    data: Any,
    *,
    errors: str | None = None,
    jobs: int = 1,
    callback: Callable[[int, float], None] | None = None,
) -> IncompleteFit:
    """Learn from rows with missing values by expectation maximisation (EM).

    Incomplete rows contribute their observed values. Estimates are unbiased if whether a value is missing depends only
    on observed values (missing at random). See the how-to page on missing data.

    Parameters
    ----------
    learner : Learner
        Its structure must not be learned, its penalty is `L2`, `SumOfSquares` or `NoPenalty` at one strength, and it
        has no folds.
    data : table, Dataset or UniqueRows
        Rows with missing values: any table, or a `Dataset` read with ``missing="keep"``. Covariates must be complete.
    errors : {"sandwich"} or None, default=None
        Estimate standard errors that account for the missing values.
    jobs : int, default=1
        Number of threads. The result does not depend on it.
    callback : callable or None, default=None
        Called after each iteration with its number and the largest change of the log-weights.

    Returns
    -------
    IncompleteFit
        The last fit as ``fitted``, and whether EM converged.

    Raises
    ------
    InputError
        If the learner has a learned structure, folds, several strengths or another penalty.

    See Also
    --------
    mrfit.MarkovNetworkLearner : Does the same with ``missing="em"``.

    References
    ----------
    Dempster, Laird and Rubin (1977).

    Examples
    --------
    >>> from mrfit import L2, Learner, fit_incomplete
    >>> table = {"a": ["no", "yes", None, "yes"] * 25, "b": ["no", "yes", "yes", "no"] * 25}
    >>> found = fit_incomplete(Learner(penalty=L2(1)), table)
    >>> found.fitted.model
    <MarkovNetwork: 2 variables, 1 edges, 3 parameters; l2, strength 1>
    """
    _check(learner)
    is_read = isinstance(data, UniqueRows | Dataset)
    rows = UniqueRows.of(data if is_read else Dataset.from_table(data, missing="keep"))
    _check_covariates(learner, rows)
    completions = Completions.of(rows)
    if completions.observed.n_distinct < 2:
        raise InputError("All rows with observed values are equal, so nothing can be learned from them. Use more rows.")
    if errors is not None:
        check_incomplete_errors(errors, learner)
    rounds = _Rounds(replace(learner, tolerance=min(learner.tolerance, _TOLERANCE)), completions, jobs, callback)
    converged = rounds.run()
    fitted, weighted = rounds.last
    if errors is not None:
        best = fitted.best.with_errors(incomplete_errors(learner, fitted.best, completions, weighted, jobs=jobs))
        fitted = replace(fitted, fits=(best,), best=best)
    return IncompleteFit(fitted, completions, weighted, rounds.n, converged)


def _check(learner: Learner) -> None:
    if not learner.objective.is_score:
        raise InputError(
            f"EM needs the likelihood or the pseudo-likelihood; got {learner.objective.word}. Use one of these, or "
            "leave incomplete rows out."
        )
    if learner.structure.is_learned or learner.folds or not isinstance(learner.penalty, NoPenalty | L2 | SumOfSquares):
        raise InputError(
            "EM needs a fixed structure, the penalty l2 or none, and no folds. Change these settings, or leave "
            "incomplete rows out."
        )
    if len(learner.penalty.strengths or ()) > 1:
        raise InputError("EM needs one penalty strength; give one.")


def _check_covariates(learner: Learner, rows: UniqueRows) -> None:
    for name in learner.covariates:
        if not has_all_cells(rows.codes[:, rows.domain.index(name)]):
            raise InputError(
                f"The covariate {name!r} is missing in some rows, and the model has no distribution to complete it "
                "from. Leave these rows out."
            )


class _Rounds:
    """Rounds of E and M, three at a time: two, and a third from where they lead (Varadhan and Roland 2008, S3)."""

    def __init__(
        self, learner: Learner, completions: Completions, jobs: int, callback: Callable[[int, float], None] | None
    ) -> None:
        self.learner, self.completions, self.jobs, self.callback = learner, completions, jobs, callback
        self.n = 0
        self.moved = np.inf
        self.last: tuple[FitResult, UniqueRows]

    def run(self) -> bool:
        """Iterate until the log-weights of the completed rows settle; return whether they did."""
        at = self._round(np.zeros(self.completions.complete.n_distinct))
        while self.n < _MOST_ROUNDS:
            first = self._round(at)
            if self.moved < _STEADY:
                return True
            second = self._round(first)
            if self.moved < _STEADY:
                return True
            at = self._round(_led_on(at, first, second))
        return False

    def _round(self, log_weight: Floats) -> Floats:
        rows = self.completions.weighted(self.completions.shares(log_weight))
        fitted = self.learner.fit(rows, jobs=self.jobs, compared=False)
        self.last = fitted, rows
        found = fitted.model.factors.log_potential(self.completions.complete.codes.astype(np.int64))
        self.n += 1
        self.moved = float(np.abs(found - log_weight).max())
        if self.callback is not None:
            self.callback(self.n, self.moved)
        return found


def _led_on(at: Floats, first: Floats, second: Floats) -> Floats:
    """Extrapolate two successive steps as if each shrank by the same factor (SQUAREM, Varadhan and Roland 2008)."""
    r, v = first - at, second - 2.0 * first + at
    length = -max(1.0, float(np.linalg.norm(r)) / max(float(np.linalg.norm(v)), 1e-300))
    return at - 2.0 * length * r + length**2 * v
