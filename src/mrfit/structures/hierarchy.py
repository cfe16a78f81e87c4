"""Containment of scopes, and candidates for new scopes."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from mrfit._typing import Indices
from mrfit.core.errors import InputError
from mrfit.structures.structure import Structure

_MOST_PAIRS = 20_000_000  # of a scope and one of its supersets


def supersets(structure: Structure) -> tuple[Indices, Indices]:
    """Return the supersets of scope A, itself first, as members[start[A]:start[A + 1]], numbered through all sizes."""
    sizes = {size: len(block) for size, block in structure.blocks.items()}
    n_pairs = sum(2.0**size * count for size, count in sizes.items())
    if n_pairs > _MOST_PAIRS:
        raise InputError(
            f"A hierarchical penalty over {structure.n_scopes:,} scopes has about {n_pairs:.2g} pairs of a scope and a "
            f"larger one; the limit is {_MOST_PAIRS:.0e}. Lower the order, or use the hierarchical search."
        )
    first = dict(zip(sizes, np.cumsum([0, *sizes.values()]).tolist(), strict=False))
    smaller, larger = [], []
    for size, block in structure.blocks.items():
        for r in (r for r in sizes if r <= size):
            for pattern in combinations(range(size), r):
                at = structure.find(block[:, pattern])
                known = at >= 0
                smaller.append(first[r] + at[known])
                larger.append(first[size] + np.flatnonzero(known))
    a = np.concatenate(smaller) if smaller else np.empty(0, np.int64)
    b = np.concatenate(larger) if larger else np.empty(0, np.int64)
    order = np.lexsort((b, a))
    return np.append(0, np.cumsum(np.bincount(a, minlength=structure.n_scopes))), b[order]


def supported(structure: Structure, size: int) -> Indices:
    """Return all sets of ``size`` variables whose subsets of size - 1 are scopes of the structure; ascending."""
    block = structure.blocks.get(size - 1, np.empty((0, size - 1), np.int64))
    candidates = _joined(block)
    for k in range(size - 2):  # the subsets without one of the last two are the joined scopes
        candidates = candidates[structure.find(np.delete(candidates, k, axis=1)) >= 0]
    return candidates


def _joined(block: Indices) -> Indices:
    """Join every two scopes that differ only in their last variable."""
    is_first = np.append(True, (block[1:, :-1] != block[:-1, :-1]).any(axis=1))[: len(block)]
    ends = np.append(np.flatnonzero(is_first)[1:], len(block))[np.cumsum(is_first) - 1] if len(block) else block[:, 0]
    n_after = ends - 1 - np.arange(len(block))
    after = 1 + np.arange(n_after.sum()) - np.repeat(np.cumsum(n_after) - n_after, n_after)
    number = np.repeat(np.arange(len(block)), n_after)
    return np.column_stack([block[number], block[number + after, -1]])
