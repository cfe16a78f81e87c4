"""Plans of junction trees: the order of elimination, its cliques and their cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain
from math import prod

import numpy as np

from mrfit._kernels.inference.elimination import best_order, neighbours_in
from mrfit._kernels.inference.tree_nodes import TreeNodes, leaf_axes, separators, sizes, tree_nodes
from mrfit._typing import Indices, Scope
from mrfit.core.errors import InputError, listed
from mrfit.core.rounding import format_count, format_size
from mrfit.core.seeds import Seed, one_number
from mrfit.inference.plan import Plan, as_float

_WORDS_A_CELL = 1.5  # of search for an order, for each cell that the order needs: about as long as one run takes
_MOST_WORDS = 4e8  # of search for an order: about a second
_HOPELESS = 1e4  # times the limit: no other order will fit either
_SEEDS = 2**63  # the range that kernels take
_EXACT_FLOATS = 2.0**53  # integers below are exact as floats
_SECONDS_A_NODE = 1e-6
_SECONDS_A_CELL = 3e-9
_WITH_MARGINALS = 3.5  # the backward pass takes 2.5 times as long as the forward pass


@dataclass(frozen=True)
class Scopes:
    """Scopes as flat arrays: the start of each, and all their variables."""

    n_states: Indices
    start: Indices
    variables: Indices

    @classmethod
    def of(cls, shape: Sequence[int], scopes: Sequence[Scope]) -> Scopes:
        start = np.zeros(len(scopes) + 1, np.int64)
        np.cumsum(np.fromiter(map(len, scopes), np.int64, len(scopes)), out=start[1:])
        variables = np.fromiter(chain.from_iterable(scopes), np.int64, int(start[-1]))
        return cls(np.array(shape, np.int64), start, variables)


@dataclass(frozen=True)
class RowAxis:
    """An axis of rows that differ in some tables, to be run together."""

    n_rows: int
    is_in: tuple[bool, ...]  # for every scope: whether its table has the axis

    def added_to(self, scopes: Sequence[Scope], n_states: Indices) -> Scopes:
        rows = len(n_states)
        with_rows = [(*scope, rows) if own else scope for scope, own in zip(scopes, self.is_in, strict=True)]
        return Scopes.of([*n_states.tolist(), self.n_rows], with_rows)


@dataclass(frozen=True)
class TreePlan(Plan):
    """An order of elimination, its cliques and their cost.

    ``order`` lists the variables with several states; ``largest`` is the clique with most cells. A run needs
    ``n_cells`` multiplications over cliques, and memory for ``n_message_cells``.
    """

    scopes: tuple[Scope, ...] = ()
    order: tuple[int, ...] = ()
    width: int = 0  # number of variables of the largest clique, minus one
    largest: Scope = ()
    n_message_cells: int = 0
    max_bytes: int = 0
    n_orders: int = 1  # that the search tried
    merge: bool = True
    rows: RowAxis | None = None
    nodes: TreeNodes | None = field(default=None, repr=False, compare=False)  # None where the plan does not fit

    @property
    def fits(self) -> bool:
        return self.n_cells <= self.max_cells and self.n_bytes <= self.max_bytes

    def figures(self, names: Sequence[str] | None = None) -> str:
        clique = [names[v] if names else v for v in self.largest]
        return (
            f"{self.task} needs cliques of {format_count(as_float(self.n_cells))} cells in all, the largest of "
            f"{len(clique)} variables ({listed(clique)}); the limit is {format_count(as_float(self.max_cells))} cells."
            + self._memory
        )

    @property
    def _memory(self) -> str:
        """A sentence on the memory of messages, if it is too much: a few large cliques need hardly any."""
        if self.n_bytes <= self.max_bytes:
            return ""
        return f" Messages between them take about {self.size}; the limit is {format_size(self.max_bytes)}."

    @property
    def built_nodes(self) -> TreeNodes:
        """The nodes of a plan that fits."""
        assert self.nodes is not None
        return self.nodes


def plan_tree(
    word: str,
    shape: tuple[int, ...],
    scopes: tuple[Scope, ...],
    *,
    max_cells: int,
    max_bytes: int,
    seed: Seed = 0,
    effort: float = 1.0,
    merge: bool = True,
    order: Sequence[int] | None = None,
    rows: RowAxis | None = None,
) -> TreePlan:
    """Return a plan for factors of these scopes, by the best of many orders or by a given one.

    With ``rows`` some tables have one more axis, the last and fastest, which is never eliminated.

    Each variable is eliminated into one clique: itself and its separator, which are the neighbours that come later in
    the order. The message over the separator joins the tables of a later clique, which makes the cliques a tree.
    """
    flat = Scopes.of(shape, scopes)
    starts, neighbours = neighbours_in(flat.start, flat.variables, flat.n_states)
    n_tried = 0
    if order is None:
        found, n_tried = best_order(
            starts, neighbours, flat.n_states, one_number(seed) % _SEEDS, effort * _WORDS_A_CELL, effort * _MOST_WORDS,
            _HOPELESS * as_float(max_cells),
        )  # fmt: skip
    else:
        found = _checked_order(order, flat.n_states)
    position = np.full(len(shape), -1)  # of each variable in the order
    position[found] = np.arange(len(found))
    states_in_order = flat.n_states[found]
    if rows is not None:
        flat, position = rows.added_to(scopes, flat.n_states), np.append(position, len(found))
        states_in_order = np.append(states_in_order, rows.n_rows)
        starts, neighbours = neighbours_in(flat.start, flat.variables, flat.n_states)
    # The axis of rows has the last position, behind all variables: it is in the separator of every clique that depends
    # on rows, and is never eliminated.
    start, separator = separators(found, starts, neighbours, position)
    cells, messages, first, begin = sizes(start, separator, states_in_order, merge)
    n_cells, n_messages = int(min(cells, _EXACT_FLOATS)), int(min(messages, _EXACT_FLOATS))
    if cells >= _EXACT_FLOATS:
        n_cells, n_messages = _exact_sizes(start, separator, states_in_order.tolist(), begin)
    clique = [first, *separator[start[first] : start[first + 1]]] if len(found) else []
    largest = [k for k in clique if k < len(found)]  # without the axis of rows
    fits = n_cells <= max_cells and 8 * n_messages <= max_bytes
    nodes = None
    if fits:
        leaves = leaf_axes(flat.start, flat.variables, flat.n_states, position)
        nodes = tree_nodes(start, separator, *leaves, states_in_order, merge)
    n_bytes = 8 * (n_messages if nodes is None else int(nodes.table_start[-1] + nodes.adjoint_start[-1]))
    n_nodes = len(found) if nodes is None else len(nodes.n_removed)
    return TreePlan(
        engine=word,
        shape=shape,
        task=f"A junction tree of {len(found)} variables",
        n_cells=n_cells,
        max_cells=max_cells,
        n_bytes=n_bytes,
        forecast=_WITH_MARGINALS * (_SECONDS_A_NODE * n_nodes + _SECONDS_A_CELL * as_float(n_cells)),
        why="it is exact, and its cliques are small enough",
        suggestion="Observe some variables of the largest clique, learn a sparser structure (rule='and', "
        "fewer neighbours), use an approximation (engine='ais'), or raise the limits.",
        scopes=scopes,
        order=tuple(found.tolist()),
        width=max(len(largest) - 1, 0),
        largest=tuple(sorted(int(found[k]) for k in largest)),
        n_message_cells=n_messages,
        max_bytes=max_bytes,
        n_orders=int(n_tried),
        merge=merge,
        rows=rows,
        nodes=nodes,
    )


def _checked_order(order: Sequence[int], n_states: Indices) -> Indices:
    live = set(np.flatnonzero(n_states > 1).tolist())
    found = np.array([v for v in order if v in live], np.int64)
    if len(found) != len(live) or len(set(found.tolist())) != len(live):
        raise InputError(
            f"The order names {len(order)} variables; expected each of the {len(live)} that have several states once."
        )
    return found


def _exact_sizes(start: Indices, separator: Indices, n_states: list[int], begin: Indices) -> tuple[int, int]:
    """Count the cells of all cliques and of all messages in Python's integers, where floats are not exact."""

    def cells(k: int) -> int:
        return prod(n_states[other] for other in separator[start[k] : start[k + 1]].tolist())

    ends = [(int(first), last) for last, first in enumerate(begin) if first >= 0]
    return sum(n_states[first] * cells(first) for first, _ in ends), sum(cells(last) for _, last in ends)
