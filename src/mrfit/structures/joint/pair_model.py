"""A joint model of pairs, fitted by its pseudo-likelihood with a ridge on the pairs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mrfit._kernels.structure.pair_cells import (
    DIAGONAL,
    EXPANSION,
    PRODUCT,
    LinkArrays,
    PairCells,
    fill_cells,
    merge_rows,
    over_rows,
    sweep,
)
from mrfit._typing import Floats, Indices, Mask
from mrfit.core.diagonal_in_basis import UncorrelatedFeatures
from mrfit.core.threads import deal, run
from mrfit.structures.joint.row_table import RowTable

_SMALLEST = 1e-8  # of the largest curvature of a constant: a constant of which all rows are certain has none


@dataclass(frozen=True)
class PairParameters:
    """Edges a - b with a < b, the constants of all columns, and a table for each edge, one after the other in ``w``."""

    edges: Indices  # (edges, 2)
    offset: Indices  # (edges + 1,)
    constants: Floats
    w: Floats

    @classmethod
    def independent(cls, table: RowTable) -> PairParameters:
        """Return parameters without edges; the constants reproduce the means."""
        weight, total = table.column_weight, float(table.arrays.sample_weight.sum())
        reference_weight = total - np.array([weight[a:b].sum() for a, b in zip(*_spans(table), strict=True)])
        constants = np.log(weight / np.repeat(reference_weight, table.widths)) if len(weight) else np.empty(0)
        return cls(np.empty((0, 2), np.int64), np.zeros(1, np.int64), constants, np.empty(0))

    def joined(self, edges: Indices, table: RowTable) -> PairParameters:
        """Return the parameters with more edges, which are zero."""
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
        """Sum values of all parameters over each edge."""
        sums = np.concatenate([[0.0], np.cumsum(values)])
        return np.asarray(np.diff(sums[self.offset]), np.float64)

    def columns(self, table: RowTable) -> tuple[Indices, Indices]:
        """Return the column of the first and of the second variable, for every parameter of a pair."""
        within = np.arange(len(self.w)) - np.repeat(self.offset[:-1], np.diff(self.offset))
        a, b = np.repeat(self.edges, np.diff(self.offset), axis=0).T
        first = table.arrays.first_column
        return first[a] + within // table.widths[b], first[b] + within % table.widths[b]

    def features(self, table: RowTable) -> UncorrelatedFeatures:
        """Return the features of all regressions: each column has a constant, each pair is a feature at both ends."""
        n, constants = len(self.constants) + len(self.w), np.arange(len(self.constants))
        pairs = np.arange(len(self.constants), n)
        return UncorrelatedFeatures(
            n, np.concatenate([constants, pairs, pairs]), np.concatenate([constants, *self.columns(table)])
        )

    def links(self) -> tuple[Indices, Indices, Indices]:
        """Return the neighbours of all variables: the variable, its neighbour, and the offset of the pair's table."""
        a, b = self.edges[:, 0], self.edges[:, 1]
        own, other = np.concatenate([a, b]), np.concatenate([b, a])
        order = np.lexsort((other, own))
        return own[order], other[order], np.concatenate([self.offset[:-1], self.offset[:-1]])[order]


def _spans(table: RowTable) -> tuple[list[int], list[int]]:
    first = table.arrays.first_column
    return first[:-1].tolist(), first[1:].tolist()


class PairModel:
    """Negative log pseudo-likelihood, -sum over rows and variables of log p(x_i | rest), to second order at a point.

    The model stores the edges of its last expansion, for which rows are merged into cells, and the point of that
    expansion.
    """

    def __init__(self, table: RowTable, *, jobs: int = 1) -> None:
        self.table, self.jobs = table, jobs
        self._values = np.zeros(table.n_variables)
        self._edges: Indices | None = None

    def expand(self, parameters: PairParameters) -> tuple[float, Floats, Floats]:
        """Return value and gradient in constants and pairs; later products and scores refer to this point."""
        if self._edges is not parameters.edges:
            self._cut(parameters)
        slopes = self._sweep(EXPANSION, parameters.constants, parameters.w)
        return float(self._values.sum()), *slopes

    def value(self, parameters: PairParameters) -> float:
        return self.expand(parameters)[0]

    def product(self, constants: Floats, w: Floats) -> tuple[Floats, Floats]:
        """Multiply the Hessian by a direction."""
        return self._sweep(PRODUCT, constants, w)

    def curvature(self, n_parameters: int) -> Floats:
        """Return curvatures of constants, pairs at their first end and pairs at their second end, as in `features`."""
        constants, ends = self._slopes(DIAGONAL, np.empty(0), np.empty(n_parameters))
        return np.concatenate([np.maximum(constants, _SMALLEST * constants.max(initial=1.0)), *ends])

    def variance(self, parameters: PairParameters) -> Floats:
        """Return the curvature of every pair parameter that remains after the constants adapt."""
        self.expand(parameters)
        totals, ends = self._slopes(DIAGONAL, np.empty(0), parameters.w)
        total = np.maximum(totals[np.stack(parameters.columns(self.table))], _SMALLEST)
        return np.asarray((ends - ends**2 / total).sum(axis=0), np.float64)

    def over_rows(self, first: int, last: int) -> tuple[Floats, Floats]:
        """Return expected - observed weight and its curvature for the columns of some variables, (columns, rows)."""
        n_columns = int(self.table.widths[first:last].sum())
        residual, curvature = np.empty((n_columns, self.table.n_rows)), np.empty((n_columns, self.table.n_rows))
        over_rows(self.table.arrays, self._cells, self._expected, first, last, residual, curvature)
        return residual, curvature

    def _cut(self, parameters: PairParameters) -> None:
        """Merge rows into cells for the edges of some parameters."""
        table, arrays = self.table, self.table.arrays
        own, other, offset = parameters.links()
        start = np.searchsorted(own, np.arange(table.n_variables + 1))
        links = LinkArrays(start, other, offset, _starts(table.widths[other]))
        entries = np.diff(arrays.start[arrays.first_column]).astype(np.float64)
        work = table.n_rows + np.diff(_starts(entries[other])[start])
        ranges = deal(work, self.jobs)
        cell_of = np.empty((table.n_variables, table.n_rows), np.int32)
        n_cells, n_members = np.empty(table.n_variables, np.int64), np.zeros(links.column_start[-1], np.int64)
        run(lambda low, high: merge_rows(arrays, links, low, high, cell_of, n_cells, n_members), ranges)
        cell_start, count_start, member_start = _starts(n_cells), _starts(n_cells * table.widths), _starts(n_members)
        cells = PairCells(
            cell_start,
            count_start,
            n_cells < table.n_rows,
            cell_of,
            np.empty(cell_start[-1]),
            np.empty(count_start[-1]),
            member_start,
            np.empty(member_start[-1], np.int32),
        )
        run(lambda low, high: fill_cells(arrays, links, cells, low, high), ranges)
        self._links, self._cells, self._expected = links, cells, np.empty(count_start[-1])
        self._ranges, self._edges = deal(table.widths * work * n_cells, self.jobs), parameters.edges

    def _sweep(self, mode: int, constants: Floats, w: Floats) -> tuple[Floats, Floats]:
        constant_slopes, ends = self._slopes(mode, constants, w)
        return constant_slopes, ends.sum(axis=0)

    def _slopes(self, mode: int, constants: Floats, w: Floats) -> tuple[Floats, Floats]:
        """Return the slopes in the constants, and those in the pairs from either end, (2, parameters)."""
        constant_slopes, slopes = np.zeros(self.table.n_columns), np.zeros((2, len(w)))
        outputs = (self._expected, self._values, constant_slopes, slopes)
        run(
            lambda low, high: sweep(
                mode, self.table.arrays, self._links, self._cells, low, high, constants, w, *outputs
            ),
            self._ranges,
        )
        return constant_slopes, slopes


def _starts(lengths: NDArray[np.generic]) -> NDArray[Any]:
    return np.concatenate([np.zeros(1, lengths.dtype), np.cumsum(lengths)])
