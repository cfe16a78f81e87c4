"""Inference for many rows with the same observed variables, in one run of a junction tree."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from mrfit._kernels.inference.backtrack import draw, trace_best
from mrfit._kernels.inference.contraction import leaf_marginals
from mrfit._kernels.inference.max_contraction import max_forward
from mrfit._kernels.inference.row_leaves import cut_tables
from mrfit._kernels.inference.tree_nodes import TreeNodes
from mrfit._typing import Codes, Floats, Indices, Scope
from mrfit.core.errors import ImpossibleError
from mrfit.core.factors import Factors, positions
from mrfit.core.threads import deal, run
from mrfit.inference.exact.junction_tree import SAFE, JunctionTree, calibrated
from mrfit.inference.exact.tree_passes import backward_pass, forward_pass
from mrfit.inference.exact.tree_plan import RowAxis, Scopes, TreePlan, plan_tree

_ROWS = 512  # in a run: messages of that many times the cells mostly fit into processor caches
_SUGGESTION = (
    "Leave out rows with so many missing values (missing='drop'), or learn a sparser structure (rule='and', fewer "
    "neighbours)."
)


@dataclass(frozen=True)
class RowAnswers:
    """Return for every row log Z given its observed values, and marginals of the requested variables.

    An impossible row has a log Z of minus infinity, and marginals of NaN.
    """

    log_z: Floats
    marginals: dict[int, Floats]  # (rows, states)


class RowRuns:
    """Runs over rows of codes in which the same variables are observed; other columns are ignored.

    Rows are one more axis of the tables, the fastest, so that a run costs little more than its arithmetic. Numbers are
    scaled row by row. A row whose numbers might underflow is run again by itself, in logarithms.
    """

    def __init__(
        self,
        factors: Factors,
        observed: Sequence[int],
        asked: Sequence[int] = (),
        *,
        engine: JunctionTree | None = None,
        names: Sequence[str] | None = None,
    ) -> None:
        self.factors, self.engine, self._names = factors, engine or JunctionTree(), names
        self.observed = np.zeros(factors.n_variables, bool)
        self.observed[list(observed)] = True
        self.asked = tuple(asked)
        free = ~self.observed & (np.array(factors.shape) > 1)
        is_inner = [any(free[i] for i in scope) for scope in factors.scopes]
        pairs = list(zip(factors.scopes, factors.tables, strict=True))
        self._outer = [pair for pair, inner in zip(pairs, is_inner, strict=True) if not inner]
        ones: list[tuple[Scope, Floats]] = [((i,), np.zeros(factors.shape[i])) for i in self.asked]
        self._inner = Factors.from_tables(
            factors.shape, [pair for pair, inner in zip(pairs, is_inner, strict=True) if inner] + ones
        )
        self._has_rows = np.array([any(self.observed[i] for i in scope) for scope in self._inner.scopes], bool)
        self._has_rows[len(self._has_rows) - len(ones) :] = True

    def plan(self, n_rows: int) -> TreePlan:
        """Plan a run of that many rows, or of as many as fit."""
        return self._plan(max(1, min(n_rows, _ROWS)), self.engine.merge)

    def fits(self, *, merge: bool = True) -> bool:
        """Return whether a run of one row fits; `draws` needs a tree that does not ``merge``."""
        return self._plan_of(1, merge).fits

    def _plan(self, n_rows: int, merge: bool) -> TreePlan:
        while True:
            plan = self._plan_of(n_rows, merge)
            if plan.fits or n_rows == 1:
                plan.check(self._names)
                return plan
            n_rows = -(-n_rows // 4)

    def _plan_of(self, n_rows: int, merge: bool) -> TreePlan:
        return self._tree(merge=merge, order=self._order, rows=RowAxis(n_rows, tuple(self._has_rows.tolist())))

    def _tree(self, *, merge: bool = True, order: Sequence[int] | None = None, rows: RowAxis | None = None) -> TreePlan:
        engine = self.engine
        shape = tuple(1 if known else c for c, known in zip(self.factors.shape, self.observed, strict=True))
        plan = plan_tree(
            engine.word, shape, self._inner.scopes, max_cells=engine.max_cells, max_bytes=engine.max_bytes,
            seed=engine.seed, effort=engine.effort, merge=merge, order=order, rows=rows,
        )  # fmt: skip
        return replace(plan, suggestion=_SUGGESTION)

    @cached_property
    def _order(self) -> tuple[int, ...]:
        """The order of elimination for one row: an axis that all large tables have does not change which is best."""
        return self._tree().order

    def answers(self, codes: Codes, *, jobs: int = 1) -> RowAnswers:
        """Return log Z and marginals of the variables ``asked`` for each row."""
        log_z, marginals = np.empty(len(codes)), {i: np.empty((len(codes), self.factors.shape[i])) for i in self.asked}
        plan = self.plan(len(codes))

        def answer(first: int, rows: Codes) -> None:
            values, scale, log_scale, smallest = self._forward(plan, rows)
            count = min(len(rows), len(codes) - first)
            log_z[first : first + count] = log_scale[:count]
            if self.asked:
                for i, table in self._backward(plan, values, scale, len(rows)):
                    marginals[i][first : first + count] = table[:, :count].T
            for row in np.flatnonzero(~(smallest[:count] > SAFE)):
                self._alone(codes[first + row], first + int(row), log_z, marginals)

        self._each_chunk(plan, codes, answer, jobs)
        return RowAnswers(log_z + self._fixed(codes), marginals)

    def best(self, codes: Codes, *, jobs: int = 1) -> Indices:
        """Return codes of all variables: the observed values, and most probable states of the others."""
        plan = self.plan(len(codes))
        nodes, out = plan.built_nodes, self._to_fill(codes)

        def choose(first: int, rows: Codes) -> None:
            values = np.empty(nodes.table_start[-1])
            self._cut(nodes, self._inner.values, rows, values)
            max_forward(nodes, len(self._inner.scopes), values)
            states = _blank_states(plan, len(rows))
            trace_best(nodes, values, states)
            _write(plan, states, out[first : first + len(rows)])

        self._each_chunk(plan, codes, choose, jobs)
        return out

    def draws(self, codes: Codes, *, rng: np.random.Generator, jobs: int = 1) -> Indices:
        """Return codes of all variables: the observed values, and draws of the others; the same for any ``jobs``.

        As in `best`, impossible rows get arbitrary states.
        """
        plan = self._plan(max(1, min(len(codes), _ROWS)), False)
        nodes, out = plan.built_nodes, self._to_fill(codes)
        seeds = rng.integers(2**63, size=len(codes))  # of chunks, and of rows that run alone

        def choose(first: int, rows: Codes) -> None:
            values, scale, _, smallest = self._forward(plan, rows)
            values *= np.repeat(scale, np.diff(nodes.table_start))
            states = _blank_states(plan, len(rows))
            draw(nodes, values, int(seeds[first]), 0, states)
            _write(plan, states, out[first : first + len(rows)])
            for row in np.flatnonzero(~(smallest[: len(codes) - first] > SAFE)) + first:
                out[row] = self._draw_alone(codes[row], np.random.default_rng(int(seeds[row])))

        self._each_chunk(plan, codes, choose, jobs)
        return out

    def _to_fill(self, codes: Codes) -> Indices:
        """Return a copy of the rows to write states into. Unobserved variables are 0, the code of a single state."""
        out = np.array(codes, np.int64)
        out[:, ~self.observed] = 0
        return out

    def _backward(self, plan: TreePlan, values: Floats, scale: Floats, n_rows: int) -> Iterator[tuple[int, Floats]]:
        """Yield the marginals of the requested variables, (states, rows), from the values of the forward pass."""
        nodes, n_leaves = plan.built_nodes, len(self._inner.scopes)
        adjoints, out = backward_pass(nodes, values, scale, n_rows), np.empty(nodes.table_start[n_leaves])
        with np.errstate(invalid="ignore"):
            leaf_marginals(nodes, n_leaves, values, adjoints, n_rows, out)
        for t, i in enumerate(self.asked, start=n_leaves - len(self.asked)):
            yield i, out[nodes.table_start[t] : nodes.table_start[t + 1]].reshape(-1, n_rows)

    def _each_chunk(self, plan: TreePlan, codes: Codes, work: Callable[[int, Codes], None], jobs: int) -> None:
        """Do the work on all chunks, on several threads; each writes its own rows."""
        chunks = list(self._chunks(plan, codes))
        self._linear, self._flat  # noqa: B018  # computed here, once, before threads need them

        def some(first: int, last: int) -> None:
            for number in range(first, last):
                work(*chunks[number])

        run(some, deal(np.ones(len(chunks)), jobs))

    def _chunks(self, plan: TreePlan, codes: Codes) -> Iterator[tuple[int, Codes]]:
        """Yield pieces of the plan's number of rows; the last one is padded with copies of its last row."""
        assert plan.rows is not None
        size = plan.rows.n_rows
        for first in range(0, len(codes), size):
            rows = codes[first : first + size]
            if len(rows) < size:
                rows = np.concatenate([rows, np.repeat(rows[-1:], size - len(rows), axis=0)])
            yield first, rows

    def _forward(self, plan: TreePlan, rows: Codes) -> tuple[Floats, Floats, Floats, Floats]:
        nodes = plan.built_nodes
        values, scale = np.empty(nodes.table_start[-1]), np.ones(len(nodes.table_start) - 1)
        linear, constant = self._linear
        self._cut(nodes, linear, rows, values)
        log_scale = np.full(len(rows), constant)
        smallest = forward_pass(nodes, values, scale, len(rows), log_scale)
        return values, scale, log_scale, smallest

    @cached_property
    def _linear(self) -> tuple[Floats, float]:
        """All inner tables divided by their largest values, and the sum of the logarithms of these values."""
        most = np.array([table.max() for table in self._inner.tables])
        most[np.isneginf(most)] = 0.0
        sizes = [len(table) for table in self._inner.tables]
        return np.exp(self._inner.values - np.repeat(most, sizes)), float(most.sum())

    def _cut(self, nodes: TreeNodes, tables: Floats, rows: Codes, out: Floats) -> None:
        flat = self._flat
        cut_tables(
            flat.start, flat.variables, flat.n_states, self.observed, tables, np.ascontiguousarray(rows),
            nodes.table_start, self._has_rows, out,
        )  # fmt: skip

    @cached_property
    def _flat(self) -> Scopes:
        return Scopes.of(self.factors.shape, self._inner.scopes)

    def _fixed(self, codes: Codes) -> Floats:
        """Return the sum of the fully observed tables, for each row."""
        total = np.zeros(len(codes))
        for scope, table in self._outer:
            total += table[positions(codes, self._observed_part(scope), self.factors.shape)]
        return total

    def _observed_part(self, scope: Scope) -> Scope:
        return tuple(i for i in scope if self.factors.shape[i] > 1)

    def _known(self, row: Codes) -> dict[int, int]:
        return {int(i): int(row[i]) for i in np.flatnonzero(self.observed)}

    def _alone(self, row: Codes, number: int, log_z: Floats, marginals: dict[int, Floats]) -> None:
        factors = self._inner.given(self._known(row))
        posterior = calibrated(self.engine.plan(factors, order=self._order), factors)
        log_z[number] = posterior.log_z
        for i, table in marginals.items():
            table[number] = posterior.marginal((i,)) if posterior.log_z > -np.inf else np.nan

    def _draw_alone(self, row: Codes, rng: np.random.Generator) -> Indices:
        factors = self._inner.given(self._known(row))
        try:
            drawn = self.engine.draw(self.engine.plan(factors, order=self._order), factors, 1, rng=rng)[0]
        except ImpossibleError:  # `best` and `draws` give arbitrary states; the product of tables there is zero
            drawn = np.zeros(len(row), np.int64)
        return np.where(self.observed, row, drawn)


def _blank_states(plan: TreePlan, n_rows: int) -> Indices:
    """Return states to fill in, (rows, variables in the order of elimination + 1); the last column numbers the rows."""
    states = np.zeros((n_rows, len(plan.order) + 1), np.int64)
    states[:, -1] = np.arange(n_rows)
    return states


def _write(plan: TreePlan, states: Indices, out: Indices) -> None:
    """Write states to their columns; rows that pad the last chunk are left out."""
    out[:, list(plan.order)] = states[: len(out), :-1]
