"""Conditioning of tables on the observed values of many rows."""

from __future__ import annotations

import numpy as np

from mrfit._kernels.machine_code.compiled import njit


@njit(cache=True, nogil=True, error_model="numpy")
def cut_tables(scope_start, scope_variables, n_states, is_observed, tables, codes, out_start, has_rows, out):
    """Write every table with the observed variables fixed: once, or (cells, rows) if it has an observed variable.

    ``tables`` are all tables one after the other, in C order of their scopes, and so is the output.
    """
    begin, n_rows = 0, len(codes)
    for t in range(len(scope_start) - 1):
        variables = scope_variables[scope_start[t] : scope_start[t + 1]]
        strides, n_cells = np.empty(len(variables), np.int64), 1
        for k in range(len(variables) - 1, -1, -1):
            strides[k] = n_cells
            n_cells *= n_states[variables[k]]
        width = n_rows if has_rows[t] else 1
        fixed = np.zeros(width, np.int64)
        if has_rows[t]:
            for k in range(len(variables)):
                if is_observed[variables[k]]:
                    for row in range(n_rows):
                        fixed[row] += strides[k] * codes[row, variables[k]]
        to = out_start[t]
        for cell in range(n_cells):
            is_first = True  # of the cells that differ only in observed variables
            for k in range(len(variables)):
                if is_observed[variables[k]] and (cell // strides[k]) % n_states[variables[k]] != 0:
                    is_first = False
                    break
            if not is_first:
                continue
            for row in range(width):
                out[to + row] = tables[begin + cell + fixed[row]]
            to += width
        begin += n_cells
