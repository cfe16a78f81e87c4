"""Multiplication of one axis of a tensor by a small matrix."""

from __future__ import annotations

from mrfit._kernels.machine_code.compiled import njit

STRIP = 512  # values of a row that stay in the first-level cache while the matrix passes over them


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})
def multiply_axis(a, left, inner, right, matrix, out):
    """Compute out[l, :, r] = matrix @ a[l, :, r] for flat arrays seen as (left, inner, right) and (left, rows, right).

    The cost is left * rows * inner * right multiplications and one pass through either array.
    """
    rows = matrix.shape[0]
    for block in range(left):
        for low in range(0, right, STRIP):
            width = min(STRIP, right - low)
            for i in range(rows):
                to = (block * rows + i) * right + low
                target = out[to : to + width]
                for k in range(inner):
                    at = (block * inner + k) * right + low
                    source = a[at : at + width]
                    factor = matrix[i, k]
                    if k == 0:
                        for r in range(len(target)):
                            target[r] = factor * source[r]
                    else:
                        for r in range(len(target)):
                            target[r] += factor * source[r]
