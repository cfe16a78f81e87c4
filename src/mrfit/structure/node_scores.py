"""How well the points of a path predict rows they were not learned from."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mrfit.data.unique_rows import UniqueRows
from mrfit.structure.node_paths import NodePath, PathPoint

Floats = NDArray[np.float64]


def held_out_losses(path: NodePath, rows: UniqueRows) -> Floats:
    """Negative log-likelihood of the path's variable given the rest, summed over weighted rows, for every point."""
    return np.array([_loss(path.variable, point, rows) for point in path.points])


def _loss(variable: int, point: PathPoint, rows: UniqueRows) -> float:
    z = np.tile(np.concatenate([[0.0], point.constant]), (rows.n_distinct, 1))  # (rows, states)
    for j, table in zip(point.selected.tolist(), point.coefficients, strict=True):
        padded = np.vstack([np.zeros(table.shape[1]), table])  # the first state is silent
        z[:, 1:] += padded[rows.codes[:, j]]
    largest = z.max(axis=1)
    log_total = largest + np.log(np.exp(z - largest[:, None]).sum(axis=1))
    own = np.take_along_axis(z, rows.codes[:, variable, None].astype(np.int64), axis=1)[:, 0]
    return float(rows.sample_weight @ (log_total - own))
