"""Distinct rows of integer matrices."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from mrfit._typing import Indices

_MOST_BITS = 62


def distinct_rows(rows: NDArray[np.integer]) -> tuple[Indices, Indices]:
    """Return the distinct rows of an integer matrix in lexicographic order, and the number of each row among them.

    `np.unique` with an axis compares rows byte by byte. Nonnegative rows, taken as digits of one number, sort many
    times faster.
    """
    radix = int(rows.max(initial=0)) + 1
    if not len(rows) or rows.min() < 0 or rows.shape[1] * math.log2(radix) > _MOST_BITS:
        distinct, number = np.unique(rows, axis=0, return_inverse=True)
        return distinct.astype(np.int64), number.ravel()
    weight = radix ** np.arange(rows.shape[1] - 1, -1, -1, dtype=np.int64)
    keys = rows.astype(np.int64) @ weight
    if len(keys) == 1 or (keys[1:] > keys[:-1]).all():
        return rows.astype(np.int64), np.arange(len(keys))
    key, number = np.unique(keys, return_inverse=True)
    return key[:, None] // weight % radix, number
