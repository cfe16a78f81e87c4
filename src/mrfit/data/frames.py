"""In-memory tables of all common kinds as batches of dictionary-encoded columns.

A table is first split into named columns and then read in runs of rows, so that the encoded copy of a large table never
exists as a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mrfit.core.errors import DataError
from mrfit.data.batch import Batch, check_names, checked_sample_weight
from mrfit.data.columns import SparseColumn, class_names, encoder

# Encoded codes take four bytes a cell, so a batch stays near 32 MB.
_CELLS_PER_BATCH = 2**23
_ACCEPTED = (
    "a pandas or polars DataFrame, a pyarrow Table, anything with __arrow_c_stream__, a 2-D numpy array, a scipy "
    "sparse matrix, a list of rows or a dict of columns"
)

_SOURCE = "The table"  # for messages

_Columns = list[tuple[str, Any]]  # names and one-dimensional objects


def table_batches(
    table: object,
    *,
    sample_weight: object = None,
    select: Callable[[Sequence[str]], Collection[str]] | None = None,
) -> Iterator[Batch]:
    """Yield the rows of a table in memory, in batches; columns of arrays and lists of rows are named v0, v1, ...

    ``select`` chooses among the names of all columns.
    """
    columns, named = _columns(table)
    names = [name for name, _ in columns]
    check_names(names, source=_SOURCE)
    if select is not None:
        chosen = select(names)
        columns = [(name, values) for name, values in columns if name in chosen]
    encoders = [(name, values, encoder(name, values)) for name, values in columns]
    n_rows = _n_rows(columns)
    weight = None if sample_weight is None else checked_sample_weight(sample_weight, n_rows)
    step = max(1, _CELLS_PER_BATCH // len(columns))
    for start in range(0, n_rows, step):
        rows = slice(start, min(start + step, n_rows))
        encoded = tuple(encode(name, values, rows) for name, values, encode in encoders)
        yield Batch(encoded, None if weight is None else weight[rows], start, named=named)


def check_column_names(table: object) -> None:
    """Refuse a table without columns or with a repeated name."""
    check_names([name for name, _ in _columns(table)[0]], source=_SOURCE)


def column_values(table: object) -> list[Any]:
    """Return the columns of a table without their names."""
    return [values for _, values in _columns(table)[0]]


def _columns(table: object) -> tuple[_Columns, bool]:
    """Return the columns of a table, and whether they have their own names."""
    for kind in class_names(table):
        if kind in _NAMED:
            return _NAMED[kind](table), True
        if kind in _UNNAMED:
            return _numbered(_UNNAMED[kind](table)), False
    if isinstance(table, Mapping):
        return _from_mapping(table), True
    if hasattr(table, "__arrow_c_stream__"):  # the Arrow PyCapsule interface: query results, other data frames
        return _from_stream(table), True
    raise DataError(_unreadable(table))


def _unreadable(table: object) -> str:
    return f"A table of type {type(table).__name__} cannot be read; expected {_ACCEPTED}."


def _n_rows(columns: _Columns) -> int:
    first, n_rows = columns[0][0], len(columns[0][1])
    for name, values in columns:
        if len(values) != n_rows:
            raise DataError(
                f"Column {name!r} has {len(values)} values, column {first!r} has {n_rows}; all columns need "
                "the same number of rows."
            )
    if n_rows == 0:
        raise DataError("The table has no rows; at least one is needed.")
    return n_rows


def _numbered(columns: Sequence[Any]) -> _Columns:
    return [(f"v{position}", values) for position, values in enumerate(columns)]


def _from_pandas(frame: Any) -> _Columns:
    # By position: names may repeat, which is reported later.
    return [(str(name), frame.iloc[:, position]) for position, name in enumerate(frame.columns)]


def _from_lazy_polars(frame: Any) -> _Columns:
    return _from_polars(frame.collect())


def _from_polars(frame: Any) -> _Columns:
    return list(zip(frame.columns, frame.get_columns(), strict=True))


def _from_arrow(table: Any) -> _Columns:
    return list(zip(table.schema.names, table.columns, strict=True))


def _from_stream(table: Any) -> _Columns:
    import pyarrow as pa

    try:
        return _from_arrow(pa.RecordBatchReader.from_stream(table).read_all())
    except (pa.ArrowException, TypeError) as error:
        reason = str(error).partition("\n")[0].rstrip(".")
        raise DataError(f"{_unreadable(table)} Its Arrow stream is no table: {reason}.") from None


def _from_array(array: NDArray[Any]) -> Sequence[Any]:
    _check_two_dimensional(array.shape)
    if not isinstance(array, np.ma.MaskedArray):
        array = np.asarray(array)  # rows of an np.matrix would stay two-dimensional
    return list(array.T)


def _from_sparse(matrix: Any) -> Sequence[Any]:
    _check_two_dimensional(matrix.shape)
    columns = matrix.tocsc(copy=True)
    columns.sum_duplicates()  # also sorts the rows within each column
    return [
        SparseColumn(columns.indices[start:stop], columns.data[start:stop], columns.shape[0])
        for start, stop in pairwise(columns.indptr)
    ]


def _from_rows(rows: Sequence[Any]) -> Sequence[Any]:
    if not rows:
        raise DataError("The table has no rows; at least one is needed.")
    for number, row in enumerate(rows, start=1):
        if not isinstance(row, list | tuple | np.ndarray):
            raise DataError(f"Row {number} of the list is of type {type(row).__name__}; expected {_ACCEPTED}.")
        if len(row) != len(rows[0]):
            raise DataError(
                f"Row {number} has {len(row)} values, row 1 has {len(rows[0])}; all rows need the same "
                "columns. Put None where a value is missing."
            )
    return list(zip(*rows, strict=True))


def _from_mapping(table: Mapping[Any, Any]) -> _Columns:
    for name, values in table.items():
        if isinstance(values, np.ndarray) and values.ndim != 1:
            raise DataError(f"Column {str(name)!r} of the dict has shape {values.shape}; expected one value per row.")
    return [(str(name), values) for name, values in table.items()]


def _check_two_dimensional(shape: tuple[int, ...]) -> None:
    if len(shape) != 2:
        raise DataError(
            f"The array has shape {shape}; expected two dimensions, rows and columns. "
            "Reshape it: array.reshape(-1, 1) makes one column."
        )


_NAMED: dict[str, Callable[[Any], _Columns]] = {
    "pandas.DataFrame": _from_pandas,
    "polars.DataFrame": _from_polars,
    "polars.LazyFrame": _from_lazy_polars,
    "pyarrow.RecordBatch": _from_arrow,
    "pyarrow.Table": _from_arrow,
}
_UNNAMED: dict[str, Callable[[Any], Sequence[Any]]] = {
    "builtins.list": _from_rows,
    "builtins.tuple": _from_rows,
    "numpy.ndarray": _from_array,
    "scipy.sparray": _from_sparse,
    "scipy.spmatrix": _from_sparse,
}
