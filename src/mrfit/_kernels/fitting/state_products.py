"""Passes over one value per joint state: exponentials and differences."""

from __future__ import annotations

from mrfit._kernels.arithmetic.elementary import exp_nonpositive
from mrfit._kernels.machine_code.compiled import njit

BLOCK = 1024  # values summed at once: the error of a sum grows with it plus the number of blocks, not their product


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc"})
def _sum(q):
    total = 0.0
    for k in range(len(q)):
        total += q[k]
    return total


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})
def exponentiate_blocks(q, shift, sums):
    """Replace q by exp(q - shift), for shift >= q; sums[b] is the sum of block b of the result."""
    for b in range(len(sums)):
        block = q[b * BLOCK : (b + 1) * BLOCK]
        for k in range(len(block)):
            block[k] = exp_nonpositive(block[k] - shift)
        sums[b] = _sum(block)


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})
def scale_and_subtract(a, scale, b):
    """Replace a by scale * a - b; a third array would make the compiler assume that they overlap."""
    for k in range(len(a)):
        a[k] = scale * a[k] - b[k]
