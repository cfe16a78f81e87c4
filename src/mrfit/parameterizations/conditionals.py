"""Layout of each variable's conditional distribution in canonical coordinates."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mrfit._typing import Indices

if TYPE_CHECKING:
    from mrfit.parameterizations.canonical import Canonical


@dataclass(frozen=True)
class Conditionals:
    """Features of the rest of a row that enter the conditional of each variable.

    Variable i has features ``feature_start[i]:feature_start[i+1]``; feature f is a conjunction of the indicators
    ``conditions[condition_start[f]:condition_start[f+1]]``. The parameters of the constant and of the features for the
    states s > 0 of variable i form an array (states - 1, 1 + features) in ``parameter_of_slot``, which begins at
    ``slot_start[i]``, constant first. An entry is -1 where the structure has no scope of the single variable.
    ``n_free`` is the number of non-reference states, and 0 for covariates, which have no conditional.
    """

    n_free: Indices
    feature_start: Indices
    condition_start: Indices
    conditions: Indices
    slot_start: Indices
    parameter_of_slot: Indices


@dataclass(frozen=True)
class _Features:
    """Features of one scope size, shape and owner position; state s has parameter ``base + (s - 1) * stride``."""

    owner: Indices
    conditions: Indices  # (features, scope size - 1)
    base: Indices
    stride: Indices


def conditionals_of(parameters: Canonical) -> Conditionals:
    """Collect the features of every variable; the reference states are the first ones."""
    n = parameters.structure.n_variables
    n_free = parameters.n_free
    constant = np.full(n, -1, np.int64)
    if 1 in parameters.structure.blocks:
        singles = parameters.structure.blocks[1][:, 0]
        has_states = n_free[singles] > 0
        constant[singles[has_states]] = parameters.first_parameter[1][has_states]
    own = np.where(np.isin(np.arange(n), parameters.covariate_indices), 0, n_free)
    parts = list(_features(parameters))
    n_conditions = np.concatenate([np.full(len(p.owner), p.conditions.shape[1]) for p in parts] or [_NONE])
    owner = np.concatenate([p.owner for p in parts] or [_NONE])
    base = np.concatenate([p.base for p in parts] or [_NONE])
    stride = np.concatenate([p.stride for p in parts] or [_NONE])
    flat = np.concatenate([p.conditions.ravel() for p in parts] or [_NONE])
    starts = np.concatenate([[0], np.cumsum(n_conditions)])
    # Neighbouring columns are often related (one-hot groups, items of one scale). The order of the variables therefore
    # makes shared patterns likely, and keeps prefix trees small.
    first_condition = flat[starts[:-1]] if len(flat) else _NONE
    order = np.lexsort((first_condition, n_conditions, owner))
    feature_start = np.searchsorted(owner[order], np.arange(n + 1))
    condition_start = np.concatenate([[0], np.cumsum(n_conditions[order])])
    within = np.arange(condition_start[-1]) - np.repeat(condition_start[:-1], n_conditions[order])
    conditions = flat[np.repeat(starts[:-1][order], n_conditions[order]) + within]
    base, stride = base[order], stride[order]
    slots = []
    for i in range(n):
        mine = slice(feature_start[i], feature_start[i + 1])
        state = np.arange(own[i])[:, None]
        first = np.where(constant[i] >= 0, constant[i] + state, -1)
        slots.append(np.hstack([first, base[mine] + state * stride[mine]]).ravel())
    slot_start = np.concatenate([[0], np.cumsum([len(slot) for slot in slots])])
    return Conditionals(own, feature_start, condition_start, conditions, slot_start, np.concatenate(slots))


_NONE = np.empty(0, np.int64)


def _features(parameters: Canonical) -> Iterator[_Features]:
    """Yield the features of all scopes of two or more variables, scopes of one shape together."""
    n_free = parameters.n_free
    first_indicator = np.concatenate([[0], np.cumsum(n_free)])
    for size, block in parameters.structure.blocks.items():
        if size < 2:
            continue
        shapes, shape_of = np.unique(n_free[block], axis=0, return_inverse=True)
        for number, shape in enumerate(shapes):
            if not shape.all():
                continue  # a variable with one state leaves its scopes without parameters
            chosen = shape_of.ravel() == number
            scopes, firsts = block[chosen], parameters.first_parameter[size][chosen]
            strides = np.concatenate([np.cumprod(shape[::-1])[-2::-1], [1]])
            for position in range(size):
                has_conditional = ~np.isin(scopes[:, position], parameters.covariate_indices)
                mine, first = scopes[has_conditional], firsts[has_conditional]
                rest = [k for k in range(size) if k != position]
                states = np.stack(np.meshgrid(*(np.arange(shape[k]) for k in rest), indexing="ij"), axis=-1).reshape(
                    -1, size - 1
                )
                conditions = first_indicator[mine[:, None, rest]] + states  # (scopes, combinations, size - 1)
                base = first[:, None] + states @ strides[rest]
                yield _Features(
                    owner=np.repeat(mine[:, position], len(states)),
                    conditions=conditions.reshape(-1, size - 1),
                    base=base.ravel(),
                    stride=np.full(base.size, strides[position]),
                )
