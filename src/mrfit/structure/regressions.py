"""Sparse regressions of single variables on all others, solved on working sets and checked together.

A `Regression` is one variable's (multinomial) logistic regression with a group of coefficients for each other variable:

    sum over rows of -log p(x_i | rest)  +  strength * sum over j of || coefficients of variable j ||

It is solved on a working set of variables, on the cells of that set. What the variables outside promise comes from one
pass over the table for a whole block of regressions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mrfit._kernels.node_cells import Cells, Indicators, one_cell
from mrfit._kernels.nodewise import LANES, columns_times, residual_over_rows, solve_node
from mrfit.data.unique_rows import UniqueRows
from mrfit.structure.seen_states import SeenStates

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

# Refits are all but unpenalised: this much l1 (against the sum over rows) only keeps separable regressions finite.
TINY = 1.0
_FLAT = 1e-100


@dataclass(frozen=True)
class Table:
    """Distinct rows by column; a column is an indicator "variable j is in state s", s > 0.

    Only states that occur count: the first of them is the silent one, and the others have columns.
    """

    rows: UniqueRows
    indicators: Indicators

    @classmethod
    def of(cls, rows: UniqueRows) -> Table:
        rows = SeenStates.of(rows).of_rows(rows)
        group_start = rows.active.first_indicator
        variable = np.repeat(np.arange(len(rows.domain)), np.diff(group_start))
        state = 1 + np.arange(len(variable)) - group_start[variable]
        codes = np.ascontiguousarray(rows.codes.T)
        return cls(
            rows,
            Indicators(rows.active.start, rows.active.rows, codes, variable, state, group_start, rows.sample_weight),
        )

    @property
    def n_columns(self) -> int:
        return len(self.indicators.variable)

    @cached_property
    def standard_deviations(self) -> Floats:
        """Of each variable, as indicator of its states other than the first."""
        share = (self.indicators.codes > 0) @ self.rows.sample_weight / self.rows.total_weight
        return np.sqrt(share * (1.0 - share))

    @cached_property
    def widths(self) -> Indices:
        """Columns of each variable, one less than it has states that occur."""
        return np.diff(self.indicators.group_start)

    @cached_property
    def has_groups(self) -> bool:
        """Whether a variable has more than two states."""
        return bool((self.widths > 1).any())

    @cached_property
    def state_weights(self) -> list[Floats]:
        """Weight of the rows in each state, for every variable."""
        weight, shape = self.rows.sample_weight, self.rows.domain.shape
        pairs = zip(self.indicators.codes, shape, strict=True)
        return [np.bincount(codes, weight, c).astype(np.float64) for codes, c in pairs]

    def varies(self, variable: int) -> bool:
        """Whether the variable has a regression."""
        return bool(self.widths[variable] > 0)

    def constant(self, variable: int) -> Floats:
        """The constant of a regression without neighbours."""
        weights = self.state_weights[variable]
        return np.asarray(np.log(weights[1:] / weights[0]), np.float64)

    def times(self, values: Floats) -> Floats:
        """Sum of ``values`` (lanes, rows) over the rows in which each column is active, (columns, lanes)."""
        sums = np.empty((self.n_columns, len(values)))
        columns_times(self.indicators.start, self.indicators.rows, values, sums)
        return sums

    def norms_alone(self, variables: Sequence[int]) -> Floats:
        """Gradient norms of regressions without neighbours, (given variables, all variables)."""
        codes, weight = self.indicators.codes, self.rows.sample_weight
        blocks = []
        for low in range(0, len(variables), LANES):
            some = variables[low : low + LANES]
            shares = [self.state_weights[i] / self.rows.total_weight for i in some]
            lanes = [
                weight * (share[s] - (codes[i] == s))
                for i, share in zip(some, shares, strict=True)
                for s in range(1, len(share))
            ]
            squared = self.group_sums(self.times(np.stack(lanes)) ** 2)
            first_lane = np.cumsum([0] + [len(share) - 1 for share in shares[:-1]])
            blocks.append(np.sqrt(np.add.reduceat(squared, first_lane, axis=1)).T)
        return np.concatenate(blocks)

    def group_sums(self, values: Floats) -> Floats:
        """Sum over the columns of each variable, (columns, ...) to (variables, ...); no columns sum to zero."""
        if (self.widths == 1).all():
            return values
        sums, some = np.zeros((len(self.widths), *values.shape[1:])), self.widths > 0
        if some.any():
            sums[some] = np.add.reduceat(values, self.indicators.group_start[:-1][some], axis=0)
        return sums


@dataclass
class Regression:
    """One variable's regression: where it stands."""

    variable: int
    cells: Cells
    excluded: NDArray[np.bool_]  # variables that may not enter: itself, and those forbidden
    coefficients: Floats  # (1 + columns, states - 1), the constant first
    working: Indices = field(default_factory=lambda: np.empty(0, np.int64))
    violation: float = 0.0  # within the working set
    loss: float = 0.0
    value: float = 0.0  # loss and penalty

    @property
    def n_free(self) -> int:
        return int(self.coefficients.shape[1])

    def copy(self) -> Regression:
        """A regression to try things with."""
        cells = self.cells
        own = cells._replace(class_of=cells.class_of.copy(), size=cells.size.copy(), slot=cells.slot.copy())
        # Bits and counts are only ever replaced; probabilities are written in place.
        own = own._replace(probability=cells.probability.copy())
        return replace(self, cells=own, coefficients=self.coefficients.copy())

    def solve(self, table: Table, working: Indices, strength: float, tolerance: float) -> None:
        """Solve on the groups of ``working``, from the present coefficients."""
        cells, self.violation, loss, penalty = solve_node(
            table.indicators, self.variable, self.cells, working, strength, tolerance, self.coefficients
        )
        self.cells, self.working, self.loss, self.value = Cells(*cells), working, loss, loss + penalty

    def of_neighbours(self, table: Table, neighbours: Indices) -> Floats:
        """The coefficients of some variables, one after the other, (columns of theirs, states - 1)."""
        return self.coefficients[1:][np.isin(table.indicators.variable, neighbours)]

    def sizes(self, table: Table) -> Floats:
        """Signed size of every variable's group: the coefficient itself, or the norm of a larger table."""
        own = self.coefficients[1:]
        norms = np.sqrt(table.group_sums((own * own).sum(axis=1)))
        if self.n_free > 1:
            return norms
        single = table.widths == 1
        norms[single] = own[table.indicators.group_start[:-1][single], 0]
        return norms


class Regressions:
    """The regressions of some variables over one table, those that vary.

    ``forbidden`` is a symmetric 0/1 matrix of pairs that may not enter each other's regressions.
    """

    def __init__(self, table: Table, variables: Sequence[int], forbidden: NDArray[np.bool_] | None = None) -> None:
        self.table = table
        self.all: list[Regression] = []
        for i in variables:
            if table.varies(i):
                coefficients = np.zeros((1 + table.n_columns, len(table.state_weights[i]) - 1))
                coefficients[0] = table.constant(i)
                cells = Cells(*one_cell(table.indicators, i, coefficients.shape[1]))
                regression = Regression(i, cells, excluded(i, len(table.widths), forbidden), coefficients)
                regression.solve(table, regression.working, 1.0, 1e-9)
                self.all.append(regression)

    def scores(self, regressions: Sequence[Regression]) -> Floats:
        """Score statistics, (regressions, variables): about twice the gain in log-likelihood from adding each.

        For a single coefficient this is gradient^2 / variance, with the variance left after fitting the constant; for
        larger groups the sum over their entries, divided by nothing but their own variances.
        """
        scores = np.empty((len(regressions), len(self.table.widths)))
        for low in range(0, len(regressions), LANES):
            block = regressions[low : low + LANES]
            residual, expected = self._residual_and_expected(block)
            first = self.table.times(residual)
            curvature = expected * (1.0 - expected / self.table.rows.sample_weight)
            # A regression that fits every row has no curvature left, and nothing to gain.
            second, total = self.table.times(curvature), np.maximum(curvature.sum(axis=1), _FLAT)
            variance = second - second**2 / total
            each = self.table.group_sums(first**2 / np.maximum(variance, 1e-9 * total))
            for k, (regression, lanes) in enumerate(_with_lanes(block), low):
                scores[k] = each[:, lanes].sum(axis=1)
                scores[k, regression.excluded] = 0.0
        return scores

    def _residual_and_expected(self, block: Sequence[Regression]) -> tuple[Floats, Floats]:
        """(Expected - observed, expected) weight of every row and state, (lanes, rows)."""
        table = self.table
        residual = np.empty((sum(r.n_free for r in block), table.rows.n_distinct))
        expected = np.empty_like(residual)
        for regression, lanes in _with_lanes(block):
            residual_over_rows(table.indicators, regression.variable, regression.cells, residual[lanes])
            states = np.arange(1, 1 + regression.n_free)[:, None]
            observed = np.where(table.indicators.codes[regression.variable] == states, table.rows.sample_weight, 0.0)
            expected[lanes] = residual[lanes] + observed
        return residual, expected


def excluded(variable: int, n_variables: int, forbidden: NDArray[np.bool_] | None) -> NDArray[np.bool_]:
    """Which variables may not enter a regression: its own, and those forbidden."""
    mask = np.zeros(n_variables, bool) if forbidden is None else forbidden[variable].copy()
    mask[variable] = True
    return mask


def _with_lanes(block: Sequence[Regression]) -> list[tuple[Regression, slice]]:
    edges = np.cumsum([0] + [regression.n_free for regression in block]).tolist()
    return [(regression, slice(a, b)) for regression, a, b in zip(block, edges[:-1], edges[1:], strict=True)]
