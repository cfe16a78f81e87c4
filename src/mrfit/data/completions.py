"""Completions of the missing cells of rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod

import numpy as np
from numpy.typing import NDArray

from mrfit._typing import Codes, Floats, Indices
from mrfit.core.errors import DataError, InputError
from mrfit.data.encoding import UNOBSERVED
from mrfit.data.unique_rows import UniqueRows

_MOST_OF_ROW, _MOST = 2**12, 2**22  # completions of one row, and of all rows together

_NEGLIGIBLE = 1e-60  # weight of a completion, as a share of the largest, that changes no sum of doubles


@dataclass(frozen=True, eq=False)
class Completions:
    """Incomplete rows, and the complete rows each of them may represent.

    Parameters
    ----------
    observed
        Rows with missing cells; rows without any value carry no information and are left out.
    complete
        All distinct rows that complete some observed row.
    row, way
        Numbers of the row and of its completion, for every pair of them, rows ascending.
    """

    observed: UniqueRows
    complete: UniqueRows
    row: Indices
    way: Indices

    @classmethod
    def of(cls, rows: UniqueRows) -> Completions:
        _check_columns(rows)
        known = (rows.codes != UNOBSERVED).any(axis=1)
        observed = rows if known.all() else rows.reweighted(np.where(known, rows.sample_weight, 0.0))
        shape = np.array(rows.domain.shape)
        n_ways = np.array([prod(shape[row == UNOBSERVED].tolist()) for row in observed.codes], object)
        _check_number(observed, n_ways)
        filled = np.concatenate([_filled(row, shape) for row in observed.codes])
        complete = UniqueRows.from_codes(rows.domain, filled, np.ones(len(filled)))
        row = np.repeat(np.arange(observed.n_distinct), n_ways.astype(np.int64))
        return cls(observed, complete, row, complete.places_of(filled))

    def shares(self, log_weight: Floats) -> Floats:
        """Return the probability of every completion given its row, from the log-weights of the ``complete`` rows."""
        log_weights = log_weight[self.way]
        largest = np.full(self.observed.n_distinct, -np.inf)
        np.maximum.at(largest, self.row, log_weights)
        share = np.exp(log_weights - largest[self.row])
        return np.asarray(share / np.bincount(self.row, share)[self.row], np.float64)

    def weighted(self, shares: Floats) -> UniqueRows:
        """Return the complete rows, each weighted by its shares of all rows it may complete."""
        weight = np.zeros(self.complete.n_distinct)
        np.add.at(weight, self.way, self.observed.sample_weight[self.row] * shares)
        weight[weight < _NEGLIGIBLE * weight.max()] = 0.0  # squares of smaller weights would underflow
        rows, observed = self.complete.reweighted(weight), self.observed
        return replace(
            rows, n_rows=observed.n_rows, dropped_rows=observed.dropped_rows, effective_rows=observed.effective_rows
        )


def _filled(row: Codes, shape: Indices) -> Codes:
    missing = np.flatnonzero(row == UNOBSERVED)
    n_ways = prod(shape[missing].tolist())
    out = np.repeat(row[None], n_ways, axis=0)
    out[:, missing] = np.indices(shape[missing].tolist()).reshape(len(missing), n_ways).T
    return out


def _check_columns(rows: UniqueRows) -> None:
    empty = np.flatnonzero((rows.codes == UNOBSERVED).all(axis=0))
    if empty.size:
        raise DataError(f"Column {rows.domain.names[empty[0]]!r} has no value in any row; leave it out.")


def _check_number(rows: UniqueRows, n_ways: NDArray[np.object_]) -> None:
    worst = int(np.argmax(n_ways))
    if n_ways[worst] > _MOST_OF_ROW or n_ways.sum() > _MOST:
        n_missing = int((rows.codes[worst] == UNOBSERVED).sum())
        raise InputError(
            f"The missing values of all rows have {n_ways.sum():,} completions, the {n_missing} of one row "
            f"{n_ways[worst]:,}; the limits are {_MOST:,} and {_MOST_OF_ROW:,}. Leave out rows or columns with many "
            "missing values."
        )
