"""Regressions of many resamples of one table at once, for networks by the extended BIC.

Rows, cells and columns are those of the table; a resample only weighs them. What `Learned` finds in each resample by
itself is found here in compiled code alone, up to the tolerance of the regressions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mrfit._kernels.structure.resampled_paths import NodeCells, Resamples, Walk, best_points
from mrfit._typing import Floats
from mrfit.core.cluster import mapped
from mrfit.data.unique_rows import UniqueRows
from mrfit.structures.nodewise.allowed_pairs import HARDLY, AllowedPairs
from mrfit.structures.nodewise.criteria import price_of
from mrfit.structures.nodewise.lasso_paths import NodePath, PathSettings, node_paths

_BLOCK = 16  # resamples between two progress reports
_MOST_BITS = 2**28  # of the cells of all variables, in bytes


@dataclass(frozen=True, eq=False)
class RegressionPool:
    """The regressions of all variables of a table, to be chosen again under other weights of its rows.

    Parameters
    ----------
    walk
        Where the points of paths are and how far they go.
    gamma, rule, standard
        As `Learned` has them; where columns are ``standard`` variables that hardly vary are left out.
    cells
        Of each variable's regression.
    """

    rows: UniqueRows
    pairs: AllowedPairs
    walk: Walk
    gamma: float
    rule: str
    standard: bool
    cells: tuple[NodeCells, ...]

    @classmethod
    def of(
        cls, rows: UniqueRows, pairs: AllowedPairs, walk: Walk, *, gamma: float, rule: str, standard: bool
    ) -> RegressionPool:
        n, codes = len(rows.domain), np.ascontiguousarray(rows.codes.T)
        settings = PathSettings(n, tolerance=walk.tolerance)
        paths = node_paths(
            rows,
            settings,
            pairs=pairs,
            strengths=lambda critical: critical * walk.share,
            standard=standard,
        )
        cells = tuple(_cells_of(codes, i, _coefficients_on(path, n, len(walk.share))) for i, path in enumerate(paths))
        return cls(rows, pairs, walk, gamma, rule, standard, cells)

    @staticmethod
    def suits(rows: UniqueRows) -> bool:
        """Two states each, and not so many variables that all cells of all of them are too much to keep."""
        n = len(rows.domain)
        return set(rows.domain.shape) == {2} and n * n * rows.n_distinct <= _MOST_BITS

    def weights(self, resamples: Floats, *, jobs: int = 1, callback: Callable[[int], None] | None = None) -> Floats:
        """Edge weights of all pairs of variables in every resample, (resamples, pairs); zero without an edge."""
        blocks = [resamples[low : low + _BLOCK] for low in range(0, len(resamples), _BLOCK)]
        found = mapped(
            RegressionPool._weights_of_block,
            blocks,
            shared=(self,),
            jobs=jobs,
            name=lambda _: "some resamples",
            callback=None if callback is None else lambda block: callback(len(block)),
        )
        n = len(self.rows.domain)
        return np.concatenate([np.empty((0, n * (n - 1) // 2)), *found])

    def _weights_of_block(self, resamples: Floats) -> Floats:
        """Edge weights of all pairs in a few resamples."""
        a, b = np.triu_indices(len(self.rows.domain), 1)
        coefficients = self._coefficients(np.array(resamples, order="C"))  # one layout, writable
        one, other = coefficients[:, a, b], coefficients[:, b, a]
        chosen = (one != 0) & (other != 0) if self.rule == "and" else (one != 0) | (other != 0)
        joined = chosen & ~self.pairs.forbidden[a, b] | self.pairs.required[a, b]
        return np.where(joined, (one + other) / 2.0, 0.0)

    def _coefficients(self, weight: Floats) -> Floats:
        """Coefficients of variables (last axis) in the regressions of all, (resamples, variables, variables)."""
        total, second = weight.sum(axis=1, keepdims=True), weight @ (self.rows.codes > 0)
        varies = np.minimum(second, total - second) > (HARDLY if self.standard else 0.0)
        share, n = second / total, len(self.cells)
        scale = np.sqrt(share * (1.0 - share)) if self.standard else np.ones(share.shape)
        n_priced = varies.sum(axis=1) if self.standard else np.full(len(weight), n)
        price = np.array([price_of(w, self.gamma, c) for w, c in zip(total[:, 0], n_priced, strict=True)])
        coefficients = np.zeros((len(weight), n, n))
        for i, cells in enumerate(self.cells):
            others = np.arange(n) != i
            present = varies & varies[:, [i]] & ~self.pairs.forbidden[i]
            resamples = Resamples(weight, _compact(present[:, others]), _compact(scale[:, others]), price)
            coefficients[:, i, others] = best_points(cells, resamples, self.walk)
        return coefficients


_compact = np.ascontiguousarray  # kernels are compiled for one layout


def _cells_of(codes: NDArray[np.uint8], variable: int, path: Floats) -> NodeCells:
    """Rows that agree on all variables but one."""
    others = np.delete(codes, variable, axis=0)
    bits, cell_of = np.unique(others, axis=1, return_inverse=True)
    return NodeCells(_compact(bits), cell_of.reshape(-1).astype(np.int64), codes[variable].copy(), path)


def _coefficients_on(path: NodePath, n_variables: int, n_points: int) -> Floats:
    """Coefficients of every point, (points, variables), the constant first; zeros without a path."""
    others = np.zeros((n_points, n_variables))
    for t, point in enumerate(path.points):
        others[t, point.selected] = point.sizes
    constants = [point.constant[0] for point in path.points] or [0.0] * n_points
    return np.column_stack([constants, np.delete(others, path.variable, axis=1)])
