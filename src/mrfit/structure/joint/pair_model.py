"""A joint model of pairs, fitted by its pseudo-likelihood with a ridge on the pairs."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from mrfit._kernels.pair_rows import DIAGONAL, EXPANSION, PRODUCT, LinkArrays, sweep
from mrfit.structure.joint.row_table import RowTable
from mrfit.workers import deal, run

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
Mask = NDArray[np.bool_]

_SMALLEST = 1e-8  # of the curvature of a constant: one that all rows are certain of has none left


@dataclass(frozen=True)
class PairParameters:
    """Edges a - b with a < b, the constants of all columns and a table for each edge, one after the other in ``w``."""

    edges: Indices  # (edges, 2)
    offset: Indices  # (edges + 1,)
    constants: Floats
    w: Floats

    @classmethod
    def independent(cls, table: RowTable) -> PairParameters:
        """No edges; the constants of the means."""
        weight, total = table.column_weight, float(table.arrays.sample_weight.sum())
        silent = total - np.array([weight[a:b].sum() for a, b in zip(*_spans(table), strict=True)])
        constants = np.log(weight / np.repeat(silent, table.widths)) if len(weight) else np.empty(0)
        return cls(np.empty((0, 2), np.int64), np.zeros(1, np.int64), constants, np.empty(0))

    def joined(self, edges: Indices, table: RowTable) -> PairParameters:
        """With more edges, all zero."""
        sizes = table.widths[edges[:, 0]] * table.widths[edges[:, 1]]
        return replace(
            self,
            edges=np.concatenate([self.edges, edges]),
            offset=np.concatenate([self.offset, self.offset[-1] + np.cumsum(sizes)]),
            w=np.concatenate([self.w, np.zeros(sizes.sum())]),
        )

    def without(self, leaving: Mask) -> PairParameters:
        sizes = np.diff(self.offset)
        return replace(
            self,
            edges=self.edges[~leaving],
            offset=np.concatenate([[0], np.cumsum(sizes[~leaving])]),
            w=self.w[~np.repeat(leaving, sizes)],
        )

    def edge_sums(self, values: Floats) -> Floats:
        """Of values of all parameters, over those of each edge."""
        sums = np.concatenate([[0.0], np.cumsum(values)])
        return np.asarray(np.diff(sums[self.offset]), np.float64)

    def columns(self, table: RowTable) -> tuple[Indices, Indices]:
        """Of every parameter of a pair its column of the first variable and that of the second."""
        within = np.arange(len(self.w)) - np.repeat(self.offset[:-1], np.diff(self.offset))
        a, b = np.repeat(self.edges, np.diff(self.offset), axis=0).T
        first = table.arrays.first_column
        return first[a] + within // table.widths[b], first[b] + within % table.widths[b]

    def links(self) -> tuple[Indices, Indices, Indices]:
        """The neighbours of all variables: own variable, neighbour, and where the pair's table begins."""
        a, b = self.edges[:, 0], self.edges[:, 1]
        own, other = np.concatenate([a, b]), np.concatenate([b, a])
        order = np.lexsort((other, own))
        return own[order], other[order], np.concatenate([self.offset[:-1], self.offset[:-1]])[order]


def _spans(table: RowTable) -> tuple[list[int], list[int]]:
    first = table.arrays.first_column
    return first[:-1].tolist(), first[1:].tolist()


class PairModel:
    """-sum over rows and variables of log p(x_i | rest), second order, at one point after the other.

    It knows the point it was last expanded at.
    """

    def __init__(self, table: RowTable, *, jobs: int = 1) -> None:
        self.table, self.jobs = table, jobs
        self.expected = np.empty((table.n_columns, table.n_rows))  # weight * p
        self._values = np.zeros(table.n_variables)
        self._edges: Indices | None = None

    def point_at(self, parameters: PairParameters) -> None:
        """Take the edges of some parameters."""
        if self._edges is not parameters.edges:
            own, other, offset = parameters.links()
            start = np.searchsorted(own, np.arange(self.table.n_variables + 1))
            self._links = LinkArrays(start, other, offset)
            column_rows = np.diff(self.table.arrays.start).astype(np.float64)
            entries = np.concatenate([[0.0], np.cumsum(column_rows)])[self.table.arrays.first_column]
            work = np.concatenate([[0.0], np.cumsum(np.diff(entries)[other])])
            self._ranges = deal(self.table.widths * (4.0 * self.table.n_rows + np.diff(work[start])), self.jobs)
            self._edges = parameters.edges

    def value(self, parameters: PairParameters) -> float:
        self.expand(parameters)
        return float(self._values.sum())

    def expand(self, parameters: PairParameters) -> tuple[float, Floats, Floats]:
        """Value and gradient in constants and pairs; later products and scores are at this point."""
        self.point_at(parameters)
        slopes = self._sweep(EXPANSION, parameters.constants, parameters.w)
        return float(self._values.sum()), *slopes

    def product(self, constants: Floats, w: Floats) -> tuple[Floats, Floats]:
        """The Hessian times a direction."""
        return self._sweep(PRODUCT, constants, w)

    def diagonal(self, n_parameters: int) -> tuple[Floats, Floats]:
        """That of the Hessian."""
        constants, w = self._sweep(DIAGONAL, np.empty(0), np.empty(n_parameters))
        return np.maximum(constants, _SMALLEST * constants.max(initial=1.0)), w

    def _sweep(self, mode: int, constants: Floats, w: Floats) -> tuple[Floats, Floats]:
        constant_slopes, slopes = np.zeros(self.table.n_columns), np.zeros((2, len(w)))
        run(
            lambda first, last: sweep(
                mode,
                self.table.arrays,
                self._links,
                first,
                last,
                constants,
                w,
                self.expected,
                self._values,
                constant_slopes,
                slopes,
            ),
            self._ranges,
        )
        return constant_slopes, slopes.sum(axis=0)
