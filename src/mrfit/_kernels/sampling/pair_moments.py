"""Means of pairs of binary variables over many chains, each pair averaged over its own four states.

Given all others, a pair with coupling J has the states 00, 10, 01 and 11 in the proportions 1 : a : b : a b e^J, where
a and b are the odds of either end with the other at 0. A chain adds the probability of 11 to a mean, not its current
state: on sparse data this is worth ten times as many chains (Rao-Blackwellization).

The odds of an end given the other's current state differ from a by the factor e^J if the other is at 1. Odds are
positive, so their sign can store the variable's state: a pair reads two rows of numbers instead of four.
"""

from __future__ import annotations

import numpy as np

from mrfit._kernels.arithmetic.bit_casts import bits_of, float_of
from mrfit._kernels.arithmetic.vector_rng import LANES
from mrfit._kernels.machine_code.compiled import njit

LARGEST = 20.0  # limit of log-odds and couplings: products of three remain finite in single precision

_f32, _u32 = np.float32, np.uint32
_ONE, _ZERO, _LARGEST = _f32(1.0), _f32(0.0), _f32(LARGEST)
_LOG2_E = _f32(1.4426950408889634)
_SHIFTER = _f32(12582912.0)  # 1.5 * 2**23: adding it leaves round(x) in the low bits of the sum
_MANTISSA = _u32(23)
# 2**f on [-1/2, 1/2] with a relative error up to 2.4e-7: minimax
_P1, _P2, _P3, _P4, _P5 = _f32(0.69314718), _f32(0.24022651), _f32(0.05550411), _f32(0.0096181291), _f32(0.0013333558)


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})
def _add(j, other, row):
    for lane in range(LANES):
        row[lane] += j * other[lane]


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})
def _add_four(j, a, b, c, d, out):
    for lane in range(LANES):
        out[lane] = out[lane] + (j[0] * a[lane] + j[1] * b[lane]) + (j[2] * c[lane] + j[3] * d[lane])


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})
def _exponentiate(row, x):
    """Replace log-odds by odds, negative where the variable is at 1."""
    for lane in range(LANES):
        z = row[lane]
        z = z if z < _LARGEST else _LARGEST
        z = z if z > -_LARGEST else -_LARGEST
        z = z * _LOG2_E
        shifted = z + _SHIFTER
        r = z - (shifted - _SHIFTER)
        p = ((((_P5 * r + _P4) * r + _P3) * r + _P2) * r + _P1) * r + _ONE
        odds: np.float32 = float_of(_u32(bits_of(p) + _u32(bits_of(shifted) << _MANTISSA)))
        row[lane] = odds if x[lane] == _ZERO else -odds


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "reassoc", "nsz", "arcp"})
def _sum_of_singles(row):
    total = _ZERO
    for lane in range(LANES):
        odds = abs(row[lane])
        total += odds / (_ONE + odds)
    return total


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "reassoc", "nsz", "arcp"})
def _sum_of_pairs(row, other, grown, shrunk):
    """Return the sum of p(11) over lanes; ``grown`` is e^J, ``shrunk`` is e^-J, which removes the other's effect."""
    total = _ZERO
    for lane in range(LANES):
        a = abs(row[lane]) * (shrunk if other[lane] < _ZERO else _ONE)
        b = abs(other[lane]) * (shrunk if row[lane] < _ZERO else _ONE)
        both = a * b * grown
        total += both / (_ONE + a + b + both)
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def pair_moments(model, ends, grown, shrunk, x, odds, singles, pairs):
    """Sum p(x_i = 1 | others), and p(x_i = x_j = 1 | others) for pairs of ``ends``, over the lanes of a block.

    ``model`` are the couplings of the chains; ``grown`` and ``shrunk`` are e^J and e^-J of each pair, in single
    precision: they are the same for all blocks. ``odds`` is a buffer of the shape of ``x``.
    """
    starts, neighbours, fields, couplings = model.starts, model.neighbours, model.fields[1], model.couplings[1]
    for i in range(len(x)):
        row = odds[i]
        row[:] = _f32(fields[i])
        at, end = starts[i], starts[i + 1]
        while at + 3 < end:  # four at a time: the row is read and written for a quarter of them
            j = (_f32(couplings[at]), _f32(couplings[at + 1]), _f32(couplings[at + 2]), _f32(couplings[at + 3]))
            first, second, third, fourth = neighbours[at], neighbours[at + 1], neighbours[at + 2], neighbours[at + 3]
            _add_four(j, x[first], x[second], x[third], x[fourth], row)
            at += 4
        while at < end:
            _add(_f32(couplings[at]), x[neighbours[at]], row)
            at += 1
        _exponentiate(row, x[i])
        singles[i] = _sum_of_singles(row)
    for k in range(len(ends)):
        pairs[k] = _sum_of_pairs(odds[ends[k, 0]], odds[ends[k, 1]], grown[k], shrunk[k])
