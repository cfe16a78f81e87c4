"""Criteria for a point of a path: the extended BIC, or the prediction of held-out rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mrfit._typing import Floats
from mrfit.data.unique_rows import UniqueRows
from mrfit.structures.mutual_information import pairwise_mutual_information
from mrfit.structures.nodewise.design_matrix import IndicatorTable
from mrfit.structures.nodewise.lasso_paths import NodePath, PathPoint, regression_table
from mrfit.structures.nodewise.observed_states import SeenStates
from mrfit.structures.nodewise.regressions import REFIT_STRENGTH, Regression, Regressions
from mrfit.structures.nodewise.sparse_design_matrix import ItemRegression, ItemTable

# Shares of the total weight: a likelihood this close to its maximum has converged, even if the maximum is at infinity.
REFITTED = 1e-7
REFITTED_TOLERANCE = 1e-6
_RUN = 1e-2  # if nothing bounds a coefficient, a strength smaller by this factor lets it grow by 4.6


class Criterion(ABC):
    """A criterion: one number for every point of a path, computed once; the smallest is best."""

    def __init__(self) -> None:
        self._known: dict[int, list[float]] = {}

    @abstractmethod
    def score(self, variable: int, point: PathPoint) -> float:
        """Score one point; one thread scores the points of a path in order."""

    def along(self, path: NodePath) -> Floats:
        known = self._known.setdefault(path.variable, [])
        known += [self.score(path.variable, point) for point in path.points[len(known) :]]
        return np.array(known[: len(path.points)])

    def best(self, path: NodePath) -> int:
        """Index of the best point; of equal points the last, which is shrunken least."""
        return len(path.points) - 1 - int(np.argmin(self.along(path)[::-1]))

    def chosen(self, path: NodePath) -> PathPoint:
        """Return the best point, with the coefficients to report."""
        return path.points[self.best(path)]

    def runs_away(self, path: NodePath) -> bool:
        """Whether the reported coefficients approximate an optimum at infinity."""
        return False

    @abstractmethod
    def why_none(self, rows: UniqueRows, paths: Sequence[NodePath]) -> str:
        """Explain why it selected points without neighbours on all paths, although they go further."""


class EbicCriterion(Criterion):
    """An extended BIC: 2 loss + ``price`` of a coefficient * coefficients."""

    def __init__(self, price: float) -> None:
        super().__init__()
        self.price = price

    def why_none(self, rows: UniqueRows, paths: Sequence[NodePath]) -> str:
        """Name the most promising pair, its reduction of 2 loss and the cost of its coefficients."""
        best = (-np.inf, "")
        for path in paths:
            first = next((point for point in path.points if len(point.selected)), None)
            if first is not None:
                pair = rows.on_columns(sorted([path.variable, int(first.selected[0])]))
                gain = 2.0 * rows.total_weight * pairwise_mutual_information(pair)[0, 1]
                n, price = first.coefficients[0].size, self.price
                names = " - ".join(pair.domain.names)
                text = f"{names} lowers 2 x loss by {gain:.1f}, at a price of {n * price:.1f} ({n} x {price:.2f})."
                best = max(best, (gain - n * price, text))
        return best[1]


class ShrunkenEbic(EbicCriterion):
    """Loss of the l1 solution itself and its nonzero coefficients: the practice for binary variables."""

    def score(self, variable: int, point: PathPoint) -> float:
        return 2.0 * point.loss + self.price * point.n_parameters


class RefittedEbic(EbicCriterion):
    """Loss at the maximum of the likelihood on the point's neighbours.

    A group of coefficients enters all at once but shrunken, so its loss would reflect only part of what its penalty
    counts. The reported coefficients are refitted too, with an l1 penalty just large enough for finite values.
    """

    def __init__(self, price: float, table: IndicatorTable | ItemTable) -> None:
        super().__init__(price)
        self.table = table
        self._refits: dict[int, _Refit] = {}

    def score(self, variable: int, point: PathPoint) -> float:
        if variable not in self._refits:
            self._refits[variable] = _Refit(self.table, _regression(self.table, variable))
        return 2.0 * self._refits[variable].loss(point.selected) + self.price * point.n_parameters

    def chosen(self, path: NodePath) -> PathPoint:
        point = super().chosen(path)
        return self._refits[path.variable].refitted(point)

    def runs_away(self, path: NodePath) -> bool:
        return self._refits[path.variable].runs_away(super().chosen(path).selected)


@dataclass
class _Refit:
    """Unpenalised fits of one variable's regression on one set of neighbours after another."""

    table: Any  # that of the regression
    regression: Regression | ItemRegression
    known: dict[tuple[int, ...], float] = field(default_factory=dict)

    def loss(self, neighbours: NDArray[np.int64]) -> float:
        key = tuple(neighbours.tolist())
        if key not in self.known:
            weight = self.table.rows.total_weight
            self.regression.solve(self.table, np.array(neighbours), REFITTED * weight, REFITTED_TOLERANCE * weight)
            self.known[key] = self.regression.loss
        return self.known[key]

    def runs_away(self, neighbours: NDArray[np.int64]) -> bool:
        """Whether coefficients grow like the logarithm of the penalty as it vanishes, instead of converging."""
        largest, weight = [], self.table.rows.total_weight
        for share in (REFITTED, _RUN * REFITTED):
            self.regression.solve(self.table, np.array(neighbours), share * weight, _RUN * share * weight)
            largest.append(float(np.abs(self.regression.coefficients[1:]).max(initial=0.0)))
        return largest[1] - largest[0] > 1.0

    def refitted(self, point: PathPoint) -> PathPoint:
        regression, neighbours = self.regression, np.array(point.selected)
        regression.solve(self.table, neighbours, REFIT_STRENGTH, REFITTED_TOLERANCE * self.table.rows.total_weight)
        values = regression.of_neighbours(self.table, neighbours)
        return replace(point, constant=regression.coefficients[0].copy(), values=values, loss=regression.loss)


def _regression(table: IndicatorTable | ItemTable, variable: int) -> Regression | ItemRegression:
    if isinstance(table, ItemTable):
        return ItemRegression(table, variable)
    return Regressions(table, [variable]).all[0]


class HeldOutCriterion(Criterion):
    """Negative log-likelihood of the variable given the rest, summed over weighted rows that were held out.

    Rows are left out if the variable is in a state absent from training, which no point can predict. Such a state of a
    neighbour has no effect.
    """

    def __init__(self, rows: UniqueRows, seen: SeenStates) -> None:
        super().__init__()
        self.codes = np.ascontiguousarray(seen.codes(rows).T)  # (variables, rows)
        self.sample_weight, self.shape = rows.sample_weight, seen.domain.shape

    def score(self, variable: int, point: PathPoint) -> float:
        own, n_rows = self.codes[variable], len(self.sample_weight)
        z = np.repeat(np.concatenate([[0.0], point.constant])[:, None], n_rows, axis=1)  # (states, rows)
        silent = np.zeros((1, len(point.constant)))  # coefficients of the first state, and of unseen states
        for j, table in zip(point.selected.tolist(), point.coefficients, strict=True):
            z[1:] += np.concatenate([silent, table, silent]).T[:, self.codes[j]]
        known = own < self.shape[variable]
        largest = z.max(axis=0)
        log_total = largest + np.log(np.exp(z - largest).sum(axis=0))
        chosen = z[np.where(known, own, 0), np.arange(n_rows)]
        return float((self.sample_weight * known) @ (log_total - chosen))

    def why_none(self, rows: UniqueRows, paths: Sequence[NodePath]) -> str:
        return "held-out rows are predicted best without any neighbour."


def ebic(rows: UniqueRows, gamma: float, *, refit: bool, n_variables: int | None = None) -> EbicCriterion:
    """The extended BIC; ``gamma`` weighs its extra term, of ``n_variables`` (all by default).

    It uses refits if requested, and always with groups of coefficients.
    """
    price = price_of(rows.total_weight, gamma, len(rows.domain) if n_variables is None else n_variables)
    if refit or SeenStates.of(rows).has_groups:
        return RefittedEbic(price, regression_table(rows, None, standard=False))
    return ShrunkenEbic(price)


def price_of(total_weight: float, gamma: float, n_variables: int) -> float:
    """Cost of a coefficient, log N + 2 gamma log(n - 1)."""
    return float(np.log(total_weight) + 2.0 * gamma * np.log(max(n_variables - 1, 1)))
