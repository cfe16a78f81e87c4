"""How the gradients of single rows vary: their outer products, and their sums over resamples."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.linalg.blas import dsyrk

from mrfit._kernels.fitting.cells import gather
from mrfit._kernels.fitting.row_gradients import row_gradients
from mrfit._typing import Floats
from mrfit.core.linear_systems import mirrored
from mrfit.data.unique_rows import UniqueRows
from mrfit.inference.exact.row_tables import RowTables
from mrfit.parameterizations.canonical import Canonical
from mrfit.parameterizations.parameterization import Parameterization

_BLOCK = 512  # rows whose gradients are held at once: 2 MB for 500 parameters


def pseudo_gradient_products(parameters: Canonical, w: Floats, rows: UniqueRows) -> Floats:
    """The mean of the outer products, (parameters, parameters), of the negative pseudo-log-likelihood."""
    products = np.zeros((parameters.n_parameters,) * 2, order="F")
    root = np.sqrt(rows.sample_weight / rows.total_weight)
    for _, gradients in _blocks(parameters, w, rows, root):
        products = dsyrk(1.0, gradients.T, 1.0, products, trans=True, lower=True, overwrite_c=True)
    return mirrored(products)


def pseudo_gradient_sums(parameters: Canonical, w: Floats, rows: UniqueRows, weights: Floats) -> Floats:
    """Sums of the same gradients with other weights on the rows, (resamples, rows) to (resamples, parameters)."""
    sums = np.zeros((len(weights), parameters.n_parameters))
    for block, gradients in _blocks(parameters, w, rows, np.ones(rows.n_distinct)):
        sums += weights[:, block] @ gradients.T
    return sums


def likelihood_gradient_sums(
    parameters: Parameterization, gradient: Floats, rows: UniqueRows, weights: Floats
) -> Floats:
    """The same for the negative log-likelihood, whose mean over the rows has this ``gradient``.

    A row's own is the model's means less its features, and the model's means are the rows' plus the gradient: no
    partition function is asked for again.
    """
    total, tables = weights.sum(axis=1, keepdims=True), RowTables(parameters)
    beside = weights - total * (rows.sample_weight / rows.total_weight)
    sums = total * gradient
    for first, cells in tables.cells(rows):
        sums -= beside[:, first : first + len(cells)] @ tables.features(cells)
    return np.asarray(sums, np.float64)


def _blocks(parameters: Canonical, w: Floats, rows: UniqueRows, root: Floats) -> Iterator[tuple[slice, Floats]]:
    """Gradients of some rows, (parameters, rows), times ``root``; the first states are the references."""
    conditionals = parameters.conditionals
    w_slots = np.empty(len(conditionals.parameter_of_slot))
    gather(np.ascontiguousarray(w), conditionals.parameter_of_slot, w_slots)
    first_indicator = np.concatenate([[0], np.cumsum(parameters.n_free)])
    variables, states = parameters.indicators(np.arange(first_indicator[-1]))
    columns = rows.codes.T
    for first in range(0, rows.n_distinct, _BLOCK):
        block = slice(first, min(first + _BLOCK, rows.n_distinct))
        indicators = (columns[variables, block] == states[:, None]).astype(np.float64)
        gradients = np.empty((parameters.n_parameters, block.stop - first))
        row_gradients(
            indicators, root[block], conditionals.n_free, first_indicator, conditionals.feature_start,
            conditionals.condition_start, conditionals.conditions, conditionals.slot_start,
            conditionals.parameter_of_slot, w_slots, gradients,
        )  # fmt: skip
        yield block, gradients
