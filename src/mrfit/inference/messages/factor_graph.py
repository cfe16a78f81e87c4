"""The bipartite graph of variables and factors along whose edges messages are passed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import accumulate
from math import prod

import numpy as np

from mrfit._kernels.inference.messages import MessageGraph, Potentials
from mrfit._typing import Floats, Indices, Scope
from mrfit.core.errors import ImpossibleError, InputError
from mrfit.core.factors import Factors, check_scopes


@dataclass(frozen=True)
class FactorGraph:
    """Variables and the scopes of factors: the graph for message passing.

    Variables with one state are left out, and a table of one variable is part of that variable's field: neither
    changes any message. With ``merge`` a table whose scope lies inside another's is added to that table. The
    distribution stays the same and the graph has fewer loops, but messages differ from those of the factors as given.
    """

    shape: tuple[int, ...]
    scopes: tuple[Scope, ...]
    merge: bool = True

    @cached_property
    def live_scopes(self) -> tuple[Scope, ...]:
        """The scopes of all factors, without variables that have one state."""
        return tuple(tuple(i for i in scope if self.shape[i] > 1) for scope in self.scopes)

    @cached_property
    def hosts(self) -> tuple[Scope, ...]:
        """The scope of each table of two or more variables that messages go through, ascending."""
        if not self.merge:
            return tuple(tuple(sorted(scope)) for scope in self.live_scopes if len(scope) > 1)
        return tuple(dict.fromkeys(self._largest[frozenset(scope)] for scope in self.live_scopes if len(scope) > 1))

    @cached_property
    def host_of(self) -> tuple[int | None, ...]:
        """The number of the host that contains each factor; None for factors of fewer than two variables."""
        wide = [f for f, scope in enumerate(self.live_scopes) if len(scope) > 1]
        if self.merge:
            numbers = {host: f for f, host in enumerate(self.hosts)}
            number_of = {f: numbers[self._largest[frozenset(self.live_scopes[f])]] for f in wide}
        else:
            number_of = {f: number for number, f in enumerate(wide)}
        return tuple(number_of.get(f) for f in range(len(self.scopes)))

    @property
    def n_merged(self) -> int:
        """The number of tables that were added to others."""
        return sum(number is not None for number in self.host_of) - len(self.hosts)

    @cached_property
    def _largest(self) -> dict[frozenset[int], Scope]:
        """Return, for each set of two or more variables that is a scope, the scope to which its tables are added."""
        larger: dict[int, list[frozenset[int]]] = {}  # hosts that could contain others, by variable
        found: dict[frozenset[int], Scope] = {}
        distinct = dict.fromkeys(frozenset(scope) for scope in self.live_scopes if len(scope) > 1)
        for members in sorted(distinct, key=len, reverse=True):
            near = larger.get(next(iter(members)), ())
            host = next((each for each in near if members <= each), members)
            found[members] = tuple(sorted(host))
            if host is members and len(members) > 2:
                for i in members:
                    larger.setdefault(i, []).append(members)
        return found

    @cached_property
    def is_forest(self) -> bool:
        """Whether the graph has no loops, so that messages are exact (by union-find)."""
        parent = list(range(len(self.shape)))

        def root(i: int) -> int:
            while parent[i] != i:
                parent[i] = parent[parent[i]]
                i = parent[i]
            return i

        for scope in self.hosts:
            first = root(scope[0])
            for i in scope[1:]:
                other = root(i)
                if other == first:
                    return False
                parent[other] = first
        return True

    @property
    def n_message_cells(self) -> int:
        return sum(self.shape[i] for scope in self.hosts for i in scope)

    @property
    def n_table_cells(self) -> int:
        return sum(prod(self.shape[i] for i in scope) for scope in self.hosts)

    @cached_property
    def arrays(self) -> MessageGraph:
        """The graph as compiled code takes it."""
        scope = _whole(i for host in self.hosts for i in host)
        states = _whole(self.shape)
        edges = np.argsort(scope, kind="stable")
        return MessageGraph(
            states=states,
            field_start=_starts(self.shape),
            scope_start=_starts(map(len, self.hosts)),
            scope=scope,
            sizes=states[scope],
            table_start=_starts(prod(self.shape[i] for i in host) for host in self.hosts),
            message_start=_starts(states[scope]),
            edge_start=_starts(np.bincount(scope, minlength=len(states))),
            edges=edges,
            factor=np.repeat(np.arange(len(self.hosts)), [len(host) for host in self.hosts]).astype(np.int64),
        )

    @cached_property
    def _cell_sources(self) -> tuple[Indices, Indices]:
        """Pairs (to, source): value ``source`` of the factors is added to cell ``to`` of the joined fields and tables.

        The cell after the last collects constants.
        """
        graph = self.arrays
        n_fields, n_cells = int(graph.field_start[-1]), int(graph.field_start[-1] + graph.table_start[-1])
        begin, to, source = 0, [_whole(())], [_whole(())]
        for scope, number in zip(self.live_scopes, self.host_of, strict=True):
            host = scope if number is None else self.hosts[number]
            if number is not None:
                at = n_fields + int(graph.table_start[number])
            elif host:
                at = int(graph.field_start[host[0]])
            else:
                at = n_cells
            cells = _cells_within(tuple(self.shape[i] for i in host), tuple(host.index(i) for i in scope))
            to.append(np.arange(at, at + len(cells)))
            source.append(begin + cells)
            begin += prod(self.shape[i] for i in scope)
        return np.concatenate(to), np.concatenate(source)

    def gather(self, factors: Factors) -> tuple[Floats, Floats, float]:
        """Return fields, tables and a constant: logarithms with a largest value of 0 in each field and table."""
        graph, (to, source) = self.arrays, self._cell_sources
        n_fields = int(graph.field_start[-1])
        n_cells = n_fields + int(graph.table_start[-1]) + 1
        taken = factors.values[source]
        impossible = np.zeros(n_cells, bool)
        impossible[to[np.isneginf(taken)]] = True
        with np.errstate(over="ignore", invalid="ignore"):  # checked below
            sums = np.bincount(to, taken, minlength=n_cells).astype(np.float64)  # integers if there are no cells
            starts = np.concatenate([graph.field_start[:-1], n_fields + graph.table_start])
            tops = np.maximum.reduceat(sums, starts)
            constant = float(tops.sum())
        if not np.isfinite(sums[~impossible]).all():
            raise InputError("The tables are so large that their sums overflow; subtract a constant from each.")
        if np.isneginf(tops).any():
            raise ImpossibleError
        if not np.isfinite(constant):
            raise InputError("The tables are so large that their sums overflow; subtract a constant from each.")
        sums -= np.repeat(tops, np.diff(starts, append=n_cells))
        return sums[:n_fields], sums[n_fields:-1], constant

    def potentials(self, field: Floats, log_table: Floats, weight: Floats) -> Potentials:
        """Return tables raised to the power 1 / weight of their factor, as compiled code takes them."""
        raised = log_table / np.repeat(weight, np.diff(self.arrays.table_start))
        finite = np.where(np.isneginf(raised), 0.0, raised)
        lowest = np.minimum.reduceat(finite, self.arrays.table_start[:-1]) if len(weight) else np.empty(0)
        return Potentials(field, raised, np.exp(raised), lowest, weight)

    def check(self, factors: Factors) -> None:
        """Refuse factors over other scopes."""
        if factors.scopes != self.scopes:
            raise InputError(
                f"The plan is for {len(self.scopes)} scopes; these factors have {len(factors.scopes)}, or others, or "
                "in another order. Plan again for these factors."
            )

    def home(self, scope: Scope) -> int | None:
        """Return the number of the smallest host that contains these variables (of several states), or None."""
        members = [i for i in scope if self.shape[i] > 1]
        if not members:
            return None
        graph = self.arrays
        i = members[0]
        near = graph.factor[graph.edges[graph.edge_start[i] : graph.edge_start[i + 1]]].tolist()
        holding = [f for f in near if set(members) <= set(self.hosts[f])]
        return min(holding, key=lambda f: len(self.hosts[f]), default=None)

    def check_targets(self, targets: Sequence[Scope]) -> None:
        """Refuse targets that no table contains: messages give no joint marginals of these."""
        check_scopes(self.shape, targets)
        for target in targets:
            if sum(self.shape[i] > 1 for i in target) > 1 and self.home(target) is None:
                raise InputError(
                    f"No table holds all variables of {target}; messages give joint marginals of variables that share "
                    "one. Ask for smaller sets, take an exact engine, or add a table of zeros over them."
                )


def _whole(values: object) -> Indices:
    return np.fromiter(values, np.int64)  # type: ignore[call-overload, no-any-return]


def _starts(lengths: object) -> Indices:
    return _whole(accumulate(lengths, initial=0))  # type: ignore[call-overload]


@lru_cache(maxsize=1024)
def _cells_within(states: tuple[int, ...], axes: tuple[int, ...]) -> Indices:
    """Return for each cell of a table the cell of a smaller table over some of its axes in another order."""
    cells = np.arange(prod(states[axis] for axis in axes)).reshape([states[axis] for axis in axes])
    ordered = np.transpose(cells, np.argsort(axes)) if axes else cells
    whole = np.expand_dims(ordered, tuple(axis for axis in range(len(states)) if axis not in axes))
    out = np.ascontiguousarray(np.broadcast_to(whole, states)).ravel()
    out.flags.writeable = False
    return out
