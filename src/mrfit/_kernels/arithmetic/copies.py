"""Array copies as plain loops."""

from __future__ import annotations

from mrfit._kernels.machine_code.compiled import njit


@njit(cache=True, nogil=True, error_model="numpy")
def copy_into(target, source):
    """Copy target[:] = source without numba's check of shapes, whose error text takes two seconds to compile."""
    for k in range(len(target)):
        target[k] = source[k]
