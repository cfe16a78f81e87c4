"""Approximate marginals of single variables and of the scopes of factors, from messages."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from mrfit._kernels.inference.messages import Messages, Potentials, beliefs
from mrfit._typing import Floats, Scope
from mrfit.inference.engine import Posterior
from mrfit.inference.messages.factor_graph import FactorGraph

Bound = Literal["upper", "lower"]


@dataclass(frozen=True, eq=False, kw_only=True)
class Approximation(Posterior):
    """The result of an iteration that may not have converged.

    Parameters
    ----------
    log_z
        An estimate or a bound of ln Z, of the kind that ``value`` names; NaN where neither is known.
    exact
        Whether the result is exact.
    error
        0 where it is exact, else None (unknown).
    bound
        Side of ln Z on which ``log_z`` is certain to lie, or None.
    value
        Kind of ``log_z``: "Bethe", "tree-reweighted", "mean-field", or "exact".
    converged, n_sweeps
        Whether the iteration converged, and the number of sweeps over all messages.
    """

    log_z: float
    exact: bool
    error: float | None
    remarks: tuple[str, ...]
    bound: Bound | None
    value: str
    converged: bool
    n_sweeps: int


@dataclass(frozen=True, eq=False, kw_only=True)
class Beliefs(Approximation):
    """Marginals of the scopes of factors and of all their subsets."""

    graph: FactorGraph = field(repr=False)
    single: Floats = field(repr=False)  # probabilities of the variables, concatenated
    joint: Floats = field(repr=False)  # probabilities of the hosts of the graph, concatenated

    def marginal(self, scope: Scope) -> Floats:
        self.graph.check_targets([scope])
        graph, shape = self.graph.arrays, self.graph.shape
        live = [i for i in scope if shape[i] > 1]
        if not live:
            return np.ones(1)
        if len(live) == 1:
            return self.single[graph.field_start[live[0]] : graph.field_start[live[0] + 1]].copy()
        f = self.graph.home(tuple(live))
        assert f is not None  # checked above
        host = self.graph.hosts[f]
        cells = self.joint[graph.table_start[f] : graph.table_start[f + 1]].reshape([shape[i] for i in host])
        summed = cells.sum(axis=tuple(axis for axis, i in enumerate(host) if i not in live))
        remaining = [i for i in host if i in live]
        return np.ascontiguousarray(np.transpose(summed, [remaining.index(i) for i in live])).ravel()


def beliefs_from_messages(graph: FactorGraph, potentials: Potentials, messages: Messages) -> tuple[Floats, Floats]:
    """Return the probabilities of single variables and of the hosts of a graph, flat."""
    joint = np.empty(int(graph.arrays.table_start[-1]))
    beliefs(graph.arrays, potentials, messages, joint)
    return _normalised(messages.total, graph.arrays.field_start), _normalised(joint, graph.arrays.table_start)


def log_z_of(
    graph: FactorGraph, field: Floats, log_table: Floats, weight: Floats, single: Floats, joint: Floats
) -> float:
    """Return the expected log-potential plus entropies of variables minus weighted multi-informations of factors.

    With weights of 1 it is the Bethe value (Yedidia, Freeman and Weiss 2005), with edge appearance probabilities the
    tree-reweighted one (Wainwright, Jaakkola and Willsky 2005).
    """
    entropy = entropies(graph, single)
    information = multi_information(graph, entropy, joint)
    expected = _expected(single, field) + _expected(joint, log_table)
    return float(expected + entropy.sum() - weight @ information)


def multi_information(graph: FactorGraph, entropy: Floats, joint: Floats) -> Floats:
    """Return the sum of the entropies of each factor's variables minus the factor's entropy.

    For a pair it is the mutual information.
    """
    separate = segment_sums(entropy[graph.arrays.scope], graph.arrays.scope_start)
    return separate - segment_sums(-_p_log_p(joint), graph.arrays.table_start)


def segment_sums(values: Floats, starts: NDArray[np.int64]) -> Floats:
    """Return the sum of each segment; none may be empty."""
    return np.add.reduceat(values, starts[:-1]) if len(starts) > 1 else np.empty(0)


def entropies(graph: FactorGraph, single: Floats) -> Floats:
    """Return the entropy of every variable."""
    return segment_sums(-_p_log_p(single), graph.arrays.field_start)


def _normalised(logarithms: Floats, starts: NDArray[np.int64]) -> Floats:
    p = np.exp(logarithms)
    return p / np.repeat(segment_sums(p, starts), np.diff(starts))


def _p_log_p(p: Floats) -> Floats:
    return p * np.log(np.where(p > 0.0, p, 1.0))


def _expected(p: Floats, values: Floats) -> float:
    return float(p @ np.where(p > 0.0, values, 0.0))
