"""Rows with missing cells: what fills them, and what they say of a variable."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from mrfit.data.coding import UNOBSERVED
from mrfit.errors import ImpossibleError
from mrfit.factors import Factors
from mrfit.inference.row_runs import RowRuns

Floats = NDArray[np.float64]
Codes = NDArray[np.uint8]
Indices = NDArray[np.int64]


def completed(
    factors: Factors,
    codes: Codes,
    *,
    how: str,
    rng: np.random.Generator,
    jobs: int = 1,
    callback: Callable[[int], None] | None = None,
) -> Codes:
    """The rows with their missing cells filled in: by the most probable states together, or by draws."""
    out = codes.copy()
    for rows, observed in _patterns(codes):
        if len(observed) < codes.shape[1]:
            runs = RowRuns(factors, observed.tolist())
            filled, hidden = _with_hidden(codes[rows], factors), codes.shape[1]
            found = runs.best(filled, jobs=jobs) if how == "map" else runs.draws(filled, rng=rng, jobs=jobs)
            _check_possible(factors.log_potential(found), rows)
            out[rows] = found[:, :hidden]
        if callback is not None:
            callback(len(rows))
    return out


def distribution_of(factors: Factors, variable: int, codes: Codes, *, jobs: int = 1) -> Floats:
    """p(variable | all other cells that have a value), for every row."""
    hidden = codes.copy()
    hidden[:, variable] = UNOBSERVED
    out = np.empty((len(codes), factors.shape[variable]))
    for rows, observed in _patterns(hidden):
        runs = RowRuns(factors, observed.tolist(), [variable])
        answers = runs.answers(_with_hidden(hidden[rows], factors), jobs=jobs)
        _check_possible(answers.log_z, rows)
        out[rows] = answers.marginals[variable]
    return out


def _patterns(codes: Codes) -> Iterator[tuple[Indices, Indices]]:
    """Rows that have the same cells observed, and which these are."""
    masks, pattern = np.unique(codes != UNOBSERVED, axis=0, return_inverse=True)
    order = np.argsort(pattern.ravel(), kind="stable")
    cuts = np.searchsorted(pattern.ravel()[order], np.arange(len(masks) + 1))
    for k, mask in enumerate(masks):
        yield order[cuts[k] : cuts[k + 1]], np.flatnonzero(mask)


def _with_hidden(codes: Codes, factors: Factors) -> Indices:
    """Codes with a column for every variable of the factors."""
    out = np.zeros((len(codes), factors.n_variables), np.int64)
    out[:, : codes.shape[1]] = codes
    return out


def _check_possible(log_weight: Floats, rows: Indices) -> None:
    if (wrong := np.flatnonzero(np.isneginf(log_weight))).size:
        raise ImpossibleError(
            f"What row {int(rows[wrong[0]]) + 1} holds has probability zero under the model, as {wrong.size:,} in all. "
            "Leave such rows out."
        )


def observed_ll(factors: Factors, codes: Codes, log_z: float, *, jobs: int = 1) -> Floats:
    """log p(the cells that have a value), for every row; 0 for rows without any."""
    out = np.empty(len(codes))
    for rows, observed in _patterns(codes):
        if len(observed) == factors.n_variables:
            out[rows] = factors.log_potential(codes[rows].astype(np.int64)) - log_z
        else:
            runs = RowRuns(factors, observed.tolist())
            out[rows] = runs.answers(_with_hidden(codes[rows], factors), jobs=jobs).log_z - log_z
    return out


def observed_pll(factors: Factors, codes: Codes, *, jobs: int = 1) -> Floats:
    """Sums of log p(a cell | the others of its row that have a value) over the cells that have one."""
    out = np.zeros(len(codes))
    for variable in range(codes.shape[1]):
        rows = np.flatnonzero(codes[:, variable] != UNOBSERVED)
        if len(rows):
            chances = distribution_of(factors, variable, codes[rows], jobs=jobs)
            with np.errstate(divide="ignore"):
                out[rows] += np.log(chances[np.arange(len(rows)), codes[rows, variable]])
    return out
