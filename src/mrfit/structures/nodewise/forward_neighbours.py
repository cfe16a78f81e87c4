"""Neighbours chosen by what they add to the pseudo-likelihood after refitting.

The l1 path prefers what enters first and shrinks what it keeps. Here every variable's neighbours are chosen by forward
steps: refit the regression on the present neighbours, add the variable with the largest score statistic (twice the
gain it promises), and, when the bound is reached, exchange the weakest neighbour for the best outsider as long as that
helps. All regressions step together and share the pass over the table.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mrfit._typing import Floats
from mrfit.core.cluster import is_in_use, mapped, n_at_once
from mrfit.core.threads import deal, resolve_jobs, run
from mrfit.data.unique_rows import UniqueRows
from mrfit.structures.nodewise.allowed_pairs import AllowedPairs
from mrfit.structures.nodewise.design_matrix import IndicatorTable
from mrfit.structures.nodewise.neighbour_selection import NeighbourSelection
from mrfit.structures.nodewise.neighbours import Neighbours
from mrfit.structures.nodewise.null_scores import NullScores, surcharge_of_one
from mrfit.structures.nodewise.regressions import REFIT_STRENGTH, Regression, Regressions

_TOLERANCE = 1e-4
THRESHOLD = 3.84  # the 95% point of chi-square with one degree of freedom
_MOST_EXCHANGES = 40
_MOST_RANKS = 5  # neighbours, weakest first, that are tried for an exchange
_NEAR_BEST = 0.95  # share of the best promise of either end that an edge must reach to enter in a round
_LOOK_AHEAD = 4  # candidates of largest score that are tried by refitting


@dataclass(frozen=True)
class ForwardNeighbours(NeighbourSelection):
    """Neighbours of each variable, at most ``max_degree``, each of which scores above a threshold.

    With ``either``, one of the two regressions of a pair suffices for an edge, so that it has two chances.
    """

    max_degree: int
    threshold: float = THRESHOLD
    either: bool = True

    def neighbours(
        self,
        rows: UniqueRows,
        pairs: AllowedPairs,
        *,
        jobs: int = 1,
        callback: Callable[[int], None] | None = None,
    ) -> Neighbours:
        n = len(rows.domain)
        if not is_in_use():
            return self._of_variables(rows, pairs, range(n), jobs, callback)
        hands = [range(k, n, n_at_once()) for k in range(min(n, n_at_once()))]
        found = mapped(
            ForwardNeighbours._of_hand,
            hands,
            shared=(self, rows, pairs),
            name=lambda hand: f"{len(hand)} regressions",
            callback=None if callback is None else lambda hand: callback(len(hand)),
        )
        return _of_all_hands(found)

    def _of_hand(self, rows: UniqueRows, pairs: AllowedPairs, hand: range) -> Neighbours:
        """Run on a worker of a cluster."""
        return self._of_variables(rows, pairs, hand, resolve_jobs(-1), None)

    def _of_variables(
        self,
        rows: UniqueRows,
        pairs: AllowedPairs,
        variables: range,
        jobs: int,
        callback: Callable[[int], None] | None,
    ) -> Neighbours:
        """The regressions of some variables; others choose nothing."""
        table = IndicatorTable.of(rows)
        regressions = Regressions(table, variables, pairs.forbidden)
        threshold = _Threshold.of(table, self.threshold, either=self.either)
        _start(regressions, pairs)
        for _ in range(self.max_degree):
            growing = [r for r in regressions.all if len(r.working) < self.max_degree]
            if not _add_best(regressions, growing, threshold, jobs):
                break
        finished = _FinishedCounter(callback)
        _exchange(regressions, pairs, threshold, jobs, finished)
        finished.are(len(variables))
        return _neighbours(regressions, len(rows.domain))


@dataclass(frozen=True)
class ForwardGraph(NeighbourSelection):
    """A symmetric graph in which no variable has more than ``max_degree`` neighbours, required edges excepted.

    In every round the edges that promise most in both regressions together enter, at most one for each variable; then
    all regressions are refitted. A regression has come to its end when its variable has all neighbours it may have.
    """

    max_degree: int

    def neighbours(
        self,
        rows: UniqueRows,
        pairs: AllowedPairs,
        *,
        jobs: int = 1,
        callback: Callable[[int], None] | None = None,
    ) -> Neighbours:
        n, finished = len(rows.domain), _FinishedCounter(callback)
        table = IndicatorTable.of(rows)
        regressions = Regressions(table, range(n), pairs.forbidden)
        threshold = _Threshold.of(table, THRESHOLD)
        _start(regressions, pairs)
        graph, scores = pairs.required.copy(), np.zeros((n, n))
        changed = regressions.all
        while True:
            # A regression's scores change only when it is refitted itself.
            for regression, score in zip(changed, regressions.scores(changed), strict=True):
                scores[regression.variable] = score
            full = graph.sum(axis=1) >= self.max_degree
            closed = graph | pairs.forbidden | np.logical_or.outer(full, full)
            promise = scores + scores.T - 2.0 * threshold.surcharge
            entering = _matching(np.where(closed, 0.0, promise))
            if not entering:
                break
            for a, b in entering:
                graph[a, b] = graph[b, a] = True
            touched = {i for edge in entering for i in edge}
            changed = [r for r in regressions.all if r.variable in touched]
            _refit(regressions.table, changed, graph, jobs)
            finished.are(int((graph.sum(axis=1) >= self.max_degree).sum()))
        finished.are(n)
        return _neighbours(regressions, n, graph)


@dataclass(frozen=True)
class _Threshold:
    """Threshold of a neighbour's score: ``price``, and a surcharge for more than one parameter or few rows."""

    price: float
    surcharge: Floats  # (variables, variables)

    @classmethod
    def of(cls, table: IndicatorTable, price: float, *, either: bool = False) -> _Threshold:
        of_one = surcharge_of_one(price, table.rows.total_weight) if either else 0.0
        if (table.widths <= 1).all():  # no matrix: there may be thousands of variables
            return cls(price, np.broadcast_to(of_one, (len(table.widths),) * 2))
        return cls(price, np.maximum(NullScores.of(table.state_weights).surcharge(price), of_one))

    def value(self, regression: Regression) -> float:
        """The loss, and half the surcharges of the neighbours: scores are twice a gain."""
        return regression.value + 0.5 * float(self.surcharge[regression.variable, regression.working].sum())


class _FinishedCounter:
    """Turns how many regressions are finished by now into how many were not before."""

    def __init__(self, callback: Callable[[int], None] | None) -> None:
        self.callback, self.n_finished = callback, 0

    def are(self, n: int) -> None:
        if self.callback and n > self.n_finished:
            self.callback(n - self.n_finished)
            self.n_finished = n


def _refit(table: IndicatorTable, regressions: list[Regression], graph: NDArray[np.bool_], jobs: int) -> None:
    def step(k: int) -> bool:
        neighbours = np.flatnonzero(graph[regressions[k].variable])
        regressions[k].solve(table, neighbours, REFIT_STRENGTH, _TOLERANCE)
        return True

    _for_each(step, len(regressions), jobs)


def _matching(promise: Floats) -> list[tuple[int, int]]:
    """Edges by falling promise, each variable at most once; only those near the best of both their ends.

    Refits change promises, so edges that promise less than the best of either end wait for the next round.
    """
    best = promise.max(axis=1, initial=0.0)
    near = promise >= np.maximum(_NEAR_BEST * np.maximum.outer(best, best), 2 * THRESHOLD)
    a, b = np.nonzero(np.triu(near, 1))
    order = np.argsort(-promise[a, b], kind="stable")
    edges, taken = [], np.zeros(len(promise), bool)
    for i, j in zip(a[order].tolist(), b[order].tolist(), strict=True):
        if not taken[i] and not taken[j]:
            edges.append((i, j))
            taken[i] = taken[j] = True
    return edges


def _start(regressions: Regressions, pairs: AllowedPairs) -> None:
    for regression in regressions.all:
        required = np.flatnonzero(pairs.required[regression.variable])
        if len(required):
            regression.solve(regressions.table, required, REFIT_STRENGTH, _TOLERANCE)


def _add_best(regressions: Regressions, growing: list[Regression], threshold: _Threshold, jobs: int) -> bool:
    """One forward step of every growing regression; False when none found anything to add."""
    scores = regressions.scores(growing)

    def step(k: int) -> bool:
        regression = growing[k]
        score = scores[k] - threshold.surcharge[regression.variable]
        score[regression.working] = 0.0
        promising = np.argsort(-score, kind="stable")[:_LOOK_AHEAD]
        promising = promising[score[promising] > threshold.price]
        if len(promising):
            best = min(promising.tolist(), key=lambda j: _refitted(regressions.table, regression, j, threshold))
            regression.solve(regressions.table, np.union1d(regression.working, [best]), REFIT_STRENGTH, _TOLERANCE)
        return len(promising) > 0

    return any(_for_each(step, len(growing), jobs))


def _for_each(step: Callable[[int], bool], n: int, jobs: int) -> list[bool]:
    """Take a step for each of n regressions, dealt to threads."""
    if n == 0:
        return []
    parts = run(lambda first, last: [step(k) for k in range(first, last)], deal(np.ones(n), jobs))
    return [done for part in parts for done in part]


def _refitted(table: IndicatorTable, regression: Regression, added: int, threshold: _Threshold) -> float:
    """The value with one more neighbour; scores leave out how it depends on those already there."""
    trial = regression.copy()
    trial.solve(table, np.union1d(regression.working, [added]), REFIT_STRENGTH, _TOLERANCE)
    return threshold.value(trial)


def _exchange(
    regressions: Regressions, pairs: AllowedPairs, threshold: _Threshold, jobs: int, finished: _FinishedCounter
) -> None:
    """Drop a weak neighbour and take the best outsider, while that lowers the refitted loss.

    The weakest goes first; where that does not help, the next weakest is tried, and so on.
    """
    table = regressions.table
    # The best of n outsiders gains about log(n) by luck alone.
    worthwhile = np.log(len(table.rows.domain))
    rank = {r.variable: 0 for r in regressions.all}  # how many weaker neighbours were tried in vain
    trying = [r for r in regressions.all if len(r.working)]
    for _ in range(_MOST_EXCHANGES):
        trying = [r for r in trying if rank[r.variable] < min(len(r.working), _MOST_RANKS)]
        finished.are(len(regressions.all) - len(trying))
        before = {r.variable: (threshold.value(r), r.working) for r in trying}

        def drop(k: int, trying: list[Regression] = trying) -> bool:
            r = trying[k]
            weak = _by_weakness(table, r, pairs)[rank[r.variable] :]
            if weak:
                r.solve(table, np.setdiff1d(r.working, weak[0]), REFIT_STRENGTH, _TOLERANCE)
            return bool(weak)

        def settle(k: int, trying: list[Regression] = trying, before: dict[int, Any] = before) -> bool:
            r = trying[k]
            value, working = before[r.variable]
            improved = threshold.value(r) < value - worthwhile
            rank[r.variable] = 0 if improved else rank[r.variable] + 1
            if not improved:
                r.solve(table, working, REFIT_STRENGTH, _TOLERANCE)
            return True

        dropped = _for_each(drop, len(trying), jobs)
        added = _add_best(regressions, [r for r, done in zip(trying, dropped, strict=True) if done], threshold, jobs)
        _for_each(settle, len(trying), jobs)
        if not added:
            break


def _by_weakness(table: IndicatorTable, regression: Regression, pairs: AllowedPairs) -> list[int]:
    """Neighbours that may go, by the size of their coefficient times their standard deviation, smallest first."""
    may_go = regression.working[~pairs.required[regression.variable, regression.working]]
    size = table.standard_deviations[may_go] * np.abs(regression.sizes(table)[may_go])
    return [int(j) for j in may_go[np.argsort(size, kind="stable")]]


def _of_all_hands(found: Sequence[Neighbours]) -> Neighbours:
    """Arcs of all variables, ascending."""
    arcs = np.concatenate([each.arcs for each in found])
    order = np.lexsort(arcs.T[::-1])
    chosen, coefficients, entered = (
        np.concatenate([getattr(each, name) for each in found])[order] for name in ("chosen", "coefficients", "entered")
    )
    return replace(found[0], arcs=arcs[order], chosen=chosen, coefficients=coefficients, entered=entered)


def _neighbours(regressions: Regressions, n: int, graph: NDArray[np.bool_] | None = None) -> Neighbours:
    """Neighbours in the working sets of the regressions, or in a graph."""
    chosen, coefficients = np.zeros((n, n), bool), np.zeros((n, n))
    for r in regressions.all:
        chosen[r.variable, r.working] = True
        coefficients[r.variable] = r.edge_weights(regressions.table)
    return Neighbours.of_matrices(chosen if graph is None else graph, coefficients)
