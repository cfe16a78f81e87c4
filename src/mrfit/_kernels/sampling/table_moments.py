"""Means of indicators of joint states over many chains, for tables of any scopes and numbers of states.

An indicator of several variables is averaged over the conditional distribution of each of its variables in turn: a mean
of probabilities instead of zeros and ones.
"""

from __future__ import annotations

import numpy as np

from mrfit._kernels.arithmetic.elementary import exp_nonpositive
from mrfit._kernels.arithmetic.vector_rng import LANES
from mrfit._kernels.machine_code.compiled import njit
from mrfit._kernels.sampling.gibbs_tables import add_cells, locate_cells


@njit(cache=True, nogil=True, error_model="numpy")
def _normalize(z):
    """Replace log-potentials of a variable's states, (states, lanes), by probabilities."""
    for lane in range(LANES):
        largest, total = z[0, lane], 0.0
        for s in range(1, len(z)):
            largest = max(largest, z[s, lane])
        for s in range(len(z)):
            z[s, lane] = exp_nonpositive(z[s, lane] - largest)
            total += z[s, lane]
        for s in range(len(z)):
            z[s, lane] /= total


@njit(cache=True, nogil=True, error_model="numpy")
def conditional_probabilities(model, first_state, x, out):
    """Compute p(x_i = s | all others) of the target, (states of all variables, lanes)."""
    states, starts, begins, steps, is_target, other_starts, others, strides, values = model
    at = np.empty(LANES, np.int64)
    for i in range(len(x)):
        own = out[first_state[i] : first_state[i] + states[i]]
        own[:] = 0.0
        for k in range(starts[i], starts[i + 1]):
            if is_target[k] == 1:
                locate_cells(begins[k], other_starts[k], other_starts[k + 1], others, strides, x, at)
                add_cells(values, steps[k], 1.0, at, own)
        _normalize(own)


@njit(cache=True, nogil=True, error_model="numpy")
def indicator_moments(first_state, feature_starts, feature_variables, feature_states, p, x, out):
    """Sum every feature over the lanes of a block, averaged over each of its variables in turn."""
    share = np.empty(LANES)
    for f in range(len(feature_starts) - 1):
        first, last = feature_starts[f], feature_starts[f + 1]
        total = 0.0
        for k in range(first, last):
            row = p[first_state[feature_variables[k]] + feature_states[k]]
            for lane in range(LANES):
                share[lane] = row[lane]
            for m in range(first, last):
                if m != k:
                    other, state = x[feature_variables[m]], feature_states[m]
                    for lane in range(LANES):
                        share[lane] = share[lane] if other[lane] == state else 0.0
            for lane in range(LANES):
                total += share[lane]
        out[f] = total / max(last - first, 1)
