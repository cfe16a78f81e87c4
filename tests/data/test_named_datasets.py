"""The named data sets, with a source that is never the network."""

from __future__ import annotations

import gzip
import shutil
from collections import Counter
from pathlib import Path

import pytest

from mrfit.core.errors import DataError
from mrfit.data import Dataset
from mrfit.data import named_datasets as named
from mrfit.data.named_datasets import NamedFile, catalogue, directory, fetch, find, named_set, verify


def test_catalogue() -> None:
    names = [entry.name for entry in catalogue()]
    assert len(names) == len(set(names)) == 27
    benchmark = [entry for entry in catalogue() if entry.splits == ("train", "valid", "test")]
    assert len(benchmark) == 20
    assert all(file.blob_id and file.remote for entry in benchmark for file in entry.files)
    paths = Counter(file.path for entry in catalogue() for file in entry.files)
    assert len(paths) == 74
    assert set(paths.values()) == {1}
    assert all(entry.description and entry.citation and entry.source for entry in catalogue())


def test_unknown_names_get_a_hint() -> None:
    with pytest.raises(DataError, match=r"no data set named 'nltsc'\. Did you mean 'nltcs'"):
        named_set("nltsc")
    with pytest.raises(DataError, match=r"The names are 'nltcs', .* in all\); `mrfit data list`"):
        named_set("???")
    with pytest.raises(DataError, match="'nltcs' has no split 'dev'; it has 'train', 'valid', 'test'"):
        find("nltcs", "dev")


def test_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MRFIT_DATA", "/from/environment")
    assert directory(tmp_path) == tmp_path
    assert directory() == Path("/from/environment")
    monkeypatch.delenv("MRFIT_DATA")
    assert directory().name == "mrfit"


def test_find_looks_and_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "nltcs").mkdir()
    (tmp_path / "nltcs" / "train.csv.gz").write_bytes(b"not verified")
    assert find("nltcs", "train", tmp_path) == tmp_path / "nltcs" / "train.csv.gz"
    with pytest.raises(DataError, match=r"'nltcs/test\.csv\.gz' is not in .* Fetch it with `mrfit data get nltcs`"):
        find("nltcs", "test", tmp_path)
    with pytest.raises(DataError, match=r"cannot be downloaded.*cran/vcd.*--data DIR or MRFIT_DATA"):
        find("rochdale", "data", tmp_path)


@pytest.fixture
def source(monkeypatch: pytest.MonkeyPatch) -> dict[str, bytes]:
    """Addresses and what they hold, instead of the network."""
    held: dict[str, bytes] = {}

    def downloaded(url: str) -> bytes:
        if url not in held:
            raise OSError("404 Not Found")
        return held[url]

    monkeypatch.setattr(named, "downloaded", downloaded)
    return held


def test_fetch_says_what_fails_and_leaves_nothing(tmp_path: Path, source: dict[str, bytes]) -> None:
    with pytest.raises(
        DataError, match=r"raw\.githubusercontent\.com/.*/nltcs\.ts\.data\.gz cannot be downloaded: 404"
    ):
        fetch("nltcs", tmp_path)
    source["http://mirror/nltcs.ts.data.gz"] = gzip.compress(b"something else")
    with pytest.raises(DataError, match=r"What came from http://mirror/nltcs\.ts.* checksum differs"):
        fetch("nltcs", tmp_path, base_url="http://mirror")
    source["http://mirror/nltcs.ts.data.gz"] = b"<html>"
    with pytest.raises(DataError, match="checksum differs"):
        fetch("nltcs", tmp_path, base_url="http://mirror")
    assert list((tmp_path / "nltcs").iterdir()) == []
    with pytest.raises(DataError, match=r"yeast.*cannot be downloaded ready for use"):
        fetch("yeast", tmp_path)


def test_fetch_takes_another_compression_of_the_same_bytes(
    tmp_path: Path, data_dir: Path, source: dict[str, bytes]
) -> None:
    for split, key in (("train", "ts"), ("valid", "valid"), ("test", "test")):
        content = gzip.decompress((data_dir / "nltcs" / f"{split}.csv.gz").read_bytes())
        source[f"http://mirror/nltcs.{key}.data.gz"] = gzip.compress(content, compresslevel=1)
    paths = fetch("nltcs", tmp_path, base_url="http://mirror")
    assert [path.name for path in paths] == ["train.csv.gz", "valid.csv.gz", "test.csv.gz"]
    assert [Dataset.from_file(path).n_rows for path in paths] == [16181, 2157, 3236]
    source.clear()
    assert fetch("nltcs", tmp_path) == paths == verify("nltcs", tmp_path)


def test_a_killed_download_leaves_nothing_after_the_next(
    tmp_path: Path, data_dir: Path, source: dict[str, bytes]
) -> None:
    """Remains of a process killed while writing are swept up; an interrupted one cleans up itself."""
    for split, key in (("train", "ts"), ("valid", "valid"), ("test", "test")):
        source[f"http://mirror/nltcs.{key}.data.gz"] = (data_dir / "nltcs" / f"{split}.csv.gz").read_bytes()
    (tmp_path / "nltcs").mkdir()
    (tmp_path / "nltcs" / ".train.csv.gz.abcd1234.mrfit-partial").write_bytes(b"a part")
    paths = fetch("nltcs", tmp_path, base_url="http://mirror")
    assert sorted((tmp_path / "nltcs").iterdir()) == sorted(paths)


def test_verify(tmp_path: Path, data_dir: Path) -> None:
    assert verify("czech", tmp_path) == []
    shutil.copytree(data_dir / "czech", tmp_path / "czech")
    assert len(verify("czech", tmp_path)) == 2
    (tmp_path / "czech" / "counts.csv").write_text("changed")
    with pytest.raises(DataError, match=r"counts\.csv' is not the file of the catalogue"):
        verify("czech", tmp_path)


def test_git_blob_id() -> None:
    # `printf 'what is up, doc?' | git hash-object --stdin`, the example of the Git book
    assert named._blob_id(b"what is up, doc?") == "bd9dbf5aae1a3862dd1526723246b20206e5fc37"


def test_files_with_counts_say_so() -> None:
    (file,) = named_set("nltcs_counts").files
    assert isinstance(file, NamedFile)
    assert (file.path, file.weight) == ("nltcs/counts.csv.gz", "count")


@pytest.mark.parametrize("name", ["nltcs", "flow", "yeast", "nltcs_counts"])
def test_real_files_are_those_of_the_catalogue(data_dir: Path, name: str) -> None:
    entry = named_set(name)
    assert verify(name, data_dir) == fetch(name, data_dir)
    first = entry.files[0]
    data = Dataset.from_file(find(name, first.split, data_dir), weight=first.weight)
    assert data.codes.shape == (first.rows, entry.n_variables)
