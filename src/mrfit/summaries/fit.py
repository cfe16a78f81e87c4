"""What there is to say about a fit: the best of the grid, the whole grid, and what it is worth."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import hypot
from typing import Any

from mrfit.checking.check import Check
from mrfit.learning.fitted import Fit, Fitted, Gain, Score
from mrfit.learning.parted_rows import Rows
from mrfit.rounding import rounded
from mrfit.summaries.errors import ErrorsSummary
from mrfit.summaries.rows import RowsSummary


@dataclass(frozen=True)
class PointSummary:
    """One fit of the grid.

    ``train`` and ``held_out`` are means a row of ``measure`` and ``judge`` (pll or ll). ``groups`` is the number that
    was asked for, of each class that is tied for itself; ``n_groups`` that of the model. ``n_nonzero`` and
    ``n_distinct`` are `MarkovNetwork.n_parameters` and ``n_distinct``. ``tying_iterations`` are those of tied
    parameters; ``duality_gap`` that of a likelihood. ``held`` names parameters held at a bound. ``log_z_error`` is the
    standard error of log Z in every ll, zero where it is exact.
    """

    strength: float
    groups: int | None
    n_groups: int | None
    is_hard_tied: bool
    tying_iterations: int
    measure: str
    judge: str
    train: float
    held_out: float | None
    train_pll: float
    duality_gap: float | None
    n_distinct: int
    passes: int
    n_nonzero: int
    n_nonzero_scopes: int
    nonzero_by_order: Mapping[int, int]
    objective_per_row: float
    violation: float
    converged: bool
    status: str
    iterations: int
    evaluations: int
    products: int
    seconds: float
    held: tuple[str, ...]
    log_z_error: float = 0.0

    @classmethod
    def of(cls, fit: Fit) -> PointSummary:
        solution = fit.solution
        return cls(
            strength=fit.strength,
            groups=None if fit.model.groups is None else fit.n_groups,
            n_groups=fit.model.n_groups,
            is_hard_tied=fit.model.is_hard_tied,
            tying_iterations=len(fit.rounds),
            measure=fit.measure,
            judge=fit.judge,
            train=fit.train,
            held_out=fit.held_out,
            train_pll=fit.train_pll,
            duality_gap=solution.gap,
            n_distinct=fit.n_distinct,
            passes=fit.passes,
            n_nonzero=fit.n_nonzero,
            n_nonzero_scopes=fit.n_nonzero_scopes,
            nonzero_by_order=fit.nonzero_by_order,
            objective_per_row=solution.value,
            violation=solution.violation,
            converged=solution.converged,
            status=solution.status.value,
            iterations=solution.iterations,
            evaluations=solution.evaluations,
            products=solution.products,
            seconds=fit.seconds,
            held=tuple(fit.held),
            log_z_error=fit.log_z_error,
        )

    @property
    def train_text(self) -> str:
        """The train score, with the digits that are known of it."""
        return rounded(self.train, self.log_z_error)

    @property
    def held_out_text(self) -> str:
        """The held-out score in the same way; nothing where there are no such rows."""
        error = self.log_z_error if self.judge == "ll" else 0.0
        return "" if self.held_out is None else rounded(self.held_out, error)

    def to_dict(self) -> dict[str, Any]:
        tied: dict[str, Any] = {}
        if self.groups is not None:
            tied = {"groups": self.groups, "n_groups": self.n_groups, "tying_iterations": self.tying_iterations}
        exact = {} if self.measure == "pll" else {"train_pll": self.train_pll, "duality_gap": self.duality_gap}
        estimated = {"log_z_error": self.log_z_error} if self.log_z_error else {}
        same = (
            *("n_distinct", "passes", "n_nonzero", "n_nonzero_scopes", "violation", "converged"),
            *("status", "iterations", "evaluations", "products", "seconds"),
        )
        return {
            "strength": self.strength,
            **tied,
            f"train_{self.measure}": known(self.train),
            f"valid_{self.judge}": known(self.held_out),
            **exact,
            **estimated,
            **{name: getattr(self, name) for name in same},
            "objective_per_row": known(self.objective_per_row),
            "nonzero_by_order": {str(order): count for order, count in self.nonzero_by_order.items()},
            "held": list(self.held),
        }


def known(value: float | None) -> float | None:
    """None for what is not a number: the likelihood of a model whose chains do not mix."""
    return None if value is None or math.isnan(value) else value


@dataclass(frozen=True)
class GainSummary:
    """What tying gained over the best L2 fit, on which rows, and whether that is more than chance."""

    mean: float
    standard_error: float
    rows: str
    is_real: bool | None
    l2: PointSummary

    @classmethod
    def of(cls, gain: Gain) -> GainSummary:
        return cls(gain.mean, gain.standard_error, gain.rows, gain.is_real, PointSummary.of(gain.l2))

    def to_dict(self) -> dict[str, Any]:
        plain = {"mean": self.mean, "standard_error": self.standard_error, "rows": self.rows, "is_real": self.is_real}
        return {**plain, "l2": self.l2.to_dict()}


@dataclass(frozen=True)
class FitSummary:
    """A fit, from the rows to what the best of the grid is worth.

    Parameters
    ----------
    path
        All fits in the order they were made; ``best`` is one of them.
    n_parameters, n_edges
        Those of the best model (`MarkovNetwork.n_parameters`, ``n_edges``).
    n_candidate_parameters, n_candidate_edges, n_candidate_scopes
        What was considered.
    n_cells
        What the objective goes over: distinct neighbour states, or for a likelihood joint states or cells of cliques.
    engine
        By which the likelihood was worked out; None for the pseudo-likelihood.
    end_of_grid
        ``weakest`` or ``strongest`` where held-out rows chose an end of the strengths tried.
    remarks
        What a reader of a learned structure should know besides its edges.
    centers, gain
        Of tied parameters; None for others.
    check
        Whether the model's own rows look like the data; None where that was not looked at.
    errors
        How sure the parameters of the best model are; None where that was not asked for.
    unbounded
        Parameters of the best model without a finite estimate, and where each goes; see `MarkovNetwork.unbounded`.
    """

    rows: RowsSummary
    n_parameters: int
    n_edges: int
    n_candidate_parameters: int
    n_candidate_edges: int
    n_candidate_scopes: int
    n_cells: int
    guarantee: str
    remarks: tuple[str, ...]
    best: PointSummary
    path: tuple[PointSummary, ...]
    end_of_grid: str | None
    test: Score | None
    centers: tuple[float, ...] | None
    gain: GainSummary | None
    engine: str | None = None
    log_z_error: float | None = None
    score_error: float | None = None  # of log Z and of learning: fits with other seeds differ by as much
    check: Check | None = None
    errors: ErrorsSummary | None = None
    unbounded: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, fitted: Fitted, rows: Rows, check: Check | None = None) -> FitSummary:
        path = tuple(map(PointSummary.of, fitted.fits))
        groups, considered = fitted.model.groups, fitted.structure.structure
        by_chains = fitted.model.provenance.get("log_z")
        return cls(
            rows=RowsSummary.of(rows),
            n_parameters=fitted.model.n_parameters,
            n_edges=fitted.model.n_edges,
            n_candidate_parameters=fitted.n_candidate_parameters,
            n_candidate_edges=len(considered.edges),
            n_candidate_scopes=considered.n_scopes,
            n_cells=fitted.n_cells,
            guarantee=fitted.guarantee,
            remarks=fitted.structure.remarks,
            best=next(point for point, fit in zip(path, fitted.fits, strict=True) if fit is fitted.best),
            path=path,
            end_of_grid=fitted.end_of_grid,
            test=fitted.test,
            centers=None if groups is None else tuple(groups.centers.tolist()),
            gain=None if fitted.gain is None else GainSummary.of(fitted.gain),
            engine=fitted.engine,
            log_z_error=None if by_chains is None else by_chains["error"],
            score_error=None if by_chains is None else hypot(by_chains["error"], by_chains["learning_error"]),
            check=check,
            errors=None if fitted.model.errors is None else ErrorsSummary.of(fitted.model),
            unbounded=fitted.model.unbounded,
        )

    def to_dict(self) -> dict[str, Any]:
        test, tied, checked = {}, {}, {}
        if self.test is not None:
            test = {f"test_{self.best.measure}": self.test.mean, "test_standard_error": self.test.standard_error}
            if self.test.log_z_error:
                test |= {"test_row_error": self.test.row_error, "test_log_z_error": self.test.log_z_error}
        if self.centers is not None:
            gain = None if self.gain is None else self.gain.to_dict()
            tied = {"centers": list(self.centers), "gain_over_l2": gain}
        if self.check is not None:
            phantom = None if self.check.phantom_mode is None else self.check.phantom_mode.to_dict()
            checked = {
                "check": self.check.verdict,
                "max_marginal_error": self.check.max_marginal_error,
                "phantom_mode": phantom,
            }
        return {
            **self.rows.to_dict(),
            "n_parameters": self.n_parameters,
            "n_edges": self.n_edges,
            "n_candidate_parameters": self.n_candidate_parameters,
            "n_candidate_edges": self.n_candidate_edges,
            "n_candidate_scopes": self.n_candidate_scopes,
            "n_cells": self.n_cells,
            **({} if self.engine is None else {"engine": self.engine}),
            **({} if self.log_z_error is None else {"log_z_error": self.log_z_error}),
            **({} if self.score_error is None else {"score_error": self.score_error}),
            "guarantee": self.guarantee,
            "remarks": list(self.remarks),
            "end_of_grid": self.end_of_grid,
            "unbounded": dict(self.unbounded),
            **self.best.to_dict(),
            **test,
            **tied,
            **checked,
            **({} if self.errors is None else self.errors.to_dict()),
            "path": [point.to_dict() for point in self.path],
        }
