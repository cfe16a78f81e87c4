"""Outer products of the gradients of single rows, and sums of these gradients over bootstrap samples."""

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
    """Return the mean outer product, (parameters, parameters), of rows' negative pseudo-log-likelihood gradients."""
    products = np.zeros((parameters.n_parameters,) * 2, order="F")
    root = np.sqrt(rows.sample_weight / rows.total_weight)
    for _, gradients in _blocks(parameters, w, rows, root):
        products = dsyrk(1.0, gradients.T, 1.0, products, trans=True, lower=True, overwrite_c=True)
    return mirrored(products)


def pseudo_gradient_sums(parameters: Canonical, w: Floats, rows: UniqueRows, weights: Floats) -> Floats:
    """Return sums of the same gradients under other row weights, (resamples, rows) to (resamples, parameters)."""
    sums = np.zeros((len(weights), parameters.n_parameters))
    for block, gradients in _blocks(parameters, w, rows, np.ones(rows.n_distinct)):
        sums += weights[:, block] @ gradients.T
    return sums


def likelihood_gradient_sums(
    parameters: Parameterization, gradient: Floats, rows: UniqueRows, weights: Floats
) -> Floats:
    """Return such sums for the negative log-likelihood, whose mean over the rows has this ``gradient``.

    A row's gradient is the model's means minus its features, and the model's means are the rows' means plus the
    gradient. The sums therefore need no further partition function.
    """
    total, tables = weights.sum(axis=1, keepdims=True), RowTables(parameters)
    excess = weights - total * (rows.sample_weight / rows.total_weight)
    sums = total * gradient
    for first, cells in tables.cells(rows):
        sums -= excess[:, first : first + len(cells)] @ tables.features(cells)
    return np.asarray(sums, np.float64)


def _blocks(parameters: Canonical, w: Floats, rows: UniqueRows, root: Floats) -> Iterator[tuple[slice, Floats]]:
    """Yield slices of rows and their gradients, (parameters, rows), times ``root``; first states are the references."""
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
