"""Rows of very many binary variables, stored as lists of the active variables instead of codes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from mrfit._typing import Codes, Floats
from mrfit.core.domain import Domain, Variable
from mrfit.core.errors import DataError, InputError
from mrfit.data.batch import checked_sample_weight
from mrfit.data.row_counter import StreamCounter
from mrfit.data.unique_rows import ActiveEntries, SeenRows, UniqueRows

if TYPE_CHECKING:
    from scipy.sparse import csr_array


STATES = ("0", "1")
# Largest table, in cells of one byte each, that is stored as codes; larger ones stay lists.
MOST_CODES = 2**28
_CODES_AT_ONCE = 2**24


class SparseRows(UniqueRows):
    """Rows of very many binary variables (items), stored as lists of the active ones.

    Memory grows with these entries, not with rows times variables. Variables have the states ``0`` and ``1``. Rows
    remain in their order and duplicates are not merged: long lists rarely repeat, and short ones cost little. Functions
    that need a table of codes refuse these rows. Make them with `of_matrix`.

    Parameters
    ----------
    domain : Domain
        The variables.
    entries : scipy.sparse.csr_array
        Compressed rows, shape (rows, variables), without duplicates; only the stored positions matter, ascending in
        each row.
    sample_weight : ndarray of float or None, default=None
        Weight of each row; None means 1. Rows of weight zero are dropped.
    dropped_rows : int, default=0
        Number of rows that reading dropped.
    notes : tuple of str, default=()
        Remarks about the table.

    Raises
    ------
    DataError
        If every row has weight zero.

    See Also
    --------
    UniqueRows : Distinct rows as codes.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from mrfit import SparseRows
    >>> baskets = SparseRows.of_matrix(csr_array([[1, 0, 1], [0, 1, 1]]), ["tea", "milk", "bread"])
    >>> baskets.n_rows, baskets.n_entries
    (2, 4)
    """

    def __init__(
        self,
        domain: Domain,
        entries: csr_array,
        sample_weight: Floats | None = None,
        *,
        dropped_rows: int = 0,
        notes: tuple[str, ...] = (),
    ) -> None:
        n_rows = entries.shape[0]
        weight = np.ones(n_rows) if sample_weight is None else checked_sample_weight(sample_weight, n_rows)
        if not weight.any():
            raise DataError("Every row has weight zero; at least one needs a positive weight.")
        if not weight.all():
            entries, weight = entries[weight > 0], weight[weight > 0]
        effective = StreamCounter().add(weight).n_rows
        fields = (domain, entries, weight, n_rows, dropped_rows, notes, effective)
        names = ("domain", "entries", "sample_weight", "n_rows", "dropped_rows", "notes", "effective_rows")
        for name, value in zip(names, fields, strict=True):
            object.__setattr__(self, name, value)
        weight.flags.writeable = False

    entries: csr_array

    @classmethod
    def of_matrix(cls, matrix: Any, names: list[str] | None = None, sample_weight: Floats | None = None) -> Self:
        """Build rows from a scipy sparse matrix of zeros and ones.

        Parameters
        ----------
        matrix : sparse matrix
            Shape (rows, variables).
        names : list of str or None, default=None
            Names of the variables; None means their numbers.
        sample_weight : ndarray of float or None, default=None
            Weight of each row; None means 1.
        """
        from scipy import sparse

        entries = sparse.csr_array(matrix)
        entries.sum_duplicates()
        entries.eliminate_zeros()
        if wrong := set(np.unique(entries.data).tolist()) - {1}:
            raise DataError(
                f"A sparse matrix of items holds zeros and ones; got {next(iter(wrong))!r}. Pass it as a table, or "
                "matrix != 0."
            )
        called = [str(j) for j in range(entries.shape[1])] if names is None else names
        return cls(Domain(tuple(Variable(name, STATES) for name in called)), entries, sample_weight)

    @classmethod
    def _of_packed(cls, *_: object) -> Self:
        """Refuse coded rows, in which all readers of `UniqueRows` end."""
        raise InputError(
            "SparseRows are made of a sparse matrix by SparseRows.of_matrix, or are read from lists of items. Read a "
            "table by UniqueRows instead."
        )

    @property
    def codes(self) -> Codes:
        """Table of codes; refused, because it would be too large."""
        raise InputError(
            f"{self.n_distinct:,} rows of {len(self.domain):,} items are stored as lists, and this needs a table of "
            f"codes ({self.n_distinct * len(self.domain) / 1e9:.1f} GB). Structures are learned from lists with "
            "bound='path' or 'top', or select='ebic', 'strength' or 'theory', or are trees; models are fitted by the "
            "pseudo-likelihood on a learned or given one. Choose these, or leave items out."
        )

    def dense(self) -> UniqueRows:
        """Return the same rows as codes, distinct and in order."""
        codes = np.ascontiguousarray(self.entries.toarray() != 0, np.uint8)
        rows = UniqueRows.from_codes(self.domain, codes, self.sample_weight)
        return replace(rows, n_rows=self.n_rows, dropped_rows=self.dropped_rows, notes=self.notes)

    @property
    def n_distinct(self) -> int:
        return int(self.entries.shape[0])

    @property
    def n_entries(self) -> int:
        """Number of entries: pairs of a row and an active variable."""
        return int(self.entries.nnz)

    @property
    def is_complete(self) -> bool:
        return True

    @cached_property
    def active(self) -> ActiveEntries:
        columns = self.entries.tocsc()
        first = np.arange(len(self.domain) + 1)
        return ActiveEntries(first, columns.indptr.astype(np.int64), columns.indices.astype(np.int32))

    def column(self, variable: int) -> Codes:
        codes = np.zeros(self.n_distinct, np.uint8)
        codes[self._rows_of(variable)] = 1
        return codes

    def seen_by(self, variable: int, indicators: NDArray[np.int64]) -> SeenRows:
        """Return the rows with the variable or one of the indicators, plus one row for all others."""
        lists = [self._rows_of(k) for k in (variable, *indicators.tolist())]
        rows = np.unique(np.concatenate(lists))
        weight = self.sample_weight[rows]
        rest = self.total_weight - float(weight.sum())
        if len(rows) < self.n_distinct:
            weight = np.append(weight, rest)
        lengths = np.zeros(len(self.domain) + 1, np.int64)
        lengths[1 + indicators] = [len(each) for each in lists[1:]]
        places = [np.searchsorted(rows, each).astype(np.int32) for each in lists]
        own = np.zeros(len(weight), np.uint8)
        own[places[0]] = 1
        active = ActiveEntries(
            self.active.first_indicator, np.cumsum(lengths), np.concatenate([*places[1:], places[0][:0]])
        )
        return SeenRows(active, own, weight)

    def _rows_of(self, variable: int) -> NDArray[np.int32]:
        return self.active.rows[self.active.start[variable] : self.active.start[variable + 1]]

    @cached_property
    def state_weights(self) -> tuple[Floats, ...]:
        on = np.bincount(
            self.entries.indices, np.repeat(self.sample_weight, np.diff(self.entries.indptr)), len(self.domain)
        )
        return tuple(np.stack([self.total_weight - on, on], axis=1))

    @cached_property
    def sha256(self) -> str:
        digest = hashlib.sha256(json.dumps(self.domain.to_states()).encode())
        for part in (self.entries.indptr.astype(np.int64), self.entries.indices.astype(np.int64), self.sample_weight):
            digest.update(part.tobytes())
        return digest.hexdigest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SparseRows) and self.domain == other.domain and self.sha256 == other.sha256

    __hash__ = UniqueRows.__hash__

    def scored(self, score: Callable[[Codes], Floats]) -> Floats:
        """Apply a function of codes to all rows, in blocks."""
        height = max(1, _CODES_AT_ONCE // len(self.domain))
        parts = (self.entries[low : low + height].toarray() != 0 for low in range(0, self.n_distinct, height))
        return np.concatenate([score(np.ascontiguousarray(part, np.uint8)) for part in parts])

    def reweighted(self, sample_weight: Floats) -> SparseRows:
        weight = checked_sample_weight(sample_weight, self.n_distinct)
        rows = SparseRows(self.domain, self.entries, weight)
        share = float(weight.sum()) / self.total_weight
        object.__setattr__(rows, "n_rows", rows.n_distinct)
        object.__setattr__(rows, "effective_rows", share * self.effective_rows)
        return rows

    def recoded(self, domain: Domain) -> SparseRows:
        """Return the same rows under another domain; unknown items are dropped, and new ones are never active."""
        if domain == self.domain:
            return self
        from scipy import sparse

        place = {name: j for j, name in enumerate(domain.names)}
        column = np.array([place.get(name, -1) for name in self.domain.names])[self.entries.indices]
        row = np.repeat(np.arange(self.n_distinct), np.diff(self.entries.indptr))[column >= 0]
        shape = self.n_distinct, len(domain)
        entries = sparse.csr_array((np.ones(len(row), np.uint8), (row, column[column >= 0])), shape=shape)
        entries.sort_indices()
        return SparseRows(domain, entries, self.sample_weight, dropped_rows=self.dropped_rows, notes=self.notes)
