"""A table as integer codes with row weights, under a domain."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from mrfit.core.domain import Domain
from mrfit.core.errors import DataError
from mrfit.data.batch import Batch, checked_sample_weight
from mrfit.data.encoding import MAX_STATES, UNOBSERVED, Encoder, ParseOptions, ReadingOptions
from mrfit.data.file_layout import LayoutOptions
from mrfit.data.frames import table_batches
from mrfit.data.memory import MemoryLimit
from mrfit.data.readers import named_in_errors, read_batches
from mrfit.data.sources import Source


@dataclass(frozen=True, eq=False)
class Dataset:
    """A table as integer codes with row weights, under a domain.

    Read one with `from_table` or `from_file`. Both arrays are read-only.

    Parameters
    ----------
    domain : Domain
        Variables and their states.
    codes : ndarray of uint8
        Position of each value in the states of its variable, shape (rows, variables); 255 for missing values.
    sample_weight : ndarray of float, default=None
        Weight of each row; None means 1.
    dropped_rows : int, default=0
        Number of rows that reading dropped.
    notes : tuple of str, default=()
        Remarks about the table.

    Raises
    ------
    DataError
        If codes do not fit the domain.

    See Also
    --------
    UniqueRows : Distinct rows with weights, which is all that learning needs.

    Examples
    --------
    >>> from mrfit import Dataset
    >>> dataset = Dataset.from_table({"smokes": ["yes", "no", "no"], "age": [1, 2, 3]})
    >>> dataset.domain.to_states()
    {'smokes': ['no', 'yes'], 'age': ['1', '2', '3']}
    >>> dataset.codes
    array([[1, 0],
           [0, 1],
           [0, 2]], dtype=uint8)
    """

    domain: Domain
    codes: NDArray[np.uint8]
    sample_weight: NDArray[np.float64] = None  # type: ignore[assignment]  # never None once built
    dropped_rows: int = 0
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        weight = np.ones(len(self.codes)) if self.sample_weight is None else self.sample_weight
        object.__setattr__(self, "codes", _read_only(_checked_codes(self.codes, self.domain)))
        object.__setattr__(self, "sample_weight", _read_only(checked_sample_weight(weight, len(self.codes))))

    @classmethod
    def from_table(cls, table: object, *, sample_weight: object = None, **reading: Unpack[ReadingOptions]) -> Dataset:
        """Read a table in memory.

        Parameters
        ----------
        table : object
            A pandas or polars frame, Arrow table or stream, array, sparse matrix, list of rows or dict of columns.
        sample_weight : array or None, default=None
            Weight of each row; None means 1.
        **reading
            Fields of `ParseOptions`: ``domain``, ``states``, ``missing``, ``unknown``, ``columns``, ``exclude``,
            ``include``, ``absent`` and ``memory``.
        """
        how = ParseOptions(**reading)
        return cls.from_batches(table_batches(table, sample_weight=sample_weight, select=how.chosen), how)

    @classmethod
    def from_file(
        cls,
        source: Source,
        *,
        domain: Domain | None = None,
        states: Mapping[str, Sequence[object]] | None = None,
        missing: str = "error",
        unknown: str = "error",
        columns: Collection[str] | None = None,
        exclude: Collection[str] = (),
        include: Collection[str] | bool = (),
        memory: float | str | None = None,
        **layout: Unpack[LayoutOptions],
    ) -> Dataset:
        """Read a file, or several files as one table.

        Parameters
        ----------
        source : path or sequence of paths
            CSV, TSV, text, Libra ``.data`` (each also ``.gz``) or Parquet. A directory, pattern or list of such files
            is one table, ``-`` is standard input, ``nltcs:train`` a named data set.
        domain : Domain or None, default=None
            Variables and states to use, matched by name; None finds them in the table.
        states : dict of str to sequence or None, default=None
            States of some columns, in order.
        missing : {"error", "drop", "state", "keep"}, default="error"
            How to handle missing values, as in `ParseOptions`.
        unknown : {"error", "drop"}, default="error"
            How to handle values outside the given states.
        columns : collection of str or None, default=None
            Names of the columns to use; None uses all.
        exclude : collection of str, default=()
            Names of columns to leave out.
        include : collection of str or bool, default=()
            Names of ID-like columns to keep; True keeps all.
        memory : float, str or None, default=None
            Bytes that rows may take, such as ``"2GB"``.
        **layout
            Fields of `FileLayout`: ``weight``, ``header``, ``separator``, ``encoding``, ``na_values`` and ``format``.
        """
        reading = ParseOptions(domain, states, missing, unknown, columns, exclude, include, memory=memory)
        with named_in_errors(source):
            return cls.from_batches(read_batches(source, select=reading.chosen, **layout), reading)

    @classmethod
    def from_batches(cls, batches: Iterable[Batch], reading: ParseOptions) -> Dataset:
        """Encode all batches and join them into one table of codes.

        Parameters
        ----------
        batches : iterable of Batch
            Pieces of a table.
        reading : ParseOptions
            Options that define how values are parsed.
        """
        coder, limit, encoded, n_bytes = Encoder(reading), MemoryLimit(reading.memory), [], 0
        for batch in batches:
            encoded.append(coder.encode(batch))
            n_bytes += sum(part.nbytes for part in encoded[-1])
            limit.check(2 * n_bytes, batch.share_read)  # the parts are joined at the end, which takes as much again
        domain, remaps = coder.finish()
        codes = np.concatenate([codes for codes, _ in encoded])
        for column, remap in enumerate(remaps):
            if not np.array_equal(remap, np.arange(len(remap))):
                codes[:, column] = remap[codes[:, column]]
        weight = np.concatenate([weight for _, weight in encoded])
        return cls(domain, codes, weight, coder.dropped_rows, coder.notes)

    def recoded(self, domain: Domain) -> Dataset:
        """Return the same rows under another domain, matched by column and state name."""
        if domain == self.domain:
            return self
        return self.from_batches(
            [Batch.from_codes(self.domain, self.codes, self.sample_weight)], ParseOptions(domain, missing="keep")
        )

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.codes)

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return len(self.domain)

    @property
    def total_weight(self) -> float:
        """Sum of the row weights."""
        return float(self.sample_weight.sum())


def _checked_codes(codes: NDArray[np.uint8], domain: Domain) -> NDArray[np.uint8]:
    codes = np.asarray(codes)
    if codes.ndim != 2 or codes.shape[1] != len(domain) or len(codes) == 0 or codes.dtype.kind not in "iu":
        raise DataError(
            f"Codes of shape {codes.shape} and type {codes.dtype} do not fit; expected integers, at least "
            f"one row and {len(domain)} columns, one per variable of the domain."
        )
    crowded = [variable for variable in domain if variable.n_states > MAX_STATES]
    if crowded:
        raise DataError(
            f"Variable {crowded[0].name!r} has {crowded[0].n_states} states; the limit is {MAX_STATES}. "
            "Merge some of its states."
        )
    highest = codes.max(axis=0, where=codes != UNOBSERVED, initial=0)
    outside = np.flatnonzero((highest >= np.array(domain.shape)) | (codes.min(axis=0) < 0))
    if outside.size:
        variable = domain[int(outside[0])]
        raise DataError(
            f"The codes of {variable.name!r} leave the range 0 to {variable.n_states - 1} of its states. "
            "Use Dataset.from_table to code a table."
        )
    return np.ascontiguousarray(codes, dtype=np.uint8)


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    view = array.view()  # the caller's own array stays writable
    view.flags.writeable = False
    return view
