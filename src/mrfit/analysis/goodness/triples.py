"""Frequencies of three indicators at once, for all triples of variables."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mrfit._typing import Floats, Indices

MOST_TRIPLES = 500_000


def n_triples_of(variable: Indices) -> int:
    """Number of triples of indicators of three different variables; ``variable`` is the variable of each indicator."""
    _, counts = np.unique(variable, return_counts=True)
    s1, s2, s3 = (float((counts**k).sum()) for k in (1, 2, 3))
    return round((s1**3 - 3.0 * s1 * s2 + 2.0 * s3) / 6.0)


def triples_of(variable: Indices) -> Indices:
    """All triples of indicators of different variables, (triples, 3), in ascending order."""
    found = [
        np.column_stack([np.full(len(b), a), b, c]) for a in range(len(variable)) for b, c in [_later(variable, a)]
    ]
    return np.concatenate(found) if found else np.empty((0, 3), np.int64)


def triple_frequencies(hot: NDArray[np.float32], weight: Floats, variable: Indices) -> Floats:
    """The sum of the weights of the rows in which each triple holds; ``hot`` has the indicators, (rows, indicators)."""
    found = []
    for a in range(len(variable)):
        b, c = _later(variable, a)
        if len(b):
            some = np.flatnonzero(hot[:, a])
            part = hot[some].astype(np.float64)
            found.append((part.T @ (weight[some, None] * part))[b, c])
    return np.concatenate(found) if found else np.empty(0)


def _later(variable: Indices, a: int) -> tuple[Indices, Indices]:
    """Pairs of indicators of later variables than that of indicator ``a``, and of different ones."""
    later = variable > variable[a]
    b, c = np.nonzero(later[:, None] & (variable[:, None] < variable))
    return b, c
