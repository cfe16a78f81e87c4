"""Copying as a plain loop."""

from __future__ import annotations

from mrfit._kernels.machine_code.compiled import njit


@njit(cache=True, nogil=True, error_model="numpy")
def copy_into(target, source):
    """target[:] = source, without numba's check of shapes: compiling the text of its error takes two seconds."""
    for k in range(len(target)):
        target[k] = source[k]
