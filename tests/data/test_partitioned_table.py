"""Tables in files that are read apart."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from mrfit.core.errors import DataError, InputError
from mrfit.data.encoding import ParseOptions
from mrfit.data.partitioned_table import PartitionedTable
from mrfit.data.unique_rows import UniqueRows


def test_states_are_those_of_one_table(tmp_path: Path) -> None:
    """Whichever file holds a state first; missing values, spins, a file without rows, folders that name columns."""
    for folder, lines in (("year=1", "a,b\nx,1\ny,-1\n"), ("year=2", "b,a\n1,w\n,x\n"), ("year=3", "a,b\n")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "t.csv").write_text(lines)
    parts = PartitionedTable.of(tmp_path, ParseOptions(missing="state"))
    rows = UniqueRows.from_file(tmp_path, ParseOptions(missing="state"))
    assert parts.domain == rows.domain
    assert parts.domain.to_states()["b"] == ["-1", "1", "missing"]
    copy = pickle.loads(pickle.dumps(parts))
    assert copy.rows() == parts.rows() == rows
    assert [part.called() for part in parts.each()] == ["'t.csv'"] * 3
    first, second = parts.dealt(2)
    assert first.files + second.files == parts.files
    assert len(parts.dealt(9)) == 3


def test_bytes_are_told_file_by_file(tmp_path: Path) -> None:
    for k in (1, 2):
        (tmp_path / f"{k}.csv").write_text("a,b\n" + k * "0,1\n1,1\n")
    told: list[tuple[int, int]] = []
    PartitionedTable.of(tmp_path, progress=lambda done, of: told.append((done, of)))
    assert told == [(12, 32), (32, 32)]


def test_columns_are_judged_by_all_files(tmp_path: Path) -> None:
    """Columns are read as in one table: 21 values in one file are too many, as many again make them states."""
    line = "\n".join(map(str, range(21)))
    (tmp_path / "1.csv").write_text(f"a\n{line}\n")
    with pytest.raises(DataError, match="a different value in nearly every row"):
        PartitionedTable.of(tmp_path)
    (tmp_path / "2.csv").write_text(f"a\n{line}\n")
    assert len(PartitionedTable.of(tmp_path).domain[0].states) == 21


def test_declared_states_are_not_looked_for(tmp_path: Path) -> None:
    (tmp_path / "1.csv").write_text("a\n0\n2\n")
    domain = UniqueRows.from_file(tmp_path).domain
    parts = PartitionedTable.of(tmp_path, ParseOptions(domain))
    (tmp_path / "1.csv").write_text("a\n0\n7\n")  # read only now
    with pytest.raises(DataError, match=r"'1.csv': Column 'a' holds '7'"):
        parts.rows()


def test_what_cannot_be_read_apart(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="a stream only once"):
        PartitionedTable.of("-")
    with pytest.raises(DataError, match="There is no file"):
        PartitionedTable.of([tmp_path / "none.csv"])
