"""Graphs in which every edge has an owner, one of its ends, and no variable owns too many."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from mrfit._kernels.structure.edge_orientation_search import enter, leave
from mrfit._typing import Indices, Mask


@dataclass(frozen=True)
class OwnedEdges:
    """Edges a - b with a < b; ``owned[v, :n_owned[v]]`` are the other ends of those that v owns.

    Who owns an edge is free: a graph is allowed if its edges *can* be dealt to their ends so that nobody owns more than
    the bound, and owners change hands to let an edge in. Such graphs are those without a part of k variables and more
    than bound * k edges (Hakimi 1965). ``closed`` variables lie in parts that are full. Required edges come in even
    where no owner is left.
    """

    edges: Indices  # (edges, 2), in the order in which they came
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
        """With those of the candidates, taken in their order, that can have an owner; and which these are.

        Candidates whose ends have both met ``limit`` of them are passed over. What is ``required`` enters in any case.
        """
        owned, n_owned, closed = self.owned.copy(), self.n_owned.copy(), self.closed.copy()
        entered = np.zeros(len(candidates), bool)
        first, second = np.ascontiguousarray(candidates.T)
        enter(first, second, limit, owned, n_owned, closed, entered)
        if required:
            entered[:] = True
        return OwnedEdges(np.concatenate([self.edges, candidates[entered]]), owned, n_owned, closed), entered

    def without(self, leaving: Mask) -> OwnedEdges:
        """Without some edges; what was closed may be open again."""
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
        """[v, u] where v owns the edge to u."""
        n = len(self.n_owned)
        matrix = np.zeros((n, n), bool)
        for v in range(n):
            matrix[v, self.owned[v, : self.n_owned[v]]] = True
        return matrix
