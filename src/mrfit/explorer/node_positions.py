"""Positions and communities of variables on the page."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mrfit._typing import Floats, Integers
from mrfit.analysis.nodes.communities import louvain
from mrfit.plots.force_layout import fitted, force, spread

_FEW = 60  # variables up to which all edges together give a good layout
_MORE_EDGES = 0.3  # for each variable, beyond a spanning forest: all edges of a large network make it a ball
_ASPECT = np.array([1.15, 1.0])
_COLUMNS = 12  # of variables without an edge, at least


@dataclass(frozen=True)
class Places:
    """A position for every variable, (variables, 2) with y downwards and about one unit of area each; its community.

    Communities are numbered by size, the largest first; variables without an edge have -1.
    """

    positions: Floats
    community: Integers

    @classmethod
    def of(cls, weights: Floats) -> Places:
        """Lay out connected variables near each other; large networks by a forest and edges within communities."""
        size = np.abs(weights)
        if len(size) > _FEW:
            forest = _spanning_forest(size)
            size = _backbone(size, forest)
            community = louvain(size)
            size = np.where(forest | (community[:, None] == community[None, :]), size, 0.0)
        else:
            community = louvain(size)
        edges = np.argwhere(np.triu(size))
        share = size[edges[:, 0], edges[:, 1]] / size.max(initial=1e-300)
        return cls(_in_box(force(len(size), edges, share)), _by_size(community, (size > 0).sum(axis=1)))


def _spanning_forest(size: Floats) -> NDArray[np.bool_]:
    """Return the mask of pairs in the maximum spanning forest, (variables, variables)."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import minimum_spanning_tree

    cost = np.where(size > 0, 1.0 + size.max(initial=0.0) - size, 0.0)  # positive: scipy takes zero as no edge
    forest = minimum_spanning_tree(csr_array(cost)).toarray() > 0
    return np.asarray(forest | forest.T)


def _backbone(size: Floats, forest: NDArray[np.bool_]) -> Floats:
    """Return the forest, and the strongest of the other edges."""
    others = np.sort(np.triu(np.where(forest, 0.0, size)), axis=None)[::-1]
    least = others[min(int(_MORE_EDGES * len(size)), len(others) - 1)]
    return np.where(forest | (size > least), size, 0.0)


def _by_size(community: Integers, n_edges: Integers) -> Integers:
    """Number communities by size, the largest first; -1 for variables without an edge."""
    _, first, label, count = np.unique(community, return_index=True, return_inverse=True, return_counts=True)
    rank = np.empty(len(count), np.int64)
    rank[np.lexsort((first, -count))] = np.arange(len(count))
    return np.where(n_edges > 0, rank[label], -1)


def _in_box(positions: Floats) -> Floats:
    """Fit positions into a box, and put variables without an edge in rows below the others."""
    alone = np.flatnonzero(np.isnan(positions[:, 0]))
    joined = np.flatnonzero(~np.isnan(positions[:, 0]))
    box = _ASPECT * np.sqrt(max(len(joined), 1) / _ASPECT.prod())
    if len(joined):
        positions = positions * (1.0, -1.0)
        positions[joined] = spread(fitted(positions[joined], box, stretch=1.4), box)
    floor = positions[joined, 1].max(initial=0.0) + 1.0 if len(joined) else 0.0
    columns = max(_COLUMNS if not len(joined) else int(box[0]), int(np.ceil(np.sqrt(2 * len(alone)))))
    rank = np.arange(len(alone))
    positions[alone] = np.stack([(rank % columns + 0.5) * max(1.0, box[0] / columns), floor + rank // columns], axis=1)
    return positions
