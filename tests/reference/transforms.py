"""Plain twins of the transforms: loops over bits, and sums over subsets as they are defined."""

from __future__ import annotations

import numpy as np

MATRICES = {
    "walsh_hadamard": np.array([[1.0, 1.0], [1.0, -1.0]]),
    "subset_sums": np.array([[1.0, 0.0], [1.0, 1.0]]),
    "inverse_subset_sums": np.array([[1.0, 0.0], [-1.0, 1.0]]),
    "superset_sums": np.array([[1.0, 1.0], [0.0, 1.0]]),
    "inverse_superset_sums": np.array([[1.0, -1.0], [0.0, 1.0]]),
}


def butterflies(kind: str, a: np.ndarray) -> np.ndarray:
    """Bit after bit, each pair times a 2 x 2 matrix."""
    (m00, m01), (m10, m11) = MATRICES[kind]
    result = a.copy()
    half = 1
    while half < len(a):
        x, y = np.moveaxis(result.reshape(-1, 2, half), 1, 0)
        result = np.stack([m00 * x + m01 * y, m10 * x + m11 * y], axis=1).ravel()
        half *= 2
    return result


def by_definition(kind: str, a: np.ndarray) -> np.ndarray:
    """The whole matrix, entry by entry from the definition."""
    i = np.arange(len(a))
    k = i[:, None]
    sign = _parity_sign(k ^ i)
    entries = {
        "walsh_hadamard": _parity_sign(k & i),
        "subset_sums": (i & ~k) == 0,
        "inverse_subset_sums": ((i & ~k) == 0) * sign,
        "superset_sums": (k & ~i) == 0,
        "inverse_superset_sums": ((k & ~i) == 0) * sign,
    }
    return entries[kind].astype(float) @ a


def _parity_sign(bits: np.ndarray) -> np.ndarray:
    return np.vectorize(lambda value: (-1.0) ** int(value).bit_count())(bits)
