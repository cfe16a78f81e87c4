"""Canonical features as sums of products of centred indicators."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
from scipy import sparse

from mrfit._typing import Floats, Indices
from mrfit.parameterizations.bases import digits_of
from mrfit.parameterizations.canonical import Canonical
from mrfit.parameterizations.expansion import entries_of, sparse_map


def centred_map(canonical: Canonical, frequency: Floats) -> sparse.csr_array:
    """Return the matrix that writes canonical features as sums of products of centred indicators.

    Its shape is (canonical features, products). An indicator of states of several variables is a product of sums, 1[x_i
    = s] = (1[x_i = s] - p) + p, to be multiplied out; products of centred indicators are numbered like the features.
    ``frequency`` holds p of every state, shape (variables, most states). First states are the reference, and the
    structure contains all subsets of its scopes.
    """
    values, rows, columns = [], [], []
    for block, own, shape, states in _by_shape(canonical):
        inside = np.array(list(product((False, True), repeat=len(shape))))  # which factors are centred
        where = inside[:, None, :] * states  # (subsets, parameters, variables)
        part = np.zeros((int(np.prod(shape)), len(states)))
        part[np.ravel_multi_index(tuple(np.moveaxis(where, 2, 0)), shape), np.arange(len(states))] = 1.0
        column, row, numbers = entries_of(canonical, block, part)
        is_reference = digits_of(row, shape) == 0
        # (scopes, entries, variables)
        factors = np.where(is_reference, frequency[block[:, None, :], states[column]], 1.0)
        values.append(factors.prod(axis=2).ravel())
        rows.append((own[:, None] + column).ravel())
        columns.append(numbers.ravel())
    return sparse_map(values, rows, columns, (canonical.n_parameters, canonical.n_parameters))


def products_of_states(canonical: Canonical, of_state: Floats) -> Floats:
    """Return the product of ``of_state``, shape (variables, most states), over every canonical parameter's states."""
    out = np.ones(canonical.n_parameters)
    for block, own, _, states in _by_shape(canonical):
        out[own[:, None] + np.arange(len(states))] = of_state[block[:, None, :], states].prod(axis=2)
    return out


def _by_shape(canonical: Canonical) -> Iterator[tuple[Indices, Indices, tuple[int, ...], Indices]]:
    """Yield scopes of one shape: their block, first parameters, shape, and the states of each parameter of a scope."""
    for block, own, features in canonical.alike():
        shape = tuple(canonical.domain.shape[i] for i in block[0].tolist())
        yield block, own, shape, digits_of(features.argmax(axis=0), shape)
