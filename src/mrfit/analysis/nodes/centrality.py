"""Centrality of variables, from the symmetric matrix of the edge weights of all pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mrfit._typing import Floats, Indices

if TYPE_CHECKING:
    import networkx


def strength(weights: Floats) -> Floats:
    """sum over j of |w_ij|."""
    return np.asarray(np.abs(weights).sum(axis=1), np.float64)


def expected_influence(weights: Floats) -> Floats:
    """sum over j of w_ij (Robinaugh, Millner and McNally 2016)."""
    with np.errstate(invalid="ignore"):  # infinite weights of both signs have no sum
        return np.asarray(weights.sum(axis=1), np.float64)


def expected_influence_two_steps(weights: Floats) -> Floats:
    """Expected influence, plus that of each neighbour times the weight of the edge to it (Robinaugh et al. 2016)."""
    one = expected_influence(weights)
    with np.errstate(invalid="ignore"):
        return np.asarray(one + weights @ one, np.float64)


def across(weights: Floats, groups: Indices) -> Floats:
    """Only the weights between different groups: what strength and influence make of them are their bridge versions
    (Jones, Ma and McNally 2021)."""
    return np.where(groups[:, None] != groups[None, :], weights, 0.0)


def closeness(weights: Floats) -> Floats:
    """1 / sum of distances to all others, where an edge is 1 / |w| long; 0 where some cannot be reached."""
    import networkx

    distances = np.full(weights.shape, np.inf)
    for i, found in networkx.all_pairs_dijkstra_path_length(graph_of(weights), weight="distance"):
        distances[i, list(found)] = list(found.values())
    total = distances.sum(axis=1)
    return np.asarray(np.divide(1.0, total, out=np.zeros(len(total)), where=total > 0), np.float64)


def betweenness(weights: Floats) -> Floats:
    """Shortest paths between others that lead through a variable, counted in both directions."""
    import networkx

    found = networkx.betweenness_centrality(graph_of(weights), weight="distance", normalized=False)
    return 2.0 * np.array([found[i] for i in range(len(weights))])


def graph_of(weights: Floats) -> networkx.Graph[Any]:
    """Variables by number, joined where the weight is not zero: ``weight`` is its size, ``distance`` one over that."""
    import networkx

    graph: networkx.Graph[Any] = networkx.Graph()
    graph.add_nodes_from(range(len(weights)))
    for i, j in np.argwhere(np.triu(weights, 1)).tolist():
        size = float(abs(weights[i, j]))
        graph.add_edge(i, j, weight=size, distance=1.0 / size)
    return graph
