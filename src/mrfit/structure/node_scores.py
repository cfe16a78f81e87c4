"""Which point of a path to take: the extended BIC, or how well points predict rows they were not learned from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from mrfit.data.unique_rows import UniqueRows
from mrfit.structure.node_paths import NodePath, PathPoint
from mrfit.structure.regressions import Regression, Regressions, Table
from mrfit.structure.seen_states import SeenStates

Floats = NDArray[np.float64]

# Shares of the total weight: this much l1 only keeps refits of separable regressions finite.
_TINY = 1e-7
_TOLERANCE = 1e-6


class Criterion(ABC):
    """A number for every point of a path, computed once; the smallest is best."""

    def __init__(self) -> None:
        self._known: dict[int, list[float]] = {}

    @abstractmethod
    def score(self, variable: int, point: PathPoint) -> float:
        """The number of one point; those of a path are asked for in its order, by one thread."""

    def along(self, path: NodePath) -> Floats:
        known = self._known.setdefault(path.variable, [])
        known += [self.score(path.variable, point) for point in path.points[len(known) :]]
        return np.array(known)

    def best(self, path: NodePath) -> int:
        """Where the best point stands: of equal ones the last, which is shrunken least."""
        return len(path.points) - 1 - int(np.argmin(self.along(path)[::-1]))


class ShrunkenEbic(Criterion):
    """2 loss + price * coefficients that are not zero, at the l1 solution itself: the practice for binary variables."""

    def __init__(self, price: float) -> None:
        super().__init__()
        self.price = price

    def score(self, variable: int, point: PathPoint) -> float:
        return 2.0 * point.loss + self.price * point.n_parameters


class RefittedEbic(Criterion):
    """2 loss + price * coefficients, at the maximum of the likelihood on the point's neighbours.

    A group of coefficients enters all at once but shrunken: its loss would pay for a part of what its price is for.
    """

    def __init__(self, price: float, table: Table) -> None:
        super().__init__()
        self.price, self.table = price, table
        self._refits: dict[int, _Refit] = {}

    def score(self, variable: int, point: PathPoint) -> float:
        if variable not in self._refits:
            self._refits[variable] = _Refit(self.table, Regressions(self.table, [variable]).all[0])
        return 2.0 * self._refits[variable].loss(point.selected) + self.price * point.n_parameters


@dataclass
class _Refit:
    """One variable's regression without a penalty, on one set of neighbours after another."""

    table: Table
    regression: Regression
    known: dict[tuple[int, ...], float] = field(default_factory=dict)

    def loss(self, neighbours: NDArray[np.int64]) -> float:
        key = tuple(neighbours.tolist())
        if key not in self.known:
            weight = self.table.rows.total_weight
            self.regression.solve(self.table, np.array(neighbours), _TINY * weight, _TOLERANCE * weight)
            self.known[key] = self.regression.loss
        return self.known[key]


class HeldOutLoss(Criterion):
    """Negative log-likelihood of the variable given the rest, summed over weighted rows that were held out.

    Rows in a state of the variable that was not learned from are left out: no point can predict them. Such a state of a
    neighbour says nothing.
    """

    def __init__(self, rows: UniqueRows, seen: SeenStates) -> None:
        super().__init__()
        self.codes, self.sample_weight, self.shape = seen.codes(rows), rows.sample_weight, seen.domain.shape

    def score(self, variable: int, point: PathPoint) -> float:
        known = self.codes[:, variable] < self.shape[variable]
        codes = self.codes[known].astype(np.int64)
        z = np.tile(np.concatenate([[0.0], point.constant]), (len(codes), 1))  # (rows, states)
        for j, table in zip(point.selected.tolist(), point.coefficients, strict=True):
            padded = np.pad(table, ((1, 1), (0, 0)))  # the first state is silent, and so is one that was not seen
            z[:, 1:] += padded[codes[:, j]]
        largest = z.max(axis=1)
        log_total = largest + np.log(np.exp(z - largest[:, None]).sum(axis=1))
        own = np.take_along_axis(z, codes[:, variable, None], axis=1)[:, 0]
        return float(self.sample_weight[known] @ (log_total - own))
