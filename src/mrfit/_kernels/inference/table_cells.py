"""Cells of rows in the tables of scopes."""

from __future__ import annotations

from mrfit._kernels.machine_code.compiled import njit


@njit(cache=True, nogil=True)
def find_cells(columns, scope_start, scope_variables, n_states, first, last, cells):
    """Fill cells[r, t] with the index of row first + r in the vector of all tables, each in C order of its scope.

    ``columns`` are codes with the variables first, so that a scope reads a few contiguous columns.
    """
    begin = 0
    for t in range(len(scope_start) - 1):
        for r in range(last - first):
            cells[r, t] = 0
        n_cells = 1
        for at in range(scope_start[t], scope_start[t + 1]):
            v = scope_variables[at]
            n_cells *= n_states[v]
            for r in range(last - first):
                cells[r, t] = cells[r, t] * n_states[v] + columns[v, first + r]
        for r in range(last - first):
            cells[r, t] += begin
        begin += n_cells
