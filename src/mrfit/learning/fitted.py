"""What learning returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import hypot
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mrfit.checking.check import Check
from mrfit.html_table import html_table
from mrfit.learning.parted_rows import PartedRows
from mrfit.model import MarkovNetwork
from mrfit.rounding import with_error
from mrfit.solvers.solution import Solution
from mrfit.structure.learner import LearnedStructure
from mrfit.tying.soft import Round
from mrfit.uncertainty.errors import Errors

_CELL_SECONDS = 5e-8  # for a cell in a pass of a solver over the data
_LEAST_CHECK, _LONGEST_CHECK = 0.1, 10.0  # seconds


@dataclass(frozen=True)
class Fit:
    """The model at one point of the grid, with the certificate of its optimum.

    ``train`` and ``held_out`` are means a row of what was maximised, which ``measure`` names (pll or ll); the second is
    that of the validation rows, or the mean over the folds of a cross-validation. ``passes`` counts evaluations and
    Hessian products over the data.
    """

    strength: float
    model: MarkovNetwork
    solution: Solution
    measure: str
    judge: str  # pll or ll, of the held-out score
    train: float
    held_out: float | None
    train_pll: float
    seconds: float
    passes: int = 0
    n_groups: int | None = None
    rounds: tuple[Round, ...] = ()
    fold_scores: tuple[float, ...] = ()

    def with_unbounded(self, limits: Mapping[str, str]) -> Fit:
        """The same, with the limits of parameters without a finite estimate in its model's provenance."""
        if not limits:
            return self
        return replace(self, model=replace(self.model, provenance={**self.model.provenance, "unbounded": dict(limits)}))

    def __repr__(self) -> str:
        held_out = "" if self.held_out is None else f", held-out {self.judge} {self.held_out_in_words()}"
        groups = "" if self.n_groups is None else f"{self.n_groups} groups, "
        return f"<Fit: {groups}strength {self.strength:g}; {self.measure} {self.train_in_words()}{held_out}>"

    def train_in_words(self) -> str:
        """The train score, with the digits that are known of it."""
        return with_error(self.train, self.log_z_error)

    def held_out_in_words(self) -> str:
        """The held-out score in the same way; "none" where there are no such rows."""
        return "none" if self.held_out is None else with_error(self.held_out, self.held_out_log_z_error)

    @property
    def rank(self) -> float:
        """The held-out score as a number to choose by; nothing is worse than no score."""
        return -np.inf if self.held_out is None or np.isnan(self.held_out) else self.held_out

    @property
    def log_z_error(self) -> float:
        """The standard error of log Z in every log-likelihood of the model; zero where log Z is exact or in none."""
        return self.model.known_log_z_error if self.measure == "ll" else 0.0

    @property
    def held_out_log_z_error(self) -> float:
        """The same in the held-out score."""
        return self.log_z_error if self.judge == "ll" else 0.0

    def with_errors(self, errors: Errors) -> Fit:
        """The same, with standard errors in its model."""
        return replace(self, model=replace(self.model, errors=errors))

    @property
    def n_nonzero(self) -> int:
        """`MarkovNetwork.n_parameters`."""
        return self.model.n_parameters

    @property
    def nonzero_by_order(self) -> dict[int, int]:
        """Parameters that are not exactly zero, by the number of variables of their scope."""
        orders = self.model.parameters.order_of_parameter[self.model.w != 0]
        sizes, counts = np.unique(orders, return_counts=True)
        return {int(size): int(count) for size, count in zip(sizes, counts, strict=True)}

    @property
    def n_nonzero_scopes(self) -> int:
        """`MarkovNetwork.n_scopes`."""
        return self.model.n_scopes

    @property
    def n_distinct(self) -> int:
        """`MarkovNetwork.n_distinct`."""
        return self.model.n_distinct

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
class Score:
    """A mean over rows, with its standard error.

    ``row_error`` is that of other rows, ``log_z_error`` that of an estimated log Z, which all rows share.
    """

    mean: float
    row_error: float
    log_z_error: float = 0.0

    @property
    def standard_error(self) -> float:
        """Standard error of rows and log Z together."""
        return hypot(self.row_error, self.log_z_error)

    def in_words(self, unit: str = "nats a row", *, sign: str = "") -> str:
        """One number with one error; behind it what the error is made of, where log Z is an estimate."""
        if not self.log_z_error:
            return f"{self.mean:{sign}.4f} +- {self.row_error:.4f} {unit}"
        parts = f"{self.row_error:.2g} over rows, {self.log_z_error:.2g} of log Z"
        return f"{with_error(self.mean, self.standard_error, sign=sign)} {unit} ({parts})"


@dataclass(frozen=True)
class Gain:
    """What the best tied fit is better than the best L2 fit by, a row, with its standard error.

    ``rows`` says on which rows: ``test``, which nothing was chosen on; or ``valid`` or ``folds``, on which both were
    chosen, from grids of different sizes, so that the difference flatters and no verdict follows from it.
    """

    mean: float
    standard_error: float
    l2: Fit
    rows: str

    def __repr__(self) -> str:
        return f"<Gain over L2 on {self.rows}: {self.mean:+.4f} +- {self.standard_error:.4f} nats a row>"

    @property
    def is_real(self) -> bool | None:
        """Larger than two standard errors on rows that chose nothing; None where there are none."""
        return self.mean > 2.0 * self.standard_error if self.rows == "test" else None


@dataclass(frozen=True)
class Fitted:
    """All fits in the order they were made, the one to keep, and what is known about it.

    Parameters
    ----------
    structure
        What the fits are over, and for a learned one the evidence for its edges.
    n_cells, n_candidate_parameters
        What the objective goes over, and how many parameters were considered; `MarkovNetwork.n_parameters` of the model
        are not zero.
    guarantee
        What a converged fit is an optimum over.
    is_path
        Whether the strengths led down from one at which nothing is in, rather than being asked for.
    test
        The score of the best on rows that had no part in learning.
    gain
        For tied parameters, what they gain over L2.
    engine
        By which the likelihood was worked out; None for the pseudo-likelihood.
    parts
        What the rows of a table in parts were counted to, or where they are; None for rows that are held together.
    """

    fits: tuple[Fit, ...]
    best: Fit
    structure: LearnedStructure
    n_cells: int
    n_candidate_parameters: int
    guarantee: str
    is_path: bool = False
    test: Score | None = None
    gain: Gain | None = None
    engine: str | None = None
    parts: PartedRows | None = None

    def __repr__(self) -> str:
        best = repr(self.best)[1:-1].removeprefix("Fit: ")
        return f"<Fitted: {self.model.in_words()}; best of {len(self.fits)}: {best}>"

    def _repr_html_(self) -> str:
        best = self.best
        facts = {
            "model": self.model.in_words(),
            "fits": len(self.fits),
            "strength": f"{best.strength:g}",
            f"train {best.measure}": best.train_in_words(),
            f"held-out {best.judge}": best.held_out_in_words(),
            "max. gradient": f"{best.solution.violation:.1e}",
            "status": best.solution.status.value,
        }
        if self.test is not None:
            facts[f"test {best.measure}"] = self.test.in_words()
        return html_table("Fitted", facts) + self.model.explorer_frame()

    @property
    def model(self) -> MarkovNetwork:
        return self.best.model

    @property
    def check_seconds(self) -> float:
        """What a check of the model may take: about as long as the fits, from what they went over, not from a clock."""
        worked = _CELL_SECONDS * self.n_cells * sum(fit.passes for fit in self.fits)
        return float(np.clip(worked, _LEAST_CHECK, _LONGEST_CHECK))

    def check(self, rows: Any, **how: Any) -> Check:
        """Whether the model's own rows look like ``rows``; takes about as long as the fits did.

        ``how`` is as for `MarkovNetwork.check`, whose ``seconds`` are `check_seconds` by default.
        """
        return self.model.check(rows, **{"seconds": self.check_seconds, **how})

    @property
    def end_of_grid(self) -> str | None:
        """``weakest`` or ``strongest`` where held-out rows chose the end of the strengths asked for: try beyond it."""
        strengths = {fit.strength for fit in self.fits}
        if self.best.held_out is None or len(strengths) < 2 or self.is_path:
            return None
        ends = {min(strengths): "weakest", max(strengths): "strongest"}
        return ends.get(self.best.strength)
