"""Variables that are joined to each other more than to others, and whether they stay together."""

from __future__ import annotations

import numpy as np

from mrfit._typing import Floats, Indices
from mrfit.analysis.nodes.centrality import graph_of


def louvain(weights: Floats, *, seed: int = 0) -> Indices:
    """The community of every variable, numbered from 0 in the order of their first variables.

    By the method of Blondel, Guillaume, Lambiotte and Lefebvre (2008), which moves variables while that adds to the
    modularity of absolute weights. A variable without an edge is a community of its own.
    """
    from networkx.algorithms.community import louvain_communities

    label = np.empty(len(weights), np.int64)
    for number, members in enumerate(sorted(louvain_communities(graph_of(weights), seed=seed), key=min)):
        label[list(members)] = number
    return label


def modularity(weights: Floats, label: Indices) -> float:
    """Share of absolute weight within communities, minus that expected by chance; at most 1, 0 without edges."""
    size = np.abs(weights)
    degree, total = size.sum(axis=1), size.sum()
    if not total:
        return 0.0
    same = label[:, None] == label[None, :]
    return float((size - degree[:, None] * degree[None, :] / total)[same].sum() / total)


def similarity_of_members(label: Indices, other: Indices) -> Floats:
    """Jaccard similarity |A and B| / |A or B| of each variable's communities in two labellings."""
    one, two = (each[:, None] == each[None, :] for each in (label, other))
    return np.asarray((one & two).sum(axis=1) / (one | two).sum(axis=1), np.float64)


def similarity_of_communities(label: Indices, other: Indices) -> Floats:
    """Jaccard similarity of each community of ``label`` to the most similar one of ``other`` (Hennig 2007)."""
    return np.array([similarity_of_members(label, other)[label == number].max() for number in np.unique(label)])
