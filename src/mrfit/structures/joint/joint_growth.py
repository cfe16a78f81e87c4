"""Growing a graph edge by edge on the joint pseudo-likelihood.

A node-wise regression asks what a neighbour does for one variable. Here an edge is judged by what it does for both its
ends together, in a model that has all other edges: by the score test, round after round, with joint refits between.
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

_SHARE = 0.003  # of what a refit has gained: what it leaves on the table
_NEXT_TO_NOTHING = 0.01  # of the edges: so few more, and a round was the last
_ROUNDS_TO_FILL = 5  # at least: an end takes about a fifth of the bound in a round, as every edge changes the others
_EXCHANGED = 0.1  # of the edges, the weakest


@dataclass(frozen=True)
class Setting:
    """How to grow.

    Parameters
    ----------
    ridge
        While growing, ridge / 2 * |w|^2 over the parameters of pairs is added to the loss.
    price
        What the score of a pair must exceed, for each of its parameters; 3.84 is the 95% point of chi-square.
    n_exchanges
        How often, in the end, weak edges are exchanged for others.
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
        """What growing lowers: a score is twice a gain."""
        return self.value + 0.5 * setting.price * len(self.parameters.w)


@dataclass(frozen=True)
class JointGrowth:
    """Rounds of adding and exchanging edges in one table.

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
        """The required edges alone."""
        edges = np.argwhere(np.triu(self.required, 1))
        graph, _ = OwnedEdges.none(len(self.required), self.max_degree).joined(edges, limit=len(edges), required=True)
        parameters = PairParameters.independent(self.model.table).joined(edges, self.model.table)
        return self._refitted(graph, parameters, ridge)

    def grown(self, state: GrowthResult, setting: Setting) -> GrowthResult:
        """Rounds until next to nothing enters."""
        while True:
            larger = self._round(state, setting)
            n_new = len(larger.graph) - len(state.graph)
            state = larger
            if n_new <= _NEXT_TO_NOTHING * len(state.graph):
                return state

    def whole(self, setting: Setting, prices: Sequence[float]) -> GrowthResult:
        """From the required edges to the end, the price falling along ``prices`` to that of the setting."""
        state = self.start(setting.ridge)
        for price in prices:
            if price >= setting.price:
                state = self.grown(state, replace(setting, price=price))
        return self.exchanged(state, setting)

    def exchanged(self, state: GrowthResult, setting: Setting) -> GrowthResult:
        """Some of the weakest edges out, the best others in, wherever that lowers the priced objective."""
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
        """The edges that promise most, by falling score, as far as they can have an owner; then a refit."""
        self.model.expand(state.parameters)
        candidates = self._candidates(state, setting.price)
        limit = -(-state.graph.bound // _ROUNDS_TO_FILL)
        graph, entered = state.graph.joined(candidates, limit=limit)
        if not entered.any():
            return replace(state, graph=graph)
        parameters = state.parameters.joined(candidates[entered], self.model.table)
        return self._refitted(graph, parameters, setting.ridge)

    def _candidates(self, state: GrowthResult, price: float) -> Indices:
        """Pairs whose score is above the price of their parameters, those that gain most above it first."""
        widths = self.model.table.widths
        net = pair_scores(self.model) - price * np.outer(widths, widths)
        out = self.closed | state.graph.adjacency() | np.logical_and.outer(state.graph.closed, state.graph.closed)
        net[out | ~(net > 0.0)] = 0.0
        a, b = np.nonzero(np.triu(net, 1))
        order = np.argsort(-net[a, b], kind="stable")
        return np.stack([a[order], b[order]], axis=1)

    def worth(self, state: GrowthResult) -> Floats:
        """About twice what the model would lose without each edge: w^2 V, summed over its parameters."""
        parameters = state.parameters
        return parameters.edge_sums(parameters.w**2 * self.model.variance(parameters))

    def _weakest(self, state: GrowthResult, share: float) -> Mask:
        """The share of the edges that is worth least; required ones never."""
        parameters, matters = state.parameters, self.worth(state)
        matters[self.required[parameters.edges[:, 0], parameters.edges[:, 1]]] = np.inf
        weak = np.zeros(len(matters), bool)
        weak[np.argsort(matters, kind="stable")[: int(share * len(matters))]] = True
        return weak & np.isfinite(matters)

    def _refitted(self, graph: OwnedEdges, parameters: PairParameters, ridge: float) -> GrowthResult:
        fitted, value = refit(self.model, parameters, ridge=ridge, decrease=accuracy(self.model), share=_SHARE)
        return GrowthResult(graph, fitted, value)
