"""Resamples of a table: weights on its distinct rows, one row of an array for each; or on clusters of rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mrfit._typing import Floats
from mrfit.core.errors import InputError
from mrfit.data.clustered_rows import ClusteredRows
from mrfit.data.unique_rows import UniqueRows

Drawn = UniqueRows | ClusteredRows  # rows, or clusters of which each is drawn whole

_MOST = 2**28  # numbers, 2 GB


def bootstrap(rows: Drawn, n: int, rng: np.random.Generator) -> Floats:
    """Draw as many rows as there are, with replacement.

    Weights that are not counts: draw the effective number of rows, each with the same weight.
    """
    _check(rows, n)
    n_rows = round(rows.effective_rows)
    counts = rng.multinomial(n_rows, rows.sample_weight / rows.total_weight, n)
    return np.asarray(counts * (rows.total_weight / n_rows), np.float64)


def case_drop(rows: Drawn, dropped: Sequence[float], n: int, rng: np.random.Generator) -> Floats:
    """Rows without a share of them, ``n`` for each share, one share after another."""
    total = _n_rows(rows, "dropping rows")
    sizes = np.repeat([round((1.0 - share) * total) for share in dropped], n)
    if sizes.min(initial=1) < 1:
        raise InputError(f"Of {total} rows none is left when {max(dropped):.0%} are dropped; use more rows.")
    return parts(rows, sizes, rng)


def halves(rows: Drawn, n: int, rng: np.random.Generator) -> Floats:
    """``n`` pairs of halves without a row in common: 2 n resamples, the two of a pair side by side."""
    total = _n_rows(rows, "halves")
    if total < 2:
        raise InputError(f"A table of {total} row cannot be halved; use more rows.")
    first = parts(rows, np.full(n, total // 2), rng)
    second = np.stack([_part(rows.sample_weight - mine, total // 2, rng) for mine in first])
    return np.stack([first, second], axis=1).reshape(2 * n, -1)


def parts(rows: Drawn, sizes: Sequence[int] | NDArray[np.int64], rng: np.random.Generator) -> Floats:
    """So many rows each, drawn without replacement."""
    _check(rows, len(sizes))
    _n_rows(rows, "parts of a table")
    return np.stack([_part(rows.sample_weight, int(size), rng) for size in sizes])


def splits(rows: UniqueRows, sizes: Sequence[int], n: int, rng: np.random.Generator) -> Floats:
    """Reassign all rows to groups of these sizes, (n, groups, distinct): a hypergeometric draw of their counts."""
    _check(rows, n * len(sizes))
    _n_rows(rows, "groups drawn by lot")
    dealt = np.empty((n, len(sizes), rows.n_distinct))
    for split in dealt:
        left = rows.sample_weight.copy()
        for group, size in enumerate(sizes[:-1]):
            split[group] = _part(left, int(size), rng)
            left -= split[group]
        split[-1] = left
    return dealt


def swaps(rows: UniqueRows, members: NDArray[np.int64], n: int, rng: np.random.Generator) -> Floats:
    """Permute the rows of every person among the groups, (n, groups, distinct).

    ``members`` are the distinct rows of each person in each group, (persons, groups).
    """
    n_groups = members.shape[1]
    _check(rows, n * n_groups)
    dealt = np.zeros((n, n_groups, rows.n_distinct))
    for split in dealt:
        mixed = rng.permuted(members, axis=1)
        for group in range(n_groups):
            split[group] = np.bincount(mixed[:, group], minlength=rows.n_distinct)
    return dealt


def given(rows: UniqueRows, counts: object) -> Floats:
    """Validate resample counts that the caller supplies, (resamples, distinct rows)."""
    try:
        weights = np.asarray(counts, np.float64)
    except (TypeError, ValueError):
        raise InputError(f"Resamples are how many to draw, or an array of counts; got {counts!r}.") from None
    if weights.ndim != 2 or weights.shape[1] != rows.n_distinct or not len(weights):
        raise InputError(
            f"Resamples need a row for each bootstrap sample and a column for each of the {rows.n_distinct} "
            f"distinct rows, in their order; got an array of shape {weights.shape}."
        )
    if not (np.isfinite(weights).all() and (weights >= 0).all()):
        raise InputError("Resamples are counts of rows: finite numbers, none of them negative.")
    return weights


def _part(weight: Floats, size: int, rng: np.random.Generator) -> Floats:
    return rng.multivariate_hypergeometric(weight.astype(np.int64), size, method="marginals").astype(np.float64)


def _n_rows(rows: Drawn, what: str) -> int:
    if (rows.sample_weight % 1 != 0).any():
        raise InputError(f"Row weights have to be whole numbers for {what}; use the bootstrap, or counts as weights.")
    return int(rows.total_weight)


def _check(rows: Drawn, n: int) -> None:
    if n < 1:
        raise InputError(f"The number of resamples must be positive; got {n}.")
    if n * rows.n_distinct > _MOST:
        raise InputError(
            f"{n:,} resamples of {rows.n_distinct:,} distinct rows take {8e-9 * n * rows.n_distinct:.1f} GB; the limit "
            f"is {8e-9 * _MOST:.1f}. Use fewer."
        )
