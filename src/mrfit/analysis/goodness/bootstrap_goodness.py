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
    """Test the fit to all joint states at once by parametric bootstrap, where cells are too sparse for chi-square.

    Tables of as many rows are drawn from the model. If ``data`` are the rows the model was learned from, each table
    is learned from in the same way, the structure included. New rows need no learning.

    Parameters
    ----------
    model : MarkovNetwork
        Model to test, with at most 2^16 joint states.
    data : table
        Complete rows: those that the model was learned from, which it recognises, or new ones.
    tables : int, default 200
        Number of tables to draw. The smallest possible p value is 1 / (1 + ``tables``).
    seed : int, default 0
        Random seed of the tables.
    jobs : int, default 1
        Number of threads that learn from tables; the result does not depend on it.
    callback : callable, default None
        Called with the number of tables that have just been finished, from any thread.

    Returns
    -------
    Goodness
        The record of `MarkovNetwork.goodness`, whose ``drawn`` are the statistics of the tables and whose ``p`` is the
        share of tables that fit as badly or worse. ``failures`` counts tables from which learning failed, by reason.

    Raises
    ------
    MrfitError
        If there are too many joint states, or learning fails in every table.

    See Also
    --------
    MarkovNetwork.goodness : G-squared with a p value by chi-square.
    MarkovNetwork.check : Misfit in marginals and spurious modes, for any number of variables.

    Examples
    --------
    >>> import mrfit
    >>> table = {"rain": ["no", "yes"] * 20, "wet": ["no", "yes", "no", "no"] * 10}
    >>> table["cold"] = ["no"] * 20 + ["yes"] * 20
    >>> independent = mrfit.learn(table, "independent").model
    >>> round(mrfit.bootstrap_goodness(independent, table, tables=20).p, 3)
    0.048
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
