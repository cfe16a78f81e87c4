"""The distinct rows as columns that are on or off, which all regressions share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mrfit._kernels.structure.dense_lasso_path import Points, RegressionState, walk_paths
from mrfit._kernels.structure.node_cells import Indicators
from mrfit._kernels.structure.nodewise import LANES, columns_times
from mrfit._typing import Floats, Indices
from mrfit.data.unique_rows import UniqueRows
from mrfit.structures.nodewise.allowed_pairs import AllowedPairs
from mrfit.structures.nodewise.observed_states import SeenStates

ROUNDING = 1e-12  # of the total weight: a smaller gradient is zero


class Start(NamedTuple):
    """Start of the paths of some regressions, without neighbours; the last two fields as in `RegressionState`."""

    critical: Floats  # the strengths at which a first neighbour enters
    excluded: NDArray[np.bool_]
    norms: Floats


@dataclass(frozen=True)
class IndicatorTable:
    """Distinct rows by column; a column is an indicator "variable j is in state s", s > 0.

    Only states that occur count: the first of them is the silent one, and the others have columns.
    """

    rows: UniqueRows
    indicators: Indicators
    pairs: AllowedPairs  # that paths keep to

    @classmethod
    def of(cls, rows: UniqueRows, pairs: AllowedPairs | None = None, *, standard: bool = False) -> IndicatorTable:
        """All ``pairs`` by default; ``standard`` columns are penalised as if divided by their standard deviations."""
        rows = SeenStates.of(rows).of_rows(rows)
        group_start = rows.active.first_indicator
        variable = np.repeat(np.arange(len(rows.domain)), np.diff(group_start))
        state = 1 + np.arange(len(variable)) - group_start[variable]
        codes = rows.codes.T.copy()  # also of one column: kernels are compiled for what may be written to
        active, weight = rows.active, rows.sample_weight
        scale = _standard_deviations(codes, weight) if standard else np.ones(len(codes))
        scale[scale == 0.0] = 1.0  # of a variable without columns
        indicators = Indicators(active.start, active.rows, codes, variable, state, group_start, weight, scale)
        return cls(rows, indicators, pairs or AllowedPairs.all(len(rows.domain)))

    @property
    def n_columns(self) -> int:
        return len(self.indicators.variable)

    @cached_property
    def standard_deviations(self) -> Floats:
        """Standard deviation of each variable, as indicator of its states other than the first."""
        return _standard_deviations(self.indicators.codes, self.rows.sample_weight)

    @cached_property
    def widths(self) -> Indices:
        """Columns of each variable, one less than it has states that occur."""
        return np.diff(self.indicators.group_start)

    @property
    def state_weights(self) -> tuple[Floats, ...]:
        """Weight of the rows in each state that occurs, for every variable."""
        return self.rows.state_weights

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
        """Gradient norms of regressions without neighbours, by scale, (given variables, all variables)."""
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
        return np.asarray(np.concatenate(blocks) / self.indicators.scale, np.float64)

    def start(self, variables: Sequence[int]) -> Start:
        """Compute the start of the paths of these variables."""
        barred = self.pairs.forbidden[list(variables)]
        norms = np.where(barred, 0.0, self.norms_alone(variables))
        norms[norms <= ROUNDING * self.rows.total_weight] = 0.0
        return Start(norms.max(axis=1), barred, norms)

    def walk(self, nodes: RegressionState, max_selected: int) -> Points:
        """Paths from there, until they select more variables."""
        return Points(*walk_paths(self.indicators, nodes, max_selected))

    def group_sums(self, values: Floats) -> Floats:
        """Sum over the columns of each variable, (columns, ...) to (variables, ...); no columns sum to zero."""
        if (self.widths == 1).all():
            return values
        sums, some = np.zeros((len(self.widths), *values.shape[1:])), self.widths > 0
        if some.any():
            sums[some] = np.add.reduceat(values, self.indicators.group_start[:-1][some], axis=0)
        return sums


def _standard_deviations(codes: NDArray[np.integer], weight: Floats) -> Floats:
    share = (codes > 0) @ weight / weight.sum()
    return np.asarray(np.sqrt(share * (1.0 - share)), np.float64)
