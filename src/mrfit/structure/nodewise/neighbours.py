"""What the regressions of all variables say about each other, before it becomes one graph."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from mrfit.data.unique_rows import UniqueRows
from mrfit.structure.edge_report import EdgeReport
from mrfit.structure.edge_signs import edge_signs
from mrfit.structure.nodewise.paths import NodePath

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Neighbours:
    """Row i of every (variables, variables) array is the regression of variable i.

    Parameters
    ----------
    chosen
        Whether a variable is a neighbour.
    coefficients
        Its signed size, for more than two states the norm of its group.
    entered
        The strength at which it first entered the path, NaN where it never did.
    violation
        The largest of the points read, as a share of the critical strength; None without paths.
    paths
        What they were read from, if from paths.
    at_end
        Variables whose point is the end of their path though a criterion was free to choose.
    infinite
        Variables whose refitted regressions have no finite optimum.
    owners, gains
        Where one graph was grown for all: which end an edge counts for, and what the edge adds (see `EdgeReport`).
    remarks
        What else a reader should know.
    """

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

    def joined(self, rule: str) -> NDArray[np.bool_]:
        """One symmetric graph: edges that both ("and") or either ("or") of their regressions chose."""
        return self.chosen & self.chosen.T if rule == "and" else self.chosen | self.chosen.T

    def report(self, rows: UniqueRows, edges: NDArray[np.int64]) -> EdgeReport:
        """The evidence for some edges."""
        coefficients = _both_ways(self.coefficients, edges)
        signs = edge_signs(rows, edges, coefficients.mean(axis=1))
        report = EdgeReport(edges, coefficients, _both_ways(self.entered, edges), signs)
        if self.owners is None or self.gains is None:
            return report
        first, second = self.owners[edges[:, 0], edges[:, 1]], self.owners[edges[:, 1], edges[:, 0]]
        owner = np.where(first, edges[:, 0], np.where(second, edges[:, 1], -1))
        return replace(report, owner=owner, gain=self.gains[edges[:, 0], edges[:, 1]])


def _both_ways(values: Floats, edges: NDArray[np.int64]) -> Floats:
    """Of edge a - b the entries [a, b] and [b, a], (edges, 2)."""
    a, b = edges[:, 0], edges[:, 1]
    return np.stack([values[a, b], values[b, a]], axis=1)
