"""Lists of items in which some pairs hold together."""

from __future__ import annotations

import numpy as np
from scipy import sparse


def planted_items(n_rows: int, n_items: int, density: float) -> sparse.csr_array:
    """Rows that have each item as often as ``density`` says, items 2k and 2k + 1 together a tenth of the time."""
    rng = np.random.default_rng(0)
    alone = rng.binomial(n_rows * n_items, 0.9 * density)
    pair = np.repeat(np.arange(n_items // 2), rng.poisson(0.1 * density * n_rows, n_items // 2))
    together = rng.integers(0, n_rows, len(pair))
    row = np.concatenate([rng.integers(0, n_rows, alone), together, together])
    item = np.concatenate([rng.integers(0, n_items, alone), 2 * pair, 2 * pair + 1])
    matrix = sparse.csr_array((np.ones(len(row), np.uint8), (row, item)), shape=(n_rows, n_items))
    matrix.sum_duplicates()
    matrix.data[:] = 1
    return matrix
