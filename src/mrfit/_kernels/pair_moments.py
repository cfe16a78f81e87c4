"""Means of pairs of two-state variables over many chains, each pair averaged over its own four states.

Given all others, a pair that is joined by J has the states 00, 10, 01 and 11 in the proportions 1 : a : b : a b e^J,
where a and b are the odds of either end with the other at 0. What a chain adds to a mean is the probability of 11, not
whether it happens to stand there: on sparse data that is worth ten times as many chains (Rao and Blackwell).
"""

from __future__ import annotations

import numpy as np

from mrfit._kernels.compiled import njit
from mrfit._kernels.lanes import LANES, bits_of, float_of

_f32, _u32 = np.float32, np.uint32
_ONE, _ZERO = _f32(1.0), _f32(0.0)
_LARGEST = _f32(20.0)  # log-odds and couplings: products of three are still numbers in single precision
_LOG2_E = _f32(1.4426950408889634)
_SHIFTER = _f32(12582912.0)  # 1.5 * 2**23: adding it leaves round(x) in the low bits of the sum
_MANTISSA = _u32(23)
# 2**f on [-1/2, 1/2] up to 2.4e-7 of it: minimax
_P1, _P2, _P3, _P4, _P5 = _f32(0.69314718), _f32(0.24022651), _f32(0.05550411), _f32(0.0096181291), _f32(0.0013333558)


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})
def _exponentiate(row):
    """Log-odds to odds, in place."""
    for lane in range(LANES):
        z = row[lane]
        z = z if z < _LARGEST else _LARGEST
        z = z if z > -_LARGEST else -_LARGEST
        z = z * _LOG2_E
        shifted = z + _SHIFTER
        r = z - (shifted - _SHIFTER)
        p = ((((_P5 * r + _P4) * r + _P3) * r + _P2) * r + _P1) * r + _ONE
        row[lane] = float_of(_u32(bits_of(p) + _u32(bits_of(shifted) << _MANTISSA)))


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})
def _add(j, other, row):
    for lane in range(LANES):
        row[lane] += j * other[lane]


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})
def _add_two(j, row, k, other, out):
    for lane in range(LANES):
        out[lane] = out[lane] + j * row[lane] + k * other[lane]


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "reassoc", "nsz", "arcp"})
def _mean_of_odds(row):
    total = _ZERO
    for lane in range(LANES):
        total += row[lane] / (_ONE + row[lane])
    return total


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "reassoc", "nsz", "arcp"})
def _mean_of_pair(odds, other_odds, x, other_x, grown, shrunk):
    """``grown`` is e^J, ``shrunk`` e^-J - 1, which takes an end's neighbour out of its odds."""
    total = _ZERO
    for lane in range(LANES):
        a = odds[lane] * (_ONE + other_x[lane] * shrunk)
        b = other_odds[lane] * (_ONE + x[lane] * shrunk)
        both = a * b * grown
        total += both / (_ONE + a + b + both)
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def pair_moments(model, ends, pair_couplings, x, singles, pairs):
    """Sums over the lanes of a block: of p(x_i = 1 | others), and of p(x_i = x_j = 1 | others) for pairs of ``ends``.

    ``model`` are the couplings that the chains sweep by, and ``pair_couplings`` those of the pairs, once each.
    """
    n = len(x)
    odds = np.empty((n, LANES), np.float32)
    starts, neighbours, fields, couplings = model.starts, model.neighbours, model.fields[1], model.couplings[1]
    for i in range(n):
        row = odds[i]
        row[:] = _f32(fields[i])
        at, end = starts[i], starts[i + 1]
        while at + 1 < end:  # two at a time: half the traffic
            _add_two(_f32(couplings[at]), x[neighbours[at]], _f32(couplings[at + 1]), x[neighbours[at + 1]], row)
            at += 2
        if at < end:
            _add(_f32(couplings[at]), x[neighbours[at]], row)
        _exponentiate(row)
        singles[i] = _mean_of_odds(row)
    for k in range(len(ends)):
        i, j = ends[k, 0], ends[k, 1]
        coupling = min(max(pair_couplings[k], -20.0), 20.0)
        grown, shrunk = _f32(np.exp(coupling)), _f32(np.expm1(-coupling))
        pairs[k] = _mean_of_pair(odds[i], odds[j], x[i], x[j], grown, shrunk)
