"""Addition of row weights to a table of joint states."""

from __future__ import annotations

import numpy as np

from mrfit._kernels.machine_code.compiled import njit

_BLOCK = 2048


@njit(cache=True, nogil=True)
def add_states(codes, stride, sample_weight, table):
    """Add the weight of every row to table[sum over k of stride[k] * codes[k, row]]."""
    cell = np.empty(_BLOCK, np.int64)
    for first in range(0, len(sample_weight), _BLOCK):
        weight = sample_weight[first : first + _BLOCK]
        cell[:] = 0
        for k in range(len(stride)):
            given = codes[k, first : first + _BLOCK]
            for r in range(len(given)):
                cell[r] += stride[k] * given[r]
        for r in range(len(weight)):
            table[cell[r]] += weight[r]
