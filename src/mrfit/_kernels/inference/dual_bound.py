"""An upper bound on the largest sum of tables, from messages that move values between tables and fields.

A value added to a variable's field is taken from a table that contains the variable, so that no joint state's sum
changes. The sum of the largest entries of all fields and tables is an upper bound after any such moves. Passes over the
variables lower it: this is sequential tree-reweighted message passing (Kolmogorov 2006), for tables of any order with
the weights of Kolmogorov (2015).
"""

from __future__ import annotations

import numpy as np

from mrfit._kernels.machine_code.compiled import njit


@njit(cache=True, nogil=True, error_model="numpy")
def _collect(table, begin, end, step, n, field, own, out):
    """Move the largest entries of a table, for each state of a variable, to the field of the variable."""
    for s in range(n):
        out[s] = -np.inf
    for block in range(begin, end, n * step):
        for s in range(n):
            for cell in range(block + s * step, block + (s + 1) * step):
                out[s] = max(out[s], table[cell])
    for s in range(n):
        field[own + s] += out[s]
    for block in range(begin, end, n * step):
        for s in range(n):
            for cell in range(block + s * step, block + (s + 1) * step):
                table[cell] -= out[s]


@njit(cache=True, nogil=True, error_model="numpy")
def _share(table, begin, end, step, n, field, own, share):
    """Add a share of a field to a table; the caller subtracts it from the field."""
    for block in range(begin, end, n * step):
        for s in range(n):
            for cell in range(block + s * step, block + (s + 1) * step):
                table[cell] += share * field[own + s]


@njit(cache=True, nogil=True, error_model="numpy")
def _sum_of_largest(values, starts):
    total = 0.0
    for k in range(len(starts) - 1):
        top = -np.inf
        for at in range(starts[k], starts[k + 1]):
            top = max(top, values[at])
        total += top
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def lower_bound(terms, field, table, rounds, tolerance):
    """Move values between ``field`` and ``table`` while a round lowers the bound by more than ``tolerance``.

    A round goes over the variables up and down. Returns the bound and the number of rounds.
    """
    n_variables, widest = len(terms.states), 1
    for c in terms.states:
        widest = max(widest, c)
    out = np.empty(widest)
    starts, place_start, factor, stride = terms.table_start, terms.place_start, terms.factor, terms.stride
    scope, scope_start, field_start = terms.scope, terms.scope_start, terms.field_start
    bound, made = _sum_of_largest(field, field_start) + _sum_of_largest(table, starts), 0
    lowered = np.inf
    while made < rounds and lowered > tolerance:
        for half in range(2):
            for k in range(n_variables):
                i = k if half == 0 else n_variables - 1 - k
                n, own, n_ahead, n_behind = terms.states[i], field_start[i], 0, 0
                for p in range(place_start[i], place_start[i + 1]):
                    f = factor[p]
                    _collect(table, starts[f], starts[f + 1], stride[p], n, field, own, out)
                    n_ahead += scope[scope_start[f + 1] - 1] != i
                    n_behind += scope[scope_start[f]] != i
                ahead = n_ahead if half == 0 else n_behind
                share = 1.0 / max(n_ahead, n_behind, 1)
                for p in range(place_start[i], place_start[i + 1]):
                    f = factor[p]
                    end = scope[scope_start[f + 1] - 1] if half == 0 else scope[scope_start[f]]
                    if end != i:
                        _share(table, starts[f], starts[f + 1], stride[p], n, field, own, share)
                for s in range(n):
                    field[own + s] *= 1.0 - ahead * share
        made += 1
        after = _sum_of_largest(field, field_start) + _sum_of_largest(table, starts)
        lowered, bound = bound - after, min(bound, after)
    return bound, made
