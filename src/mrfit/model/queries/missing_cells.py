"""Rows with missing cells: imputation, prediction and scores."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import numpy as np

from mrfit._typing import Codes, Floats, Indices
from mrfit.core.errors import ImpossibleError
from mrfit.core.factors import Factors
from mrfit.data.encoding import UNOBSERVED
from mrfit.inference.exact.row_runs import RowRuns

Known = Mapping[int, int]  # codes by variable
FillIn = Callable[[Known, int], tuple[Codes, tuple[str, ...]]]  # returns rows, and remarks if they are not exact
Predict = Callable[[Known], tuple[Floats, Floats]]  # probabilities and their standard errors
Answered = TypeVar("Answered")


@dataclass(frozen=True, eq=False)
class Completed:
    """Rows without missing cells, the number of rows imputed approximately, and remarks on these."""

    codes: Codes
    n_approximate: int
    remarks: tuple[str, ...]


def completed(
    factors: Factors,
    codes: Codes,
    *,
    how: str,
    rng: np.random.Generator,
    otherwise: FillIn | None = None,
    names: Sequence[str] | None = None,
    jobs: int = 1,
    callback: Callable[[int], None] | None = None,
) -> Completed:
    """Fill in the missing cells of rows: by their jointly most probable states, or by draws.

    If no junction tree fits, ``otherwise`` fills in each distinct row once; without it, the rows are refused.
    """
    out, n_approximate, remarks = codes.copy(), 0, dict[str, None]()
    done = callback or (lambda _: None)
    for rows, observed in _patterns(codes):
        runs = RowRuns(factors, observed.tolist(), names=names)
        if len(observed) == codes.shape[1]:
            done(len(rows))
        elif otherwise is None or runs.fits(merge=how == "map"):
            filled, hidden = _with_hidden(codes[rows], factors), codes.shape[1]
            found = runs.best(filled, jobs=jobs) if how == "map" else runs.draws(filled, rng=rng, jobs=jobs)
            _check_possible(factors.log_potential(found), rows)
            out[rows] = found[:, :hidden]
            done(len(rows))
        else:
            for same, known in _distinct(codes, rows, observed):
                out[same], row_remarks = _of_row(partial(otherwise, known, len(same)), int(same[0]))
                n_approximate += len(same) if row_remarks else 0
                remarks |= dict.fromkeys(row_remarks)
                done(len(same))
    return Completed(out, n_approximate, tuple(remarks))


def distribution_of(
    factors: Factors, variable: int, codes: Codes, *, names: Sequence[str] | None = None, jobs: int = 1
) -> Floats:
    """Return the exact p(variable | all other observed cells) for every row."""
    return predicted(factors, variable, codes, names=names, jobs=jobs)[0]


def predicted(
    factors: Factors,
    variable: int,
    codes: Codes,
    *,
    otherwise: Predict | None = None,
    names: Sequence[str] | None = None,
    jobs: int = 1,
) -> tuple[Floats, Floats]:
    """Return p(variable | all other observed cells) for every row, and standard errors: zeros where exact.

    If no junction tree fits, ``otherwise`` answers each distinct row once; without it, the rows are refused.
    """
    hidden = codes.copy()
    hidden[:, variable] = UNOBSERVED
    p, error = np.empty((len(codes), factors.shape[variable])), np.zeros((len(codes), factors.shape[variable]))
    for rows, observed in _patterns(hidden):
        runs = RowRuns(factors, observed.tolist(), [variable], names=names)
        if otherwise is None or runs.fits():
            answers = runs.answers(_with_hidden(hidden[rows], factors), jobs=jobs)
            _check_possible(answers.log_z, rows)
            p[rows] = answers.marginals[variable]
        else:
            for same, known in _distinct(hidden, rows, observed):
                p[same], error[same] = _of_row(partial(otherwise, known), int(same[0]))
    return p, error


def _distinct(codes: Codes, rows: Indices, observed: Indices) -> Iterator[tuple[Indices, dict[int, int]]]:
    """Yield groups of rows with the same observed values, and these values: codes by variable."""
    states, which = np.unique(codes[rows][:, observed], axis=0, return_inverse=True)
    for k, known in enumerate(states):
        yield rows[which.ravel() == k], dict(zip(observed.tolist(), map(int, known), strict=True))


def _of_row(answer: Callable[[], Answered], row: int) -> Answered:
    """Return the answer for a row; name the row if it is impossible."""
    try:
        return answer()
    except ImpossibleError as error:
        raise ImpossibleError(
            f"The values of row {row + 1} have probability zero under the model. Leave such rows out."
        ) from error


def _patterns(codes: Codes) -> Iterator[tuple[Indices, Indices]]:
    """Yield the rows that have the same cells observed, and the columns of these cells."""
    masks, pattern = np.unique(codes != UNOBSERVED, axis=0, return_inverse=True)
    order = np.argsort(pattern.ravel(), kind="stable")
    cuts = np.searchsorted(pattern.ravel()[order], np.arange(len(masks) + 1))
    for k, mask in enumerate(masks):
        yield order[cuts[k] : cuts[k + 1]], np.flatnonzero(mask)


def _with_hidden(codes: Codes, factors: Factors) -> Indices:
    """Return codes with a column for every variable of the factors."""
    out = np.zeros((len(codes), factors.n_variables), np.int64)
    out[:, : codes.shape[1]] = codes
    return out


def _check_possible(log_weight: Floats, rows: Indices) -> None:
    if (wrong := np.flatnonzero(np.isneginf(log_weight))).size:
        raise ImpossibleError(
            f"The values of row {int(rows[wrong[0]]) + 1} have probability zero under the model, as in {wrong.size:,} "
            "rows in all. Leave such rows out."
        )


def observed_ll(
    factors: Factors, codes: Codes, log_z: float, *, names: Sequence[str] | None = None, jobs: int = 1
) -> Floats:
    """Return log p(observed cells) for every row; 0 for rows without any."""
    out = np.empty(len(codes))
    for rows, observed in _patterns(codes):
        if len(observed) == factors.n_variables:
            out[rows] = factors.log_potential(codes[rows].astype(np.int64)) - log_z
        else:
            runs = RowRuns(factors, observed.tolist(), names=names)
            out[rows] = runs.answers(_with_hidden(codes[rows], factors), jobs=jobs).log_z - log_z
    return out


def observed_pll(factors: Factors, codes: Codes, *, names: Sequence[str] | None = None, jobs: int = 1) -> Floats:
    """Return the sum of log p(cell | other observed cells of its row) over the observed cells of each row."""
    out = np.zeros(len(codes))
    for variable in range(codes.shape[1]):
        rows = np.flatnonzero(codes[:, variable] != UNOBSERVED)
        if len(rows):
            chances = distribution_of(factors, variable, codes[rows], names=names, jobs=jobs)
            with np.errstate(divide="ignore"):
                out[rows] += np.log(chances[np.arange(len(rows)), codes[rows, variable]])
    return out
