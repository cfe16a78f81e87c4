"""Sets of small numbers as rows of 64-bit words: ``sets[row]`` has bit k if it contains k.

Rows are passed by number, because a slice would cost more than the operation on it.
"""

from __future__ import annotations

import numpy as np
from numba import types
from numba.extending import intrinsic

from mrfit._kernels.machine_code.compiled import njit

_ONE = np.uint64(1)


@intrinsic
def n_ones(typing_context, word):
    """Count the set bits of a word."""

    def generate(context, builder, signature, arguments):
        return builder.ctpop(arguments[0])

    return types.int64(types.uint64), generate


@intrinsic
def lowest(typing_context, word):
    """Return the number of the lowest set bit of a nonzero word."""

    def generate(context, builder, signature, arguments):
        return builder.cttz(arguments[0], context.get_constant(types.boolean, True))

    return types.int64(types.uint64), generate


@njit(cache=True, nogil=True)
def n_words(n):
    """Return the number of words for numbers below ``n``."""
    return (n + 63) // 64


@njit(cache=True, nogil=True)
def put(sets, row, k):
    sets[row, k >> 6] |= _ONE << np.uint64(k & 63)


@njit(cache=True, nogil=True)
def drop(sets, row, k):
    sets[row, k >> 6] &= ~(_ONE << np.uint64(k & 63))


@njit(cache=True, nogil=True)
def has(sets, row, k):
    return (sets[row, k >> 6] >> np.uint64(k & 63)) & _ONE != 0


@njit(cache=True, nogil=True)
def members(sets, row, out):
    """Write the numbers in a set to ``out``, ascending, and return their count."""
    count = 0
    for i in range(sets.shape[1]):
        word = sets[row, i]
        while word != 0:
            out[count] = 64 * i + lowest(word)
            count += 1
            word &= word - _ONE
    return count
