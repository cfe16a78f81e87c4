"""Cross-validation folds of a table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mrfit._typing import Floats
from mrfit.core.errors import InputError
from mrfit.data.unique_rows import UniqueRows


@dataclass(frozen=True)
class Fold:
    """Training rows and held-out rows."""

    train: UniqueRows
    held_out: UniqueRows


def folds_of(rows: UniqueRows, n_folds: int, rng: np.random.Generator) -> Iterator[Fold]:
    """Yield ``n_folds`` folds of equal size, dealt at random; none if ``n_folds`` is 0.

    A distinct row of weight 5 is five rows, which may go to different folds. If weights are not whole numbers, each row
    goes to one fold with all its weight.
    """
    if n_folds == 0:
        return
    n_units = _n_units(rows.sample_weight)
    if n_units < n_folds:
        raise InputError(f"{n_units} rows cannot be cut into {n_folds} folds; use fewer folds.")
    for weight in fold_weights(rows.sample_weight, n_folds, rng):
        yield _fold(rows, weight)


def fold_weights(sample_weight: Floats, n_folds: int, rng: np.random.Generator) -> Iterator[Floats]:
    """Yield the weight of every row in each fold, as in `folds_of`; with few rows some folds may be empty."""
    n_units, whole = _n_units(sample_weight), _are_counts(sample_weight)
    sizes = n_units // n_folds + (np.arange(n_folds) < n_units % n_folds)
    left = sample_weight.astype(np.int64) if whole else np.ones(len(sample_weight), np.int64)
    each = np.ones(len(sample_weight)) if whole else sample_weight
    for size in sizes[:-1]:
        part = rng.multivariate_hypergeometric(left, int(size), method="marginals")
        left = left - part
        yield part * each
    yield left * each


def _are_counts(sample_weight: Floats) -> bool:
    return bool((sample_weight % 1 == 0).all())


def _n_units(sample_weight: Floats) -> int:
    return int(sample_weight.sum()) if _are_counts(sample_weight) else len(sample_weight)


def _fold(rows: UniqueRows, weight: NDArray[np.float64]) -> Fold:
    return Fold(rows.reweighted(rows.sample_weight - weight), rows.reweighted(weight))
