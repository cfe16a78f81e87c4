"""Parameters of products of tables, from the tables of the rows: closed forms of the likelihood."""

from __future__ import annotations

from math import prod

import numpy as np
from numpy.typing import NDArray

from mrfit.data.unique_rows import UniqueRows
from mrfit.inference.tree_states import TreeStates
from mrfit.parameterizations.expansion import canonical_coefficients, entries_of
from mrfit.parameterizations.parameterization import Parameterization

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]


def smoothed_shares(states: TreeStates, rows: UniqueRows, uniform_weight: float) -> Floats:
    """Marginals of all tables in the rows and so many more that are dealt evenly to all joint states."""
    n_cells = np.array([prod(states.parameters.domain.shape[i] for i in scope) for scope in states.plan.scopes])
    even = np.repeat(1.0 / n_cells, n_cells)
    total = rows.total_weight
    return np.asarray((total * states.shares(rows) + uniform_weight * even) / (total + uniform_weight), np.float64)


def product_parameters(parameters: Parameterization, shares: Floats, times: dict[int, Indices]) -> Floats:
    """Of log p(x) = sum over scopes A of times[A] * log p(x_A), from the marginals of all tables.

    ``times`` has a number for every scope, by scope size; of canonical or spectral parameters with all subsets.
    """
    canonical = parameters.canonical
    w = np.zeros(canonical.n_parameters)
    for block, _, features in canonical.alike():
        number = times[block.shape[1]][parameters.structure.find(block)]
        block, number = block[number != 0], number[number != 0]
        if not len(block):
            continue
        shape = tuple(canonical.domain.shape[i] for i in block[0].tolist())
        n_cells = len(features)
        log_p = np.log(shares[parameters.first_cells(block)[:, None] + np.arange(n_cells)])
        to_canonical = canonical_coefficients(np.eye(n_cells).reshape(*shape, n_cells))
        _, row, numbers = entries_of(canonical, block, np.ones((n_cells, 1)))
        np.add.at(w, numbers, (number[:, None] * log_p @ to_canonical.T)[:, row])
    return parameters.from_canonical(canonical, w)
