"""Results of learning: optima, candidate fits and the result of a whole grid."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import hypot, isnan
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mrfit._renamed import with_former_keys
from mrfit.core.html_table import html_table
from mrfit.core.rounding import with_error
from mrfit.learning.partitioned_rows import PartedRows, RowsSummary
from mrfit.learning.tying.soft_tying import TyingRecord
from mrfit.model.markov_network import MarkovNetwork
from mrfit.model.parameter_estimates import ErrorsSummary
from mrfit.model.standard_error_estimates import StandardErrors
from mrfit.solvers.solution import Solution
from mrfit.structures.base import LearnedStructure

if TYPE_CHECKING:
    from mrfit.analysis.goodness.check import Check
    from mrfit.learning.backend import Backend
    from mrfit.parameterizations.groups import Groups

_CELL_SECONDS = 5e-8  # for a cell in a pass of a solver over the data
_LEAST_CHECK, _LONGEST_CHECK = 0.1, 10.0  # seconds


@dataclass(frozen=True)
class Optimum:
    """The optimum at one point of the grid, as a solver found it.

    Attributes
    ----------
    strength : float
        Penalty strength.
    solution : Solution
        The optimum with its certificate, in the parameters of ``coordinates`` if these are not those of the problem.
    score : float
        Mean per row of what was maximised, without the penalty.
    passes : int
        Evaluations and Hessian products over the data, including those that led from the previous point to this one.
    seconds : float
        Seconds of the fit.
    n_groups : int or None
        Requested number of groups of each tied class; None without tying.
    groups : Groups or None
        Groups of tied parameters.
    rounds : tuple
        Records of the rounds of tying.
    coordinates : Backend or None
        Coordinates of the solution, if these are not those of the problem.
    """

    strength: float
    solution: Solution
    score: float
    passes: int
    seconds: float
    n_groups: int | None = None
    groups: Groups | None = None
    rounds: tuple[TyingRecord, ...] = ()
    coordinates: Backend | None = None


@dataclass(frozen=True, kw_only=True)
class CandidateFit(Optimum):
    """The optimum at one point of the grid, with its model and scores.

    Scores are means per row, in nats.

    Attributes
    ----------
    strength : float
        Penalty strength.
    solution : Solution
        The optimum with its certificate, in the parameters of the model.
    score : float
        Mean per row of what was maximised over the training rows.
    passes : int
        Evaluations and Hessian products over the data.
    seconds : float
        Seconds of the fit.
    model : MarkovNetwork
        The fitted model.
    measure : {"pll", "ll"}
        What ``train`` is: pseudo-log-likelihood or log-likelihood.
    judge : {"pll", "ll"}
        What ``held_out`` is.
    train : float
        Mean score of the training rows.
    held_out : float or None
        Mean score of the validation rows, or the mean over folds; None without held-out rows.
    train_pll : float
        Mean pseudo-log-likelihood of the training rows.
    fold_scores : tuple of float
        Score of each fold.
    """

    model: MarkovNetwork
    measure: str
    judge: str  # pll or ll, of the held-out score
    train: float
    held_out: float | None
    train_pll: float
    fold_scores: tuple[float, ...] = ()

    def with_unbounded(self, limits: Mapping[str, str]) -> CandidateFit:
        """Return the fit with the limits of its unbounded parameters in the provenance of its model."""
        if not limits:
            return self
        return replace(self, model=replace(self.model, provenance={**self.model.provenance, "unbounded": dict(limits)}))

    def __repr__(self) -> str:
        held_out = "" if self.held_out is None else f", held-out {self.judge} {self.held_out_in_words()}"
        groups = "" if self.n_groups is None else f"{self.n_groups} groups, "
        return f"<Fit: {groups}strength {self.strength:g}; {self.measure} {self.train_in_words()}{held_out}>"

    def train_in_words(self) -> str:
        """Return the train score as text, with the digits that are known."""
        return with_error(self.train, self.log_z_error)

    def held_out_in_words(self) -> str:
        """Return the held-out score as text, with the digits that are known; ``none`` without held-out rows."""
        return "none" if self.held_out is None else with_error(self.held_out, self.held_out_log_z_error)

    @property
    def rank(self) -> float:
        """Held-out score to choose by; minus infinity without one."""
        return -np.inf if self.held_out is None or np.isnan(self.held_out) else self.held_out

    @property
    def log_z_error(self) -> float:
        """Standard error of log Z in every log-likelihood of the model; zero if log Z is exact or not needed."""
        return self.model.known_log_z_error if self.measure == "ll" else 0.0

    @property
    def held_out_log_z_error(self) -> float:
        """Standard error of log Z in the held-out score."""
        return self.log_z_error if self.judge == "ll" else 0.0

    def with_errors(self, errors: StandardErrors) -> CandidateFit:
        """Return the fit with standard errors in its model."""
        return replace(self, model=replace(self.model, errors=errors))

    @property
    def n_nonzero(self) -> int:
        """Number of nonzero parameters."""
        return self.model.n_parameters

    @property
    def nonzero_by_order(self) -> dict[int, int]:
        """Number of nonzero parameters for each size of scope."""
        orders = self.model.parameters.order_of_parameter[self.model.w != 0]
        sizes, counts = np.unique(orders, return_counts=True)
        return {int(size): int(count) for size, count in zip(sizes, counts, strict=True)}

    @property
    def n_nonzero_scopes(self) -> int:
        """Number of scopes with a nonzero parameter."""
        return self.model.n_scopes

    @property
    def n_distinct(self) -> int:
        """Number of different values among the nonzero parameters."""
        return self.model.n_distinct

    def to_dict(self) -> dict[str, Any]:
        """Return the fit as a point of a grid, ready for JSON."""
        solution, model = self.solution, self.model
        tied: dict[str, Any] = {}
        if model.groups is not None:
            tied = {"groups": self.n_groups, "n_groups": model.n_groups, "tying_iterations": len(self.rounds)}
        exact = {} if self.measure == "pll" else {"train_pll": self.train_pll, "duality_gap": solution.gap}
        record = {
            "penalty_strength": self.strength,
            **tied,
            f"train_{self.measure}": _known(self.train),
            f"valid_{self.judge}": _known(self.held_out),
            **exact,
            **({"log_z_error": self.log_z_error} if self.log_z_error else {}),
            "n_distinct": self.n_distinct,
            "data_passes": self.passes,
            "n_nonzero": self.n_nonzero,
            "n_nonzero_scopes": self.n_nonzero_scopes,
            "max_gradient": solution.violation,
            "converged": solution.converged,
            "status": solution.status.value,
            "iterations": solution.iterations,
            "evaluations": solution.evaluations,
            "products": solution.products,
            "seconds": self.seconds,
            "objective_per_row": _known(solution.value),
            "nonzero_by_order": {str(order): count for order, count in self.nonzero_by_order.items()},
            "at_bound": self.held,
        }
        return with_former_keys(
            record, penalty_strength="strength", data_passes="passes", max_gradient="violation", at_bound="held"
        )

    @property
    def held(self) -> list[str]:
        """Names of unpenalised parameters without a finite optimum, held at a bound."""
        return [self.model.parameters.name(int(k)) for k in self.solution.at_bound]

    @property
    def infinite(self) -> NDArray[np.int64]:
        """Numbers of the parameters that are held at a bound, or known to go to infinity."""
        limits, names = self.model.unbounded, self.model.parameters.names()
        known = [k for k, name in enumerate(names) if limits.get(name) in ("+inf", "-inf")] if limits else []
        return np.union1d(self.solution.at_bound, np.array(known, np.int64))

    @property
    def without_finite_optimum(self) -> NDArray[np.int64]:
        """Numbers of the parameters that are held at a bound, or known to be unbounded."""
        unbounded, names = self.model.unbounded, self.model.parameters.names()
        known = [k for k, name in enumerate(names) if name in unbounded] if unbounded else []
        return np.union1d(self.solution.at_bound, np.array(known, np.int64))


@dataclass(frozen=True)
class MeanScore:
    """A mean over rows, in nats per row, with its standard error.

    Attributes
    ----------
    mean : float
        The mean.
    row_error : float
        Standard error due to the sample of rows.
    log_z_error : float
        Standard error of an estimated log Z, which all rows share; zero if log Z is exact or not needed.
    """

    mean: float
    row_error: float
    log_z_error: float = 0.0

    @property
    def standard_error(self) -> float:
        """Standard error of rows and log Z together."""
        return hypot(self.row_error, self.log_z_error)

    def describe(self, unit: str = "nats a row", *, sign: str = "") -> str:
        """Return the mean with one error as text, and what the error consists of if log Z is an estimate.

        Parameters
        ----------
        unit : str, default="nats a row"
            Text after the number.
        sign : str, default=""
            ``"+"`` shows the sign of positive numbers.
        """
        if not self.log_z_error:
            return f"{self.mean:{sign}.4f} +- {self.row_error:.4f} {unit}"
        parts = f"{self.row_error:.2g} over rows, {self.log_z_error:.2g} of log Z"
        return f"{with_error(self.mean, self.standard_error, sign=sign)} {unit} ({parts})"


@dataclass(frozen=True)
class TyingGain:
    """Gain of the best tied fit over the best L2 fit, in nats per row, with its standard error.

    Attributes
    ----------
    mean : float
        The gain.
    standard_error : float
        Its standard error.
    l2 : CandidateFit
        The best L2 fit.
    rows : {"test", "valid", "folds"}
        Rows of the comparison. Nothing was chosen on ``test``. Both fits were chosen on ``valid`` or ``folds``, from
        grids of different sizes: that difference flatters tying, and no verdict follows from it.
    """

    mean: float
    standard_error: float
    l2: CandidateFit
    rows: str

    def __repr__(self) -> str:
        return f"<Gain over L2 on {self.rows}: {self.mean:+.4f} +- {self.standard_error:.4f} nats a row>"

    @property
    def is_real(self) -> bool | None:
        """Whether the gain exceeds two standard errors on test rows; None without such rows."""
        return self.mean > 2.0 * self.standard_error if self.rows == "test" else None

    def to_dict(self) -> dict[str, Any]:
        """Return the gain, and the L2 fit it is measured against, ready for JSON."""
        return {
            "mean": self.mean,
            "standard_error": self.standard_error,
            "rows": self.rows,
            "is_real": self.is_real,
            "l2": self.l2.to_dict(),
        }


@dataclass(frozen=True)
class FitResult:
    """Result of `Learner.fit`: all fits in order, the best one, and what is known about it.

    Attributes
    ----------
    fits : tuple of CandidateFit
        One fit for each point of the grid, with ``strength``, ``model``, ``train`` and ``held_out`` scores (nats per
        row).
    best : CandidateFit
        The fit that predicts held-out rows best; without held-out rows, the one with the weakest penalty.
    structure : LearnedStructure
        The structure of the fits and, if it was learned, the evidence for its edges.
    rows : RowsSummary
        Numbers of training rows, distinct rows, dropped rows and variables.
    n_cells : int
        Number of cells that one evaluation of the objective passes over.
    n_candidate_parameters : int
        Number of parameters of the structure; ``model.n_parameters`` of them are not zero.
    guarantee : str
        What a converged fit is an optimum over.
    is_path : bool
        Whether the strengths led down from one at which all penalised parameters are zero, instead of being chosen by
        the user.
    test : MeanScore or None
        Score of the best fit on test rows; None without them.
    gain : TyingGain or None
        Gain of tied parameters over L2; None for other penalties.
    engine : str or None
        Inference engine of the likelihood; None for the pseudo-likelihood.
    parts : PartedRows or None
        Rows of a table in parts; None for rows that are in memory together.

    See Also
    --------
    mrfit.plot_scores : A picture of scores against strengths.

    Examples
    --------
    >>> from mrfit import L2, Learner
    >>> table = {"smokes": ["yes", "yes", "no", "no"] * 25, "coughs": ["yes", "no", "no", "no"] * 25}
    >>> fitted = Learner(penalty=L2(strength=(0.1, 10))).fit(table)
    >>> fitted.model
    <MarkovNetwork: 2 variables, 1 edges, 3 parameters; l2, strength 0.1>
    >>> [fit.strength for fit in fitted.fits]
    [10.0, 0.1]
    >>> round(fitted.best.train, 3)
    -0.833
    """

    fits: tuple[CandidateFit, ...]
    best: CandidateFit
    structure: LearnedStructure
    rows: RowsSummary
    n_cells: int
    n_candidate_parameters: int
    guarantee: str
    is_path: bool = False
    test: MeanScore | None = None
    gain: TyingGain | None = None
    engine: str | None = None
    parts: PartedRows | None = None

    def __repr__(self) -> str:
        best = repr(self.best)[1:-1].removeprefix("Fit: ")
        return f"<FitResult: {self.model.describe()}; best of {len(self.fits)}: {best}>"

    def _repr_html_(self) -> str:
        best = self.best
        facts = {
            "model": self.model.describe(),
            "fits": len(self.fits),
            "strength": f"{best.strength:g}",
            f"train {best.measure}": best.train_in_words(),
            f"held-out {best.judge}": best.held_out_in_words(),
            "max. gradient": f"{best.solution.violation:.1e}",
            "status": best.solution.status.value,
        }
        if self.test is not None:
            facts[f"test {best.measure}"] = self.test.describe()
        return html_table("FitResult", facts) + self.model.explorer_frame()

    @property
    def model(self) -> MarkovNetwork:
        """Model of the best fit."""
        return self.best.model

    @property
    def check_seconds(self) -> float:
        """Time limit of `check` in seconds: about the time of the fits, from their work and not from a clock."""
        worked = _CELL_SECONDS * self.n_cells * sum(fit.passes for fit in self.fits)
        return float(np.clip(worked, _LEAST_CHECK, _LONGEST_CHECK))

    def check(self, rows: Any, **how: Any) -> Check:
        """Check whether samples of the model look like ``rows``; takes about as long as the fits.

        Parameters
        ----------
        rows : table, UniqueRows or Dataset
            The rows to compare with, usually the training rows.
        **how
            Arguments of `MarkovNetwork.check`, whose ``seconds`` are `check_seconds` by default.
        """
        return self.model.check(rows, **{"seconds": self.check_seconds, **how})

    @property
    def end_of_grid(self) -> str | None:
        """End of the grid if held-out rows chose it, ``weakest`` or ``strongest``: try strengths beyond."""
        strengths = {fit.strength for fit in self.fits}
        if self.best.held_out is None or len(strengths) < 2 or self.is_path:
            return None
        ends = {min(strengths): "weakest", max(strengths): "strongest"}
        return ends.get(self.best.strength)

    @property
    def score_error(self) -> float | None:
        """Standard error of log Z and of learning by chains together; None if the likelihood is exact."""
        known = self.model.provenance.get("log_z")
        return None if known is None else hypot(known["error"], known["learning_error"])

    @property
    def estimates(self) -> ErrorsSummary | None:
        """Parameters of the best model with their standard errors; None if these were not requested."""
        return None if self.model.errors is None else ErrorsSummary.of(self.model)

    def to_dict(self, check: Check | None = None) -> dict[str, Any]:
        """Return the best fit and the whole grid, ready for JSON, with a ``check`` of the model if there is one."""
        model, considered = self.model, self.structure.structure
        score_error, estimates = self.score_error, self.estimates
        return {
            **self.rows.to_dict(),
            "n_parameters": model.n_parameters,
            "n_edges": model.n_edges,
            "n_candidate_parameters": self.n_candidate_parameters,
            "n_candidate_edges": len(considered.edges),
            "n_candidate_scopes": considered.n_scopes,
            "n_cells": self.n_cells,
            **({} if self.engine is None else {"engine": self.engine}),
            **({} if score_error is None else {"log_z_error": model.known_log_z_error, "score_error": score_error}),
            "guarantee": self.guarantee,
            "remarks": list(self.structure.remarks),
            "end_of_grid": self.end_of_grid,
            "unbounded": dict(model.unbounded),
            **self.best.to_dict(),
            **self._test_to_dict(),
            **self._groups_to_dict(),
            **({} if check is None else _check_to_dict(check)),
            **({} if estimates is None else estimates.to_dict()),
            "path": [fit.to_dict() for fit in self.fits],
        }

    def _test_to_dict(self) -> dict[str, Any]:
        test = self.test
        if test is None:
            return {}
        parts = {"test_row_error": test.row_error, "test_log_z_error": test.log_z_error} if test.log_z_error else {}
        return {f"test_{self.best.measure}": test.mean, "test_standard_error": test.standard_error, **parts}

    def _groups_to_dict(self) -> dict[str, Any]:
        if self.model.groups is None:
            return {}
        gain = None if self.gain is None else self.gain.to_dict()
        return {"centers": self.model.groups.centers.tolist(), "gain_over_l2": gain}


def _check_to_dict(check: Check) -> dict[str, Any]:
    phantom = None if check.phantom_mode is None else check.phantom_mode.to_dict()
    record = {"check": check.verdict, "max_marginal_error": check.max_marginal_error, "spurious_mode": phantom}
    return with_former_keys(record, spurious_mode="phantom_mode")


def _known(value: float | None) -> float | None:
    """Return None for what is not a number: the likelihood of a model whose chains do not mix."""
    return None if value is None or isnan(value) else value
