"""Edge weights as the page shows them."""

from __future__ import annotations

import numpy as np

from mrfit._typing import Floats
from mrfit.structures.edge_weights import EdgeWeights

_INFINITE = 30.0  # in the place of an infinite weight: what parameters without a finite optimum are held at


def finite_matrix(edges: EdgeWeights, n_variables: int) -> Floats:
    """The edge weight of every pair, (variables, variables), zero where two are not joined; all of them finite."""
    matrix = edges.matrix(n_variables)
    largest = np.abs(matrix[np.isfinite(matrix)]).max(initial=_INFINITE)
    return np.clip(matrix, -largest, largest)
