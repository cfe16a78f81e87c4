"""Random numbers for many chains side by side: xoshiro128+ (Blackman and Vigna, 2021), one generator per lane.

A block of `LANES` chains has one vector of 32-bit floats for everything in its loops: the four words of each generator,
as bits, and after them two numbers per lane. Parts of one array at compile-time distances cannot overlap, so the
compiler vectorises without run-time checks; for this many separate arrays it would give up.

numba widens the sum or shift of two 32-bit words to 64 bits. Every step is cast back: a word of 33 bits would silently
give uniform numbers of up to 2.
"""

from __future__ import annotations

import numpy as np

from mrfit._kernels.arithmetic.bit_casts import bits_of, float_of
from mrfit._kernels.machine_code.compiled import njit

LANES = 64  # chains in a block; with fewer lanes the compiler unrolls instead of vectorising
WORDS = 4 * LANES  # of the generators of a block, which come first

_u32 = np.uint32
_NINE, _ELEVEN, _TWENTY_ONE, _SIX = _u32(9), _u32(11), _u32(21), _u32(6)
_HALF, _UNIT_23 = np.float32(0.5), np.float32(2.0**-23)
_UNIT_52 = 2.0**-52


@njit(cache=True, nogil=True, error_model="numpy")
def next_word(block, lane):
    """Return the next 32 bits of a lane's generator; the upper bits have the better quality."""
    s0: np.uint32 = bits_of(block[lane])
    s1: np.uint32 = bits_of(block[LANES + lane])
    s2: np.uint32 = bits_of(block[2 * LANES + lane])
    s3: np.uint32 = bits_of(block[3 * LANES + lane])
    word = _u32(s0 + s3)
    shifted = _u32(s1 << _NINE)
    s2 = _u32(s2 ^ s0)
    s3 = _u32(s3 ^ s1)
    s1 = _u32(s1 ^ s2)
    s0 = _u32(s0 ^ s3)
    s2 = _u32(s2 ^ shifted)
    s3 = _u32(_u32(s3 << _ELEVEN) | _u32(s3 >> _TWENTY_ONE))
    block[lane], block[LANES + lane] = float_of(s0), float_of(s1)
    block[2 * LANES + lane], block[3 * LANES + lane] = float_of(s2), float_of(s3)
    return word


@njit(cache=True, nogil=True, error_model="numpy")
def uniform_23(block, lane):
    """Return an odd multiple of 2**-24: events of probability 0 never happen, and of probability 1 always."""
    return (np.float32(np.int32(next_word(block, lane) >> _NINE)) + _HALF) * _UNIT_23


@njit(cache=True, nogil=True, error_model="numpy")
def uniforms_23(block, out):
    """Fill ``out`` with one number for each lane."""
    for lane in range(LANES):
        out[lane] = uniform_23(block, lane)


@njit(cache=True, nogil=True, error_model="numpy")
def uniforms_52(block, out):
    """Fill ``out`` with one number for each lane, an odd multiple of 2**-53."""
    for lane in range(LANES):
        out[lane] = np.float64(np.int32(next_word(block, lane) >> _SIX))
    for lane in range(LANES):
        low = np.float64(np.int32(next_word(block, lane) >> _SIX))
        out[lane] = (out[lane] * 67108864.0 + low + 0.5) * _UNIT_52
