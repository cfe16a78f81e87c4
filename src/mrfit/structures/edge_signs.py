"""Signs of associations between variables with ordered states."""

from __future__ import annotations

import math

import numpy as np

from mrfit._typing import Floats, Indices
from mrfit.core.domain import Variable
from mrfit.data.unique_rows import UniqueRows


def edge_signs(rows: UniqueRows, edges: Indices, strength: Floats) -> Indices:
    """Return -1, 0 or +1 for every edge.

    For two variables of at most two states it is the sign of ``strength``, their coefficient given all others. For
    ordered variables with more states it is the sign of Goodman and Kruskal's gamma in the table of the pair: whether
    more pairs of rows are concordant than discordant. 0 if a variable has no order.
    """
    ranks = [ranks_of(variable) for variable in rows.domain]
    signs = np.zeros(len(edges), np.int64)
    for k, (a, b) in enumerate(edges.tolist()):
        if max(rows.domain[a].n_states, rows.domain[b].n_states) <= 2:
            signs[k] = np.sign(strength[k])
        elif (first := ranks[a]) is not None and (second := ranks[b]) is not None:
            signs[k] = _concordance(first[rows.codes[:, a]], second[rows.codes[:, b]], rows.sample_weight)
    return signs


def ranks_of(variable: Variable) -> Indices | None:
    """Return the rank of every state: two states as declared, more if all are numbers; None without an order."""
    if variable.n_states <= 2:
        return np.arange(variable.n_states)
    try:
        values = [float(state) for state in variable.states]
    except ValueError:
        return None
    if not all(map(math.isfinite, values)):
        return None
    return np.unique(values, return_inverse=True)[1].astype(np.int64)


def _concordance(first: Indices, second: Indices, sample_weight: Floats) -> int:
    """Return the sign of the concordant minus the discordant weight of pairs of rows; 0 for rounding errors."""
    table = np.zeros((first.max() + 1, second.max() + 1))
    np.add.at(table, (first, second), sample_weight)
    # The weight of all cells beyond each one in both variables, and of those beyond in the first and before in the
    # second.
    beyond = np.zeros((len(table) + 1, table.shape[1] + 1))
    beyond[:-1, :-1] = table[::-1, ::-1].cumsum(axis=0).cumsum(axis=1)[::-1, ::-1]
    across = np.zeros_like(beyond)
    across[:-1, 1:] = table[::-1].cumsum(axis=0)[::-1].cumsum(axis=1)
    concordant, discordant = (table * beyond[1:, 1:]).sum(), (table * across[1:, :-1]).sum()
    if abs(concordant - discordant) <= 1e-12 * (concordant + discordant):
        return 0
    return 1 if concordant > discordant else -1
