"""One table from streams, directories, patterns and text of any encoding."""

from __future__ import annotations

import gzip
import io
import os
import re
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mrfit.core.errors import DataError, InputError
from mrfit.data import Dataset, delimited
from mrfit.data.delimited import _last_row_end
from mrfit.data.encoding import ParseOptions
from mrfit.data.unique_rows import UniqueRows

CONTENT = b"a,b\nx,1\ny,0\nx,0\n"
CODES = [[0, 1], [1, 0], [0, 0]]


def parquet_bytes() -> bytes:
    buffer = io.BytesIO()
    pq.write_table(pa.table({"a": ["x", "y", "x"], "b": [1, 0, 0]}), buffer)
    return buffer.getvalue()


@contextmanager
def fifo(path: Path, content: bytes, chunk: int = 2**20) -> Iterator[Path]:
    """A pipe into which another thread writes, ``chunk`` bytes at a time."""
    os.mkfifo(path)

    def write() -> None:
        with path.open("wb", buffering=0) as file:
            for start in range(0, len(content), chunk):
                file.write(content[start : start + chunk])
                time.sleep(0)

    writer = threading.Thread(target=write)
    writer.start()
    yield path
    writer.join()


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("chunk", [1, 2**20])
def test_a_pipe_is_read_once(tmp_path: Path, chunk: int, packed: bool) -> None:
    with fifo(tmp_path / "pipe", gzip.compress(CONTENT) if packed else CONTENT, chunk) as path:
        assert Dataset.from_file(path).codes.tolist() == CODES


def test_a_long_pipe_is_read_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delimited, "_BYTES_PER_PIECE", 1000)
    monkeypatch.setattr(delimited, "_BYTES_OF_HEAD", 100)
    with fifo(tmp_path / "pipe", b"a,b\n" + b"0,1\n1,1\n" * 50_000) as path:
        assert UniqueRows.from_file(path).sample_weight.tolist() == [50_000, 50_000]


def test_the_kind_of_a_pipe(tmp_path: Path) -> None:
    with fifo(tmp_path / "sniffed", parquet_bytes()) as path:
        assert Dataset.from_file(path).codes.tolist() == CODES
    with fifo(tmp_path / "t.tsv", CONTENT.replace(b",", b"\t")) as path:
        assert Dataset.from_file(path).codes.tolist() == CODES
    with fifo(tmp_path / "said", b"2|0,1\n1,0\n") as path:
        assert Dataset.from_file(path, format="data").sample_weight.tolist() == [2, 1]


@pytest.mark.parametrize("content", [CONTENT, gzip.compress(CONTENT), parquet_bytes()], ids=["csv", "gzip", "parquet"])
def test_standard_input(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(content)))
    assert Dataset.from_file("-").codes.tolist() == CODES


def test_standard_input_is_named_in_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"")))
    with pytest.raises(DataError, match="'standard input' is empty"):
        Dataset.from_file("-")
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(InputError, match="no standard input"):
        Dataset.from_file("-")


def test_descriptors_have_no_suffix(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(CONTENT)
    with (tmp_path / "t.csv").open("rb") as file:
        assert Dataset.from_file(f"/dev/fd/{file.fileno()}").codes.tolist() == CODES


def test_format_overrides_the_suffix(tmp_path: Path) -> None:
    (tmp_path / "table.dat").write_bytes(CONTENT)
    with pytest.raises(DataError, match=r"The kind of 'table\.dat' is not known.*format='csv'"):
        Dataset.from_file(tmp_path / "table.dat")
    assert Dataset.from_file(tmp_path / "table.dat", format="csv").codes.tolist() == CODES
    (tmp_path / "t.csv").write_bytes(parquet_bytes())
    assert Dataset.from_file(tmp_path / "t.csv", format="parquet").codes.tolist() == CODES


def test_gzip_is_known_by_its_first_bytes(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(gzip.compress(CONTENT))
    assert Dataset.from_file(tmp_path / "t.csv").codes.tolist() == CODES


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_byte_order_marks(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "t.csv").write_bytes("é,b\nü,1\ny,0\n".encode(encoding))
    assert Dataset.from_file(tmp_path / "t.csv").domain.to_states() == {"é": ["y", "ü"], "b": ["0", "1"]}


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16-le", "cp1252"])
def test_encodings_as_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, encoding: str) -> None:
    monkeypatch.setattr(delimited, "_BYTES_PER_PIECE", 7)  # characters are cut in two
    (tmp_path / "t.csv").write_bytes(("é,b\n" + "ü,1\ny,0\n" * 9).encode(encoding))
    data = Dataset.from_file(tmp_path / "t.csv", encoding=encoding)
    assert (data.domain.names, data.n_rows) == (("é", "b"), 18)


@pytest.mark.parametrize("n_rows", [2, 300_000])
def test_a_wrong_byte_is_found(tmp_path: Path, n_rows: int) -> None:
    (tmp_path / "t.csv").write_bytes(b"a,b\n" + b"0,1\n" * n_rows + b"0,\xe9\n")
    expected = rf"'t\.csv' is not UTF-8 text: byte {4 * n_rows + 7} \(line {n_rows + 2}\) is 0xe9.*encoding='latin-1'"
    with pytest.raises(DataError, match=expected):
        Dataset.from_file(tmp_path / "t.csv")


@pytest.mark.parametrize(("content", "encoding"), [(CONTENT, "utf-16"), (b"a,b\n+2AA-,1\n", "utf-7")])
def test_text_of_another_encoding(tmp_path: Path, content: bytes, encoding: str) -> None:
    (tmp_path / "t.csv").write_bytes(content)
    with pytest.raises(DataError, match=rf"'t\.csv' is not text in {encoding}: "):
        Dataset.from_file(tmp_path / "t.csv", encoding=encoding)


@pytest.mark.parametrize("ends", [["\r"], ["\n"], ["\r\n"], ["\r", "\n", "\r\n"]], ids=repr)
@pytest.mark.parametrize("size", [1, 5, 2**22])
def test_line_ends_of_all_kinds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ends: list[str], size: int) -> None:
    monkeypatch.setattr(delimited, "_BYTES_PER_PIECE", size)
    monkeypatch.setattr(delimited, "_BYTES_OF_HEAD", size)
    lines = ["a,b", *(f"{k % 2},{k // 2 % 2}" for k in range(20))]
    content = "".join(line + ends[k % len(ends)] for k, line in enumerate(lines))
    (tmp_path / "t.csv").write_bytes(content.encode())
    data = Dataset.from_file(tmp_path / "t.csv")
    assert data.codes.tolist() == [[k % 2, k // 2 % 2] for k in range(20)]


@pytest.mark.parametrize(
    ("text", "end"),
    [
        (b"a\nb", 2),
        (b"a\nb\r", 2),
        (b"a\rb", 2),
        (b"a\r\nb", 3),
        (b'a\n"b\nc', 2),
        (b'a\n"b\nc"\nd', 8),
        (b'"a\n"\n"b\n', 5),
        (b'"a\n', 0),
        (b"", 0),
    ],
)
def test_the_last_row_ends_outside_quotes(text: bytes, end: int) -> None:
    assert _last_row_end(text) == end


def test_a_quote_that_stays_open_takes_no_longer() -> None:
    text = b'"x\n' + b"0,1\n" * 2**20  # counting again at every line break would not end
    assert _last_row_end(text) == 0


@pytest.fixture
def parts(tmp_path: Path) -> Path:
    """Three files of one table, and what is no part of it."""
    (tmp_path / "b.csv").write_text("b,a\n0,y\n")
    (tmp_path / "a.csv").write_text("a,b\nx,1\n")
    (tmp_path / "c.csv.gz").write_bytes(gzip.compress(b"a,b\nz,2\n"))
    (tmp_path / "_SUCCESS").touch()
    (tmp_path / ".hidden.csv").write_text("?")
    (tmp_path / "notes.md").write_text("?")
    return tmp_path


def test_a_directory_is_one_table(parts: Path) -> None:
    data = Dataset.from_file(parts)
    assert data.domain.to_states() == {"a": ["x", "y", "z"], "b": ["0", "1", "2"]}
    assert data.codes.tolist() == [[0, 1], [1, 0], [2, 2]]
    assert UniqueRows.from_file(str(parts)).n_rows == 3


def test_a_pattern_is_one_table(parts: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert Dataset.from_file(parts / "*.csv").codes.tolist() == [[0, 1], [1, 0]]
    monkeypatch.chdir(parts)
    assert Dataset.from_file("[ab].csv").n_rows == 2
    with pytest.raises(DataError, match=r"No file matches the pattern '\*\.tsv'"):
        Dataset.from_file("*.tsv")
    (parts / "a[1].csv").write_text("a,b\nx,1\n")  # a file of that name goes first
    assert Dataset.from_file("a[1].csv").n_rows == 1


def test_a_directory_of_parquet(tmp_path: Path) -> None:
    for part in range(3):
        pq.write_table(pa.table({"a": [part, 0], "w": [1.0, 2.0]}), tmp_path / f"part-{part}.parquet")
    data = Dataset.from_file(tmp_path, weight="w")
    assert data.codes.ravel().tolist() == [0, 0, 1, 0, 2, 0]
    assert data.sample_weight.tolist() == [1, 2] * 3


def test_folders_name_columns(tmp_path: Path) -> None:
    """Folders are named as table engines write them: any depth, escaped, one without a value; others are ignored."""
    folders = ["year=2024/city=S%C3%A3o%20Paulo", "year=2024/city=Rome", "year=2025/city=__HIVE_DEFAULT_PARTITION__"]
    for number, folder in enumerate([*folders, "other", "_temporary=1", ".hidden=2"]):
        (tmp_path / folder).mkdir(parents=True)
        pq.write_table(pa.table({"a": [number, 0]}), tmp_path / folder / "part-0.parquet")
    data = Dataset.from_file(tmp_path, missing="state")
    states = data.domain.to_states()
    assert list(states) == ["a", "year", "city"]
    rows = [[states[name][code] for name, code in zip(states, row, strict=True)] for row in data.codes]
    assert rows == [
        ["1", "2024", "Rome"], ["0", "2024", "Rome"], ["0", "2024", "São Paulo"], ["0", "2024", "São Paulo"],
        ["2", "2025", "missing"], ["0", "2025", "missing"],
    ]  # fmt: skip
    assert list(Dataset.from_file(tmp_path, exclude=["city"]).domain.names) == ["a", "year"]
    assert Dataset.from_file(tmp_path / folders[0]).domain.names == ("a",)  # only below the directory that is named


def test_a_folder_names_no_column_twice(tmp_path: Path) -> None:
    (tmp_path / "a=1").mkdir()
    (tmp_path / "a=1" / "t.csv").write_text("a,b\n1,0\n")
    with pytest.raises(DataError, match=r"'t\.csv': With its folders, the file repeats the column names 'a'"):
        Dataset.from_file(tmp_path)


def test_a_list_is_one_table(parts: Path) -> None:
    """Files keep the order of the list, which may contain directories and patterns."""
    listed = Dataset.from_file([parts / "b.csv", str(parts / "c*")])
    assert listed.domain.to_states() == {"b": ["0", "2"], "a": ["y", "z"]}
    assert listed.codes.tolist() == [[0, 0], [1, 1]]
    assert UniqueRows.from_file([parts]) == UniqueRows.from_file(parts)
    with pytest.raises(DataError, match=r"^'b\.csv and 1 more': Column 'a' holds 'z' \(row 1 of 'c\.csv\.gz'\)"):
        Dataset.from_file([parts / "b.csv", parts / "c.csv.gz"], states={"a": ["y"]})


@pytest.mark.parametrize(
    ("sources", "message"),
    [
        ([], "The list of files is empty"),
        (["a.csv", "a.csv"], "'a.csv' is named twice"),
        (["a.csv", "*.tsv"], "No file matches the pattern"),
        (["a.csv", "none.csv"], "There is no file 'none.csv'"),
    ],
)
def test_lists_that_are_no_table(
    parts: Path, monkeypatch: pytest.MonkeyPatch, sources: list[str], message: str
) -> None:
    monkeypatch.chdir(parts)
    with pytest.raises(DataError, match=re.escape(message)):
        UniqueRows.from_file(sources)


def test_the_part_that_is_broken_is_named(tmp_path: Path) -> None:
    for part in range(3):
        pq.write_table(pa.table({"a": [0, 1]}), tmp_path / f"{part}.parquet")
    (tmp_path / "1.parquet").write_bytes(b"PAR1 and no more")
    with pytest.raises(DataError, match=r"^'1\.parquet' cannot be read"):
        UniqueRows.from_file(tmp_path)


def test_the_file_that_differs_is_named(parts: Path) -> None:
    (parts / "d.csv").write_text("a,c\nx,1\n")
    with pytest.raises(DataError, match=r"'d\.csv' lacks 'b' and adds 'c', compared with 'a\.csv'"):
        Dataset.from_file(parts)


def test_rows_are_named_with_their_file(parts: Path) -> None:
    with pytest.raises(DataError, match=r"holds 'y' \(row 1 of 'b\.csv'\)"):
        Dataset.from_file(parts, states={"a": ["x", "z"]})
    (parts / "b.csv").write_text("a,b\nx,1\n,0\n")
    with pytest.raises(DataError, match=r"no value \(empty or NaN\) in row 2 of 'b\.csv'"):
        Dataset.from_file(parts)


def test_parts_without_rows(parts: Path) -> None:
    (parts / "a.csv").write_text("a,b\n")
    assert Dataset.from_file(parts).n_rows == 2
    (parts / "b.csv").write_text("a,b\n")
    with pytest.raises(DataError, match="has no rows"):
        Dataset.from_file(parts / "*.csv")


def test_a_directory_without_tables(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="is a directory without tables"):
        Dataset.from_file(tmp_path)


@pytest.mark.parametrize("spelling", ["-9", "-9.0", "none"])
def test_more_spellings_of_missing(tmp_path: Path, spelling: str) -> None:
    (tmp_path / "t.csv").write_text(f"a,b\n1,0\n{spelling},1\nNA,0\n")
    data = Dataset.from_file(tmp_path / "t.csv", missing="drop", na_values=["-9", "none"])
    assert (data.n_rows, data.dropped_rows) == (1, 2)
    pq.write_table(pa.table({"a": [1, -9]}), tmp_path / "t.parquet")
    assert Dataset.from_file(tmp_path / "t.parquet", missing="drop", na_values="-9").n_rows == 1


def test_named_sets(data_dir: Path) -> None:
    by_name, by_path = Dataset.from_file("nltcs:train"), Dataset.from_file(data_dir / "nltcs" / "train.csv.gz")
    np.testing.assert_array_equal(by_name.codes, by_path.codes)
    assert UniqueRows.from_file("nltcs:train", ParseOptions(by_path.domain)).n_rows == 16181
    with pytest.raises(InputError, match="say which part, as in nltcs:train"):
        Dataset.from_file("nltcs")


def test_notes_stay_with_the_rows(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a\n1\n0\n")
    (note,) = Dataset.from_file(tmp_path / "t.csv").notes
    assert note.startswith("'t.csv': it has one column, 'a'")
    assert UniqueRows.from_file(tmp_path / "t.csv").notes == (note,)


def test_one_file_speaks_for_all(tmp_path: Path) -> None:
    for part in range(3):
        (tmp_path / f"{part}.csv").write_text("a\n1\n0\n")
    assert len(Dataset.from_file(tmp_path).notes) == 1
