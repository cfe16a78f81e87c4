"""Tables as files."""

from __future__ import annotations

import csv as python_csv
import io
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from mrfit import Dataset, Domain
from mrfit.core.errors import InputError
from mrfit.formats.imputed_table import filled
from mrfit.formats.tables import table_bytes, table_of

ODD = ["plain", "a, b", 'say "so"', "two\nlines", "", " space "]


def test_csv_is_read_back_by_others() -> None:
    domain = Domain.from_states({"a,b": ODD, "c": ["0", "1"]})
    codes = np.array([[k % 6, k % 2] for k in range(12)], np.uint8)
    content = table_bytes(table_of(Dataset(domain, codes)), "x.csv").decode()
    head, *rows = list(python_csv.reader(io.StringIO(content, newline="")))
    assert head == ["a,b", "c"]
    assert rows == [[ODD[k % 6], str(k % 2)] for k in range(12)]
    assert content.splitlines()[1] == "plain,0"  # quoted only where it must be


def test_an_empty_field_alone_is_still_a_row() -> None:
    table = pa.table({"a": ["", "x", None]})
    assert table_bytes(table, "-").decode() == 'a\n""\nx\n\n'


def test_cells_without_a_value_are_empty() -> None:
    rows = Dataset(Domain.from_states({"a": ["x", "y"], "b": ["x", "y"]}), np.array([[255, 1], [0, 255]], np.uint8))
    assert table_bytes(table_of(rows), "x.csv") == b"a,b\n,y\nx,\n"


def test_other_types() -> None:
    table = pa.table({"n": [1, None], "x": [0.5, 2.0], "b": [True, False]})
    assert table_bytes(table, "x.csv") == b"n,x,b\n1,0.5,true\n,2.0,false\n"


def test_equal_tables_are_equal_files() -> None:
    table = pa.table({"a": ["x", "y"] * 100})
    assert table_bytes(table, "x.csv.gz") == table_bytes(table, Path("dir") / "y.CSV.GZ")
    with pytest.raises(InputError, match=r"let it end in \.csv, \.csv\.gz or \.parquet"):
        table_bytes(table, "x.xlsx")


def test_a_type_that_cannot_hold_a_state_becomes_text() -> None:
    domain = Domain.from_states({"a": ["1", "2", "missing"]})
    cells = pa.table({"a": [1, None, 2], "other": [1.5, None, 2.5]})
    codes = np.array([[0], [255], [1]], np.uint8)
    done = filled(cells, domain, codes, np.array([[0], [2], [1]], np.uint8))
    assert done.to_pydict() == {"a": ["1", "missing", "2"], "other": [1.5, None, 2.5]}
