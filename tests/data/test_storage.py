"""Wherever a table lies, readers ask the same of it."""

from __future__ import annotations

import io
import os
import pickle
from pathlib import Path
from types import SimpleNamespace

import pytest

from mrfit.core.errors import InputError
from mrfit.data.addresses import Address
from mrfit.data.readers import read_batches
from mrfit.data.storage import LocalFile, StandardInput, Storage, here

CONTENT = b"a,b\n0,1\n1,1\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "x.csv").write_bytes(CONTENT)
    (tmp_path / "parts" / "inner").mkdir()
    return tmp_path / "parts"


def folders(path: Path) -> list[Storage]:
    pytest.importorskip("fsspec")
    return [LocalFile(path), Address(f"file://{path}")]


def test_a_folder_and_a_file_in_it(folder: Path) -> None:
    for place in folders(folder):
        assert (place.exists(), place.is_dir(), place.name) == (True, True, "parts")
        inside = {found.name: is_folder for found, is_folder in place.inside()}
        assert inside == {"x.csv": False, "inner": True}
        (file,) = (found for found, is_folder in place.inside() if not is_folder)
        assert (file.suffix, file.n_bytes, file.is_stream, file.is_dir()) == (".csv", len(CONTENT), False, False)
        with file.open() as content:
            assert content.read() == CONTENT
        assert pickle.loads(pickle.dumps(file)) == file


def test_a_pattern_matches_files_alone(folder: Path) -> None:
    for place in folders(folder / "*"):
        assert not place.exists()
        assert [found.name for found in place.matching()] == ["x.csv"]


def test_a_file_may_be_named_from_any_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    place = here("x.csv").absolute()
    monkeypatch.chdir("/")
    assert place.exists()
    assert place == LocalFile(folder / "x.csv")


def test_a_pipe_has_no_length(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    place = here(tmp_path / "pipe")
    assert (place.exists(), place.is_stream, place.n_bytes) == (True, True, 0)


def test_standard_input_is_a_place(monkeypatch: pytest.MonkeyPatch) -> None:
    place = here("-")
    assert (str(place), place.name, place.suffix) == ("-", "standard input", "")
    assert (place.exists(), place.is_dir(), place.is_stream, place.n_bytes) == (True, False, True, 0)
    assert place == place.absolute() == here(Path("-")) == StandardInput()
    assert not place.inside()
    assert not list(place.matching())
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(CONTENT)))
    assert sum(batch.n_rows for batch in read_batches(place)) == 2
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(InputError, match="no standard input"):
        list(read_batches(place))
