"""Cutting a table into parts that are held out in turn."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mrfit.data.unique_rows import UniqueRows
from mrfit.errors import InputError


@dataclass(frozen=True)
class Fold:
    """Rows to learn from and rows to judge by."""

    train: UniqueRows
    held_out: UniqueRows


def folds_of(rows: UniqueRows, n_folds: int, rng: np.random.Generator) -> Iterator[Fold]:
    """Every row in one of ``n_folds`` parts of equal size, at random; no folds for none.

    A distinct row of weight 5 is five rows, which may go to different parts. Weights that are not whole numbers are not
    counts: such a row goes to one part with all its weight.
    """
    if n_folds == 0:
        return
    whole = bool((rows.sample_weight % 1 == 0).all())
    n_units = int(rows.total_weight) if whole else rows.n_distinct
    if n_units < n_folds:
        raise InputError(f"{n_units} rows cannot be cut into {n_folds} folds; use fewer folds.")
    sizes = n_units // n_folds + (np.arange(n_folds) < n_units % n_folds)
    left = rows.sample_weight.astype(np.int64) if whole else np.ones(rows.n_distinct, np.int64)
    each = np.ones(rows.n_distinct) if whole else rows.sample_weight
    for size in sizes[:-1]:
        part = rng.multivariate_hypergeometric(left, int(size), method="marginals")
        left = left - part
        yield _fold(rows, part * each)
    yield _fold(rows, left * each)


def _fold(rows: UniqueRows, weight: NDArray[np.float64]) -> Fold:
    return Fold(rows.reweighted(rows.sample_weight - weight), rows.reweighted(weight))
