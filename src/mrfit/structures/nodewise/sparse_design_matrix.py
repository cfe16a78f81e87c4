"""Lists of active entries as regressions of very many yes/no variables share them."""

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
    item_room,
    solve_on_items,
    walk_item_paths,
)
from mrfit._typing import Floats, Indices
from mrfit.data.sparse_rows import SparseRows
from mrfit.structures.nodewise.allowed_pairs import AllowedPairs
from mrfit.structures.nodewise.design_matrix import ROUNDING, Start


@dataclass(frozen=True)
class ItemTable:
    """Counterpart of `IndicatorTable` for rows as lists; its memory does not grow with variables squared."""

    rows: SparseRows
    lists: ItemLists

    @classmethod
    def of(cls, rows: SparseRows, pairs: AllowedPairs | None = None, *, standard: bool = False) -> ItemTable:
        """``standard`` columns are penalised as if divided by their standard deviations."""
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
            sample_weight=rows.sample_weight.copy(),  # kernels are compiled for what may be written to
            weight=on,
            scale=scale,
            by_reach=np.argsort(-on / scale, kind="stable"),
            barred=pairs.forbidden_both_ways,
            left_out=np.isin(np.arange(len(on)), pairs.left_out),
        )
        return cls(rows, lists)

    @cached_property
    def widths(self) -> Indices:
        """One column each, none of what does not vary or is left out."""
        on = self.lists.weight
        varies = (on > 0.0) & (on < self.rows.total_weight) & ~self.lists.left_out
        return np.asarray(varies, np.int64)

    def varies(self, variable: int) -> bool:
        """Whether the variable has a regression."""
        return bool(self.widths[variable] > 0)

    def constant(self, variable: int) -> Floats:
        """The constant of a regression without neighbours."""
        on = self.lists.weight[variable]
        return np.array([np.log(on / (self.rows.total_weight - on))])

    def start(self, variables: Sequence[int]) -> Start:
        """Compute the start of the paths; the kernel itself handles excluded variables and gradients."""
        critical = np.empty(len(variables))
        critical_strengths(self.lists, np.array(variables), critical)
        critical[critical <= ROUNDING * self.rows.total_weight] = 0.0
        return Start(critical, np.empty((len(variables), 0), bool), np.empty((len(variables), 0)))

    def walk(self, nodes: RegressionState, max_selected: int) -> Points:
        """Paths from there, until they select more variables."""
        return Points(*walk_item_paths(self.lists, nodes, max_selected))

    def room(self) -> Any:
        """Allocate memory for one thread to solve single regressions."""
        return item_room(self.lists)


class ItemRegression:
    """One variable's regression from lists, on one set of neighbours after another: what `Regression` is to codes."""

    def __init__(self, table: ItemTable, variable: int) -> None:
        self.variable = variable
        self.loss = 0.0
        self._known: dict[int, float] = {}
        self._constant = float(table.constant(variable)[0])
        self.coefficients = np.array([[self._constant]])  # (1 + neighbours, 1), the constant first
        self._room = table.room()

    def solve(self, table: ItemTable, neighbours: Indices, strength: float, tolerance: float) -> None:
        """Solve on ``neighbours``, ascending, from what is known of their coefficients."""
        beta = np.array([self._constant, *(self._known.get(j, 0.0) for j in neighbours.tolist())])
        self.loss = solve_on_items(table.lists, self._room, self.variable, neighbours, strength, tolerance, beta)
        self._constant, self._known = float(beta[0]), dict(zip(neighbours.tolist(), beta[1:].tolist(), strict=True))
        self.coefficients = beta[:, None]

    def of_neighbours(self, table: ItemTable, neighbours: Indices) -> Floats:
        """The coefficients of those last solved for, (neighbours, 1)."""
        return self.coefficients[1:]
