"""How strongly two variables hold together, whatever the coordinates of the model."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from mrfit.factors import Factors

Floats = NDArray[np.float64]
Pair = tuple[int, int]

_IMPOSSIBLE = -30.0  # in the place of minus infinity: what parameters without a finite optimum are held at


def pair_strengths(factors: Factors) -> Mapping[Pair, float]:
    """For all pairs that share a table, the length of their interaction.

    It is their part of log p that no table over one of them could say, averaged over the states of the other variables
    of larger tables. For two variables of two states each it is the log odds ratio, positive where their second states
    go together; where there are more states it is twice the Frobenius norm, which for two is the same but for the sign.
    """
    parts: dict[Pair, Floats] = {}
    for scope, flat in zip(factors.scopes, factors.tables, strict=True):
        live = [i for i in scope if factors.shape[i] > 1]
        table = np.maximum(flat, _IMPOSSIBLE).reshape([factors.shape[i] for i in live])
        for one, other in combinations(range(len(live)), 2):
            pair, part = (live[one], live[other]), _interaction(table, one, other)
            if pair[0] > pair[1]:
                pair, part = pair[::-1], part.T
            parts[pair] = parts[pair] + part if pair in parts else part
    return {pair: _length(part) for pair, part in sorted(parts.items())}


def _interaction(table: Floats, one: int, other: int) -> Floats:
    """Of two axes: the mean over all others, with rows and columns that sum to zero."""
    mean = table.mean(axis=tuple(k for k in range(table.ndim) if k not in (one, other)))
    return np.asarray(mean - mean.mean(axis=0) - mean.mean(axis=1, keepdims=True) + mean.mean())


def _length(part: Floats) -> float:
    if part.shape == (2, 2):
        return float(4.0 * part[1, 1])
    return float(2.0 * np.linalg.norm(part))
