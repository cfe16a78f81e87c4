"""Edge weights for the page, all finite."""

from __future__ import annotations

import numpy as np

from mrfit._typing import Floats
from mrfit.structures.edge_weights import EdgeWeights

_INFINITE = 30.0  # stands in for an infinite weight: the bound of parameters without a finite optimum


def finite_matrix(edges: EdgeWeights, n_variables: int) -> Floats:
    """Return the edge weight of every pair, (variables, variables), zero where two are not connected; all finite."""
    matrix = edges.matrix(n_variables)
    largest = np.abs(matrix[np.isfinite(matrix)]).max(initial=_INFINITE)
    return np.clip(matrix, -largest, largest)
