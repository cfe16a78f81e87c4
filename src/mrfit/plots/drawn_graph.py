"""The graph to draw: its strongest edges, with their signs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

import numpy as np

from mrfit._typing import Floats, Integers
from mrfit.core.errors import InputError
from mrfit.plots.page import count

_MOST_EDGES = 6_000
_LARGE = 150  # variables; of a larger network only a backbone is drawn, as in the explorer:
_BACKBONE = 1.6  # edges per variable. More of them cannot be told apart.


@dataclass(frozen=True)
class DrawnGraph:
    """The edges of a network that are drawn, strongest first, and the number of all edges."""

    names: Sequence[str]
    edges: Integers
    weights: Floats
    signs: Integers
    n_edges: int

    @property
    def alone(self) -> Integers:
        return np.setdiff1d(np.arange(len(self.names)), self.edges)

    @property
    def an_edge(self) -> str:
        return "an edge" if self.n_edges == len(self.edges) else "a drawn edge"

    def summary(self, n_rows: int | None) -> str:
        parts = [] if n_rows is None else [count(n_rows, "row")]
        text = ", ".join([*parts, count(len(self.names), "variable"), count(self.n_edges, "edge")])
        return text if self.n_edges == len(self.edges) else f"{text}; drawn: a backbone of {len(self.edges):,}"


def graph_of(names: Sequence[str], edges: Integers, weights: Floats, signs: Integers | None) -> DrawnGraph:
    edges = np.asarray(edges, np.int64).reshape(-1, 2)
    weights = np.asarray(weights, np.float64)
    signs = np.sign(weights) if signs is None else np.asarray(signs)
    if weights.shape != (len(edges),):
        raise InputError(f"{len(edges)} edges need as many weights; got an array of shape {weights.shape}.")
    if not np.isfinite(weights).all():
        raise InputError("Edge weights must be finite numbers; leave out edges without one.")
    if signs.shape != (len(edges),) or not np.isin(signs, (-1, 0, 1)).all():
        raise InputError(f"{len(edges)} edges need as many signs, each -1, 0 or 1; leave them out for the weights'.")
    if len(edges) and (edges.min() < 0 or edges.max() >= len(names)):
        raise InputError(f"Edges must join variables 0 to {len(names) - 1}; got {edges.min()} to {edges.max()}.")
    if (edges[:, 0] == edges[:, 1]).any():
        raise InputError("Edges must join two variables; one joins a variable to itself.")
    most = _MOST_EDGES if len(names) <= _LARGE else ceil(_BACKBONE * len(names))
    shown = _backbone(len(names), edges, np.argsort(-np.abs(weights), kind="stable"), most)
    return DrawnGraph(names, edges[shown], weights[shown], signs[shown].astype(np.int64), len(edges))


def _backbone(n_variables: int, edges: Integers, order: Integers, most: int) -> Integers:
    """Return the edges to draw, strongest first, out of ``order``: all, or a spanning forest and the strongest others.

    The forest is that of the strongest edges. It keeps every variable joined to the rest of its component.
    """
    if len(order) <= most:
        return order
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import minimum_spanning_tree

    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    costs = coo_array((rank + 1.0, (edges[:, 0], edges[:, 1])), shape=(n_variables, n_variables))
    forest = minimum_spanning_tree(costs).data.astype(np.int64) - 1
    others = np.setdiff1d(np.arange(len(order)), forest)[: max(most - len(forest), 0)]
    return np.asarray(order[np.sort(np.concatenate([forest, others]))])
