"""Spanning forests of largest weight."""

from __future__ import annotations

import numpy as np

from mrfit._kernels.machine_code.compiled import njit


@njit(cache=True, nogil=True, error_model="numpy")
def heaviest_forest(n, ends, weight):
    """Return which edges (two ``ends`` each, shape (edges, 2)) a heaviest spanning forest has (Kruskal 1956)."""
    chosen = np.zeros(len(weight), np.bool_)
    parent = np.arange(n)
    for e in np.argsort(-weight, kind="mergesort"):
        i, j = ends[e, 0], ends[e, 1]
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        while parent[j] != j:
            parent[j] = parent[parent[j]]
            j = parent[j]
        if i != j:
            parent[i] = j
            chosen[e] = True
    return chosen
