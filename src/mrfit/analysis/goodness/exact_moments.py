"""The moments of a model by an exact engine."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import combinations
from math import prod

import numpy as np

from mrfit._typing import Floats, Scope
from mrfit.analysis.goodness.independent_draws import Drawn
from mrfit.analysis.goodness.moment_estimates import Portrait
from mrfit.analysis.goodness.row_moments import Moments, States
from mrfit.analysis.goodness.triples import triple_frequencies
from mrfit.core.factors import Factors
from mrfit.inference.engine import Posterior
from mrfit.inference.exact.enumeration import Enumeration, JointTable
from mrfit.inference.exact.junction_tree import JunctionTree
from mrfit.inference.exact.tree_plan import TreePlan
from mrfit.inference.plan import Plan

_GROUPS = 64  # of rows that are drawn


def by_enumeration(
    plan: Plan, factors: Factors, shape: tuple[int, ...], *, jobs: int, triples: bool = False
) -> Portrait:
    """Everything from the table of all joint states; variables after those of ``shape`` are hidden."""
    found = Enumeration(max_cells=plan.max_cells, jobs=jobs).run(plan, factors)
    assert isinstance(found, JointTable)
    states = States(shape)
    pair = np.empty((int(states.first_indicator[-1]),) * 2)
    _fill(pair, states, combinations(range(len(shape)), 2), found)
    away = np.zeros(1, np.int64)
    for number, c in enumerate(factors.shape):
        away = (away[:, None] + (np.arange(c) > 0) * (number < len(shape))).ravel()
    sums = np.bincount(away, found.probabilities, len(shape) + 1).astype(np.float64)
    single = _single(found, states)
    none, triple = np.zeros(()), None
    if triples:
        p = found.probabilities.reshape(prod(shape), -1).sum(axis=1)
        codes = np.stack(np.unravel_index(np.arange(len(p)), shape), axis=1)
        triple = triple_frequencies(states.hot(codes), p, states.variable_of_indicators)
    moments = Moments(states, single, pair, sums, np.broadcast_to(none, single.shape), none, triple)
    return Portrait(Enumeration.word, plan.why, True, moments, found.log_z)


def by_tree(
    plan: TreePlan,
    factors: Factors,
    shape: tuple[int, ...],
    *,
    n_rows: int,
    seed: int,
    jobs: int,
    triples: bool = False,
) -> Portrait:
    """Single variables and pairs within scopes from one run; all other pairs, and sums, from exact rows."""
    # Rows are drawn one variable at a time, for which cliques are not merged: that takes up to twice the cells.
    tree = JunctionTree(max_cells=2 * plan.max_cells, max_bytes=2 * plan.max_bytes, seed=seed, jobs=jobs)
    found = tree.run(plan, factors)
    rng, states = np.random.default_rng((seed, 20)), States(shape)
    codes = tree.draw(plan, factors, _GROUPS * (n_rows // _GROUPS), rng=rng, jobs=jobs)[:, : len(shape)]
    drawn = Drawn(states, codes.reshape(_GROUPS, -1, len(shape)), np.full(_GROUPS, 1.0 / _GROUPS))
    rows = drawn.moments(triples=triples)
    within = {
        pair
        for scope in factors.scopes
        for pair in combinations(sorted(i for i in scope if i < len(shape)), 2)
    }  # fmt: skip
    _fill(rows.pair, states, within, found, rows.pair_error)
    single = _single(found, states)
    moments = replace(rows, single=single, single_error=np.zeros_like(single))
    return Portrait(JunctionTree.word, plan.why, True, moments, found.log_z, n_rows=len(codes), n_groups=_GROUPS)


def _single(found: Posterior, states: States) -> Floats:
    return np.concatenate([found.marginal((i,)) for i in range(len(states.shape))])


def _fill(pair: Floats, states: States, scopes: Iterable[Scope], found: Posterior, error: Floats | None = None) -> None:
    """Exact frequencies of pairs of variables in the place of others, both ways round; without errors."""
    starts, shape = states.first_indicator, states.shape
    np.fill_diagonal(pair, _single(found, states)[states.of_indicators])
    for i, j in scopes:
        table = found.marginal((i, j)).reshape(shape[i], shape[j])[1:, 1:]
        rows, columns = slice(starts[i], starts[i + 1]), slice(starts[j], starts[j + 1])
        pair[rows, columns], pair[columns, rows] = table, table.T
        if error is not None:
            error[rows, columns] = error[columns, rows] = 0.0
