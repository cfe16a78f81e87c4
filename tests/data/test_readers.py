"""Files of every kind, whole and broken."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mrfit.core.errors import DataError, InputError
from mrfit.data import delimited, readers
from mrfit.data.batch import Batch
from mrfit.data.readers import read_batches
from mrfit.data.unique_rows import UniqueRows

Table = dict[str, list[str | None]]


def written(directory: Path, name: str, content: str | bytes) -> Path:
    path = directory / name
    data = content.encode() if isinstance(content, str) else content
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return path


def decoded(batches: Iterator[Batch]) -> Table:
    """Columns of labels, None where missing."""
    table: Table = {}
    for batch in batches:
        for column in batch.columns:
            values = [column.labels[code] if code >= 0 else None for code in column.codes]
            table.setdefault(column.name, []).extend(values)
    return table


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".txt", ".CSV"])
def test_comma_separated(tmp_path: Path, suffix: str) -> None:
    path = written(tmp_path, "t" + suffix, "a,b\nx,1\ny,0\n")
    assert decoded(read_batches(path)) == {"a": ["x", "y"], "b": ["1", "0"]}


@pytest.mark.parametrize(("name", "separator"), [("t.tsv", "\t"), ("t.txt", "\t"), ("t.txt", ";"), ("t.csv", ";")])
def test_other_separators(tmp_path: Path, name: str, separator: str) -> None:
    path = written(tmp_path, name, f"a{separator}b\nx,y{separator}1\n")
    assert decoded(read_batches(path)) == {"a": ["x,y"], "b": ["1"]}


@pytest.mark.parametrize(
    "content",
    [
        "\ufeffa,b\n1,0\n",
        "a,b\r\n1,0\r\n",
        "\n\na,b\n\n1,0\n\n",
        "  \n\n \na,b\n1,0\n",
        "a,b\n1,0",
        '"a","b"\n"1","0"\n',
    ],
)
def test_byte_order_mark_line_ends_blank_lines_quotes(tmp_path: Path, content: str) -> None:
    assert decoded(read_batches(written(tmp_path, "t.csv", content))) == {"a": ["1"], "b": ["0"]}


def test_byte_order_mark_without_header(tmp_path: Path) -> None:
    path = written(tmp_path, "t.csv", "\ufeff1,0\r\n0,1\r\n")
    assert decoded(read_batches(path)) == {"v0": ["1", "0"], "v1": ["0", "1"]}


def test_line_break_in_quotes(tmp_path: Path) -> None:
    path = written(tmp_path, "t.csv", '"a\nb",c\n"x\ny",1\n')
    assert decoded(read_batches(path)) == {"a\nb": ["x\ny"], "c": ["1"]}


@pytest.mark.parametrize(
    ("content", "header", "names"),
    [
        ("1,0\n0,1\n", "auto", ["v0", "v1"]),
        ("1,x\n0,1\n", "auto", ["1", "x"]),
        ("1,0\n0,1\n", True, ["1", "0"]),
        ("a,b\n0,1\n", False, ["v0", "v1"]),
        (",b\n0,1\n", "auto", ["v0", "b"]),
    ],
)
def test_header(tmp_path: Path, content: str, header: bool | str, names: list[str]) -> None:
    assert list(decoded(read_batches(written(tmp_path, "t.csv", content), header=header))) == names


@pytest.mark.parametrize("spelling", ["", "NA", "NaN", "nan", "null", "NULL", "N/A", "?", "*", " NA ", '"NA"'])
def test_missing_spellings(tmp_path: Path, spelling: str) -> None:
    path = written(tmp_path, "t.csv", f"a,b\nx,{spelling}\n{spelling},y\n")
    assert decoded(read_batches(path)) == {"a": ["x", None], "b": [None, "y"]}


@pytest.mark.parametrize("name", ["t.data", "t.data.gz"])
def test_libra_data(tmp_path: Path, name: str) -> None:
    path = written(tmp_path, name, "0,1,*\n1,*,2\n")
    assert decoded(read_batches(path)) == {"v0": ["0", "1"], "v1": ["1", None], "v2": [None, "2"]}


def test_libra_weights(tmp_path: Path) -> None:
    (batch,) = read_batches(written(tmp_path, "t.data", "0.2|0,1\n1,0\n3|*,1\n"))
    assert decoded(iter([batch])) == {"v0": ["0", "1", None], "v1": ["1", "0", "1"]}
    assert batch.sample_weight is not None
    assert batch.sample_weight.tolist() == [0.2, 1, 3]


def test_weight_column(tmp_path: Path) -> None:
    (batch,) = read_batches(written(tmp_path, "t.csv", "count,a\n3,x\n0.5,y\n"), weight="count")
    assert batch.names == ("a",)
    assert batch.sample_weight is not None
    assert batch.sample_weight.tolist() == [3, 0.5]


def test_pieces_join(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delimited, "_BYTES_PER_PIECE", 64)
    monkeypatch.setattr(delimited, "_BYTES_OF_HEAD", 64)
    values = [f"s{i % 7}" for i in range(200)]
    path = written(tmp_path, "t.csv", "a,w\n" + "".join(f"{value},1\n" for value in values))
    batches = list(read_batches(path, weight="w"))
    assert len(batches) > 10
    assert decoded(iter(batches)) == {"a": values}
    assert [batch.first_row for batch in batches] == np.cumsum([0] + [b.n_rows for b in batches])[:-1].tolist()


@pytest.mark.parametrize("cells", [2**23, 4])
def test_parquet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cells: int) -> None:
    monkeypatch.setattr(readers, "_CELLS_PER_PIECE", cells)
    columns = {
        "text": ["a", None, "NA", "b"],
        "flag": [True, False, None, True],
        "number": [1, 2, None, 3],
        "real": [1.0, 0.5, float("nan"), None],
        "single": pa.array([0.1, 0.5, None, 1.0], pa.float32()),
        "coded": pa.array(["x", "y", "x", None]).dictionary_encode(),
        "nothing": [None] * 4,
    }
    pq.write_table(pa.table(columns), tmp_path / "t.parquet")
    assert decoded(read_batches(tmp_path / "t.parquet")) == {
        "text": ["a", None, "NA", "b"],
        "flag": ["true", "false", None, "true"],
        "number": ["1", "2", None, "3"],
        "real": ["1", "0.5", None, None],
        "single": ["0.1", "0.5", None, "1"],
        "coded": ["x", "y", "x", None],
        "nothing": [None] * 4,
    }


def test_parquet_weight_and_ordered_categories(tmp_path: Path) -> None:
    sizes = pd.Categorical(["l", "s"], categories=["s", "m", "l"], ordered=True)
    pd.DataFrame({"size": sizes, "w": [0.1, 2.0]}).to_parquet(tmp_path / "t.parquet")
    (batch,) = read_batches(tmp_path / "t.parquet", weight="w")
    assert batch.columns[0].declared
    assert batch.columns[0].labels == ("s", "m", "l")
    assert batch.sample_weight is not None
    assert batch.sample_weight.tolist() == [0.1, 2.0]


@pytest.mark.parametrize(
    ("name", "content", "fragments"),
    [
        ("t.csv", "a,b\n1,0\n1,0,1\n", ["'t.csv' row 2 has 3 fields", "expected 2", "separator ','"]),
        ("t.csv", "1,0\n1\n", ["row 2 has 1 fields", "expected 2"]),
        ("t.data", "1,0\n1\n", ["row 2 has 1 fields"]),
        ("t.csv", "", ["'t.csv' is empty"]),
        ("t.csv", "\n\r\n", ["'t.csv' is empty"]),
        ("t.txt", " \n \r   ", ["'t.txt' is empty"]),
        ("t.csv.gz", "", ["is empty"]),
        ("t.data", "", ["is empty"]),
        ("t.csv", "a,b\n", ["'t.csv' names columns but has no rows"]),
        ("t.csv", "a,b,a\n1,2,3\n", ["'t.csv' repeats the column names 'a'"]),
        ("t.csv", b"a,b\n\xff\xfe,1\n", ["'t.csv' is not UTF-8"]),
        ("t.json", "{}", ["The kind of 't.json' is not known", ".csv, .tsv"]),
        ("t.parquet.gz", "x", ["The kind of 't.parquet.gz' is not known"]),
        ("t.parquet", "not parquet at all", ["'t.parquet' cannot be read", "what its name says"]),
        ("t.csv", "a" * 200_000 + "\n", ["'t.csv' cannot be read", "field larger"]),
    ],
)
def test_bad_files(tmp_path: Path, name: str, content: str | bytes, fragments: list[str]) -> None:
    with pytest.raises(DataError) as raised:
        list(read_batches(written(tmp_path, name, content)))
    message = str(raised.value)
    assert "\n" not in message
    assert all(fragment in message for fragment in fragments), message


def test_a_late_ragged_row_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delimited, "_BYTES_PER_PIECE", 64)
    monkeypatch.setattr(delimited, "_BYTES_OF_HEAD", 64)
    path = written(tmp_path, "t.csv.gz", "a,b\n" + "1,0\n" * 500 + "1\n" + "1,0\n" * 500)
    with pytest.raises(DataError, match=r"row 501 has 1 fields"):
        list(read_batches(path))


@pytest.mark.parametrize("keep", [0.5, 5, None])
@pytest.mark.parametrize("name", ["t.csv.gz", "t.data.gz"])
def test_damaged_gzip(tmp_path: Path, name: str, keep: float | None) -> None:
    rows = np.random.default_rng(0).integers(0, 2, (2000, 5))
    content = gzip.compress("\n".join(",".join(map(str, row)) for row in rows).encode())
    cut = {0.5: content[: len(content) // 2], 5: content[:5], None: b"this is no gzip"}[keep]
    (tmp_path / name).write_bytes(cut)
    with pytest.raises(DataError, match=f"'{name}' is damaged, cut short or not readable"):
        list(read_batches(tmp_path / name))


def test_no_file_and_directory(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"There is no file .*absent\.csv"):
        list(read_batches(tmp_path / "absent.csv"))
    with pytest.raises(DataError, match="is a directory"):
        list(read_batches(tmp_path))


@pytest.mark.parametrize("bad", ["heavy", "nan", "inf", "-1", "", "NA"])
def test_bad_weights(tmp_path: Path, bad: str) -> None:
    expected = f"'t.{{}}': Row 2 has the weight '{bad}'; weights must be finite"
    with pytest.raises(DataError, match=expected.format("csv")):
        list(read_batches(written(tmp_path, "t.csv", f"a,w\nx,1\ny,{bad}\n"), weight="w"))
    with pytest.raises(DataError, match=expected.format("data")):
        list(read_batches(written(tmp_path, "t.data", f"1|0,1\n{bad}|0,1\n")))


@pytest.mark.parametrize("beyond", ["1e-300", "1e308"])
def test_weights_whose_squares_overflow(tmp_path: Path, beyond: str) -> None:
    """Refused wherever a file holds them: in a column, or before the bar of a .data file."""
    for name, content, how in (
        ("t.csv", f"a,w\nx,1\ny,{beyond}\n", {"weight": "w"}),
        ("t.data", f"1|0,1\n{beyond}|0,1\n", {}),
    ):
        with pytest.raises(DataError, match=r"weight of a row ranges from .* between 1e-100 and 1e\+100"):
            UniqueRows.from_file(written(tmp_path, name, content), **how)


def test_missing_weight_in_parquet(tmp_path: Path) -> None:
    pq.write_table(pa.table({"a": ["x", "y"], "w": [1.0, None]}), tmp_path / "t.parquet")
    with pytest.raises(DataError, match="Row 2 has the weight None"):
        list(read_batches(tmp_path / "t.parquet", weight="w"))


def test_wrong_options(tmp_path: Path) -> None:
    path = written(tmp_path, "t.csv", "a,b\n1,0\n")
    with pytest.raises(DataError, match="no weight column 'w'; the columns are 'a', 'b'"):
        list(read_batches(path, weight="w"))
    with pytest.raises(InputError, match="header='yes' is not an option"):
        list(read_batches(path, header="yes"))
    with pytest.raises(DataError, match=r"weight='v0' does not apply to 't\.data'"):
        list(read_batches(written(tmp_path, "t.data", "0,1\n"), weight="v0"))


def test_nested_columns_are_refused(tmp_path: Path) -> None:
    pq.write_table(pa.table({"a": [[1], [2]]}), tmp_path / "t.parquet")
    with pytest.raises(DataError, match="Column 'a' holds values of type list"):
        list(read_batches(tmp_path / "t.parquet"))


@pytest.mark.parametrize("kind", ["csv", "csv.gz", "parquet"])
def test_progress_is_in_bytes_of_all_files(tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Progress grows from piece to piece and ends when all is read; compressed bytes count as they lie in the file."""
    monkeypatch.setattr(delimited, "_BYTES_OF_HEAD", 50)
    monkeypatch.setattr(delimited, "_BYTES_PER_PIECE", 4000)
    monkeypatch.setattr(readers, "_CELLS_PER_PIECE", 1000)
    rng = np.random.default_rng(0)
    for part in range(2):
        values = rng.integers(0, 9, (4000, 2))
        if kind == "parquet":
            pq.write_table(pa.table({"a": values[:, 0], "b": values[:, 1]}), tmp_path / f"{part}.parquet")
        else:
            written(tmp_path, f"{part}.{kind}", "a,b\n" + "".join(f"{a},{b}\n" for a, b in values))
    calls: list[tuple[int, int]] = []
    n_rows = sum(batch.n_rows for batch in read_batches(tmp_path, progress=lambda *call: calls.append(call)))
    total = sum(file.stat().st_size for file in tmp_path.iterdir())
    done = [each for each, _ in calls]
    assert n_rows == 8000
    assert {of for _, of in calls} == {total}
    assert done == sorted(done)
    assert 0 < done[0] < total / (2 if kind == "csv.gz" else 3)  # gzip reads ahead, here to the end of the first file
    assert done[-1] == total
