"""Blocks of variables that are set to their best joint state, given all others."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mrfit._kernels.inference.block_moves import choose_block
from mrfit._kernels.inference.state_moves import Terms
from mrfit._typing import Indices
from mrfit.core.factors import Factors
from mrfit.inference.exact.junction_tree import JunctionTree
from mrfit.inference.messages.factor_graph import FactorGraph

_WORK_OF_A_TABLE = 500  # cells that could be read in the time that conditioning a table takes


@dataclass(frozen=True, eq=False)
class StateBlocks:
    """Finite factors, and which pairs of variables share one."""

    factors: Factors
    joined: NDArray[np.bool_]

    @classmethod
    def of(cls, graph: FactorGraph, terms: Terms) -> StateBlocks:
        n = len(graph.shape)
        singles = tuple((i,) for i in range(n))
        values = np.concatenate([terms.field, terms.table])
        joined = np.zeros((n, n), bool)
        for host in graph.hosts:
            joined[np.ix_(host, host)] = True
        np.fill_diagonal(joined, False)
        return cls(Factors(graph.shape, singles + graph.hosts, values), joined)

    def raised(self, state: Indices, max_cells: int, random: NDArray[np.uint64]) -> tuple[Indices, float, int]:
        """Return the state with a random block at its best, the block's share of all variables, and the work in cells.

        The block is as large as cliques of ``max_cells`` allow.
        """
        n = len(state)
        order = np.empty(n, np.int64)
        states = np.array(self.factors.shape, np.int64)
        free = order[: choose_block(self.joined.copy(), states, float(max_cells), random, order)]
        fixed = np.ones(n, bool)
        fixed[free] = False
        left = self.factors.given({i: int(state[i]) for i in np.flatnonzero(fixed).tolist()})
        tree = JunctionTree()
        plan = tree.plan(left, order=free.tolist())
        codes, _ = tree.best(plan, left)
        work = 4 * plan.n_cells + _WORK_OF_A_TABLE * len(left.scopes) + n * n
        return np.where(fixed, state, codes), len(free) / n, work
