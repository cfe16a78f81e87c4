"""How the gradients of single rows vary: the mean of their outer products at one point."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mrfit._kernels.cells import gather
from mrfit._kernels.row_gradients import row_gradients
from mrfit.data.unique_rows import UniqueRows
from mrfit.parameterizations.canonical import Canonical

Floats = NDArray[np.float64]

_BLOCK = 512  # rows whose gradients are held at once: 2 MB for 500 parameters


def pseudo_gradient_products(parameters: Canonical, w: Floats, rows: UniqueRows) -> Floats:
    """Of the negative pseudo-log-likelihood, (parameters, parameters); the first states are the references."""
    conditionals, n = parameters.conditionals, parameters.n_parameters
    w_slots = np.empty(len(conditionals.parameter_of_slot))
    gather(np.ascontiguousarray(w), conditionals.parameter_of_slot, w_slots)
    variables, states = parameters.indicators(conditionals.conditions)
    columns, root = np.ascontiguousarray(rows.codes.T), np.sqrt(rows.sample_weight / rows.total_weight)
    products = np.zeros((n, n))
    for first in range(0, rows.n_distinct, _BLOCK):
        block = slice(first, min(first + _BLOCK, rows.n_distinct))
        gradients = np.empty((n, block.stop - first))
        row_gradients(
            columns[:, block], root[block], parameters.n_free, conditionals.feature_start,
            conditionals.condition_start, variables, states, conditionals.slot_start,
            conditionals.parameter_of_slot, w_slots, gradients,
        )  # fmt: skip
        products += gradients @ gradients.T
    return products
