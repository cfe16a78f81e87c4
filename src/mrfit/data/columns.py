"""One-dimensional objects of all common kinds as dictionary-encoded columns.

The kind is recognized by the name of the class. pandas, polars and pyarrow are never imported for another library's
column.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mrfit.core.errors import DataError
from mrfit.data.batch import MISSING, BatchColumn

# Integers within a range this small are coded by subtraction instead of by sorting.
_SMALL_RANGE = 2**12
_LARGEST = 2**62


@dataclass(frozen=True)
class SparseColumn:
    """A column that is zero except in the listed rows (ascending)."""

    rows: NDArray[np.integer[Any]]
    values: NDArray[Any]
    n_rows: int

    def __len__(self) -> int:
        return self.n_rows


def class_names(value: object) -> Iterable[str]:
    """Return package and class, such as "pandas.Series", of a value and its base classes.

    The module between package and class is omitted, because it differs by version.
    """
    return (f"{cls.__module__.partition('.')[0]}.{cls.__name__}" for cls in type(value).__mro__)


def encoder(name: str, values: object) -> Callable[[str, Any, slice], BatchColumn]:
    """Return the function that encodes a run of rows of such a column."""
    for kind in class_names(values):
        if kind in _ENCODERS:
            return _ENCODERS[kind]
    raise DataError(f"Column {name!r} is of type {type(values).__name__}; expected a list, a 1-D array or a Series.")


def _encode_numpy(name: str, array: NDArray[Any], rows: slice) -> BatchColumn:
    array = array[rows]
    match array.dtype.kind:
        case "b":
            return BatchColumn.encoded(name, array.view(np.int8), (False, True))
        case "i" | "u":
            return _encode_integers(name, array, np.zeros(len(array), dtype=bool))
        case "f":
            return _encode_floats(name, array)
        case _:
            return _encode_objects(name, array.tolist(), slice(None))


def _encode_masked(name: str, array: Any, rows: slice) -> BatchColumn:
    return _encode_objects(name, array[rows].tolist(), slice(None))  # None where masked


def _encode_integers(name: str, array: NDArray[Any], missing: NDArray[np.bool_]) -> BatchColumn:
    low, high = int(array.min()), int(array.max())
    if high - low >= _SMALL_RANGE or max(high, -low) > _LARGEST:
        values, codes = np.unique(array, return_inverse=True)
        return BatchColumn.encoded(name, np.where(missing, MISSING, codes), values.tolist())
    codes = array.astype(np.int64) - low
    codes[missing] = MISSING
    return BatchColumn.encoded(name, codes, range(low, high + 1))


def _encode_floats(name: str, array: NDArray[np.floating[Any]]) -> BatchColumn:
    missing = np.isnan(array)
    filled = np.where(missing, 0, array)
    if (np.abs(filled) < _LARGEST).all() and (filled == np.rint(filled)).all():
        return _encode_integers(name, filled.astype(np.int64), missing)
    values, codes = np.unique(array, return_inverse=True)
    return BatchColumn.encoded(name, codes, list(values))


def _encode_objects(name: str, values: Any, rows: slice) -> BatchColumn:
    """Encode any hashable values, keyed with their class: True == 1, but the two have different names."""
    found: dict[tuple[type, object], int] = {}
    try:
        codes = [found.setdefault((value.__class__, value), len(found)) for value in values[rows]]
    except TypeError:
        raise DataError(
            f"Column {name!r} holds values that are containers; expected text, numbers, booleans or None."
        ) from None
    return BatchColumn.encoded(name, np.array(codes, dtype=np.int32), [value for _, value in found])


def _encode_pandas(name: str, series: Any, rows: slice) -> BatchColumn:
    series = series.iloc[rows]
    if str(series.dtype) == "category":
        categories = series.cat.categories
        return BatchColumn.encoded(name, series.cat.codes.to_numpy(), list(categories), declared=True)
    if isinstance(series.dtype, np.dtype) and series.dtype.kind in "biuf":
        return _encode_numpy(name, series.to_numpy(), slice(None))
    try:
        codes, values = series.factorize()
    except TypeError:  # unhashable values: the general function reports them
        return _encode_objects(name, series.tolist(), slice(None))
    # pandas merges True and 1; only text and typed columns are safe.
    if series.dtype == object and not all(type(value) is str for value in values):
        return _encode_objects(name, series.tolist(), slice(None))
    return BatchColumn.encoded(name, codes, list(values))


def _encode_polars(name: str, series: Any, rows: slice) -> BatchColumn:
    return BatchColumn.from_arrow(name, series[rows].to_arrow())


def _encode_arrow(name: str, array: Any, rows: slice) -> BatchColumn:
    return BatchColumn.from_arrow(name, array[rows])


def _encode_arrow_chunks(name: str, array: Any, rows: slice) -> BatchColumn:
    return BatchColumn.from_arrow(name, array[rows].combine_chunks())


def _encode_sparse(name: str, column: SparseColumn, rows: slice) -> BatchColumn:
    first, last = np.searchsorted(column.rows, (rows.start, rows.stop))
    stored = _encode_numpy(name, column.values[first:last], slice(None)) if last > first else None
    codes = np.zeros(rows.stop - rows.start, dtype=np.int32)  # zero comes first
    zero = column.values.dtype.type(0)
    if stored is None:
        return BatchColumn.encoded(name, codes, (zero,))
    codes[column.rows[first:last] - rows.start] = np.where(stored.codes < 0, MISSING, stored.codes + 1)
    return BatchColumn.encoded(name, codes, (zero, *stored.labels))


_ENCODERS: dict[str, Callable[[str, Any, slice], BatchColumn]] = {
    "builtins.list": _encode_objects,
    "builtins.tuple": _encode_objects,
    "builtins.range": _encode_objects,
    "mrfit.SparseColumn": _encode_sparse,
    "numpy.MaskedArray": _encode_masked,
    "numpy.ndarray": _encode_numpy,
    "pandas.Series": _encode_pandas,
    "polars.Series": _encode_polars,
    "pyarrow.Array": _encode_arrow,
    "pyarrow.ChunkedArray": _encode_arrow_chunks,
}
