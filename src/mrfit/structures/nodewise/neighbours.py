"""Neighbours of each variable in its own regression, before they become one graph."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from mrfit._typing import Floats, Indices
from mrfit.data.unique_rows import UniqueRows
from mrfit.structures.edge_report import EdgeReport
from mrfit.structures.edge_signs import edge_signs
from mrfit.structures.edge_weights import default_scores, kind_of
from mrfit.structures.nodewise.lasso_paths import NodePath


@dataclass(frozen=True)
class Neighbours:
    """A list of arcs: ``arcs[k] = i, j`` says that variable j was met in the regression of variable i.

    Parameters
    ----------
    n_variables
        How many there are; arcs are few beside their square.
    arcs
        (arcs, 2), ascending.
    chosen
        Whether the second variable of an arc is a neighbour of the first.
    coefficients
        Its edge weight in the regression (`mrfit.structures.edge_weights`).
    entered
        The strength at which it first entered the path, NaN where there was none.
    violation
        The largest of the points read, as a share of the critical strength; None without paths.
    paths
        What they were read from, if from paths.
    at_end
        Variables whose point is the end of their path though a criterion was free to choose.
    infinite
        Variables whose refitted regressions have no finite optimum.
    owners, gains
        Where one graph was grown for all, as (variables, variables): which end an edge counts for, and what the edge
        adds (see `EdgeReport`).
    remarks
        What else a reader should know.
    """

    n_variables: int
    arcs: Indices
    chosen: NDArray[np.bool_]
    coefficients: Floats
    entered: Floats
    violation: float | None = None
    paths: tuple[NodePath, ...] = ()
    at_end: tuple[int, ...] = ()
    infinite: tuple[int, ...] = ()
    owners: NDArray[np.bool_] | None = None
    gains: Floats | None = None
    remarks: tuple[str, ...] = ()

    @classmethod
    def of_matrices(cls, chosen: NDArray[np.bool_], coefficients: Floats) -> Neighbours:
        """Convert (variables, variables) arrays; row i is the regression of variable i."""
        arcs = np.argwhere(chosen | (coefficients != 0.0))
        i, j = arcs.T
        return cls(len(chosen), arcs, chosen[i, j], coefficients[i, j], np.full(len(arcs), np.nan))

    def edges(self, rule: str) -> Indices:
        """Edges that both ("and") or either ("or") of their regressions chose, (edges, 2), ascending."""
        ends = np.sort(self.arcs[self.chosen], axis=1)
        edges, count = np.unique(ends, axis=0, return_counts=True)
        return edges[count == 2] if rule == "and" else edges

    def report(self, rows: UniqueRows, edges: Indices) -> EdgeReport:
        """Report the evidence for some edges."""
        coefficients = self._both_ways(self.coefficients, edges, absent=0.0)
        signs = edge_signs(rows, edges, coefficients.mean(axis=1))
        scores = default_scores(rows.domain.shape)
        kinds = np.array([kind_of(scores[a], scores[b]) for a, b in edges.tolist()], np.int64)
        entered = self._both_ways(self.entered, edges, absent=np.nan)
        report = EdgeReport(edges, coefficients, entered, signs, kinds=kinds)
        if self.owners is None or self.gains is None:
            return report
        first, second = self.owners[edges[:, 0], edges[:, 1]], self.owners[edges[:, 1], edges[:, 0]]
        owner = np.where(first, edges[:, 0], np.where(second, edges[:, 1], -1))
        return replace(report, owner=owner, gain=self.gains[edges[:, 0], edges[:, 1]])

    def _both_ways(self, values: Floats, edges: Indices, *, absent: float) -> Floats:
        """Values of the arcs a, b and b, a of each edge a - b, (edges, 2)."""
        known, padded = self._numbers(self.arcs), np.append(values, absent)
        wanted = np.stack([self._numbers(edges), self._numbers(edges[:, ::-1])], axis=1)
        at = np.searchsorted(known, wanted)
        found = np.append(known, -1)[at] == wanted
        return np.asarray(padded[np.where(found, at, len(known))], np.float64)

    def _numbers(self, arcs: Indices) -> Indices:
        return arcs[:, 0] * self.n_variables + arcs[:, 1]
