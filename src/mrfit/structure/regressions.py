"""Sparse regressions of single variables on all others, solved on working sets and checked together.

A `Regression` is one variable's (multinomial) logistic regression with a group of coefficients for each other variable:

    sum over rows of -log p(x_i | rest)  +  strength * sum over j of || coefficients of variable j ||

It is solved on a working set of variables, on the cells of that set. `Regressions.check` then computes the gradient of
everything outside, for a whole block of regressions in one pass over the table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from mrfit._kernels.nodewise import columns_times, solve_node, spread_over_rows
from mrfit.data.unique_rows import UniqueRows

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

_FLAT = 1e-100
LANES = 64  # logits checked together: a row of them is eight vector registers


@dataclass(frozen=True)
class Table:
    """Distinct rows by column and by row; a column is an indicator "variable j is in state s", s > 0."""

    rows: UniqueRows
    codes: NDArray[np.uint8]  # (variables, rows)
    group_start: Indices  # columns of every variable
    row_start: Indices
    row_columns: NDArray[np.int32]

    @classmethod
    def of(cls, rows: UniqueRows) -> Table:
        first_indicator = rows.active.first_indicator
        r, j = np.nonzero(rows.codes)
        row_columns = (first_indicator[j] + rows.codes[r, j] - 1).astype(np.int32)
        row_start = np.searchsorted(r, np.arange(rows.n_distinct + 1))
        return cls(rows, np.ascontiguousarray(rows.codes.T), first_indicator, row_start, row_columns)

    @property
    def n_columns(self) -> int:
        return int(self.group_start[-1])

    @cached_property
    def standard_deviations(self) -> Floats:
        """Of each variable, as indicator of its states other than the first."""
        share = (self.codes > 0) @ self.rows.sample_weight / self.rows.total_weight
        return np.sqrt(share * (1.0 - share))

    def times(self, expected: Floats) -> Floats:
        """Sum of ``expected`` (rows, lanes) over the rows in which each column is active, (columns, lanes)."""
        out = np.zeros((self.n_columns, expected.shape[1]))
        columns_times(self.row_start, self.row_columns, expected, 0, self.rows.n_distinct, out)
        return out

    @cached_property
    def widths(self) -> Indices:
        """Columns of each variable, one less than it has states."""
        return np.diff(self.group_start)

    def group_sums(self, values: Floats) -> Floats:
        """Sum of a column-wise array over the columns of each variable; variables with one state get zero."""
        if (self.widths == 1).all():
            return values
        sums = np.zeros(len(self.widths))
        some = self.widths > 0
        if some.any():
            sums[some] = np.add.reduceat(values, self.group_start[:-1][some])
        return sums


@dataclass
class Regression:
    """One variable's regression: where it stands."""

    variable: int
    n_free: int
    class_of: NDArray[np.int32]  # cell of every row
    size: NDArray[np.int32]  # rows of every cell
    refined: NDArray[np.bool_]  # columns the cells already tell apart
    excluded: NDArray[np.bool_]  # variables that may not enter: itself, and those forbidden
    observed: Floats  # weight of the rows with a column and a state together, (columns, states - 1)
    constant: Floats
    n_cells: int = 1
    coefficients: dict[int, Floats] = field(default_factory=dict)  # nonzero groups, (states of j - 1, states - 1)
    working: Indices = field(default_factory=lambda: np.empty(0, np.int64))
    probability: Floats = field(default_factory=lambda: np.empty(0))  # of every state and cell
    norms: Floats = field(default_factory=lambda: np.empty(0))  # of the gradient of every variable's group
    violation: float = 0.0  # within the working set
    value: float = 0.0  # loss and penalty

    def copy(self) -> Regression:
        """A regression to try things with."""
        return replace(self, class_of=self.class_of.copy(), size=self.size.copy(), refined=self.refined.copy())

    def solve(self, table: Table, working: Indices, strength: float, tolerance: float) -> None:
        """Solve on the groups of ``working``, from the present coefficients."""
        rows = table.rows
        widths = table.widths[working]
        group_start = np.concatenate([[0], np.cumsum(widths)])
        columns = np.repeat(table.group_start[working] - group_start[:-1], widths) + np.arange(group_start[-1])
        new = columns[~self.refined[columns]]
        self.refined[new] = True
        beta = np.zeros((1 + len(columns), self.n_free))
        beta[0] = self.constant
        spans = [slice(1 + a, 1 + b) for a, b in pairwise(group_start.tolist())]
        for j, span in zip(working.tolist(), spans, strict=True):
            if j in self.coefficients:
                beta[span] = self.coefficients[j]
        self.n_cells, self.violation, _, self.value, self.probability = solve_node(
            rows.active.start, rows.active.rows, rows.sample_weight, table.codes[self.variable], self.n_free,
            self.class_of, self.size, self.n_cells, new, columns, group_start, strength, tolerance, beta.ravel(),
        )  # fmt: skip
        self.constant, self.working = beta[0], working
        nonzero = [(j, span) for j, span in zip(working.tolist(), spans, strict=True) if beta[span].any()]
        self.coefficients = {j: beta[span] for j, span in nonzero}


class Regressions:
    """The regressions of some variables over one table.

    ``forbidden`` is a symmetric 0/1 matrix of pairs that may not enter each other's regressions.
    """

    def __init__(self, table: Table, variables: Sequence[int], forbidden: NDArray[np.bool_] | None = None) -> None:
        self.table = table
        counts = {
            i: np.bincount(table.codes[i], table.rows.sample_weight, table.rows.domain.shape[i]) for i in variables
        }
        # A state without rows has no finite constant: such variables are left alone.
        varies = {i: len(counts[i]) > 1 and bool(counts[i].all()) for i in variables}
        self.constant_variables = [i for i in variables if not varies[i]]
        varying = [i for i in variables if varies[i]]
        observed = self._observed(varying)
        n = table.rows.n_distinct
        self.all = [
            Regression(
                variable=i,
                n_free=len(counts[i]) - 1,
                class_of=np.zeros(n, np.int32),
                size=np.full(n + 1, n, np.int32),
                refined=np.zeros(table.n_columns, bool),
                excluded=_excluded(i, len(table.widths), forbidden),
                observed=observed[i],
                constant=np.log(counts[i][1:] / counts[i][0]),
            )
            for i in varying
        ]
        for regression in self.all:
            regression.solve(table, np.empty(0, np.int64), 1.0, 1e-9)

    def check(self, regressions: Sequence[Regression]) -> None:
        """Gradient norms of all groups, for all ``regressions``, in one pass over the table for every block."""
        for block in self._blocks(regressions):
            gradient = self.table.times(self._expected(block))
            for regression, lanes in _with_lanes(block):
                mine = gradient[:, lanes] - regression.observed
                regression.norms = np.sqrt(self.table.group_sums((mine * mine).sum(axis=1)))
                regression.norms[regression.excluded] = 0.0

    def scores(self, regressions: Sequence[Regression]) -> list[Floats]:
        """Score statistics of all groups: about twice the gain in log-likelihood from adding each to the regression.

        For a single coefficient this is gradient^2 / variance, with the variance left after fitting the constant; for
        larger groups the sum over their entries, divided by nothing but their own variances.
        """
        found: list[Floats] = []
        for block in self._blocks(regressions):
            expected = self._expected(block)
            first = self.table.times(expected)
            weight = self.table.rows.sample_weight[:, None]
            curvature = expected * (1.0 - expected / weight)
            # A regression that fits every row has no curvature left, and nothing to gain.
            second, total = self.table.times(curvature), np.maximum(curvature.sum(axis=0), _FLAT)
            for regression, lanes in _with_lanes(block):
                gradient = first[:, lanes] - regression.observed
                variance = second[:, lanes] - second[:, lanes] ** 2 / total[lanes]
                floor = 1e-9 * total[lanes]
                score = self.table.group_sums((gradient**2 / np.maximum(variance, floor)).sum(axis=1))
                score[regression.excluded] = 0.0
                found.append(score)
        return found

    def _blocks(self, regressions: Sequence[Regression]) -> list[list[Regression]]:
        blocks: list[list[Regression]] = []
        room = 0
        for regression in regressions:
            if regression.n_free > room:
                blocks.append([])
                room = max(LANES, regression.n_free)
            blocks[-1].append(regression)
            room -= regression.n_free
        return blocks

    def _expected(self, block: list[Regression]) -> Floats:
        """Weight of every row times the probability of every state, (rows, lanes)."""
        expected = np.empty((self.table.rows.n_distinct, sum(r.n_free for r in block)))
        weight = self.table.rows.sample_weight
        for r, lanes in _with_lanes(block):
            spread_over_rows(r.probability, r.n_cells, r.n_free, r.class_of, weight, lanes.start, expected)
        return expected

    def _observed(self, variables: Sequence[int]) -> dict[int, Floats]:
        weight, codes, shape = self.table.rows.sample_weight, self.table.codes, self.table.rows.domain.shape
        observed: dict[int, Floats] = {}
        for low in range(0, len(variables), LANES):
            some = variables[low : low + LANES]
            lanes = [weight * (codes[i] == s) for i in some for s in range(1, shape[i])]
            together = self.table.times(np.stack(lanes, axis=1))
            edges = np.cumsum([0] + [shape[i] - 1 for i in some])
            observed |= {i: together[:, a:b] for i, a, b in zip(some, edges[:-1], edges[1:], strict=True)}
        return observed


def _excluded(variable: int, n_variables: int, forbidden: NDArray[np.bool_] | None) -> NDArray[np.bool_]:
    excluded = np.zeros(n_variables, bool) if forbidden is None else forbidden[variable].copy()
    excluded[variable] = True
    return excluded


def _with_lanes(block: list[Regression]) -> list[tuple[Regression, slice]]:
    edges = np.cumsum([0] + [regression.n_free for regression in block]).tolist()
    return [(regression, slice(a, b)) for regression, a, b in zip(block, edges[:-1], edges[1:], strict=True)]
