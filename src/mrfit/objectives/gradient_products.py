"""How the gradients of single rows vary: the mean of their outer products at one point."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mrfit._kernels.cells import gather
from mrfit._kernels.row_gradients import row_gradients
from mrfit.data.unique_rows import UniqueRows
from mrfit.parameterizations.canonical import Canonical

Floats = NDArray[np.float64]

_BLOCK = 2**20  # numbers of gradients held at once, 8 MB


def pseudo_gradient_products(parameters: Canonical, w: Floats, rows: UniqueRows) -> Floats:
    """Of the negative pseudo-log-likelihood, (parameters, parameters); the first states are the references."""
    conditionals, n = parameters.conditionals, parameters.n_parameters
    w_slots = np.empty(len(conditionals.parameter_of_slot))
    gather(np.ascontiguousarray(w), conditionals.parameter_of_slot, w_slots)
    variables, states = parameters.indicators(conditionals.conditions)
    size = max(1, _BLOCK // max(n, 1))
    gradients, products = np.empty((min(size, rows.n_distinct), n)), np.zeros((n, n))
    root = np.sqrt(rows.sample_weight / rows.total_weight)
    for first in range(0, rows.n_distinct, size):
        codes = rows.codes[first : first + size]
        block = gradients[: len(codes)]
        row_gradients(
            codes, parameters.n_free, conditionals.feature_start, conditionals.condition_start, variables, states,
            conditionals.slot_start, conditionals.parameter_of_slot, w_slots, block,
        )  # fmt: skip
        block *= root[first : first + size, None]
        products += block.T @ block
    return products
