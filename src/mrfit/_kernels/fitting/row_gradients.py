"""Gradients of the pseudo-log-likelihood of single rows."""

from __future__ import annotations

import numpy as np

from mrfit._kernels.arithmetic.elementary import exp_nonpositive
from mrfit._kernels.machine_code.compiled import njit


@njit(cache=True, nogil=True, error_model="numpy")
def row_gradients(
    indicators, root, n_free, first_indicator, feature_start, condition_start, conditions, slot_start,
    parameter_of_slot, w_slots, gradients,
):  # fmt: skip
    """Fill gradients[k, r] = root[r] times the derivative in parameter k of sum over i of -log p(x_i | rest of row r).

    ``indicators``, 1.0 in the rows where they hold, else 0.0, are (indicators, rows), so that all inner loops run over
    contiguous rows. Those of variable i begin at ``first_indicator[i]``.
    """
    n_rows = indicators.shape[1]
    z, holds = np.empty((max(1, n_free.max()), n_rows)), np.empty(n_rows)
    gradients[:] = 0.0
    for i in range(len(n_free)):
        width = 1 + feature_start[i + 1] - feature_start[i]
        for s in range(n_free[i]):
            z[s] = w_slots[slot_start[i] + s * width]
        for f in range(1, width):
            feature = feature_start[i] + f - 1
            rows = _rows_of(indicators, conditions, condition_start[feature], condition_start[feature + 1], holds)
            for s in range(n_free[i]):
                _add_times(w_slots[slot_start[i] + s * width + f], rows, z[s])
        _to_residuals(z[: n_free[i]], indicators[first_indicator[i] :], root)
        for s in range(n_free[i]):
            own = parameter_of_slot[slot_start[i] + s * width]
            if own >= 0:
                _add_times(1.0, z[s], gradients[own])
        for f in range(1, width):
            feature = feature_start[i] + f - 1
            rows = _rows_of(indicators, conditions, condition_start[feature], condition_start[feature + 1], holds)
            for s in range(n_free[i]):
                _add_products(z[s], rows, gradients[parameter_of_slot[slot_start[i] + s * width + f]])


@njit(cache=True, nogil=True, error_model="numpy")
def _rows_of(indicators, conditions, first, last, holds):
    """Return 1.0 in the rows where all conditions first .. last - 1 hold; ``holds`` is a buffer."""
    if last - first == 1:
        return indicators[conditions[first]]
    holds[:] = indicators[conditions[first]]
    for k in range(first + 1, last):
        other = indicators[conditions[k]]
        for r in range(len(holds)):
            holds[r] *= other[r]
    return holds


@njit(cache=True, nogil=True, error_model="numpy")
def _add_times(x, a, out):
    for r in range(len(out)):
        out[r] += x * a[r]


@njit(cache=True, nogil=True, error_model="numpy")
def _add_products(a, b, out):
    for r in range(len(out)):
        out[r] += a[r] * b[r]


@njit(cache=True, nogil=True, error_model="numpy")
def _to_residuals(z, own, root):
    """Replace logits by root * (probability - 1 in the row's own state)."""
    n_rows = z.shape[1]
    largest, total = np.zeros(n_rows), np.empty(n_rows)
    for s in range(len(z)):
        for r in range(n_rows):
            largest[r] = max(largest[r], z[s, r])
    for r in range(n_rows):
        total[r] = exp_nonpositive(-largest[r])
    for s in range(len(z)):
        for r in range(n_rows):
            z[s, r] = exp_nonpositive(z[s, r] - largest[r])
            total[r] += z[s, r]
    for s in range(len(z)):
        for r in range(n_rows):
            z[s, r] = root[r] * (z[s, r] / total[r] - own[s, r])
