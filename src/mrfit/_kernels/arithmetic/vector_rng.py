"""Random numbers for many chains side by side: xoshiro128+ (Blackman and Vigna, 2021), one generator a lane.

A block of `LANES` chains has one vector of 32-bit floats for all that its loops touch: the four words of each
generator, as bits, and behind them room for two numbers a lane. Parts of one array at distances known to the compiler
cannot overlap, so that it vectorises without checking; it would not check as many arrays as these.

numba makes 64 bits of the sum or shift of two 32-bit words. Every step is cast back: a word of 33 bits would be a
uniform number of up to 2, and nothing would look wrong.
"""

from __future__ import annotations

import numpy as np

from mrfit._kernels.arithmetic.bit_casts import bits_of, float_of
from mrfit._kernels.machine_code.compiled import njit

LANES = 64  # chains in a block: with fewer the compiler unrolls what it should vectorise
WORDS = 4 * LANES  # of the generators of a block; room begins behind them

_u32 = np.uint32
_NINE, _ELEVEN, _TWENTY_ONE, _SIX = _u32(9), _u32(11), _u32(21), _u32(6)
_HALF, _UNIT_23 = np.float32(0.5), np.float32(2.0**-23)
_UNIT_52 = 2.0**-52


@njit(cache=True, nogil=True, error_model="numpy")
def next_word(room, lane):
    """The next 32 bits of a lane's generator; the upper ones are the better."""
    s0: np.uint32 = bits_of(room[lane])
    s1: np.uint32 = bits_of(room[LANES + lane])
    s2: np.uint32 = bits_of(room[2 * LANES + lane])
    s3: np.uint32 = bits_of(room[3 * LANES + lane])
    word = _u32(s0 + s3)
    shifted = _u32(s1 << _NINE)
    s2 = _u32(s2 ^ s0)
    s3 = _u32(s3 ^ s1)
    s1 = _u32(s1 ^ s2)
    s0 = _u32(s0 ^ s3)
    s2 = _u32(s2 ^ shifted)
    s3 = _u32(_u32(s3 << _ELEVEN) | _u32(s3 >> _TWENTY_ONE))
    room[lane], room[LANES + lane] = float_of(s0), float_of(s1)
    room[2 * LANES + lane], room[3 * LANES + lane] = float_of(s2), float_of(s3)
    return word


@njit(cache=True, nogil=True, error_model="numpy")
def uniform_23(room, lane):
    """An odd multiple of 2**-24, so that both what has no probability and its contrary are certain."""
    return (np.float32(np.int32(next_word(room, lane) >> _NINE)) + _HALF) * _UNIT_23


@njit(cache=True, nogil=True, error_model="numpy")
def uniforms_23(room, out):
    """One for each lane."""
    for lane in range(LANES):
        out[lane] = uniform_23(room, lane)


@njit(cache=True, nogil=True, error_model="numpy")
def uniforms_52(room, out):
    """One for each lane, an odd multiple of 2**-53."""
    for lane in range(LANES):
        out[lane] = np.float64(np.int32(next_word(room, lane) >> _SIX))
    for lane in range(LANES):
        low = np.float64(np.int32(next_word(room, lane) >> _SIX))
        out[lane] = (out[lane] * 67108864.0 + low + 0.5) * _UNIT_52
