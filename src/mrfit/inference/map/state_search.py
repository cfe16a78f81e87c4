"""Most probable states by local search from many starts, with an upper bound on the score of any state."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from mrfit._kernels.inference.decoding import decode
from mrfit._kernels.inference.dual_bound import lower_bound
from mrfit._kernels.inference.state_moves import Terms, anneal, climb, pick_cells
from mrfit._typing import Floats, Indices
from mrfit.core.errors import ImpossibleError, InputError
from mrfit.core.factors import Factors
from mrfit.inference.map.state_blocks import StateBlocks
from mrfit.inference.messages.factor_graph import FactorGraph
from mrfit.inference.messages.message_passing import MessagePassing, Schedule

_ROUNDS = 500  # of the bound; most models need fewer
_TIGHT = 1e-9  # of 1 + |score|: a smaller gap is rounding
_ROUNDING = 2e-16  # of all terms, in each round of the bound
_SWEEPS = 50  # of max-product: enough for a guess, which need not be a fixed point
_SCHEDULES = (Schedule("sequential"), Schedule("sequential", 0.5), Schedule("flooding", 0.5))
_ROWS = 10  # the most probable of the given rows that are starts
_BEST_STARTS = 3  # of those that are not annealed, that blocks improve
_ANNEALED = (300, 100, 1000)  # sweeps, in turn
_COLDEST = 0.02  # of the hottest temperature
_FORESTS = 30  # in a row without gain
_BLOCKS = 12  # in a row without gain
# Of all variables. In a dense graph blocks are smaller, and climbs have tried most of what they can.
_LARGE_BLOCK = 1 / 3
_FEW_SMALL = 4  # failures for which that of a small block counts
_CELLS = (2**8, 2**12, 2**15)  # of the largest clique of a block, at random
_WIDEST = 3000  # variables, up to which a table stores which pairs share a factor
_BARRIER = 10.0  # times the largest entry: the penalty for an impossible cell during the search


@dataclass(frozen=True, eq=False)
class Found:
    """The best state of a search, and an upper bound on the score of every state.

    ``n_hits`` of ``n_starts`` ended at that score. Where the bound meets the score, ``proven`` is True.
    """

    codes: Indices
    log_potential: float
    bound: float
    n_starts: int
    n_hits: int

    @property
    def proven(self) -> bool:
        return self.bound == self.log_potential

    @property
    def remarks(self) -> tuple[str, ...]:
        """Sentences on how far the state may be from the best one."""
        if self.proven:
            return ()
        gap = self.bound - self.log_potential
        impossible = ("It is an impossible one.",) if gap == np.inf else ()
        return (
            f"Local search: {self.n_hits:,} of {self.n_starts:,} starts ended at this score. No state has a score of "
            f"more than {self.bound:.6g}, which is {gap:.3g} above.",
            *impossible,
        )


@dataclass(frozen=True)
class StateSearch:
    """Climb from max-product guesses, rows of data and annealed chains; bound by tree-reweighted message passing.

    A climb changes single variables, pairs that share a factor, and random forests of variables, each to the best joint
    state given all others. It ends with random blocks of variables, each as large as a small junction tree can
    maximise at once. The bound is the linear-programming bound of message passing (Kolmogorov 2006), which is tight
    for trees and for many models with strong fields. The search ends when a state meets the bound, when enough starts
    have ended at the same score, or when the budget is spent.

    Parameters
    ----------
    work
        Budget, in cells of tables to read: 10^8 take a third of a second to a second.
    hits
        Number of starts that have to end at the best score before the search ends early.
    seed
        Random seed of starts, annealing and forests.
    """

    work: int = 3 * 10**8
    hits: int = 5
    seed: int = 0

    word: ClassVar[str] = "search"

    def __post_init__(self) -> None:
        if self.work < 1 or self.hits < 1:
            raise InputError(f"work={self.work} and hits={self.hits} must be at least 1, such as 200000000 and 10.")

    def best(self, factors: Factors, rows: NDArray[Any] | None = None) -> Found:
        """Search for a best state; ``rows`` of codes are further starts. Deterministic for a seed."""
        problem = _SearchProblem.of(factors)
        bound, reduced = problem.bounded()
        search = _Search(problem, self, bound)
        search.run(chain(problem.decoded(*reduced), problem.guesses(), problem.best_rows(rows)))
        return search.found(factors)


@dataclass(frozen=True, eq=False)
class _SearchProblem:
    """Fields and tables as kernels take them, with impossible cells as minus infinity or as a finite penalty."""

    graph: FactorGraph
    field: Floats
    log_table: Floats
    constant: float

    @classmethod
    def of(cls, factors: Factors) -> _SearchProblem:
        graph = FactorGraph(factors.shape, factors.scopes)
        return cls(graph, *graph.gather(factors))

    def terms(self, impossible: float) -> Terms:
        """Return the factors, with ``impossible`` in place of minus infinity."""
        arrays = self.graph.arrays
        return Terms(
            states=arrays.states,
            field_start=arrays.field_start,
            field=np.where(np.isneginf(self.field), impossible, self.field),
            table_start=arrays.table_start,
            table=np.where(np.isneginf(self.log_table), impossible, self.log_table),
            scope_start=arrays.scope_start,
            scope=arrays.scope,
            place_start=arrays.edge_start,
            factor=arrays.factor[arrays.edges],
            stride=self._strides()[arrays.edges],
        )

    def _strides(self) -> Indices:
        """Return the stride of each variable in the table of each host, in C order."""
        strides: list[int] = []
        for host in self.graph.hosts:
            own = [1]
            for i in host[:0:-1]:
                own.append(own[-1] * self.graph.shape[i])
            strides += own[::-1]
        return np.array(strides, np.int64)

    def ranges(self) -> tuple[Floats, Floats]:
        """Return the largest loss, 0 minus a possible entry, in each field and table; their largest entry is 0."""
        arrays, out = self.graph.arrays, []
        for values, starts in ((self.field, arrays.field_start), (self.log_table, arrays.table_start)):
            possible = np.where(np.isneginf(values), 0.0, -values)
            out.append(np.maximum.reduceat(possible, starts[:-1]) if len(starts) > 1 else np.empty(0))
        return out[0], out[1]

    @property
    def depth(self) -> float:
        """A number larger than the difference between the sums of any two possible states."""
        return 1.0 + sum(float(each.sum()) for each in self.ranges())

    def bounded(self) -> tuple[float, tuple[Floats, Floats]]:
        """Return an upper bound, rounding included, and the reparameterized fields and tables that prove it."""
        depth = self.depth
        terms = self.terms(-depth)
        field, table = terms.field.copy(), terms.table.copy()
        bound, rounds = lower_bound(terms, field, table, _ROUNDS, 1e-9 * depth / (1 + len(terms.table_start)))
        if bound <= -depth:  # every possible state has a larger sum, so no state is possible
            raise ImpossibleError
        largest = max(
            (float(np.abs(each).max()) for each in (field, table, terms.field, terms.table) if len(each)), default=0.0
        )
        slack = _ROUNDING * (rounds + 1) * largest * (len(terms.states) + len(terms.table_start))
        return bound + slack, (field, table)

    def decoded(self, field: Floats, table: Floats) -> Iterator[Indices]:
        """Yield states chosen from fields and tables one variable after another, upwards and downwards."""
        arrays, n = self.graph.arrays, len(self.graph.shape)
        nothing = np.zeros(int(arrays.message_start[-1]))
        for order in (np.arange(n), np.arange(n)[::-1].copy()):
            yield decode(arrays, field, table, nothing, order, 0)

    def guesses(self) -> Iterator[Indices]:
        """Yield states decoded from max-product messages."""
        arrays = self.graph.arrays
        potentials = self.graph.potentials(self.field, self.log_table, np.ones(len(self.graph.hosts)))
        order = np.arange(len(self.graph.shape))
        for schedule in _SCHEDULES:
            passed = MessagePassing((schedule,), 1e-9, _SWEEPS, maximise=True).run(self.graph, potentials)
            yield decode(arrays, self.field, self.log_table, passed.messages.log_cavity, order, 0)

    def best_rows(self, rows: NDArray[Any] | None) -> Iterator[Indices]:
        """Yield the most probable of some rows."""
        if rows is None or not len(rows):
            return
        distinct = np.unique(np.asarray(rows, np.int64), axis=0)
        terms, cell = self.terms(-np.inf), np.empty(len(self.graph.hosts), np.int64)
        scores = np.array([pick_cells(terms, row, cell) for row in distinct])
        for number in np.argsort(-scores, kind="stable")[:_ROWS]:
            yield distinct[number].copy()


@dataclass(eq=False)
class _Search:
    """The best state so far, and the work spent."""

    problem: _SearchProblem
    settings: StateSearch
    bound: float
    score: float = -np.inf  # of the best state
    n_starts: int = 0
    n_hits: int = 0
    spent: int = 0

    def __post_init__(self) -> None:
        problem, graph = self.problem, self.problem.graph
        of_field, of_table = problem.ranges()
        self._possible = problem.terms(-np.inf)
        self._terms = problem.terms(-_BARRIER * (1.0 + max(of_field.max(initial=0.0), of_table.max(initial=0.0))))
        self._cell = np.empty(len(of_table), np.int64)
        self._rng = np.random.default_rng(self.settings.seed)
        squares = of_field**2 + np.bincount(graph.arrays.scope, of_table[graph.arrays.factor] ** 2, len(of_field))
        live = graph.arrays.states > 1
        self._hottest = float(np.sqrt(squares[live].mean())) if live.any() else 0.0
        self._blocks = StateBlocks.of(graph, problem.terms(-problem.depth)) if len(live) <= _WIDEST else None
        self.state = np.zeros(len(live), np.int64)

    @property
    def is_met(self) -> bool:
        return self.score > -np.inf and self.bound - self.score <= self._near(self.score)

    @property
    def ended(self) -> bool:
        return self.is_met or self.n_hits >= self.settings.hits or self.spent >= self.settings.work

    def run(self, starts: Iterable[Indices]) -> None:
        """Climb from all starts and finish the best few; then anneal and finish others until the search has ended."""
        climbed: dict[bytes, tuple[float, Indices]] = {}
        for start in starts:
            if not self.is_met:
                state, score = self._climbed(start)
                climbed[state.tobytes()] = score, state
        for _, state in sorted(climbed.values(), key=lambda each: -each[0])[:_BEST_STARTS]:
            if not self.ended:
                self._finish(state)
        while not self.ended:
            self._finish(self._climbed(self._annealed(_ANNEALED[self.n_starts % len(_ANNEALED)]))[0])

    def _annealed(self, n_sweeps: int) -> Indices:
        state = self._rng.integers(0, self.problem.graph.arrays.states)
        if self._hottest > 0.0:
            coldest = _COLDEST * self._hottest
            self.spent += anneal(self._terms, state, self._random(), self._hottest, coldest, n_sweeps)
        return state

    def _climbed(self, state: Indices) -> tuple[Indices, float]:
        left = max(1, self.settings.work - self.spent)
        self.spent += climb(self._terms, state, self._random(), _FORESTS, left)[1]
        return state, self._see(state)

    def _see(self, state: Indices) -> float:
        """Return the score of a state, and record the state if it is the best so far."""
        score = float(pick_cells(self._possible, state, self._cell))
        if score > self.score + self._near(score):
            self.state, self.score, self.n_hits = state.copy(), score, 0
        return score

    def _finish(self, state: Indices) -> None:
        """Improve a state by blocks until several in a row gain nothing, and count where it ended."""
        score, failures = self._see(state), 0
        while self._blocks is not None and failures < _BLOCKS and self.spent < self.settings.work and not self.is_met:
            cells = _CELLS[int(self._rng.integers(len(_CELLS)))]
            state, share, work = self._blocks.raised(state, cells, self._random())
            self.spent += work
            raised, score_before = self._see(state), score
            score = raised
            if raised > score_before + self._near(raised):
                failures = 0
            else:
                failures += 1 if share > _LARGE_BLOCK else _FEW_SMALL
        self.n_starts += 1
        self.n_hits += score >= self.score - self._near(score)

    @staticmethod
    def _near(score: float) -> float:
        return _TIGHT * (1.0 + abs(score)) if np.isfinite(score) else 0.0

    def _random(self) -> NDArray[np.uint64]:
        """Return a nonzero state for a random generator of kernels."""
        return self._rng.integers(1, 2**63, 1).astype(np.uint64)

    def found(self, factors: Factors) -> Found:
        score = float(factors.log_potential(self.state[None])[0])
        bound = score if self.is_met else self.bound + self.problem.constant
        return Found(self.state, score, bound, self.n_starts, self.n_hits)
