"""Score statistics of all pairs of variables in a joint model."""

from __future__ import annotations

import numpy as np

from mrfit._kernels.structure.nodewise import LANES
from mrfit._typing import Floats
from mrfit.core.threads import deal, run
from mrfit.structures.joint.pair_model import PairModel

_FLAT = 1e-100


def pair_scores(model: PairModel) -> Floats:
    """Return about twice the gain in pseudo-log-likelihood of every pair not in the model, (variables, variables).

    A parameter w of columns a and b enters the conditional of b with slope G_ab = sum over the rows in which a is
    active of (expected - observed b), and that of a with slope G_ba. Let V be the curvature of each that remains after
    its constant has adapted. Then

        score = (G_ab + G_ba)^2 / (V_ab + V_ba)

    which is about chi-square with one degree of freedom if the pair does not interact. For a pair with more states it
    is the sum over its parameters, each divided by its own variance, so its mean is its number of parameters. All
    quantities are at the point of the model's last expansion. The cost is two passes over the table for every 64
    columns.
    """
    table = model.table
    slope, variance = np.empty((table.n_columns,) * 2), np.empty((table.n_columns,) * 2)
    first_column = table.arrays.first_column
    blocks = deal(table.widths.astype(np.float64), max(1, -(-table.n_columns // LANES)))

    def fill(low: int, high: int) -> None:
        for first, last in blocks[low:high]:
            columns = slice(first_column[first], first_column[last])
            residual, curvature = model.over_rows(first, last)
            total = np.maximum(curvature.sum(axis=1), _FLAT)
            slope[:, columns] = table.times(residual)
            second = table.times(curvature)
            # A column that fits every row has no curvature left, and cannot gain.
            variance[:, columns] = np.maximum(second - second**2 / total, 1e-9 * total)

    run(fill, deal(np.ones(len(blocks)), model.jobs))
    return table.pair_sums((slope + slope.T) ** 2 / (variance + variance.T))
