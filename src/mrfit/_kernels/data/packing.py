"""Codes of a few bits each, side by side in 64-bit words.

``words[k, row]`` is word k of a row. The code of variable j is in word ``word[j]``, ``shift[j]`` bits from its low end.
Inner loops run over whole slices, because only then the compiler knows that no index is negative and uses vector
instructions. Loops over rows take a block of them for each variable, whose words stay in the cache meanwhile.
"""

from __future__ import annotations

import numpy as np

from mrfit._kernels.machine_code.compiled import njit

_BLOCK = 2048


@njit(cache=True, nogil=True)
def pack(codes, word, shift, words):
    """Fill ``words`` with codes[variable, row]."""
    words[:] = 0
    for first in range(0, codes.shape[1], _BLOCK):
        for j in range(len(word)):
            given, packed = codes[j, first : first + _BLOCK], words[word[j], first : first + _BLOCK]
            for r in range(len(given)):
                packed[r] |= np.uint64(given[r]) << shift[j]


@njit(cache=True, nogil=True)
def repack(words, word, shift, mask, lookup, new_word, new_shift, new_words):
    """Move every code into a new layout, recoded by lookup[variable, code]."""
    new_words[:] = 0
    for first in range(0, words.shape[1], _BLOCK):
        for j in range(len(word)):
            given, packed = words[word[j], first : first + _BLOCK], new_words[new_word[j], first : first + _BLOCK]
            for r in range(len(given)):
                packed[r] |= np.uint64(lookup[j, (given[r] >> shift[j]) & mask[j]]) << new_shift[j]


@njit(cache=True, nogil=True)
def unpack(words, word, shift, mask, codes):
    """Fill codes[row, variable]."""
    start = np.searchsorted(word, np.arange(len(words) + 1))  # first variable of each word
    for r in range(words.shape[1]):
        for k in range(len(words)):
            own = slice(start[k], start[k + 1])
            shifts, masks, found = shift[own], mask[own], codes[r, own]
            for j in range(len(found)):
                found[j] = (words[k, r] >> shifts[j]) & masks[j]
