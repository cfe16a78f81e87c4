"""Most probable states by local search from many starts, and an upper bound that says how far off they may be."""

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

_ROUNDS = 500  # of the bound, which most models need fewer of
_TIGHT = 1e-9  # of 1 + |score|: a smaller gap is rounding
_ROUNDING = 2e-16  # of all terms, in each round of the bound
_SWEEPS = 50  # of max-product: a guess is wanted, not a fixed point
_SCHEDULES = (Schedule("sequential"), Schedule("sequential", 0.5), Schedule("flooding", 0.5))
_ROWS = 10  # of those given, the most probable ones
_BEST_STARTS = 3  # that are raised by blocks, of those that are not annealed
_ANNEALED = (300, 100, 1000)  # sweeps, in turn
_COLDEST = 0.02  # of the hottest temperature
_FORESTS = 30  # in a row that gain nothing
_BLOCKS = 12  # in a row that gain nothing
_LARGE_BLOCK = (
    1 / 3
)  # of all variables; in a dense graph blocks are smaller, and climbs have tried most of what they can
_FEW_SMALL = 4  # as many failures as that of a small block counts for
_CELLS = (2**8, 2**12, 2**15)  # of the largest clique of a block, at random
_WIDEST = 3000  # variables, up to which their neighbourhoods are a table
_BARRIER = 10.0  # times the largest entry: what an impossible cell costs while a state is searched


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
        """How far the state may be from the best one."""
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

    A climb moves single variables, pairs that share a factor, and random forests of variables, each to the best joint
    state given all others. It ends with random blocks of variables, as many as a small junction tree can move together.
    The bound is the linear-programming bound of message passing (Kolmogorov 2006), tight for
    trees and for many models with strong fields. The search ends when the bound is met, when many starts have ended at
    the same score, or when the budget is spent.

    Parameters
    ----------
    work
        Budget, in cells of tables that are read: 10^8 take a third of a second to a second.
    hits
        Starts that have to end at the best score before the search ends early.
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
        """The best state found; ``rows`` of codes are further starts. Deterministic for a seed."""
        problem = _SearchProblem.of(factors)
        bound, reduced = problem.bounded()
        search = _Search(problem, self, bound)
        search.run(chain(problem.decoded(*reduced), problem.guesses(), problem.best_rows(rows)))
        return search.found(factors)


@dataclass(frozen=True, eq=False)
class _SearchProblem:
    """Fields and tables as kernels take them: with their impossible cells, and with a price in place of these."""

    graph: FactorGraph
    field: Floats
    log_table: Floats
    constant: float

    @classmethod
    def of(cls, factors: Factors) -> _SearchProblem:
        graph = FactorGraph(factors.shape, factors.scopes)
        return cls(graph, *graph.gather(factors))

    def terms(self, impossible: float) -> Terms:
        """Minus infinity is replaced."""
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
        """Of each variable in the scope of each host, in C order."""
        strides: list[int] = []
        for host in self.graph.hosts:
            own = [1]
            for i in host[:0:-1]:
                own.append(own[-1] * self.graph.shape[i])
            strides += own[::-1]
        return np.array(strides, np.int64)

    def ranges(self) -> tuple[Floats, Floats]:
        """How far the possible entries of each field and table, whose largest is 0, go down."""
        arrays, out = self.graph.arrays, []
        for values, starts in ((self.field, arrays.field_start), (self.log_table, arrays.table_start)):
            possible = np.where(np.isneginf(values), 0.0, -values)
            out.append(np.maximum.reduceat(possible, starts[:-1]) if len(starts) > 1 else np.empty(0))
        return out[0], out[1]

    @property
    def depth(self) -> float:
        """More than the sums of two possible states can differ by."""
        return 1.0 + sum(float(each.sum()) for each in self.ranges())

    def bounded(self) -> tuple[float, tuple[Floats, Floats]]:
        """An upper bound, rounding included; and the fields and tables of the same distribution that show it."""
        depth = self.depth
        terms = self.terms(-depth)
        field, table = terms.field.copy(), terms.table.copy()
        bound, rounds = lower_bound(terms, field, table, _ROUNDS, 1e-9 * depth / (1 + len(terms.table_start)))
        if bound <= -depth:  # the sum of every possible state is larger
            raise ImpossibleError
        largest = max(
            (float(np.abs(each).max()) for each in (field, table, terms.field, terms.table) if len(each)), default=0.0
        )
        slack = _ROUNDING * (rounds + 1) * largest * (len(terms.states) + len(terms.table_start))
        return bound + slack, (field, table)

    def decoded(self, field: Floats, table: Floats) -> Iterator[Indices]:
        """States chosen by fields and tables one variable after another, upwards and downwards."""
        arrays, n = self.graph.arrays, len(self.graph.shape)
        nothing = np.zeros(int(arrays.message_start[-1]))
        for order in (np.arange(n), np.arange(n)[::-1].copy()):
            yield decode(arrays, field, table, nothing, order, 0)

    def guesses(self) -> Iterator[Indices]:
        """Decoded from max-product messages."""
        arrays = self.graph.arrays
        potentials = self.graph.potentials(self.field, self.log_table, np.ones(len(self.graph.hosts)))
        order = np.arange(len(self.graph.shape))
        for schedule in _SCHEDULES:
            passed = MessagePassing((schedule,), 1e-9, _SWEEPS, maximise=True).run(self.graph, potentials)
            yield decode(arrays, self.field, self.log_table, passed.messages.log_cavity, order, 0)

    def best_rows(self, rows: NDArray[Any] | None) -> Iterator[Indices]:
        """The most probable of some rows."""
        if rows is None or not len(rows):
            return
        distinct = np.unique(np.asarray(rows, np.int64), axis=0)
        terms, cell = self.terms(-np.inf), np.empty(len(self.graph.hosts), np.int64)
        scores = np.array([pick_cells(terms, row, cell) for row in distinct])
        for number in np.argsort(-scores, kind="stable")[:_ROWS]:
            yield distinct[number].copy()


@dataclass(eq=False)
class _Search:
    """The best state so far, and what was spent on it."""

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
        """Climb from all starts, then go on from the best few; then from annealed states until it has ended."""
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
        """The score of a state, which is kept if it is the best so far."""
        score = float(pick_cells(self._possible, state, self._cell))
        if score > self.score + self._near(score):
            self.state, self.score, self.n_hits = state.copy(), score, 0
        return score

    def _finish(self, state: Indices) -> None:
        """Raise a state by blocks until some in a row have gained nothing, and count where it ended."""
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
        """The state of a generator of kernels, never zero."""
        return self._rng.integers(1, 2**63, 1).astype(np.uint64)

    def found(self, factors: Factors) -> Found:
        score = float(factors.log_potential(self.state[None])[0])
        bound = score if self.is_met else self.bound + self.problem.constant
        return Found(self.state, score, bound, self.n_starts, self.n_hits)
