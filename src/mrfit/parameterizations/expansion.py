"""Features of scopes as sums of canonical features."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from mrfit._typing import Floats, Indices
from mrfit.core.transforms import tensor_product
from mrfit.parameterizations.bases import digits_of

if TYPE_CHECKING:
    from mrfit.parameterizations.canonical import Canonical


def canonical_coefficients(tables: Floats) -> Floats:
    """Return canonical coefficients of tables, with first states as reference (eq. 2 for any number of states).

    ``tables`` has an axis for each variable and a last one for the tables; the result is (digits in C order, tables).
    """
    *shape, n_tables = tables.shape
    matrices = [np.eye(c) for c in (*shape, n_tables)]
    for matrix in matrices[:-1]:
        matrix[1:, 0] = -1.0
    return tensor_product(tables, matrices).reshape(-1, n_tables)


def entries_of(canonical: Canonical, block: Indices, values: Floats) -> tuple[Indices, Indices, Indices]:
    """Return where the coefficients of scopes of one shape go in canonical coordinates.

    ``values`` is (digits of the scope, columns). For its nonzeros except the constant's, return the column, the row,
    and for every scope of the block the number of the canonical parameter, shape (scopes, nonzeros).
    """
    shape = tuple(canonical.domain.shape[i] for i in block[0])
    row, column = np.nonzero(values)
    digits = digits_of(row, shape)
    changed = (digits > 0) @ (1 << np.arange(len(shape)))  # bit k: variable k is not in its first state
    subsets = {bits: tuple(k for k in range(len(shape)) if bits >> k & 1) for bits in set(changed.tolist()) - {0}}
    rows, columns, numbers = [], [], []
    n_free = np.array(shape) - 1
    for bits, subset in sorted(subsets.items(), key=lambda known: (len(known[1]), known[1])):
        chosen = changed == bits
        at = canonical.structure.find(block[:, subset])
        local = np.ravel_multi_index(tuple((digits[chosen][:, subset] - 1).T), tuple(n_free[list(subset)]))
        rows.append(row[chosen])
        columns.append(column[chosen])
        numbers.append(canonical.first_parameter[len(subset)][at][:, None] + local)
    if not rows:
        return np.empty(0, np.int64), np.empty(0, np.int64), np.empty((len(block), 0), np.int64)
    return np.concatenate(columns), np.concatenate(rows), np.hstack(numbers)


def sparse_map(
    values: list[Floats], rows: list[Indices], columns: list[Indices], shape: tuple[int, int]
) -> sparse.csr_array:
    none = [np.empty(0, np.int64)]
    entries = np.concatenate(values or [np.empty(0)])
    return sparse.csr_array((entries, (np.concatenate(rows or none), np.concatenate(columns or none))), shape=shape)
