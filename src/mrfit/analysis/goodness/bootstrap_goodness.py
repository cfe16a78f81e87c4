"""Parametric bootstrap of G-squared: draw tables from the model, fit each, and compare their G-squared."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from mrfit._typing import Floats
from mrfit.analysis.goodness.goodness import Goodness, ModelCells, g_squared
from mrfit.analysis.stability.resampled_networks import weights_of_tables
from mrfit.analysis.stability.stability import Callback, learner_without_valid
from mrfit.core.errors import InputError
from mrfit.core.seeds import generator
from mrfit.core.threads import one_blas_thread
from mrfit.data.unique_rows import UniqueRows
from mrfit.model.markov_network import MarkovNetwork


def bootstrap_goodness(
    model: MarkovNetwork,
    data: Any,
    *,
    tables: int = 200,
    seed: int = 0,
    jobs: int = 1,
    callback: Callback | None = None,
) -> Goodness:
    """``model.goodness(data)`` with the statistics of so many tables of as many rows.

    Where the rows are those the model was learned from, everything is learned again from each table, as it was learned;
    tables in which that fails are counted and named. New rows need nothing of that.
    """
    if tables < 1:
        raise InputError(f"At least one table must be drawn; got {tables}. Use 200, say.")
    found = model.goodness(data)
    cells = ModelCells.of(model.parameters, model.factors)
    counts = generator(seed).multinomial(round(found.n_rows), cells.p / cells.p.sum(), tables)
    learner = learner_without_valid(model) if found.is_fitted else None

    def statistic(rows: UniqueRows) -> Floats:
        p = cells.p
        if learner is not None:
            again = learner.fit(rows, compared=False).model
            p = ModelCells.of(again.parameters, again.factors).p
        return np.array([g_squared(p, cells.counts(rows))])

    def table(b: int) -> UniqueRows:
        some = np.flatnonzero(counts[b])
        return UniqueRows.from_codes(model.domain, cells.codes[some], counts[b][some].astype(np.float64))

    with one_blas_thread():
        drawn, failures = weights_of_tables(statistic, table, (tables, 1), jobs=jobs, callback=callback)
    if np.isnan(drawn).all():
        raise InputError(f"Learning failed in each of {tables:,} drawn tables: {next(iter(failures))}")
    return replace(found, drawn=drawn[:, 0], failures=failures)
