"""Where variables stand on the page, and which of them belong together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mrfit.report.layout import fitted, force, spread

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Pair = tuple[int, int]

_FEW = 60  # variables that all their edges place well
_MORE_EDGES = 0.3  # beyond a spanning forest, for each variable: all edges of a large network make a ball of it
_ASPECT = np.array([1.15, 1.0])
_COLUMNS = 12  # of variables without an edge, at least


@dataclass(frozen=True)
class Places:
    """A place for every variable, (variables, 2) with y downwards and about one unit of area each; its community.

    Communities are numbered by size, the largest first; -1 are variables without an edge.
    """

    positions: Floats
    community: Integers

    @classmethod
    def of(cls, n_variables: int, strengths: Mapping[Pair, float]) -> Places:
        """Connected variables near each other; of many by a forest, and the strongest edges within communities."""
        edges = np.array(list(strengths), np.int64).reshape(-1, 2)
        size = np.abs(np.fromiter(strengths.values(), np.float64, len(strengths)))
        in_forest = _spanning_forest(n_variables, edges, size)
        if n_variables > _FEW:
            kept = _backbone(n_variables, in_forest, size)
            edges, size, in_forest = edges[kept], size[kept], in_forest[kept]
        community = _communities(n_variables, edges, size)
        if n_variables > _FEW:
            kept = np.flatnonzero(in_forest | (community[edges[:, 0]] == community[edges[:, 1]]))
            edges, size = edges[kept], size[kept]
        share = size / size.max(initial=1e-300)
        return cls(_placed(force(n_variables, edges, share)), community)


def _spanning_forest(n_variables: int, edges: Integers, size: Floats) -> NDArray[np.bool_]:
    """Which edges are in the maximum one."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import minimum_spanning_tree

    cost = 1.0 + size.max(initial=0.0) - size  # positive: an entry of zero is no edge
    forest = minimum_spanning_tree(coo_array((cost, edges.T), shape=(n_variables, n_variables))).tocoo()
    return np.isin(edges @ (n_variables, 1), np.stack([forest.row, forest.col], axis=1) @ (n_variables, 1))


def _backbone(n_variables: int, in_forest: NDArray[np.bool_], size: Floats) -> Integers:
    """The numbers of the edges of the forest, and of the strongest of the others."""
    others = np.flatnonzero(~in_forest)
    strongest = others[np.argsort(-size[others], kind="stable")[: int(np.ceil(_MORE_EDGES * n_variables))]]
    return np.sort(np.concatenate([np.flatnonzero(in_forest), strongest]))


def _communities(n_variables: int, edges: Integers, size: Floats) -> Integers:
    """By modularity (Blondel et al. 2008)."""
    import networkx

    graph: networkx.Graph[int] = networkx.Graph()
    weighted = zip(edges.tolist(), size.tolist(), strict=True)
    graph.add_weighted_edges_from((a, b, weight + 1e-9) for (a, b), weight in weighted)
    found = networkx.community.louvain_communities(graph, seed=0) if len(edges) else []
    community = np.full(n_variables, -1)
    for number, members in enumerate(sorted(found, key=lambda part: (-len(part), min(part)))):
        community[list(members)] = number
    return community


def _placed(places: Floats) -> Floats:
    """In a box, those without an edge in rows below the others."""
    alone = np.flatnonzero(np.isnan(places[:, 0]))
    joined = np.flatnonzero(~np.isnan(places[:, 0]))
    box = _ASPECT * np.sqrt(max(len(joined), 1) / _ASPECT.prod())
    if len(joined):
        places = places * (1.0, -1.0)
        places[joined] = spread(fitted(places[joined], box, stretch=1.4), box)
    floor = places[joined, 1].max(initial=0.0) + 1.0 if len(joined) else 0.0
    columns = max(_COLUMNS if not len(joined) else int(box[0]), int(np.ceil(np.sqrt(2 * len(alone)))))
    rank = np.arange(len(alone))
    places[alone] = np.stack([(rank % columns + 0.5) * max(1.0, box[0] / columns), floor + rank // columns], axis=1)
    return places
