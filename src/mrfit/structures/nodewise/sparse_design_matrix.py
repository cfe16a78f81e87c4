"""Active entries of very many binary variables, as regressions share them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from mrfit._kernels.structure.dense_lasso_path import Points, RegressionState
from mrfit._kernels.structure.sparse_lasso_path import (
    ItemLists,
    critical_strengths,
    item_work_arrays,
    solve_on_items,
    walk_item_paths,
)
from mrfit._typing import Floats, Indices
from mrfit.data.sparse_rows import SparseRows
from mrfit.structures.nodewise.allowed_pairs import AllowedPairs
from mrfit.structures.nodewise.design_matrix import ROUNDING, Start


@dataclass(frozen=True)
class ItemTable:
    """The counterpart of `IndicatorTable` for rows that are lists; no array has variables squared entries."""

    rows: SparseRows
    lists: ItemLists

    @classmethod
    def of(cls, rows: SparseRows, pairs: AllowedPairs | None = None, *, standard: bool = False) -> ItemTable:
        """Build the table; ``standard`` columns are penalised as if standardised."""
        pairs = pairs or AllowedPairs.all(len(rows.domain))
        on = np.array([weights[1] for weights in rows.state_weights])
        share = on / rows.total_weight
        scale = np.sqrt(share * (1.0 - share)) if standard else np.ones(len(on))
        scale[scale == 0.0] = 1.0  # of a variable that does not vary
        lists = ItemLists(
            start=rows.active.start,
            rows=rows.active.rows,
            row_start=rows.entries.indptr.astype(np.int64),
            items=rows.entries.indices.astype(np.int32),
            sample_weight=rows.sample_weight.copy(),  # copied: kernels are compiled for writable arrays
            weight=on,
            scale=scale,
            by_reach=np.argsort(-on / scale, kind="stable"),
            barred=pairs.forbidden_both_ways,
            left_out=np.isin(np.arange(len(on)), pairs.left_out),
        )
        return cls(rows, lists)

    @cached_property
    def widths(self) -> Indices:
        """Number of columns: one, or zero for variables that do not vary or are left out."""
        on = self.lists.weight
        varies = (on > 0.0) & (on < self.rows.total_weight) & ~self.lists.left_out
        return np.asarray(varies, np.int64)

    def varies(self, variable: int) -> bool:
        """Whether the variable varies, and so has a regression."""
        return bool(self.widths[variable] > 0)

    def constant(self, variable: int) -> Floats:
        """Return the constant of a regression without neighbours."""
        on = self.lists.weight[variable]
        return np.array([np.log(on / (self.rows.total_weight - on))])

    def start(self, variables: Sequence[int]) -> Start:
        """Return the starts of the paths of these variables; the kernel handles exclusions and gradients itself."""
        critical = np.empty(len(variables))
        critical_strengths(self.lists, np.array(variables), critical)
        critical[critical <= ROUNDING * self.rows.total_weight] = 0.0
        return Start(critical, np.empty((len(variables), 0), bool), np.empty((len(variables), 0)))

    def walk(self, nodes: RegressionState, max_selected: int) -> Points:
        """Walk the paths from there until they select more than ``max_selected`` variables."""
        return Points(*walk_item_paths(self.lists, nodes, max_selected))

    def workspace(self) -> Any:
        """Return work arrays for one thread to solve single regressions."""
        return item_work_arrays(self.lists)


class ItemRegression:
    """One variable's regression from lists, on one set of neighbours after another: the counterpart of `Regression`."""

    def __init__(self, table: ItemTable, variable: int) -> None:
        self.variable = variable
        self.loss = 0.0
        self._known: dict[int, float] = {}
        self._constant = float(table.constant(variable)[0])
        self.coefficients = np.array([[self._constant]])  # (1 + neighbours, 1), the constant first
        self._workspace = table.workspace()

    def solve(self, table: ItemTable, neighbours: Indices, strength: float, tolerance: float) -> None:
        """Solve on ``neighbours``, ascending, starting from their last coefficients."""
        beta = np.array([self._constant, *(self._known.get(j, 0.0) for j in neighbours.tolist())])
        self.loss = solve_on_items(table.lists, self._workspace, self.variable, neighbours, strength, tolerance, beta)
        self._constant, self._known = float(beta[0]), dict(zip(neighbours.tolist(), beta[1:].tolist(), strict=True))
        self.coefficients = beta[:, None]

    def of_neighbours(self, table: ItemTable, neighbours: Indices) -> Floats:
        """Return the coefficients of the neighbours last solved for, (neighbours, 1)."""
        return self.coefficients[1:]
