"""Sparse regressions of single variables on all others, solved on working sets and checked together.

A `Regression` is one variable's (multinomial) logistic regression with a group of coefficients for each other variable:

    sum over rows of -log p(x_i | rest)  +  strength * sum over j of || coefficients of variable j ||

It is solved on a working set of variables, on the cells of that set. What the variables outside promise comes from one
pass over the table for a whole block of regressions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from mrfit._kernels.structure.node_cells import NodeCells, one_cell
from mrfit._kernels.structure.nodewise import LANES, residual_over_rows, solve_node
from mrfit._typing import Floats, Indices
from mrfit.structures.edge_weights import weight_of_coefficients
from mrfit.structures.nodewise.design_matrix import IndicatorTable

# Refits are all but unpenalised: this much l1 (against the sum over rows) only keeps separable regressions finite.
REFIT_STRENGTH = 1.0
_FLAT = 1e-100
_SINGULAR = 1e-9  # of the total curvature: less of it is rounding


@dataclass
class Regression:
    """One variable's regression: where it stands."""

    variable: int
    cells: NodeCells
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
        """Copy for a trial."""
        cells = self.cells
        own = cells._replace(class_of=cells.class_of.copy(), size=cells.size.copy(), slot=cells.slot.copy())
        # Solving replaces bits and counts as a whole, but overwrites probabilities.
        own = own._replace(probability=cells.probability.copy())
        return replace(self, cells=own, coefficients=self.coefficients.copy())

    def solve(self, table: IndicatorTable, working: Indices, strength: float, tolerance: float) -> None:
        """Solve on the groups of ``working``, from the present coefficients."""
        cells, self.violation, loss, penalty = solve_node(
            table.indicators, self.variable, self.cells, working, strength, tolerance, self.coefficients
        )
        self.cells, self.working, self.loss, self.value = NodeCells(*cells), working, loss, loss + penalty

    def of_neighbours(self, table: IndicatorTable, neighbours: Indices) -> Floats:
        """The coefficients of some variables, one after the other, (columns of theirs, states - 1)."""
        return self.coefficients[1:][np.isin(table.indicators.variable, neighbours)]

    def sizes(self, table: IndicatorTable) -> Floats:
        """Signed size of every variable's group: the coefficient itself, or the norm of a larger table."""
        own = self.coefficients[1:]
        norms = np.sqrt(table.group_sums((own * own).sum(axis=1)))
        if self.n_free > 1:
            return norms
        single = table.widths == 1
        norms[single] = own[table.indicators.group_start[:-1][single], 0]
        return norms

    def edge_weights(self, table: IndicatorTable) -> Floats:
        """Edge weights of all variables, which do not depend on the reference category; zero outside the regression."""
        sizes, starts = self.sizes(table), table.indicators.group_start
        for j in np.flatnonzero(sizes).tolist():
            sizes[j] = weight_of_coefficients(self.coefficients[1 + starts[j] : 1 + starts[j + 1]])
        return sizes


class Regressions:
    """The regressions of some variables over one table, those that vary.

    ``forbidden`` is a symmetric 0/1 matrix of pairs that may not enter each other's regressions.
    """

    def __init__(
        self, table: IndicatorTable, variables: Sequence[int], forbidden: NDArray[np.bool_] | None = None
    ) -> None:
        self.table = table
        self.all: list[Regression] = []
        for i in variables:
            if table.varies(i):
                coefficients = np.zeros((1 + table.n_columns, len(table.state_weights[i]) - 1))
                coefficients[0] = table.constant(i)
                cells = NodeCells(*one_cell(table.indicators, i, coefficients.shape[1]))
                regression = Regression(i, cells, excluded(i, len(table.widths), forbidden), coefficients)
                regression.solve(table, regression.working, 1.0, 1e-9)
                self.all.append(regression)

    def scores(self, regressions: Sequence[Regression]) -> Floats:
        """Score statistics, (regressions, variables): about twice the gain in log-likelihood from adding each.

        For a single coefficient this is gradient^2 / variance, with the variance left after fitting the constant. A
        group's gradient is weighed by the inverse of its whole covariance, so that no state is special as a reference
        category; without neighbours the score is Pearson's chi-square of the pair's table.
        """
        if (self.table.widths > 1).any():
            return self._group_scores(regressions)
        scores = np.empty((len(regressions), len(self.table.widths)))
        for low in range(0, len(regressions), LANES):
            block = regressions[low : low + LANES]
            residual, expected = self._residual_and_expected(block)
            first = self.table.times(residual)
            curvature = expected * (1.0 - expected / self.table.rows.sample_weight)
            # A regression that fits every row has no curvature left, and nothing to gain.
            second, total = self.table.times(curvature), np.maximum(curvature.sum(axis=1), _FLAT)
            variance = second - second**2 / total
            each = self.table.group_sums(first**2 / np.maximum(variance, _SINGULAR * total))
            scores[low : low + len(block)] = each.T
            for k, regression in enumerate(block, low):
                scores[k, regression.excluded] = 0.0
        return scores

    def _group_scores(self, regressions: Sequence[Regression]) -> Floats:
        """Scores of variables of more states: sums of G_t' A_t^-1 G_t over all states t of the other variable.

        G_t is the gradient over the rows in state t, and A_t its covariance. What the sum leaves out is that the
        constants adapt, which is the same as counting the first state, too (Woodbury).
        """
        scores = np.empty((len(regressions), len(self.table.widths)))
        for k, regression in enumerate(regressions):
            residual, expected = self._residual_and_expected([regression])
            a, b = np.tril_indices(regression.n_free)
            curvature = -expected[a] * expected[b] / self.table.rows.sample_weight
            curvature[a == b] += expected
            sums = self.table.times(np.concatenate([residual, curvature]))
            gradient = sums[:, : regression.n_free]
            covariance = _symmetric(sums[:, regression.n_free :])
            total = _symmetric(curvature.sum(axis=1)[None])[0]
            floor = (_SINGULAR * np.trace(total) + _FLAT) * np.eye(regression.n_free)
            first = -self.table.group_sums(gradient), total - self.table.group_sums(covariance)
            scores[k] = self.table.group_sums(_quadratic(gradient, covariance + floor))
            scores[k] += _quadratic(first[0], first[1] + floor)
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
    """Variables that may not enter a regression: its own and the forbidden ones."""
    mask = np.zeros(n_variables, bool) if forbidden is None else forbidden[variable].copy()
    mask[variable] = True
    return mask


def _symmetric(lower: Floats) -> Floats:
    """Matrices from their lower triangles, (matrices, entries) to (matrices, n, n)."""
    n = int((2 * lower.shape[1]) ** 0.5)  # n (n + 1) / 2 entries
    a, b = np.tril_indices(n)
    full = np.empty((len(lower), n, n))
    full[:, a, b] = full[:, b, a] = lower
    return full


def _quadratic(g: Floats, covariance: Floats) -> Floats:
    """g' covariance^-1 g, of (matrices, n) and (matrices, n, n)."""
    return np.asarray((g * np.linalg.solve(covariance, g[:, :, None])[:, :, 0]).sum(axis=1), np.float64)


def _with_lanes(block: Sequence[Regression]) -> list[tuple[Regression, slice]]:
    edges = np.cumsum([0] + [regression.n_free for regression in block]).tolist()
    return [(regression, slice(a, b)) for regression, a, b in zip(block, edges[:-1], edges[1:], strict=True)]
