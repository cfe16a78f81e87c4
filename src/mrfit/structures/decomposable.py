"""Structures whose probabilities are products and ratios of tables: trees, and chordal graphs with all cliques."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mrfit._typing import Indices
from mrfit.structures.structure import Structure


def multiplicities(structure: Structure, shape: tuple[int, ...]) -> dict[int, Indices] | None:
    """Return how often log p(x_A) of every scope A occurs in log p(x), by scope size; None if it is no such sum.

    Variables are added in an order of maximum cardinality (Tarjan and Yannakakis 1984). Each comes after the clique K
    of its neighbours that are already added: log p(x) is the sum of log p(x_i, x_K) - log p(x_K), if all these sets are
    scopes. Variables with one state contribute nothing.
    """
    counts = {size: np.zeros(len(block), np.int64) for size, block in structure.blocks.items()}
    for variable, clique in _additions(structure, np.array(shape) > 1):
        for scope, sign in (((*clique, variable), 1), (clique, -1)):
            at = structure.find(np.sort(np.array([scope], np.int64)))[0] if scope else 0
            if at < 0:
                return None
            if scope:
                counts[len(scope)][at] += sign
    return counts


def _additions(structure: Structure, alive: NDArray[np.bool_]) -> list[tuple[int, tuple[int, ...]]]:
    """Return every live variable in an order of maximum cardinality, with its earlier neighbours."""
    neighbours: list[list[int]] = [[] for _ in alive]
    for i, j in structure.edges[alive[structure.edges].all(axis=1)].tolist():
        neighbours[i].append(j)
        neighbours[j].append(i)
    n_before, out = np.where(alive, 0, -1), []
    for _ in range(int(alive.sum())):
        variable = int(n_before.argmax())
        out.append((variable, tuple(j for j in neighbours[variable] if n_before[j] < 0)))
        n_before[variable] = -1
        for j in neighbours[variable]:
            n_before[j] += n_before[j] >= 0
    return out
