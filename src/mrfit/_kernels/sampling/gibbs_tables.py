"""Gibbs sweeps for tables of any scopes and any numbers of states, `LANES` chains at a time.

The log-probabilities of a variable given the others are sums of cells: for each table with the variable, one position
per lane, and from there a step for each of its states.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mrfit._kernels.arithmetic.elementary import exp_nonpositive
from mrfit._kernels.arithmetic.vector_rng import LANES, uniforms_52
from mrfit._kernels.machine_code.compiled import njit

SIDE_BY_SIDE = 4  # least states for which a variable's tables must store them contiguously, with a step of 1


class Incidence(NamedTuple):
    """Incidence of variables and tables, with the positions of states in the tables."""

    states: np.ndarray  # of each variable
    starts: np.ndarray  # start of the incidences of a variable
    begins: np.ndarray  # start of the table of an incidence, in the vector of all tables
    steps: np.ndarray  # from one state of the variable to the next
    is_target: np.ndarray  # 1 for tables of the target, 0 for those of the base
    other_starts: np.ndarray  # start of the other variables of an incidence
    others: np.ndarray
    strides: np.ndarray
    values: np.ndarray  # all tables; minus infinity is legal in cells that the chains never visit


@njit(cache=True, nogil=True, error_model="numpy")
def locate_cells(begin, first, last, others, strides, x, at):
    """Compute the first cell of each lane in a table, given the states of the other variables."""
    at[:] = begin
    for o in range(first, last):
        row, stride = x[others[o]], strides[o]
        for lane in range(LANES):
            at[lane] += stride * row[lane]


@njit(cache=True, nogil=True, error_model="numpy")
def add_cells(values, step, factor, at, out):
    """Add a factor times the cells of every state, (states, lanes)."""
    for s in range(len(out)):
        z = out[s]
        for lane in range(LANES):
            z[lane] += factor * values[at[lane] + s * step]


@njit(cache=True, nogil=True, error_model="numpy")
def _add_rows(values, factor, at, n_states, out):
    """Do the same as `add_cells` for contiguous states: a vector for each lane instead of gathers."""
    for lane in range(LANES):
        row = values[at[lane] : at[lane] + n_states]
        own = out[lane * n_states : (lane + 1) * n_states]
        for s in range(n_states):
            own[s] += factor * row[s]


@njit(cache=True, nogil=True, error_model="numpy")
def _draw(z, p, u, row, heat):
    """Draw new states by inverting the cumulative probabilities, which fill ``p``; ``u`` are uniform numbers."""
    n_states = len(z)
    largest = p[n_states]
    largest[:] = z[0]
    for s in range(1, n_states):
        for lane in range(LANES):
            largest[lane] = max(largest[lane], z[s, lane])
    for s in range(n_states):
        for lane in range(LANES):
            p[s, lane] = exp_nonpositive(z[s, lane] - largest[lane])
    for s in range(1, n_states):
        for lane in range(LANES):
            p[s, lane] += p[s - 1, lane]
    for lane in range(LANES):
        goal, new = u[lane] * p[n_states - 1, lane], 0
        for s in range(n_states - 1):
            new += p[s, lane] <= goal
        heat[lane] += z[new, lane] - z[row[lane], lane]
        row[lane] = new


@njit(cache=True, nogil=True, error_model="numpy")
def sweep_tables(model, betas, backwards, x, block, heat):
    """Sweep as `sweep_couplings` does, with integer ``x``."""
    states, starts, begins, steps, is_target, other_starts, others, strides, values = model
    n, most = len(x), states.max() if len(x) else 1
    z, p, rows = np.empty((most, LANES)), np.empty((most + 1, LANES)), np.empty(most * LANES)
    at, u, scale = np.empty(LANES, np.int64), np.empty(LANES), np.empty(2)
    for beta in betas:
        scale[0], scale[1] = 1.0 - beta, beta
        for turn in range(n):
            i = n - 1 - turn if backwards else turn
            if states[i] == 1:
                continue
            own, side_by_side = z[: states[i]], states[i] >= SIDE_BY_SIDE
            own[:] = 0.0
            rows[:] = 0.0
            for k in range(starts[i], starts[i + 1]):
                if scale[is_target[k]] != 0.0:
                    locate_cells(begins[k], other_starts[k], other_starts[k + 1], others, strides, x, at)
                    if side_by_side:
                        _add_rows(values, scale[is_target[k]], at, states[i], rows)
                    else:
                        add_cells(values, steps[k], scale[is_target[k]], at, own)
            if side_by_side:
                for lane in range(LANES):
                    for s in range(states[i]):
                        own[s, lane] = rows[lane * states[i] + s]
            uniforms_52(block, u)
            _draw(own, p, u, x[i], heat)


@njit(cache=True, nogil=True, error_model="numpy")
def potentials_tables(model, x, out):
    """Compute potentials as `potentials_couplings` does: each table is split evenly among its variables."""
    _, starts, begins, steps, is_target, other_starts, others, strides, values = model
    at = np.empty(LANES, np.int64)
    out[:] = 0.0
    for i in range(len(x)):
        for k in range(starts[i], starts[i + 1]):
            if is_target[k] == 1:
                locate_cells(begins[k], other_starts[k], other_starts[k + 1], others, strides, x, at)
                part = 1.0 / (1 + other_starts[k + 1] - other_starts[k])
                for lane in range(LANES):
                    out[lane] += part * values[at[lane] + steps[k] * x[i, lane]]
