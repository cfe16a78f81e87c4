"""In-memory transforms of 2**n values by butterflies: Walsh-Hadamard transform and subset sums share one skeleton.

All five multiply by the n-fold Kronecker power of a 2 x 2 matrix. They therefore replace every pair of values whose
indices differ in one bit, bit after bit (lowest first), by two new values, and differ only in these pairs. Three bits
at a time are transformed in registers, on vectors of consecutive values. The butterfly is written as LLVM instructions,
because the loop vectoriser gives up on eight streams through one array that it cannot prove disjoint.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic
from numba.misc.special import literally
from numba.np.arrayobj import make_array

from mrfit._kernels.machine_code.compiled import njit

LANES = 4  # values in a vector: 256 bits
BASE_BITS = 5  # a run of 2**5 values is transformed within registers
TILE_BITS = 11  # 16 KiB: half of a first-level cache
BLOCK_BITS = 17  # 1 MiB: about a second-level cache; smaller blocks leave more bits to the passes across them
ROW_BITS = 9  # most bits taken by one pass through memory above a block
BUFFER_BITS = 15  # 256 KiB: strips of all rows, side by side
STRIP_BITS = 10  # longest strip

# The replacement of a pair (x, y) with index bit (0, 1).
_PAIRS = {
    "walsh_hadamard": lambda b, x, y: (b.fadd(x, y), b.fsub(x, y)),
    "subset_sums": lambda b, x, y: (x, b.fadd(y, x)),
    "inverse_subset_sums": lambda b, x, y: (x, b.fsub(y, x)),
    "superset_sums": lambda b, x, y: (b.fadd(x, y), y),
    "inverse_superset_sums": lambda b, x, y: (b.fsub(x, y), y),
}


def _across(builder, pair, vectors):
    """Apply the butterflies between vectors, for each bit of their number."""
    half = 1
    while half < len(vectors):
        for k in range(len(vectors)):
            if not k & half:
                vectors[k], vectors[k | half] = pair(builder, vectors[k], vectors[k | half])
        half *= 2
    return vectors


def _shuffled(builder, x, y, lanes):
    mask = ir.Constant(ir.VectorType(ir.IntType(32), len(lanes)), lanes)
    return builder.shuffle_vector(x, y, mask)


def _within(builder, pair, vectors):
    """Apply the butterflies between the lanes of vectors: two vectors exchange lanes so that pairs face each other."""
    exchanges = (([0, 4, 2, 6], [1, 5, 3, 7]), ([0, 1, 4, 5], [2, 3, 6, 7]))  # each inverts itself
    for low, high in exchanges:
        for k in range(0, len(vectors), 2):
            x, y = vectors[k], vectors[k + 1]
            x, y = pair(builder, _shuffled(builder, x, y, low), _shuffled(builder, x, y, high))
            vectors[k], vectors[k + 1] = _shuffled(builder, x, y, low), _shuffled(builder, x, y, high)
    return vectors


def _pointers(context, builder, array_type, location, n_vectors, vector):
    """Return addresses of the vectors at ``at + k * stride``, for ``location`` = (array, at, stride)."""
    array, at, stride = location
    data = make_array(array_type)(context, builder, array).data
    locations = [builder.add(at, builder.mul(stride, ir.Constant(stride.type, k))) for k in range(n_vectors)]
    return [builder.bitcast(builder.gep(data, [location]), vector.as_pointer()) for location in locations]


@intrinsic(prefer_literal=True)
def _radix(typing_context, kind, n_bits, source, source_at, source_stride, target, target_at, target_stride):
    """Read 2**n_bits vectors ``source_stride`` apart, transform them across, write them ``target_stride`` apart."""
    vector = ir.VectorType(ir.DoubleType(), LANES)
    pair, n_vectors = _PAIRS[kind.literal_value], 1 << n_bits.literal_value

    def generate(context, builder, signature, arguments):
        read = _pointers(context, builder, source, arguments[2:5], n_vectors, vector)
        write = _pointers(context, builder, target, arguments[5:8], n_vectors, vector)
        values = _across(builder, pair, [builder.load(pointer, align=8) for pointer in read])
        for value, pointer in zip(values, write, strict=True):
            builder.store(value, pointer, align=8)
        return context.get_dummy_value()

    at = stride = types.int64
    return types.void(kind, n_bits, source, at, stride, target, at, stride), generate


@intrinsic(prefer_literal=True)
def _base(typing_context, kind, array, at):
    """Transform the 2**BASE_BITS values that begin at ``at``."""
    vector = ir.VectorType(ir.DoubleType(), LANES)
    pair, n_vectors = _PAIRS[kind.literal_value], (1 << BASE_BITS) // LANES

    def generate(context, builder, signature, arguments):
        _, a, start = arguments
        location = (a, start, ir.Constant(start.type, LANES))
        pointers = _pointers(context, builder, array, location, n_vectors, vector)
        values = _within(builder, pair, [builder.load(pointer, align=8) for pointer in pointers])
        for value, pointer in zip(_across(builder, pair, values), pointers, strict=True):
            builder.store(value, pointer, align=8)
        return context.get_dummy_value()

    return types.void(kind, array, types.int64), generate


_whole = njit(cache=True, nogil=True, error_model="numpy")


@_whole
def _next_bits(left):
    """Return the number of bits to transform together: three if possible, but 4 = 2 + 2."""
    return 2 if left == 4 else min(left, 3)


@njit(nogil=True, error_model="numpy", forceinline=True)
def _rows(kind, n_bits, source, source_at, source_stride, target, target_at, target_stride, length):
    """Transform across 2**n_bits rows of a given length, from one array to another."""
    literally(kind)
    if n_bits == 3:
        for j in range(0, length, LANES):
            _radix(kind, 3, source, source_at + j, source_stride, target, target_at + j, target_stride)
    elif n_bits == 2:
        for j in range(0, length, LANES):
            _radix(kind, 2, source, source_at + j, source_stride, target, target_at + j, target_stride)
    else:
        for j in range(0, length, LANES):
            _radix(kind, 1, source, source_at + j, source_stride, target, target_at + j, target_stride)


@_whole
def _sweep(kind, a, bit, last_bit):
    """Transform bits ``bit`` .. ``last_bit - 1`` of every index of ``a``."""
    literally(kind)
    while bit < last_bit:
        stride, n_bits = 1 << bit, _next_bits(last_bit - bit)
        for group in range(0, len(a), stride << n_bits):
            _rows(kind, n_bits, a, group, stride, a, group, stride, stride)
        bit += n_bits


def _blocks_of(kind):
    @_whole
    def blocks(a, n_bits, first, last):
        """Transform bits 0 .. n_bits - 1 of blocks ``first`` .. ``last - 1`` of 2**n_bits values, n_bits >= BASE_BITS.

        It goes base by base and tile by tile, then between the tiles of a block.
        """
        # min also turns constants into variables, so that one `_sweep` is compiled instead of three.
        base_bits, tile_bits = min(n_bits, BASE_BITS), min(n_bits, TILE_BITS)
        for start in range(first << n_bits, last << n_bits, 1 << n_bits):
            block = a[start : start + (1 << n_bits)]
            for at in range(0, len(block), 1 << tile_bits):
                tile = block[at : at + (1 << tile_bits)]
                for base in range(0, len(tile), 1 << base_bits):
                    _base(kind, tile, base)
                _sweep(kind, tile, base_bits, tile_bits)
            _sweep(kind, block, tile_bits, n_bits)

    return blocks


def _strips_of(kind):
    @_whole
    def strips(a, bit, n_bits, strip_bits, first, last):
        """Transform ``n_bits`` bits from ``bit`` on, in strips ``first`` .. ``last - 1`` of 2**strip_bits values each.

        Rows a power of two apart compete for the same cache lines, so they are gathered in a buffer: the first
        butterflies move them there and the last ones move them back.
        """
        buffer = np.empty(1 << (n_bits + strip_bits))
        length, stride = 1 << strip_bits, 1 << bit
        across = bit - strip_bits  # log2 of the strips side by side in 2**bit values
        bits_in = _next_bits(n_bits)
        bits_out = _next_bits(n_bits - bits_in)
        apart = 1 << (n_bits - bits_out)
        for strip in range(first, last):
            outer = strip >> across
            at = (outer << (bit + n_bits)) + ((strip - (outer << across)) << strip_bits)
            if not bits_out:
                _rows(kind, n_bits, a, at, stride, a, at, stride, length)
                continue
            for row in range(0, 1 << n_bits, 1 << bits_in):
                _rows(kind, bits_in, a, at + row * stride, stride, buffer, row * length, length, length)
            _sweep(kind, buffer, strip_bits + bits_in, strip_bits + n_bits - bits_out)
            for row in range(apart):
                _rows(
                    kind, bits_out, buffer, row * length, apart * length, a, at + row * stride, apart * stride, length
                )

    return strips


BLOCKS = {kind: _blocks_of(kind) for kind in _PAIRS}
STRIPS = {kind: _strips_of(kind) for kind in _PAIRS}


def passes(bit: int, n: int) -> Iterator[tuple[int, int, int]]:
    """Cut bits ``bit`` .. ``n - 1`` into ranges: (lowest bit, number of bits, bits of a strip)."""
    while bit < n:
        n_bits = min(n - bit, ROW_BITS)
        yield bit, n_bits, min(STRIP_BITS, BUFFER_BITS - n_bits)
        bit += n_bits
