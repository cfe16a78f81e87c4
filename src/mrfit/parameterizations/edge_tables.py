"""Edge weights computed from the parameters of a model."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from math import prod

import numpy as np

from mrfit._typing import Floats, Indices
from mrfit.parameterizations.bases import Contrasts, contrasts
from mrfit.parameterizations.joint import Listed
from mrfit.parameterizations.ordered import Ordered
from mrfit.parameterizations.parameterization import Parameterization
from mrfit.structures.edge_weights import EdgeWeights, Scores, default_scores, kind_of, weights_of_tables, without_dust

PairTables = Iterator[tuple[Indices, Floats]]  # pairs (pairs, 2), and parts of their tables (pairs, states, states)

_IMPOSSIBLE = -30.0  # replaces minus infinity, to get the sign of an infinite weight
_MOST_STATES = 2**20  # most joint states of models with large scopes whose tables are summed over all joint states


def scores_of(parameters: Parameterization) -> Scores:
    """Return the scores of the states of ordered variables, 0 and 1 for two states, None for categories."""
    shape = parameters.domain.shape
    found = list(default_scores(shape))
    if isinstance(parameters, Ordered):
        own = dict(parameters.scores)
        for i in parameters.ordered or ():
            if shape[i] > 2:
                found[i] = np.array(own.get(i, range(shape[i])), np.float64)
    return tuple(found)


def edge_weights(parameters: Parameterization, w: Floats, scores: Scores | None = None) -> EdgeWeights:
    """Return the weights of all edges of the structure; ``scores`` defaults to those of `scores_of`."""
    scores = scores_of(parameters) if scores is None else scores
    edges, n = parameters.structure.edges, len(parameters.domain)
    number = np.zeros((n, n), np.int64)
    number[tuple(edges.T)] = np.arange(len(edges))
    class_of, alike = _edge_classes(parameters, edges, scores)
    index_in_class = np.zeros(len(edges), np.int64)  # index of an edge within its class
    tables = []
    for own in alike:
        index_in_class[own] = np.arange(len(own))
        tables.append(np.zeros((len(own), *(parameters.domain.shape[i] for i in edges[own[0]].tolist()))))
    impossible = np.isneginf(w)
    for pairs, part in _pair_tables(parameters, np.where(impossible, _IMPOSSIBLE, w)):
        at = number[tuple(pairs.T)]
        for kind in np.unique(class_of[at]).tolist():
            chosen = class_of[at] == kind
            np.add.at(tables[kind], index_in_class[at[chosen]], part[chosen])
    values, kinds = np.zeros(len(edges)), np.zeros(len(edges), np.int64)
    for own, table in zip(alike, tables, strict=True):
        first, second = (scores[i] for i in edges[own[0]].tolist())
        values[own], kinds[own] = weights_of_tables(table, first, second), kind_of(first, second)
    values = without_dust(values)
    for k in np.flatnonzero(impossible).tolist():
        for pair in combinations(parameters.scope(k), 2):
            values[number[pair]] = np.copysign(np.inf, values[number[pair]])
    return EdgeWeights(edges, values, kinds)


def _edge_classes(parameters: Parameterization, edges: Indices, scores: Scores) -> tuple[Indices, list[Indices]]:
    """Return a class for every edge, by the states and scores of its ends, and the edges of each class."""
    kinds: dict[object, int] = {}
    states_and_scores = zip(parameters.domain.shape, scores, strict=True)
    of_variable = [
        kinds.setdefault((c, None if s is None else tuple(s.tolist())), len(kinds)) for c, s in states_and_scores
    ]
    code = np.array(of_variable, np.int64)[edges] @ np.array([len(kinds), 1])
    found, class_of = np.unique(code, return_inverse=True)
    class_of = class_of.reshape(-1)
    return class_of, [np.flatnonzero(class_of == k) for k in range(len(found))]


def _pair_tables(parameters: Parameterization, w: Floats) -> PairTables:
    """Yield parts of the tables of all pairs that share a scope, averaged over all other variables.

    The parts of a pair add up to its table. Models with large scopes take one transform of all joint states, others go
    scope by scope.
    """
    shape, structure = np.array(parameters.domain.shape), parameters.structure
    if structure.is_saturated:
        return _by_joint_states(parameters, w)
    n_cells = sum(int(shape[block].prod(axis=1).sum()) for size, block in structure.blocks.items() if size > 2)
    n_states = prod(parameters.domain.shape)
    return (_by_joint_states if n_states <= min(_MOST_STATES, n_cells) else _by_scopes)(parameters, w)


def _by_scopes(parameters: Parameterization, w: Floats) -> PairTables:
    for block, own, features in parameters.alike():
        if block.shape[1] < 2:
            continue
        shape = [parameters.domain.shape[i] for i in block[0].tolist()]
        values = (w[own[:, None] + np.arange(features.shape[1])] @ features.T).reshape(len(block), *shape)
        for a, b in combinations(range(len(shape)), 2):
            others = tuple(axis + 1 for axis in range(len(shape)) if axis not in (a, b))
            yield block[:, [a, b]], values.mean(axis=others) if others else values


def _by_joint_states(parameters: Parameterization, w: Floats) -> PairTables:
    """Yield the pairs' tables from one transform: in zero-sum contrasts, averaging over a variable drops its terms."""
    joint, shape = Listed(parameters), parameters.domain.shape
    values = joint.base.by_state(joint.base.potentials(joint.spread(w)))
    coefficients = Contrasts(shape).coefficients(np.array(values, np.float64).ravel()).reshape(shape)
    first = np.zeros(len(shape), np.int64).tolist()
    for a, b in parameters.structure.edges.tolist():
        at: list[int | slice] = list(first)
        at[a] = at[b] = slice(1, None)
        table = contrasts(shape[a])[:, 1:] @ coefficients[tuple(at)] @ contrasts(shape[b])[:, 1:].T
        yield np.array([[a, b]]), table[None]
