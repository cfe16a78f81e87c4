"""Gradients of the pseudo-log-likelihood of single rows."""

from __future__ import annotations

import math

import numpy as np

from mrfit._kernels.compiled import njit


@njit(cache=True, nogil=True)
def _holds(variables, states, first, last, row):
    holds = True
    for k in range(first, last):
        holds &= row[variables[k]] == states[k]
    return holds


@njit(cache=True, nogil=True)
def row_gradients(
    codes, n_free, feature_start, condition_start, variables, states, slot_start, parameter_of_slot, w_slots, gradients
):
    """gradients[r, k] = derivative in parameter k of sum over variables of -log p(x_i | rest of row r).

    A row has few features that hold; those of each variable are listed once, for the logits and for the derivatives.
    """
    n_rows, n_variables = codes.shape
    most_features, most_states = 1, 1
    for i in range(n_variables):
        most_features = max(most_features, feature_start[i + 1] - feature_start[i])
        most_states = max(most_states, n_free[i])
    holding, z = np.empty(most_features, np.int64), np.empty(most_states)
    gradients[:] = 0.0
    for r in range(n_rows):
        row = codes[r]
        for i in range(n_variables):
            first, n_features, n_holding = feature_start[i], feature_start[i + 1] - feature_start[i], 0
            for f in range(n_features):
                if _holds(variables, states, condition_start[first + f], condition_start[first + f + 1], row):
                    holding[n_holding] = 1 + f
                    n_holding += 1
            largest = 0.0
            for s in range(n_free[i]):
                at = slot_start[i] + s * (1 + n_features)
                z[s] = w_slots[at]
                for k in range(n_holding):
                    z[s] += w_slots[at + holding[k]]
                largest = max(largest, z[s])
            total = math.exp(-largest)
            for s in range(n_free[i]):
                z[s] = math.exp(z[s] - largest)
                total += z[s]
            for s in range(n_free[i]):
                at = slot_start[i] + s * (1 + n_features)
                residual = z[s] / total - (1.0 if row[i] == s + 1 else 0.0)
                if parameter_of_slot[at] >= 0:
                    gradients[r, parameter_of_slot[at]] += residual
                for k in range(n_holding):
                    gradients[r, parameter_of_slot[at + holding[k]]] += residual
