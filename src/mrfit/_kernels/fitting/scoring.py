"""Conditional log-probabilities row by row, for scoring data that were not compressed to cells."""

from __future__ import annotations

import math

import numpy as np

from mrfit._kernels.machine_code.compiled import njit

BLOCK = 512  # rows per task: short tables still occupy several threads


@njit(cache=True, nogil=True)
def _add_feature(variables, states, first, last, columns, low, m, holds, weight, z):
    """Add weight to z in the rows where the conjunction of conditions first .. last - 1 holds."""
    j, s = variables[first], states[first]
    if last - first == 1:
        for r in range(m):
            z[r] += weight if columns[j, low + r] == s else 0.0
        return
    for r in range(m):
        holds[r] = columns[j, low + r] == s
    for k in range(first + 1, last):
        j, s = variables[k], states[k]
        for r in range(m):
            holds[r] &= columns[j, low + r] == s
    for r in range(m):
        z[r] += weight if holds[r] else 0.0


@njit(cache=True, nogil=True)
def row_scores(
    columns,
    n_free,
    feature_start,
    condition_start,
    variables,
    states,
    slot_start,
    w_slots,
    first,
    last,
    scores,
):
    """Fill scores[r] = sum over variables of log p(x_i | rest of row r), in the rows of blocks first .. last - 1.

    ``columns`` holds the codes variable by variable, (variables, rows). Every row is summed in the order of the
    variables, in the same block of rows, regardless of the thread.
    """
    n_variables, n_rows = columns.shape
    holds = np.empty(BLOCK, np.bool_)
    z = np.empty((max(1, n_free.max()), BLOCK))
    for low in range(first * BLOCK, min(last * BLOCK, n_rows), BLOCK):
        m = min(BLOCK, n_rows - low)
        scores[low : low + m] = 0.0
        for i in range(n_variables):
            if n_free[i] == 0:  # one state only, or a covariate
                continue
            width = 1 + feature_start[i + 1] - feature_start[i]
            for s in range(n_free[i]):
                at = slot_start[i] + s * width
                z[s, :m] = w_slots[at]
                for f in range(feature_start[i], feature_start[i + 1]):
                    weight = w_slots[at + 1 + f - feature_start[i]]
                    if weight != 0.0:
                        conditions = condition_start[f], condition_start[f + 1]
                        _add_feature(
                            variables,
                            states,
                            conditions[0],
                            conditions[1],
                            columns,
                            low,
                            m,
                            holds,
                            weight,
                            z[s],
                        )
            for r in range(m):
                largest = 0.0
                for s in range(n_free[i]):
                    largest = max(largest, z[s, r])
                total = math.exp(-largest)
                for s in range(n_free[i]):
                    total += math.exp(z[s, r] - largest)
                state = columns[i, low + r]
                chosen = z[state - 1, r] if state > 0 else 0.0
                scores[low + r] += chosen - largest - math.log(total)
