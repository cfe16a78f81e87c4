"""Gibbs sweeps over binary variables that interact in pairs, `LANES` chains at a time.

A state is 0.0 or 1.0, so that the log-odds of a variable are a sum of products, h_i + sum_j J_ij x_j, over rows of
``x``, (variables, lanes). Every loop goes over lanes and becomes SIMD code; an update takes about 2 ns.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mrfit._kernels.arithmetic.bit_casts import bits_of, float_of
from mrfit._kernels.arithmetic.vector_rng import LANES, WORDS, uniform_23
from mrfit._kernels.machine_code.compiled import njit

_f32, _u32 = np.float32, np.uint32
_FIELD, _HEAT = WORDS, WORDS + LANES
N_FLOATS = WORDS + 2 * LANES  # floats of a block

_ONE, _ZERO = _f32(1.0), _f32(0.0)
_LARGEST = _f32(80.0)  # larger log-odds have no effect on uniform numbers of 23 bits
_LOG2_E = _f32(-1.4426950408889634)
_SHIFTER = _f32(12582912.0)  # 1.5 * 2**23: adding it leaves round(x) in the low bits of the sum
_MANTISSA = _u32(23)
# 2**f on [-1/2, 1/2] with a relative error up to 2.4e-7: minimax
_P1, _P2, _P3, _P4, _P5 = _f32(0.69314718), _f32(0.24022651), _f32(0.05550411), _f32(0.0096181291), _f32(0.0013333558)


class Couplings(NamedTuple):
    """log p of a base (row 0) and of a target (row 1), each up to a constant."""

    variables: np.ndarray  # variables with two states
    starts: np.ndarray  # start of the neighbours of a variable, (n + 1,)
    neighbours: np.ndarray
    fields: np.ndarray  # h, (2, n)
    couplings: np.ndarray  # J, one for each neighbour, (2, pairs both ways)


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})
def _draw(block, x, begin):
    """Draw new states of one variable, given its log-odds; add the change of log p to the heat.

    1 / (1 + exp(-f)) > u is tested without a division. `_HEAT` accumulates in single precision, one sweep at a time.
    """
    row = x[begin : begin + LANES]
    for lane in range(LANES):
        u = uniform_23(block, lane)
        f = block[_FIELD + lane]
        z = f if f < _LARGEST else _LARGEST
        z = z if z > -_LARGEST else -_LARGEST
        z = z * _LOG2_E
        shifted = z + _SHIFTER
        r = z - (shifted - _SHIFTER)
        p = ((((_P5 * r + _P4) * r + _P3) * r + _P2) * r + _P1) * r + _ONE
        e: np.float32 = float_of(_u32(bits_of(p) + _u32(bits_of(shifted) << _MANTISSA)))
        new = _ONE if u * (_ONE + e) < _ONE else _ZERO
        block[_HEAT + lane] = block[_HEAT + lane] + (new - row[lane]) * f
        row[lane] = new


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})
def _begin(block, h):
    for lane in range(LANES):
        block[_FIELD + lane] = h


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})
def _add(block, j, x, begin):
    row = x[begin : begin + LANES]
    for lane in range(LANES):
        block[_FIELD + lane] += j * row[lane]


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})
def _add_four(block, j, begins, x):
    a, b = x[begins[0] : begins[0] + LANES], x[begins[1] : begins[1] + LANES]
    c, d = x[begins[2] : begins[2] + LANES], x[begins[3] : begins[3] + LANES]
    for lane in range(LANES):
        two = j[0] * a[lane] + j[1] * b[lane]
        block[_FIELD + lane] = block[_FIELD + lane] + two + (j[2] * c[lane] + j[3] * d[lane])


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})
def _mix(pair, beta, out):
    for k in range(len(out)):
        out[k] = _f32((1.0 - beta) * pair[0, k] + beta * pair[1, k])


@njit(cache=True, nogil=True, error_model="numpy")
def sweep_couplings(model, betas, backwards, x, block, heat):
    """Sweep once for each of ``betas``, over the distribution base^(1 - beta) target^beta.

    ``heat`` gains, for each lane, the changes of log p of all moves, each in its own distribution.
    """
    variables, starts, neighbours, states = model.variables, model.starts, model.neighbours, x.ravel()
    n = len(variables)
    h, couplings = np.empty(len(x), np.float32), np.empty(len(neighbours), np.float32)
    for beta in betas:
        _mix(model.fields, beta, h)
        _mix(model.couplings, beta, couplings)
        for lane in range(LANES):
            block[_HEAT + lane] = _ZERO
        for k in range(n):
            i = variables[n - 1 - k if backwards else k]
            _begin(block, h[i])
            at, end = starts[i], starts[i + 1]
            while at + 3 < end:  # four at a time: the field is read and written for a quarter of them
                j = (couplings[at], couplings[at + 1], couplings[at + 2], couplings[at + 3])
                first, second = LANES * neighbours[at], LANES * neighbours[at + 1]
                third, fourth = LANES * neighbours[at + 2], LANES * neighbours[at + 3]
                _add_four(block, j, (first, second, third, fourth), states)
                at += 4
            while at < end:
                _add(block, couplings[at], states, LANES * neighbours[at])
                at += 1
            _draw(block, states, LANES * i)
        for lane in range(LANES):
            heat[lane] += block[_HEAT + lane]


@njit(cache=True, nogil=True, error_model="numpy")
def potentials_couplings(model, x, out):
    """Compute log p of the target at each lane's states, up to a constant; equal states give equal bits."""
    starts, neighbours, fields, couplings = model.starts, model.neighbours, model.fields[1], model.couplings[1]
    out[:] = 0.0
    for i in model.variables:
        for lane in range(LANES):
            out[lane] += fields[i] * x[i, lane]
        for at in range(starts[i], starts[i + 1]):
            j = neighbours[at]
            if j < i:
                for lane in range(LANES):
                    out[lane] += couplings[at] * (x[i, lane] * x[j, lane])
