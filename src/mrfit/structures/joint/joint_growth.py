"""Growing a graph edge by edge on the joint pseudo-likelihood.

A node-wise regression measures what a neighbour contributes to one variable. Here the score test measures what an edge
contributes to both its ends, in a model with all other edges. Rounds of such tests alternate with joint refits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from mrfit._typing import Floats, Indices, Mask
from mrfit.structures.joint.edge_orientation import OwnedEdges
from mrfit.structures.joint.pair_model import PairModel, PairParameters
from mrfit.structures.joint.refit import accuracy, refit
from mrfit.structures.joint.score_test import pair_scores

_SHARE = 0.003  # of the gain of a refit so far: it may leave this share unrealised
_NEXT_TO_NOTHING = 0.01  # of the edges: a round that adds fewer is the last
# Least rounds to fill the bound: a variable gets a fifth of it per round, because every edge changes the others.
_ROUNDS_TO_FILL = 5
_EXCHANGED = 0.1  # of the edges: the weakest, which are exchanged


@dataclass(frozen=True)
class Setting:
    """Settings of a growth.

    Parameters
    ----------
    ridge
        Ridge penalty of the growth: ridge / 2 * |w|^2 over the parameters of pairs is added to the loss.
    price
        Threshold that the score of a pair must exceed, per parameter; 3.84 is the 95% point of chi-square.
    n_exchanges
        Number of times that weak edges are exchanged for others at the end.
    """

    ridge: float
    price: float
    n_exchanges: int = 0


@dataclass(frozen=True)
class GrowthResult:
    """A graph with owners, and the fit of its joint model."""

    graph: OwnedEdges
    parameters: PairParameters
    value: float  # loss and ridge

    def priced(self, setting: Setting) -> float:
        """Return the objective of the growth: the loss plus half the threshold per parameter (a score is two gains)."""
        return self.value + 0.5 * setting.price * len(self.parameters.w)


@dataclass(frozen=True)
class JointGrowth:
    """A growth of a graph by rounds that add and exchange edges, in one table.

    Parameters
    ----------
    closed
        Pairs that may not enter, symmetric.
    required
        Pairs that are in from the beginning and never leave.
    """

    model: PairModel
    max_degree: int
    closed: Mask
    required: Mask

    def start(self, ridge: float) -> GrowthResult:
        """Return the graph of the required edges."""
        edges = np.argwhere(np.triu(self.required, 1))
        graph, _ = OwnedEdges.none(len(self.required), self.max_degree).joined(edges, limit=len(edges), required=True)
        parameters = PairParameters.independent(self.model.table).joined(edges, self.model.table)
        return self._refitted(graph, parameters, ridge)

    def grown(self, state: GrowthResult, setting: Setting) -> GrowthResult:
        """Add edges in rounds until hardly any edge enters."""
        while True:
            larger = self._round(state, setting)
            n_new = len(larger.graph) - len(state.graph)
            state = larger
            if n_new <= _NEXT_TO_NOTHING * len(state.graph):
                return state

    def whole(self, setting: Setting, prices: Sequence[float]) -> GrowthResult:
        """Grow from the required edges to the end; the threshold falls along ``prices`` to that of the setting."""
        state = self.start(setting.ridge)
        for price in prices:
            if price >= setting.price:
                state = self.grown(state, replace(setting, price=price))
        return self.exchanged(state, setting)

    def exchanged(self, state: GrowthResult, setting: Setting) -> GrowthResult:
        """Replace some of the weakest edges by the best others, wherever this lowers the objective."""
        share = _EXCHANGED
        for _ in range(setting.n_exchanges):
            weak = self._weakest(state, share)
            if not weak.any():
                break
            trial = self._refitted(state.graph.without(weak), state.parameters.without(weak), setting.ridge)
            for _ in range(2):
                trial = self._round(trial, setting)
            if trial.priced(setting) < state.priced(setting):
                state = trial
            else:
                share *= 0.5
        return state

    def _round(self, state: GrowthResult, setting: Setting) -> GrowthResult:
        """Add the edges with the highest scores, as far as they can have an owner, and refit."""
        self.model.expand(state.parameters)
        candidates = self._candidates(state, setting.price)
        limit = -(-state.graph.bound // _ROUNDS_TO_FILL)
        graph, entered = state.graph.joined(candidates, limit=limit)
        if not entered.any():
            return replace(state, graph=graph)
        parameters = state.parameters.joined(candidates[entered], self.model.table)
        return self._refitted(graph, parameters, setting.ridge)

    def _candidates(self, state: GrowthResult, price: float) -> Indices:
        """Return pairs whose score exceeds the threshold of their parameters, the largest excess first."""
        widths = self.model.table.widths
        net = pair_scores(self.model) - price * np.outer(widths, widths)
        out = self.closed | state.graph.adjacency() | np.logical_and.outer(state.graph.closed, state.graph.closed)
        net[out | ~(net > 0.0)] = 0.0
        a, b = np.nonzero(np.triu(net, 1))
        order = np.argsort(-net[a, b], kind="stable")
        return np.stack([a[order], b[order]], axis=1)

    def worth(self, state: GrowthResult) -> Floats:
        """Return about twice the loss that removing each edge would cost: w^2 V, summed over its parameters."""
        parameters = state.parameters
        return parameters.edge_sums(parameters.w**2 * self.model.variance(parameters))

    def _weakest(self, state: GrowthResult, share: float) -> Mask:
        """Return the share of edges that are worth least, without required ones."""
        parameters, matters = state.parameters, self.worth(state)
        matters[self.required[parameters.edges[:, 0], parameters.edges[:, 1]]] = np.inf
        weak = np.zeros(len(matters), bool)
        weak[np.argsort(matters, kind="stable")[: int(share * len(matters))]] = True
        return weak & np.isfinite(matters)

    def _refitted(self, graph: OwnedEdges, parameters: PairParameters, ridge: float) -> GrowthResult:
        fitted, value = refit(self.model, parameters, ridge=ridge, decrease=accuracy(self.model), share=_SHARE)
        return GrowthResult(graph, fitted, value)
