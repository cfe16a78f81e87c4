"""Runs of rows on their way from a file or a table to codes."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mrfit.data.labels import is_missing, label
from mrfit.domain import Domain, repeated_names
from mrfit.errors import DataError, listed

MISSING = -1
_LARGEST_WEIGHT = 1e100  # squares of weights, and sums of them over any number of rows, stay finite

StateCodes = NDArray[np.int32] | NDArray[np.int8]  # truth values take a byte each


@dataclass(frozen=True)
class Column:
    """A dictionary-encoded column: ``labels[codes[row]]`` is the value of a row, code -1 means missing.

    ``declared`` says that the labels are all states in their order (a pandas category, a polars Enum), not
    only those that were met.
    """

    name: str
    codes: StateCodes
    labels: tuple[str, ...]
    declared: bool = False

    @cached_property
    def has_missing(self) -> bool:
        return bool(self.codes.min(initial=0) < 0)

    @classmethod
    def encoded(
        cls,
        name: str,
        codes: NDArray[Any],
        values: Sequence[object],
        *,
        declared: bool = False,
        missing: Collection[str] = (),
    ) -> Column:
        """A column from positions in ``values``; values of one label merge, unmet ones go unless declared.

        ``missing`` holds the labels that mean "no value", as text files spell it.
        """
        codes = codes if codes.dtype == np.int8 else codes.astype(np.int32, copy=False)
        met = _met(codes, len(values))
        labels: dict[str, int] = {}
        lookup = np.full(len(values) + 1, MISSING, dtype=codes.dtype)  # its last entry serves code -1
        for code, value in enumerate(values):
            if not (declared or met[code]) or is_missing(value):
                continue
            text = label(value)
            if text not in missing:
                lookup[code] = labels.setdefault(text, len(labels))
        unchanged = np.array_equal(lookup[:-1], np.arange(len(values)))
        return cls(name, codes if unchanged else lookup[codes], tuple(labels), declared)

    @classmethod
    def from_arrow(cls, name: str, array: Any, *, missing: Collection[str] = ()) -> Column:
        """A column from an Arrow array; an ordered dictionary type declares its states."""
        codes, values = arrow_codes(name, array)
        declared = bool(getattr(array.type, "ordered", False))
        return cls.encoded(name, codes, values, declared=declared, missing=missing)


@dataclass(frozen=True)
class Batch:
    """Consecutive rows of a table, or of one of its files.

    ``first_row`` is the 0-based number of the first, and ``file`` where it stands if there are several, for messages;
    ``named`` says whether the columns have names of their own, ``notes`` what a person should know of the table.
    ``share_read`` is how much of the bytes of the table is read with it, None where nobody knows.
    ``cells`` are all columns as they stand in the file (but for weights in front of rows), for those who write it
    again: an Arrow record batch.
    """

    columns: tuple[Column, ...]
    sample_weight: NDArray[np.float64] | None
    first_row: int
    file: str | None = None
    named: bool = True
    notes: tuple[str, ...] = ()
    cells: Any = None
    share_read: float | None = None

    @classmethod
    def from_codes(cls, domain: Domain, codes: NDArray[np.uint8], sample_weight: NDArray[np.float64]) -> Batch:
        """Rows that are coded already, on their way to another domain."""
        observed = codes.astype(np.int32)
        observed[codes == 255] = MISSING
        columns = (
            Column(variable.name, observed[:, i], variable.states, declared=True) for i, variable in enumerate(domain)
        )
        return cls(tuple(columns), sample_weight, 0)

    @property
    def n_rows(self) -> int:
        return len(self.columns[0].codes) if self.columns else 0

    def row_name(self, position: int) -> str:
        """A row of the batch as messages call it."""
        return f"row {self.first_row + position + 1}" + (f" of {self.file!r}" if self.file is not None else "")

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)


def _met(codes: StateCodes, n_values: int) -> Sequence[bool]:
    """Which positions occur."""
    if codes.dtype == np.int8:  # two comparisons are faster than counting
        return [bool((codes == code).any()) for code in range(n_values)]
    return list(np.bincount(codes + 1, minlength=n_values + 1)[1:] > 0)


def arrow_codes(name: str, array: Any) -> tuple[StateCodes, Sequence[Any]]:
    """Positions (-1 = null) in the distinct values of an Arrow array, and those values."""
    if str(array.type) == "bool":
        return _truth_codes(array), (False, True)
    try:
        array = array.dictionary_encode()
    except NotImplementedError:
        raise DataError(
            f"Column {name!r} holds values of type {array.type}; mrfit models categorical columns of text, "
            "numbers or booleans. Convert the column or leave it out."
        ) from None
    if array.null_count:
        codes = array.indices.to_numpy(zero_copy_only=False)  # floats, NaN for null
        codes = np.where(np.isnan(codes), MISSING, codes)
    else:
        codes = np.from_dlpack(array.indices)  # to_numpy would import pandas
    values = array.dictionary
    # Single-precision values keep their own type: as Python floats 0.1 would be named 0.10000000149011612.
    single = str(values.type) in ("float", "halffloat")
    try:
        distinct = list(values.to_numpy(zero_copy_only=False)) if single else values.to_pylist()
    except UnicodeDecodeError as error:
        raise DataError(
            f"Column {name!r} is declared as text and holds bytes that are not UTF-8: {error.object!r}. Write the "
            "table again in UTF-8, or leave the column out."
        ) from None
    return codes.astype(np.int32, copy=False), distinct


def _truth_codes(array: Any) -> NDArray[np.int8]:
    """0, 1 or -1 (null) for each of an Arrow array of truth values."""
    given, values = array.buffers()
    codes = _bits(values, array.offset, len(array))
    return codes if given is None else np.where(_bits(given, array.offset, len(array)), codes, np.int8(MISSING))


def _bits(buffer: Any, first: int, count: int) -> NDArray[np.int8]:
    """Some bits of an Arrow buffer, a byte each; slices of a long array share one buffer."""
    start, skipped = divmod(first, 8)
    held = np.frombuffer(buffer, np.uint8)[start : (first + count + 7) // 8]
    return np.unpackbits(held, bitorder="little")[skipped : skipped + count].view(np.int8)


def check_names(names: Sequence[str], *, source: str) -> None:
    """Refuse a table without columns or with two columns of one name."""
    if not names:
        raise DataError(f"{source} has no columns; at least one is needed.")
    if repeated := repeated_names(names):
        raise DataError(f"{source} repeats the column names {listed(repeated)}; give every column its own name.")


def checked_sample_weight(values: object, n_rows: int) -> NDArray[np.float64]:
    """Row weights as float64: one per row, finite, not negative, not all zero, none so large that products overflow."""
    weight = weight_of_any_scale(values, n_rows)
    check_range(weight, "sample_weight")
    return weight


def check_range(weight: NDArray[np.float64], called: str) -> None:
    """Refuse weights whose squares and sums would overflow; weights of zero count for nothing."""
    positive = weight[weight > 0]
    if not positive.size:
        return
    least, most = float(positive.min()), float(positive.max())
    if most > _LARGEST_WEIGHT or least < 1.0 / _LARGEST_WEIGHT:
        raise DataError(
            f"{called} ranges from {least:g} to {most:g}; expected positive weights between "
            f"{1.0 / _LARGEST_WEIGHT:g} and {_LARGEST_WEIGHT:g}. Divide all weights by their mean."
        )


def weight_of_any_scale(values: object, n_rows: int) -> NDArray[np.float64]:
    """Row weights as float64: one per row, finite, not negative, not all zero."""
    try:
        weight = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError("sample_weight holds values that are not numbers; give one number per row.") from None
    if weight.shape != (n_rows,):
        raise DataError(f"sample_weight has shape {weight.shape}; expected ({n_rows},), one weight per row.")
    wrong = np.flatnonzero(~(np.isfinite(weight) & (weight >= 0)))
    if wrong.size:
        raise DataError(
            f"sample_weight is {weight[wrong[0]]} in row {wrong[0] + 1}; weights must be finite and not "
            "negative. Correct it or leave the row out."
        )
    if not weight.any():
        raise DataError("sample_weight is zero in every row; at least one row must count.")
    return weight
