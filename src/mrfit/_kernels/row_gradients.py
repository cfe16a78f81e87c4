"""Gradients of the pseudo-log-likelihood of single rows."""

from __future__ import annotations

import math

import numpy as np

from mrfit._kernels.compiled import njit


@njit(cache=True, nogil=True, error_model="numpy")
def _find_rows(variables, states, first, last, columns, holds):
    """holds[r] = 1.0 in the rows where the conjunction of conditions first .. last - 1 holds, else 0.0."""
    column, state = columns[variables[first]], states[first]
    for r in range(len(holds)):
        holds[r] = 1.0 if column[r] == state else 0.0
    for k in range(first + 1, last):
        column, state = columns[variables[k]], states[k]
        for r in range(len(holds)):
            holds[r] *= 1.0 if column[r] == state else 0.0


@njit(cache=True, nogil=True, error_model="numpy")
def _add_times(a, b, out):
    for r in range(len(out)):
        out[r] += a[r] * b[r]


@njit(cache=True, nogil=True, error_model="numpy")
def row_gradients(
    columns, root, n_free, feature_start, condition_start, variables, states, slot_start, parameter_of_slot, w_slots,
    gradients,
):  # fmt: skip
    """gradients[k, r] = root[r] times the derivative in parameter k of sum over i of -log p(x_i | rest of row r).

    ``columns`` holds the codes variable by variable, (variables, rows): all inner loops go over rows that lie together.
    """
    n_variables, n_rows = columns.shape
    most = 1
    for i in range(n_variables):
        most = max(most, n_free[i])
    z, holds = np.empty((most, n_rows)), np.empty(n_rows)
    gradients[:] = 0.0
    for i in range(n_variables):
        first, width = feature_start[i], 1 + feature_start[i + 1] - feature_start[i]
        for s in range(n_free[i]):
            z[s] = w_slots[slot_start[i] + s * width]
        for f in range(1, width):
            _find_rows(variables, states, condition_start[first + f - 1], condition_start[first + f], columns, holds)
            for s in range(n_free[i]):
                weight = w_slots[slot_start[i] + s * width + f]
                for r in range(n_rows):
                    z[s, r] += weight * holds[r]
        _to_residuals(n_free[i], z, columns[i], root)
        for s in range(n_free[i]):
            own = parameter_of_slot[slot_start[i] + s * width]
            if own >= 0:
                for r in range(n_rows):
                    gradients[own, r] += z[s, r]
        for f in range(1, width):
            _find_rows(variables, states, condition_start[first + f - 1], condition_start[first + f], columns, holds)
            for s in range(n_free[i]):
                _add_times(z[s], holds, gradients[parameter_of_slot[slot_start[i] + s * width + f]])


@njit(cache=True, nogil=True, error_model="numpy")
def _to_residuals(n_free, z, column, root):
    """Logits become root * (probability - 1 in the row's own state)."""
    for r in range(len(column)):
        largest = 0.0
        for s in range(n_free):
            largest = max(largest, z[s, r])
        total = math.exp(-largest)
        for s in range(n_free):
            z[s, r] = math.exp(z[s, r] - largest)
            total += z[s, r]
        for s in range(n_free):
            z[s, r] = root[r] * (z[s, r] / total - (1.0 if column[r] == s + 1 else 0.0))
