"""Contraction of a table with a vector for each of its axes but one, for messages and expectations.

Axes are contracted one at a time, the last first and then the first, so every step runs over contiguous memory and the
table shrinks. The cost is little more than one pass over it, for any order. There are three kinds of arithmetic: sums
of products, and on logarithms the largest sum or the logarithm of the sum of exponentials.
"""

from __future__ import annotations

import math

import numpy as np

from mrfit._kernels.machine_code.compiled import njit

SUM, MAX, LOG_SUM = 0, 1, 2


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})
def _contract_one(kind, source, begin, step, n, vector, at):
    """Contract n cells ``step`` apart with the vector at ``at``."""
    if kind == SUM:
        total = 0.0
        for s in range(n):
            total += source[begin + s * step] * vector[at + s]
        return total
    top = -np.inf
    for s in range(n):
        top = max(top, source[begin + s * step] + vector[at + s])
    if kind == MAX or top == -np.inf:
        return top
    total = 0.0
    for s in range(n):
        total += math.exp(source[begin + s * step] + vector[at + s] - top)
    return top + math.log(total)


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})
def _contract_axis(kind, source, begin, n_rows, n, n_columns, vector, at, target):
    """Contract the middle axis of a table of n_rows x n x n_columns cells."""
    for r in range(n_rows):
        for k in range(n_columns):
            first = begin + r * n * n_columns + k
            target[r * n_columns + k] = _contract_one(kind, source, first, n_columns, n, vector, at)


@njit(cache=True, nogil=True, error_model="numpy")
def contract_others(kind, cells, begin, sizes, first, last, free_axis, vector, at, work, target):
    """Contract the table of axes first .. last - 1 (``sizes``) with ``vector[at[axis]:]`` in all axes but one.

    ``work`` has two rows as long as half of the largest table.
    """
    length, n_left = 1, last - first - 1
    for axis in range(first, last):
        length *= sizes[axis]
    source, axis = cells, last - 1
    for step in range(n_left):
        if axis == free_axis:
            axis = first
        n = sizes[axis]
        length //= n
        n_rows = length if axis > free_axis else 1
        to = target if step == n_left - 1 else work[step % 2]
        _contract_axis(kind, source, begin, n_rows, n, length // n_rows, vector, at[axis], to)
        source, begin = to, 0
        axis += -1 if axis > free_axis else 1
