"""Tables in memory of every kind give the same columns."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from mrfit.core.errors import DataError
from mrfit.data import frames
from mrfit.data.batch import Batch
from mrfit.data.frames import table_batches

Rows = list[list[str | None]]


def decoded(table: object) -> Rows:
    """Rows of labels, None where missing."""
    rows: Rows = []
    for batch in table_batches(table):
        columns = [[c.labels[code] if code >= 0 else None for code in c.codes] for c in batch.columns]
        rows += map(list, zip(*columns, strict=True))
    return rows


def only(table: object, **options: Any) -> Batch:
    (batch,) = table_batches(table, **options)
    return batch


CODES = np.array([[0, 1, 0], [1, 1, 0], [0, 2, 0], [1, 0, 0]])
KINDS: dict[str, Callable[[np.ndarray], Any]] = {
    "int64": lambda a: a,
    "int8": lambda a: a.astype(np.int8),
    "uint8": lambda a: a.astype(np.uint8),
    "uint64": lambda a: a.astype(np.uint64),
    "float": lambda a: a.astype(float),
    "fortran": np.asfortranarray,
    "object": lambda a: a.astype(object),
    "str": lambda a: a.astype(str),
    "bytes": lambda a: a.astype("S"),
    "masked": np.ma.masked_array,
    "matrix": lambda a: sp.csr_matrix(a).todense(),
    "csr_matrix": sp.csr_matrix,
    "csc_array": sp.csc_array,
    "coo_array": sp.coo_array,
    "rows": lambda a: a.tolist(),
    "tuples": lambda a: tuple(map(tuple, a.tolist())),
    "rows of arrays": list,
    "dict of lists": lambda a: {f"v{j}": column.tolist() for j, column in enumerate(a.T)},
    "dict of arrays": lambda a: {f"v{j}": column for j, column in enumerate(a.T)},
    "dict of series": lambda a: {f"v{j}": pd.Series(column, [9, 7, 8, 7]) for j, column in enumerate(a.T)},
    "dict of polars": lambda a: {f"v{j}": pl.Series(column) for j, column in enumerate(a.T)},
    "dict of arrow": lambda a: {f"v{j}": pa.array(column) for j, column in enumerate(a.T)},
    "pandas": lambda a: pd.DataFrame(a, columns=["v0", "v1", "v2"], index=[3, 1, 1, 0]),
    "pandas Int64": lambda a: pd.DataFrame(a, columns=["v0", "v1", "v2"]).astype("Int64"),
    "pandas str": lambda a: pd.DataFrame(a, columns=["v0", "v1", "v2"]).astype(str),
    "pandas object": lambda a: pd.DataFrame(a, columns=["v0", "v1", "v2"]).astype(object),
    "polars": lambda a: pl.DataFrame(a, schema=["v0", "v1", "v2"]),
    "polars lazy": lambda a: pl.DataFrame(a, schema=["v0", "v1", "v2"]).lazy(),
    "arrow": lambda a: pa.table({f"v{j}": column for j, column in enumerate(a.T)}),
    "arrow batch": lambda a: pa.record_batch({f"v{j}": column for j, column in enumerate(a.T)}),
    "arrow chunks": lambda a: pa.concat_tables(
        [pa.table({f"v{j}": column for j, column in enumerate(rows.T)}) for rows in (a[:2], a[2:])]
    ),
}


@pytest.mark.parametrize("cells", [2**23, 4])
@pytest.mark.parametrize("kind", KINDS)
def test_all_kinds_agree(kind: str, cells: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frames, "_CELLS_PER_BATCH", cells)
    table = KINDS[kind](CODES)
    assert decoded(table) == CODES.astype(str).tolist()
    assert next(iter(table_batches(table))).names == ("v0", "v1", "v2")


INTEGERS = st.sampled_from([np.int8, np.uint16, np.int64, np.uint64])


@given(hnp.arrays(INTEGERS, st.tuples(st.integers(1, 6), st.integers(1, 3))))
def test_any_integers(array: np.ndarray) -> None:
    assert decoded(array) == [[str(value) for value in row] for row in array.tolist()]


@given(hnp.arrays(np.float64, (4, 2), elements=st.sampled_from([-1.0, -0.0, 0.0, 0.5, 1e-05, 2.0, np.nan])))
def test_floats_with_holes(array: np.ndarray) -> None:
    def named(x: float) -> str | None:
        return None if np.isnan(x) else str(int(x)) if x.is_integer() else repr(x)

    assert decoded(array) == [[named(x) for x in row] for row in array.tolist()]


def test_booleans_of_every_kind() -> None:
    array = np.array([[True, False], [False, False]])
    expected = [["true", "false"], ["false", "false"]]
    frame = pd.DataFrame(array)
    for table in (
        array,
        sp.csr_array(array),
        frame,
        frame.astype("boolean"),
        pl.DataFrame(array),
        array.tolist(),
    ):
        assert decoded(table) == expected


def test_mixed_objects_keep_their_names_apart() -> None:
    values = [True, 1, "1.0", "x", None, float("nan"), 0.5, pd.NA]
    expected = [["true"], ["1"], ["1"], ["x"], [None], [None], ["0.5"], [None]]
    assert decoded({"a": values}) == expected
    assert decoded(np.array(values, dtype=object)[:, None]) == expected
    assert decoded(pd.DataFrame({"a": pd.Series(values, dtype=object)})) == expected


@pytest.mark.parametrize("dtype", ["object", "string", "category"])
def test_missing_text_in_pandas(dtype: str) -> None:
    assert decoded(pd.DataFrame({"a": pd.Series(["x", None, "NA"], dtype=dtype)})) == [["x"], [None], ["NA"]]


class Streamed:
    """A table of a library that mrfit does not know, by the one method it needs to have."""

    def __init__(self, table: object) -> None:
        self.table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.table.__arrow_c_stream__(requested_schema)


def test_whatever_streams_arrow_is_a_table() -> None:
    """Record batches of any length, text and numbers; a column alone is no table."""
    pieces = pa.table({"a": ["x", None, "y"], "b": [2, 1, 2]}).to_batches(max_chunksize=2)
    table = pa.Table.from_batches(pieces)
    for stream in (Streamed(table), pa.RecordBatchReader.from_batches(table.schema, pieces)):
        assert decoded(stream) == [["x", "2"], [None, "1"], ["y", "2"]]
    with pytest.raises(DataError, match=r"A table of type Streamed cannot be read; .* Its Arrow stream is no table"):
        decoded(Streamed(table["a"]))


def test_truth_values_of_arrow_are_its_bits(rng: np.random.Generator) -> None:
    """Arrays may begin at any bit, have nulls or none, and be constant."""
    values = [None if x < 0.2 else bool(x < 0.6) for x in rng.random(100)]
    for held in (values, [bool(value) for value in values], [True] * 100, [None] * 99 + [False]):
        for first in (0, 5, 8, 61):
            expected = [[value if value is None else str(value).lower()] for value in held[first:99]]
            assert decoded(pa.table({"a": held}).slice(first, 99 - first)) == expected


def test_missing_in_polars_arrow_and_masks() -> None:
    assert decoded(pl.DataFrame({"a": ["x", None], "b": [None, 1.5]})) == [["x", None], [None, "1.5"]]
    assert decoded(pa.table({"a": ["x", None]})) == [["x"], [None]]
    assert decoded(np.ma.masked_array([[1, 0]], mask=[[False, True]])) == [["1", None]]


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame({"size": pd.Categorical(["l", "s"], categories=["s", "m", "l"])}),
        {"size": pd.Series(pd.Categorical(["l", "s"], categories=["s", "m", "l"]))},
        pl.DataFrame({"size": pl.Series(["l", "s"], dtype=pl.Enum(["s", "m", "l"]))}),
    ],
    ids=["pandas", "pandas series", "polars"],
)
def test_declared_categories_are_kept(table: object) -> None:
    (column,) = only(table).columns
    assert column.declared
    assert column.labels == ("s", "m", "l")
    assert column.codes.tolist() == [2, 0]


def test_polars_categories_are_only_those_met() -> None:
    table = pl.DataFrame({"a": pl.Series(["x", "y", "z"], dtype=pl.Categorical)})[:2]
    (column,) = only(table).columns
    assert not column.declared
    assert set(column.labels) == {"x", "y"}


def test_sparse_entries() -> None:
    matrix = sp.coo_array(([1.0, 1.0, 0.0, np.nan], ([0, 0, 1, 2], [0, 0, 0, 0])), shape=(4, 2))
    assert decoded(matrix) == [["2", "0"], ["0", "0"], [None, "0"], ["0", "0"]]
    full = only(sp.csr_array(np.array([[1], [2]])))
    assert set(full.columns[0].labels) == {"1", "2"}


def test_names_become_text() -> None:
    assert only(pd.DataFrame([[1, 2]], columns=[10, ("a", 1)])).names == ("10", "('a', 1)")


def test_sample_weight_is_cut_with_the_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frames, "_CELLS_PER_BATCH", 6)
    weights = [batch.sample_weight for batch in table_batches(CODES, sample_weight=pd.Series([1, 2, 3, 4]))]
    assert [weight.tolist() for weight in weights if weight is not None] == [[1, 2], [3, 4]]


# Declared as text, without a check: "a", "b" and two bytes that are no text.
NOT_UTF8 = pa.Array.from_buffers(
    pa.string(), 3, [None, pa.py_buffer(np.array([0, 1, 2, 4], np.int32).tobytes()), pa.py_buffer(b"ab\xff\xfe")]
)


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([1, 2], r"shape \(2,\); expected \(4,\)"),
        ([[1], [1], [1], [1]], r"shape \(4, 1\)"),
        ([1, 1, -1, 1], r"-1\.0 in row 3"),
        ([1, np.nan, 1, 1], "nan in row 2"),
        ([1, np.inf, 1, 1], "inf in row 2"),
        ([0, 0, 0, 0], "zero in every row"),
        ([1e-300, 1, 1, 1e308], r"ranges from 1e-300 to 1e\+308; expected positive weights between 1e-100 and 1e\+100"),
        (["a", "b", "c", "d"], "not numbers"),
    ],
)
def test_bad_sample_weight(weight: object, message: str) -> None:
    with pytest.raises(DataError, match=message):
        list(table_batches(CODES, sample_weight=weight))


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (np.arange(3), r"shape \(3,\); expected two dimensions"),
        (np.zeros((2, 2, 2)), r"shape \(2, 2, 2\)"),
        (np.zeros((0, 3)), "no rows"),
        (np.zeros((3, 0)), "no columns"),
        ([], "no rows"),
        ({}, "no columns"),
        ({"a": []}, "no rows"),
        (pd.DataFrame(), "no columns"),
        (pl.DataFrame({"a": []}), "no rows"),
        ([[1, 2], [1]], "Row 2 has 1 values, row 1 has 2"),
        (["ab", "cd"], "Row 1 of the list is of type str"),
        ([1, 2], "Row 1 of the list is of type int"),
        ({"a": [1, 2], "b": [1]}, "Column 'b' has 1 values, column 'a' has 2"),
        ({"a": "xyz"}, "Column 'a' is of type str"),
        ({"a": 3}, "Column 'a' is of type int"),
        ({"a": np.zeros((2, 2))}, r"Column 'a' of the dict has shape \(2, 2\)"),
        ({"a": [[1], [2]]}, "Column 'a' holds values that are containers"),
        (pd.DataFrame({"a": [[1], [2]]}), "Column 'a' holds values that are containers"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "repeats the column names 'a'"),
        (pd.DataFrame([[1, 2]], columns=[1, "1"]), "repeats the column names '1'"),
        (pd.Series([1, 2]), "type Series cannot be read; expected a pandas or polars DataFrame"),
        (
            pa.table({"a": NOT_UTF8}),
            r"Column 'a' is declared as text and holds bytes that are not UTF-8: b'\\xff\\xfe'",
        ),
        (pa.table({"a": [[1]]}), "Column 'a' holds values of type list"),
        ("table.csv", "type str cannot be read"),
        (None, "type NoneType cannot be read"),
    ],
)
def test_bad_tables(table: object, message: str) -> None:
    with pytest.raises(DataError, match=message):
        list(table_batches(table))


@pytest.mark.parametrize(
    ("read", "allowed"),
    [("Dataset.from_table(numpy.eye(3))", "numpy"), ("Dataset.from_file(sys.argv[1])", "pyarrow")],
)
def test_reading_imports_no_other_table_library(tmp_path: Path, read: str, allowed: str) -> None:
    (tmp_path / "t.csv").write_text("a,b\n1,x\n0,y\n")
    code = (
        f"import sys, numpy; from mrfit.data import Dataset; {read};"
        "loaded = {'pandas', 'polars', 'pyarrow', 'scipy', 'numba', 'pooch'} & set(sys.modules);"
        f"assert loaded <= {{{allowed!r}}}, loaded"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "t.csv")], check=True)
