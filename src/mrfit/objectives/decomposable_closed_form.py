"""Closed-form maximum likelihood parameters of products of tables, from the tables of the rows."""

from __future__ import annotations

import numpy as np

from mrfit._typing import Floats, Indices
from mrfit.parameterizations.expansion import canonical_coefficients, entries_of
from mrfit.parameterizations.parameterization import Parameterization


def product_parameters(parameters: Parameterization, shares: Floats, times: dict[int, Indices]) -> Floats:
    """Return parameters of log p(x) = sum over scopes A of times[A] * log p(x_A), from the marginals of all tables.

    ``times`` has a number for every scope, by scope size. The parameters are canonical or spectral with all subsets.
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
