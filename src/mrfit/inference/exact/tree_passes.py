"""The forward and the backward pass through the nodes of a junction tree, on one thread or two.

A large node is shared: each thread takes half of the states of the slowest axis that the node keeps. In the forward
pass their outputs do not overlap. In the backward pass the adjoints of inputs that have that axis do not overlap
either. Adjoints of the other inputs would, so the second thread first sums its part in a buffer of its own.

A caller that may have to stop passes a function ``between``. It is called between pieces of some ten milliseconds, and
an exception that it raises ends the pass.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mrfit._kernels.inference.contraction import (
    backward,
    backward_share,
    begin_adjoints,
    forward,
    forward_share,
    scale_adjoints,
    scale_output,
)
from mrfit._kernels.inference.tree_nodes import TreeNodes
from mrfit._typing import Floats
from mrfit.core.threads import run

_LARGE = 2**19  # cells of a clique that is worth a second thread
_LEAST_KEPT = 2**10  # cells of an output that is cut in two
_PIECE = 2**22  # cells of cliques between two calls of ``between``; a clique is never cut

Between = Callable[[], None]


class Share(NamedTuple):
    """A thread's part of a node: the nodes as it sees them, and the first state of the cut axis that it takes."""

    nodes: TreeNodes
    from_state: int


class Leftover(NamedTuple):
    """An adjoint that the second thread sums in a buffer: its table, its position, the buffer's, and the size."""

    table: int
    position: int
    own: int
    size: int


def forward_pass(
    nodes: TreeNodes,
    values: Floats,
    scale: Floats,
    n_rows: int,
    log_scale: Floats,
    *,
    jobs: int = 1,
    between: Between | None = None,
) -> Floats:
    """Fill in all outputs; return for each row the smallest of their largest values (see `forward`)."""
    smallest, n_leaves = np.ones(n_rows), len(scale) - len(nodes.n_removed)
    for first, last, is_large in _stretches(nodes, n_leaves, jobs, in_pieces=between is not None):
        if between is not None:
            between()
        if not is_large:
            forward(nodes, first, last, values, scale, n_rows, log_scale, smallest)
        else:
            table = n_leaves + first
            work = partial(_forward_share, node=first, table=table, values=values, scale=scale)
            _on_threads(_shares(nodes, first), work)
            scale_output(nodes, table, values, scale, n_rows, log_scale, smallest)
        # No row has a possible state left, or all of them underflowed: the caller repeats the pass in logarithms.
        if not smallest.any():
            break
    return smallest


def backward_pass(
    nodes: TreeNodes, values: Floats, scale: Floats, n_rows: int, *, jobs: int = 1, between: Between | None = None
) -> Floats:
    """Return the adjoints of all leaves, each up to a factor, at the start of the vector."""
    n_leaves, end = len(scale) - len(nodes.n_removed), int(nodes.adjoint_start[-1])
    stretches = _stretches(nodes, n_leaves, jobs, in_pieces=between is not None)
    leftovers = {first: _leftovers(nodes, first, end) for first, _, is_large in stretches if is_large}
    buffer_size = max((sum(each.size for each in own) for own in leftovers.values()), default=0)
    adjoints, adjoint_scale = np.empty(end + buffer_size), np.ones(len(scale))
    adjoints[: nodes.table_start[n_leaves]] = 1.0  # for leaves that are input to no node
    for first, last, is_large in reversed(stretches):
        if between is not None:
            between()
        if not is_large:
            backward(nodes, first, last, values, scale, n_rows, adjoints, adjoint_scale)
            continue
        table, own = n_leaves + first, leftovers[first]
        begin_adjoints(nodes, first, table, adjoints)
        one, other = _shares(nodes, first)
        adjoints[end : end + sum(each.size for each in own)] = 0.0
        other = other._replace(nodes=_redirected(other.nodes, own))
        work = partial(
            _backward_share, node=first, table=table, values=values, scale=scale, adjoints=adjoints,
            adjoint_scale=adjoint_scale,
        )  # fmt: skip
        _on_threads([one, other], work)
        for each in own:
            adjoints[each.position : each.position + each.size] += adjoints[each.own : each.own + each.size]
        scale_adjoints(nodes, first, n_leaves, n_rows, adjoints, adjoint_scale)
    return adjoints


def _forward_share(share: Share, *, node: int, table: int, values: Floats, scale: Floats) -> None:
    forward_share(share.nodes, node, table, values, scale, share.from_state)


def _backward_share(
    share: Share, *, node: int, table: int, values: Floats, scale: Floats, adjoints: Floats, adjoint_scale: Floats
) -> None:
    backward_share(share.nodes, node, table, values, scale, adjoints, adjoint_scale, share.from_state)


def _on_threads(shares: list[Share], work: Callable[[Share], None]) -> None:
    run(lambda k, _: work(shares[k]), [(k, k + 1) for k in range(len(shares))])


def _stretches(nodes: TreeNodes, n_leaves: int, jobs: int, *, in_pieces: bool) -> list[tuple[int, int, bool]]:
    """Return ranges of nodes, and whether each is a single large node."""
    n_nodes = len(nodes.n_removed)
    if n_nodes == 0 or (jobs < 2 and not in_pieces):
        return [(0, n_nodes, False)]
    cells = np.multiply.reduceat(nodes.axis_states.astype(np.float64), nodes.axis_start[:-1])
    large = _large(nodes, n_leaves, cells) if jobs >= 2 else np.empty(0, np.int64)
    edges = {0, n_nodes, *large.tolist(), *(large + 1).tolist()}
    if in_pieces:
        edges |= set((np.flatnonzero(np.diff(np.cumsum(cells) // _PIECE)) + 1).tolist())
    single = set(large.tolist())
    return [(first, last, first in single) for first, last in pairwise(sorted(edges))]


def _large(nodes: TreeNodes, n_leaves: int, cells: Floats) -> NDArray[np.int64]:
    """Return the nodes that are worth a second thread."""
    n_kept = np.diff(nodes.table_start[n_leaves:])
    return np.flatnonzero((cells >= _LARGE) & (n_kept >= _LEAST_KEPT) & ~nodes.has_rows[n_leaves:])


def _shares(nodes: TreeNodes, node: int) -> list[Share]:
    """Return both halves of the states of the first axis that a node keeps."""
    axis = int(nodes.axis_start[node] + nodes.n_removed[node])
    n_states = int(nodes.axis_states[axis])
    halves = []
    for first, last in ((0, n_states // 2), (n_states // 2, n_states)):
        states = nodes.axis_states.copy()
        states[axis] = last - first
        halves.append(Share(nodes._replace(axis_states=states), first))
    return halves


def _leftovers(nodes: TreeNodes, node: int, end: int) -> list[Leftover]:
    """Return the inputs of a node that do not have the first axis that it keeps."""
    n_axes = int(nodes.axis_start[node + 1] - nodes.axis_start[node])
    out = []
    for k, t in enumerate(nodes.inputs[nodes.input_start[node] : nodes.input_start[node + 1]].tolist()):
        # A stride of zero along that axis: both threads would add to the same cells.
        if nodes.strides[nodes.stride_start[node] + k * n_axes + nodes.n_removed[node]] == 0:
            size = int(nodes.table_start[t + 1] - nodes.table_start[t])
            out.append(Leftover(t, int(nodes.adjoint_start[t]), end, size))
            end += size
    return out


def _redirected(nodes: TreeNodes, leftovers: list[Leftover]) -> TreeNodes:
    """Return nodes whose adjoints of these inputs are in the second thread's buffer."""
    adjoint_start = nodes.adjoint_start.copy()
    for each in leftovers:
        adjoint_start[each.table] = each.own
    return nodes._replace(adjoint_start=adjoint_start)
