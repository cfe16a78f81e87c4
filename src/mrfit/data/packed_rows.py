"""Coded rows in as few bits as their codes need, the form in which reading sorts, compares and stores them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mrfit._kernels.data.packing import pack, repack, unpack
from mrfit._typing import Codes, Floats, Words

_WORD = 64
_BITS_OF = np.array([code.bit_length() for code in range(256)])


@dataclass(frozen=True, eq=False)
class Packing:
    """Positions of the variables' codes in the words of a row.

    Codes fill words from the high end, in the order of the variables, and no code spans two words. Rows therefore
    compare like their words, which is lexicographic order.
    """

    bits: NDArray[np.int64]  # of each variable

    @classmethod
    def of(cls, codes: Codes) -> Packing:
        return cls(_BITS_OF[codes.max(axis=0, initial=0)])

    @cached_property
    def places(self) -> tuple[NDArray[np.int64], Words]:
        """Word of each variable, and the shift of its code from the low end of that word."""
        word, left, words, shifts = 0, _WORD, [], []
        for bits in self.bits.tolist():
            if bits > left:
                word, left = word + 1, _WORD
            left -= bits
            words.append(word)
            shifts.append(min(left, _WORD - 1))  # code 0 of no bits: any shift will do except 64
        return np.array(words), np.array(shifts, np.uint64)

    @property
    def n_words(self) -> int:
        return int(self.places[0][-1]) + 1

    @property
    def mask(self) -> Words:
        return (np.uint64(1) << self.bits.astype(np.uint64)) - np.uint64(1)


@dataclass(frozen=True, eq=False)
class PackedRows:
    """Rows packed into words, with their weights."""

    packing: Packing
    words: Words  # (words of a row, rows)
    sample_weight: Floats

    @classmethod
    def from_codes(cls, codes: Codes, sample_weight: Floats) -> PackedRows:
        """Pack the rows of positive weight."""
        if not sample_weight.all():
            codes, sample_weight = codes[sample_weight > 0], sample_weight[sample_weight > 0]
        packing = Packing.of(codes)
        words = np.empty((packing.n_words, len(codes)), np.uint64)
        pack(
            np.array(codes.T, order="C"), *packing.places, words
        )  # one array type only: each type is compiled separately
        return cls(packing, words, sample_weight)

    @classmethod
    def joined(cls, parts: Sequence[PackedRows]) -> PackedRows:
        """Join the rows of all parts, one part after the other."""
        packing = Packing(np.max([part.packing.bits for part in parts], axis=0))
        words = np.concatenate([part.repacked(packing).words for part in parts], axis=1)
        return cls(packing, words, np.concatenate([part.sample_weight for part in parts]))

    def __len__(self) -> int:
        return len(self.sample_weight)

    @property
    def n_bytes(self) -> int:
        return self.words.nbytes + self.sample_weight.nbytes

    def codes(self) -> Codes:
        """Return the codes, shape (rows, variables)."""
        codes = np.empty((len(self), len(self.packing.bits)), np.uint8)
        unpack(self.words, *self.packing.places, self.packing.mask, codes)
        return codes

    def repacked(self, packing: Packing) -> PackedRows:
        """Return the same codes in another packing."""
        if np.array_equal(packing.bits, self.packing.bits):
            return self
        return self._moved(packing, np.broadcast_to(np.arange(256, dtype=np.uint8), (len(packing.bits), 256)))

    def recoded(self, lookups: Sequence[Codes]) -> PackedRows:
        """Replace the codes by ``lookups[variable][code]``."""
        lookup = np.stack(lookups)
        if (lookup == np.arange(256)).all():
            return self
        tops = [codes[: 1 << bits].max() for codes, bits in zip(lookup, self.packing.bits.tolist(), strict=True)]
        return self._moved(Packing(_BITS_OF[tops]), lookup)

    def _moved(self, packing: Packing, lookup: Codes) -> PackedRows:
        words = np.empty((packing.n_words, len(self)), np.uint64)
        lookup = np.ascontiguousarray(lookup)
        repack(self.words, *self.packing.places, self.packing.mask, lookup, *packing.places, words)
        return PackedRows(packing, words, self.sample_weight)

    def distinct(self) -> PackedRows:
        """Return every row once, with its total weight, in lexicographic order."""
        order, is_first = _sorted(self.words)
        firsts = np.flatnonzero(is_first)
        weight = _summed(self.sample_weight[order], is_first, firsts)
        # `take` leaves words contiguous; an index would not, and kernels would be compiled for that layout too.
        return PackedRows(self.packing, self.words.take(order[firsts], axis=1), weight)


def _sorted(words: Words) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the order of rows by all their words, and whether each differs from its predecessor.

    It goes word by word. Later words are read only where earlier ones are equal, which is rare among distinct rows.
    """
    order = np.argsort(words[0])
    first = words[0][order]
    is_first = np.append(True, first[1:] != first[:-1])[: len(order)]
    for word in words[1:]:
        tied = np.flatnonzero(~(is_first & np.append(is_first[1:], True)))
        if not len(tied):
            break
        rows = order[tied]
        rows = rows[np.lexsort((word[rows], np.cumsum(is_first)[tied]))]
        order[tied] = rows
        is_first[tied[1:]] |= word[rows][1:] != word[rows][:-1]
    return order, is_first


def _summed(sample_weight: Floats, is_first: NDArray[np.bool_], firsts: NDArray[np.int64]) -> Floats:
    """Return the total weight of each run of equal rows, with the same bits for any order of the rows within it."""
    if len(firsts) == len(sample_weight):
        return sample_weight
    if not (sample_weight == np.rint(sample_weight)).all():  # sums of whole numbers are exact anyway
        sample_weight = sample_weight[np.lexsort((sample_weight, np.cumsum(is_first)))]
    return np.add.reduceat(sample_weight, firsts)
