"""Exact likelihoods on a junction tree, as functions of the vector of parameters.

Learning uses this module instead of `JunctionTree`, as it uses `joint_states` instead of `Enumeration`. One run gives
log Z and the marginals of all scopes. Sparse products map parameters to tables, and marginals to moments of features.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property

import numpy as np
from scipy import sparse

from mrfit._typing import Floats, Indices
from mrfit.data.unique_rows import UniqueRows
from mrfit.inference.exact.junction_tree import JunctionTree, calibrated_tables
from mrfit.inference.exact.row_tables import RowTables
from mrfit.inference.exact.tree_plan import TreePlan
from mrfit.parameterizations.parameterization import Parameterization


def plan_tree_states(parameters: Parameterization) -> TreePlan:
    """Plan the exact likelihood of these parameters on a junction tree: memory, and time for an evaluation."""
    plan = JunctionTree().plan_scopes(parameters.domain.shape, parameters.table_scopes)
    return replace(
        plan,
        task="The exact likelihood",
        why="the structure is sparse enough for a junction tree",
        suggestion="Use the pseudo-likelihood, or a sparser structure (a tree, fewer neighbours, rule='and').",
    )


class TreeStates:
    """Distributions on one plan of a junction tree, as functions of the vector of parameters.

    A plan that does not fit is refused before anything is allocated.
    """

    def __init__(self, parameters: Parameterization, plan: TreePlan | None = None) -> None:
        self.parameters = parameters
        self.plan = plan_tree_states(parameters) if plan is None else plan
        self.plan.check(parameters.domain.names)
        self.map = parameters.table_map
        self.adjoint: sparse.csr_array = self.map.T.tocsr()

    def sums(self, w: Floats) -> tuple[float, Floats]:
        """Return log Z and the marginals of all tables, concatenated: a forward and a backward pass."""
        # The map is linear, so the chain rule through it is its transpose: d log Z / dw = adjoint @ marginals.
        posterior = calibrated_tables(self.plan, self.map @ w)
        return posterior.log_z, posterior.leaves

    def log_z(self, w: Floats) -> float:
        """Return log Z, by the forward pass alone."""
        return calibrated_tables(self.plan, self.map @ w).log_z

    def means(self, marginals: Floats) -> Floats:
        """Return the means of all features, from the marginals of all tables."""
        return np.asarray(self.adjoint @ marginals, np.float64)

    def variances(self, marginals: Floats) -> Floats:
        """Return the variances of all features. Each is a function of one table, and so is its square."""
        return np.asarray(self._squares @ marginals - self.means(marginals) ** 2, np.float64)

    @cached_property
    def _squares(self) -> sparse.csr_array:
        return self.adjoint.power(2)

    # -- rows ----------------------------------------------------------------------------------------------------

    def shares(self, rows: UniqueRows) -> Floats:
        """Return the marginals of all tables in the rows."""
        return self._of_rows.shares(rows)

    def log_potentials(self, w: Floats, rows: UniqueRows) -> Floats:
        """Return the sum of the tables at every row, which is log p plus log Z."""
        tables, out = self.map @ w, np.empty(rows.n_distinct)
        for first, cells in self.cells(rows):
            out[first : first + len(cells)] = tables[cells].sum(axis=1)
        return out

    def features(self, cells: Indices) -> sparse.csr_array:
        """Return the features of rows (see `RowTables.features`)."""
        return self._of_rows.features(cells)

    def cells(self, rows: UniqueRows, chosen: Indices | None = None) -> Iterator[tuple[int, Indices]]:
        """Yield the cells of rows in all tables (see `RowTables.cells`)."""
        return self._of_rows.cells(rows, chosen)

    @cached_property
    def _of_rows(self) -> RowTables:
        return RowTables(self.parameters)
