"""Blocks of variables whose best joint state, all others fixed, is found by a junction tree of few cells."""

from __future__ import annotations

import numpy as np

from mrfit._kernels.inference.elimination import _random
from mrfit._kernels.machine_code.compiled import njit


@njit(cache=True, nogil=True, error_model="numpy")
def choose_block(joined, states, max_cells, random, order):
    """Eliminate variables at random, few neighbours first; if a clique has too many cells, fix a variable instead.

    ``joined`` marks variables that share a factor, and is overwritten. Free variables are written into ``order``, in
    the order of elimination. Returns their number.
    """
    n, n_free = len(states), 0
    degree, left = np.empty(n, np.int64), np.ones(n, np.bool_)
    near = np.empty(n, np.int64)
    for i in range(n):
        degree[i] = 0
        for j in range(n):
            degree[i] += joined[i, j]
        if states[i] == 1:
            left[i] = False
    for i in range(n):
        if not left[i]:
            _take_out(joined, degree, i)
    for _ in range(n):
        i = _pick(degree, left, False, random)
        if i < 0:
            break
        d, cells = 0, float(states[i])
        for j in range(n):
            if joined[i, j]:
                near[d] = j
                d += 1
                cells *= states[j]
        if cells <= max_cells:
            left[i] = False
            order[n_free] = i
            n_free += 1
            for a in range(d):
                for b in range(a):
                    if not joined[near[a], near[b]]:
                        joined[near[a], near[b]] = joined[near[b], near[a]] = True
                        degree[near[a]] += 1
                        degree[near[b]] += 1
        else:
            i = _pick(degree, left, True, random)
            left[i] = False
        _take_out(joined, degree, i)
    return n_free


@njit(cache=True, nogil=True, error_model="numpy")
def _pick(degree, left, largest, random):
    """Return a variable of small degree, or of large degree, up to a random factor; -1 if none is left."""
    best, least = -1, np.inf
    for i in range(len(degree)):
        if left[i]:
            u = 1.0 + _random(random)
            score = -(1.0 + degree[i]) * u if largest else (1.0 + degree[i]) * u
            if score < least:
                best, least = i, score
    return best


@njit(cache=True, nogil=True, error_model="numpy")
def _take_out(joined, degree, i):
    for j in range(len(degree)):
        if joined[i, j]:
            joined[i, j] = joined[j, i] = False
            degree[j] -= 1
    degree[i] = 0
