"""Passes over one value per joint state: exponential, difference."""

from __future__ import annotations

from mrfit._kernels.arithmetic.elementary import exp_nonpositive
from mrfit._kernels.machine_code.compiled import njit

BLOCK = 1024  # values summed at once: the error of a sum grows with it and with the number of blocks, not their product


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc"})
def _sum(q):
    total = 0.0
    for k in range(len(q)):
        total += q[k]
    return total


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})
def exponentiate_blocks(q, shift, sums):
    """q = exp(q - shift) in place, for shift >= q; sums[b] is the sum of block b of the result."""
    for b in range(len(sums)):
        block = q[b * BLOCK : (b + 1) * BLOCK]
        for k in range(len(block)):
            block[k] = exp_nonpositive(block[k] - shift)
        sums[b] = _sum(block)


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})
def scale_and_subtract(a, scale, b):
    """a = scale * a - b in place; with a third array for the result the compiler would fear that they overlap."""
    for k in range(len(a)):
        a[k] = scale * a[k] - b[k]
