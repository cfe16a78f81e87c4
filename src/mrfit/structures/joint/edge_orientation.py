"""Graphs in which every edge is owned by one of its ends and no variable owns too many."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from mrfit._kernels.structure.edge_orientation_search import enter, leave
from mrfit._typing import Indices, Mask


@dataclass(frozen=True)
class OwnedEdges:
    """Edges a - b with a < b; ``owned[v, :n_owned[v]]`` are the other ends of the edges that v owns.

    Ownership is free: a graph is allowed if its edges *can* be assigned to their ends such that no variable owns more
    than the bound, and ownership changes to let an edge in. These are the graphs in which no k variables have more than
    bound * k edges among them (Hakimi 1965). ``closed`` variables are in full parts, where no edge can enter. Required
    edges enter even without an owner.
    """

    edges: Indices  # (edges, 2), in the order of entry
    owned: Indices  # (variables, bound)
    n_owned: Indices
    closed: Mask

    @classmethod
    def none(cls, n_variables: int, bound: int) -> OwnedEdges:
        most = max(1, min(bound, n_variables - 1))
        return cls(
            np.empty((0, 2), np.int64),
            np.zeros((n_variables, most), np.int64),
            np.zeros(n_variables, np.int64),
            np.zeros(n_variables, bool),
        )

    def __len__(self) -> int:
        return len(self.edges)

    @property
    def bound(self) -> int:
        return int(self.owned.shape[1])

    def joined(self, candidates: Indices, *, limit: int, required: bool = False) -> tuple[OwnedEdges, Mask]:
        """Add the candidates that can have an owner, in their order; return the graph and which candidates entered.

        Candidates of which both ends already met ``limit`` candidates are skipped. ``required`` candidates always
        enter.
        """
        owned, n_owned, closed = self.owned.copy(), self.n_owned.copy(), self.closed.copy()
        entered = np.zeros(len(candidates), bool)
        first, second = np.ascontiguousarray(candidates.T)
        enter(first, second, limit, owned, n_owned, closed, entered)
        if required:
            entered[:] = True
        return OwnedEdges(np.concatenate([self.edges, candidates[entered]]), owned, n_owned, closed), entered

    def without(self, leaving: Mask) -> OwnedEdges:
        """Remove some edges; closed variables may be open again."""
        owned, n_owned = self.owned.copy(), self.n_owned.copy()
        first, second = np.ascontiguousarray(self.edges[leaving].T)
        leave(first, second, owned, n_owned)
        return replace(
            self, edges=self.edges[~leaving], owned=owned, n_owned=n_owned, closed=np.zeros_like(self.closed)
        )

    def adjacency(self) -> Mask:
        n = len(self.n_owned)
        matrix = np.zeros((n, n), bool)
        matrix[self.edges[:, 0], self.edges[:, 1]] = matrix[self.edges[:, 1], self.edges[:, 0]] = True
        return matrix

    def owners(self) -> Mask:
        """Return a matrix that is true at [v, u] if v owns the edge to u."""
        n = len(self.n_owned)
        matrix = np.zeros((n, n), bool)
        for v in range(n):
            matrix[v, self.owned[v, : self.n_owned[v]]] = True
        return matrix
