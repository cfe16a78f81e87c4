"""Tables by address, on file systems of fsspec that are in memory or on this disk."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from fsspec.implementations.memory import MemoryFileSystem
from pyarrow import parquet

from mrfit.core.errors import DataError, InputError
from mrfit.data.addresses import Address, is_address
from mrfit.data.item_lists import read_items
from mrfit.data.partitioned_table import PartitionedTable
from mrfit.data.sources import files_of
from mrfit.data.unique_rows import UniqueRows
from mrfit.learning.learner import Learner
from mrfit.structures.simple import ChowLiuTree

TEXT = b"a,b,c\n0,1,1\n1,1,0\n0,0,1\n1,0,0\n"


@pytest.fixture
def memory() -> Iterator[MemoryFileSystem]:
    """Empty before and after: all of a process share it."""
    system = MemoryFileSystem()
    system.rm("/", recursive=True)
    yield system
    system.rm("/", recursive=True)


def written(memory: MemoryFileSystem, path: str, content: bytes) -> str:
    memory.pipe(path, content)
    return f"memory:/{path}"


def parquet_bytes(**columns: list[Any]) -> bytes:
    sink = pa.BufferOutputStream()
    parquet.write_table(pa.table(columns), sink)
    return bytes(sink.getvalue().to_pybytes())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("s3://bucket/x.csv", True),
        ("memory://x", True),
        ("zip://x.csv::s3://bucket/x.zip", True),
        ("simplecache::s3://bucket/x.csv", True),
        ("nltcs:train", False),
        ("c://x.csv", False),
        ("parts/x.csv", False),
        ("a::b.csv", False),
        (Path("s3://x.csv"), False),
    ],
)
def test_what_an_address_is(text: str | Path, expected: bool) -> None:
    assert is_address(text) == expected


def test_a_file_is_read_as_from_disk(memory: MemoryFileSystem, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(TEXT)
    here = UniqueRows.from_file(tmp_path / "t.csv")
    told: list[tuple[int, int]] = []
    there = UniqueRows.from_file(written(memory, "/t.csv", TEXT), progress=lambda done, of: told.append((done, of)))
    assert there == here
    assert told[-1] == (len(TEXT), len(TEXT))
    assert UniqueRows.from_file(f"file://{tmp_path}/t.csv") == here


def test_gzip_is_unpacked(memory: MemoryFileSystem) -> None:
    import gzip

    plain, packed = written(memory, "/t.csv", TEXT), written(memory, "/t.csv.gz", gzip.compress(TEXT))
    assert UniqueRows.from_file(packed) == UniqueRows.from_file(plain)


def test_directories_and_patterns_are_one_table(memory: MemoryFileSystem) -> None:
    for name in ("0.csv", "1.csv", "_note.csv", ".hidden.csv"):
        written(memory, f"/parts/{name}", TEXT)
    written(memory, "/parts/more/2.csv", TEXT)
    whole = UniqueRows.from_file("memory://parts/")
    assert whole.n_rows == 8
    assert UniqueRows.from_file("memory://parts/?.csv") == whole
    assert UniqueRows.from_file(["memory://parts/0.csv", "memory://parts/1.csv"]) == whole


def test_partitioned_parquet_has_the_columns_of_its_folders(memory: MemoryFileSystem) -> None:
    for year in ("2023", "2024", "__HIVE_DEFAULT_PARTITION__"):
        written(memory, f"/sales/year={year}/part-0.parquet", parquet_bytes(a=[0, 1, 1], b=["x", "y", "x"]))
    files = files_of("memory://sales", (".parquet",))
    assert [file.folder_columns for file in files] == [(("year", v),) for v in ("2023", "2024", None)]
    some = UniqueRows.from_file(["memory://sales/year=2023", "memory://sales/year=2024"])
    assert some.domain.names == ("a", "b")  # a folder by itself names no column
    with pytest.raises(DataError, match="missing"):
        UniqueRows.from_file("memory://sales")
    memory.rm("/sales/year=__HIVE_DEFAULT_PARTITION__", recursive=True)
    assert UniqueRows.from_file("memory://sales").domain.names == ("a", "b", "year")


def test_parts_of_addresses_are_counted_apart(memory: MemoryFileSystem, tmp_path: Path) -> None:
    for k in range(2):
        written(memory, f"/parts/{k}.csv", TEXT)
    learner = Learner(ChowLiuTree())
    there = learner.fit(PartitionedTable.of("memory://parts"))
    (tmp_path / "t.csv").write_bytes(TEXT + TEXT.partition(b"\n")[2])
    here = learner.fit(PartitionedTable.of(tmp_path / "t.csv"))
    assert (there.model.w == here.model.w).all()


def test_item_lists(memory: MemoryFileSystem) -> None:
    rows = read_items(written(memory, "/x.items", b"milk bread\nbread\n\n"))
    assert rows.domain.names == ("bread", "milk")
    assert rows.n_rows == 3


def test_files_within_an_archive(memory: MemoryFileSystem, tmp_path: Path) -> None:
    from zipfile import ZipFile

    with ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr("parts/0.csv", TEXT)
        archive.writestr("parts/1.csv", TEXT)
    address = f"zip://parts::file://{tmp_path}/x.zip"
    files = files_of(address, (".csv",))
    assert [str(file.place) for file in files] == [f"zip://parts/{k}.csv::file://{tmp_path}/x.zip" for k in range(2)]
    assert UniqueRows.from_file(address).n_rows == 8


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("memory://nothing.csv", "There is no file 'memory://nothing.csv'"),
        ("memory://nothing/*.csv", "No file matches the pattern"),
        ("nonsense://x.csv", "'nonsense://x.csv' cannot be reached: Protocol not known"),
        ("file:///proc/1/mem/x.csv", "x.csv"),
    ],
)
def test_what_is_not_there_is_one_line(memory: MemoryFileSystem, address: str, said: str) -> None:
    with pytest.raises(DataError) as error:
        UniqueRows.from_file(address)
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_a_folder_without_tables(memory: MemoryFileSystem) -> None:
    written(memory, "/parts/readme.md", b"")
    with pytest.raises(DataError, match=r"'memory://parts' is a directory without tables"):
        UniqueRows.from_file("memory://parts")


def test_a_driver_that_fails_while_it_reads(memory: MemoryFileSystem, monkeypatch: pytest.MonkeyPatch) -> None:
    """Drivers have exceptions of their own, of no class that could be known here."""

    class ThrottledError(Exception):
        pass

    def fail(*_: object) -> bytes:
        raise ThrottledError("slow down\nplease")

    address = written(memory, "/t.csv", TEXT)
    monkeypatch.setattr("fsspec.implementations.memory.MemoryFile.read", fail)
    with pytest.raises(DataError, match=r"'memory://t.csv' cannot be reached: slow down please\. Check"):
        UniqueRows.from_file(address)


def test_without_fsspec_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    with pytest.raises(InputError, match=r"needs fsspec, which is not installed.*mrfit\[remote\]"):
        UniqueRows.from_file("s3://bucket/x.csv")


def test_an_address_travels_as_its_text() -> None:
    import pickle

    address = Address("memory://x.csv")
    assert pickle.loads(pickle.dumps(address)) == address
