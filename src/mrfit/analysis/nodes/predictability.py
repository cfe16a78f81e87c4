"""Predictability of each variable from all others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields

import numpy as np

from mrfit._typing import Floats
from mrfit.core.errors import InputError
from mrfit.core.factors import Factors
from mrfit.data.encoding import UNOBSERVED, has_all_cells
from mrfit.data.unique_rows import UniqueRows
from mrfit.model.queries.missing_cells import distribution_of
from mrfit.objectives.row_scores import conditional_distributions


@dataclass(frozen=True, eq=False)
class Predictability:
    """Predictability of each variable from all others, over the rows in which it has a value.

    Attributes
    ----------
    accuracy : array
        Share of rows in which the most probable state given the others is the true one, A.
    majority : array
        Share of the most frequent state, A0: the accuracy without any predictor.
    normalised_accuracy : array
        (A - A0) / (1 - A0); NaN where the variable does not vary.
    explained_deviance : array
        1 - l / l0, with l the mean of -log p(true state | others) and l0 the same by the frequencies of states; NaN
        where the variable does not vary.
    brier : array
        Mean squared error of the probabilities, halved, so that it is that of one state of two.
    """

    accuracy: Floats
    majority: Floats
    normalised_accuracy: Floats
    explained_deviance: Floats
    brier: Floats

    @classmethod
    def of(cls, factors: Factors, rows: UniqueRows, *, jobs: int = 1) -> Predictability:
        """Return how well a distribution predicts ``rows`` of its coding; missing values are skipped."""
        found = [_of_variable(i, rows, p) for i, p in enumerate(_predictions(factors, rows, jobs))]
        return cls(*(np.array(column) for column in zip(*found, strict=True)))

    def to_dict(self) -> dict[str, Floats]:
        return {each.name: getattr(self, each.name) for each in fields(self)}


def _predictions(factors: Factors, rows: UniqueRows, jobs: int) -> Iterator[Floats]:
    """p(a variable | the others) in every row, (rows, states), variable after variable."""
    if has_all_cells(rows.codes):
        return conditional_distributions(factors, rows.codes)
    return (distribution_of(factors, i, rows.codes, jobs=jobs) for i in range(len(rows.domain)))


def _of_variable(i: int, rows: UniqueRows, p: Floats) -> tuple[float, ...]:
    seen = (rows.codes[:, i] != UNOBSERVED) & (rows.sample_weight > 0)
    if not seen.any():
        raise InputError(f"Column {rows.domain.names[i]!r} has no value in any row; leave it out, or give other rows.")
    p, true = p[seen], rows.codes[seen, i].astype(np.int64)
    share = rows.sample_weight[seen] / rows.sample_weight[seen].sum()
    frequency = np.bincount(true, share, p.shape[1])
    accuracy, majority = float(share @ (p.argmax(axis=1) == true)), float(frequency.max())
    of_true = p[np.arange(len(p)), true]
    with np.errstate(divide="ignore"):  # a row that the model holds impossible explains minus infinity
        loss = -float(share @ np.log(of_true))
    own = -float(share @ np.log(frequency[true]))
    brier = 0.5 * float(share @ ((p**2).sum(axis=1) - 2.0 * of_true + 1.0))
    if np.count_nonzero(frequency) < 2:  # sums of shares need not be one to the last digit
        return accuracy, 1.0, np.nan, np.nan, brier
    return accuracy, majority, (accuracy - majority) / (1.0 - majority), 1.0 - loss / own, brier
