"""Reading stops before it takes more memory than it may."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mrfit.core.errors import DataError, InputError
from mrfit.core.rounding import format_size
from mrfit.data.dataset import Dataset
from mrfit.data.encoding import ParseOptions
from mrfit.data.item_lists import read_items
from mrfit.data.memory import MemoryLimit, free_memory, n_bytes_of_size
from mrfit.data.partitioned_table import PartitionedTable
from mrfit.data.preview import FirstLook
from mrfit.data.row_counter import RowCounter
from mrfit.data.sparse_rows import SparseRows
from mrfit.data.unique_rows import UniqueRows
from mrfit.learning.learner import Learner
from mrfit.structures.simple import ChowLiuTree


@pytest.fixture
def parts(tmp_path: Path) -> Path:
    """Two files of 60,000 rows each, nearly all distinct, in two pieces each."""
    rng, folder = np.random.default_rng(0), tmp_path / "parts"
    folder.mkdir()
    for k in range(2):
        bits = rng.integers(ord("0"), ord("1") + 1, (60_000, 40), np.uint8)
        lines = np.full((60_000, 80), ord(","), np.uint8)
        lines[:, ::2], lines[:, -1] = bits, ord("\n")
        names = ",".join(f"v{j}" for j in range(40)) + "\n"
        (folder / f"{k}.csv").write_bytes(names.encode() + lines.tobytes())
    return folder


@pytest.mark.parametrize(
    ("text", "n_bytes"), [("2GB", 2e9), ("500 mb", 5e8), ("1.5k", 1500), (4096, 4096), (1e9, 1e9), ("1TB", 1e12)]
)
def test_sizes(text: str | float, n_bytes: float) -> None:
    assert n_bytes_of_size(text) == n_bytes
    assert n_bytes_of_size(format_size(n_bytes)) == pytest.approx(n_bytes, rel=5e-3)


@pytest.mark.parametrize("text", ["big", "0", "-1GB", "1.2.3GB", "GB"])
def test_what_is_no_size(text: str) -> None:
    with pytest.raises(InputError, match="is not a size; write it like 8GB"):
        ParseOptions(memory=text)


def test_the_least_of_machine_and_container_counts(tmp_path: Path) -> None:
    proc, groups = tmp_path / "proc", tmp_path / "groups"
    (groups / "memory").mkdir(parents=True)
    proc.mkdir()
    (proc / "meminfo").write_text("MemTotal:  900 kB\nMemAvailable:  800 kB\n")
    assert free_memory(proc, groups) == 800 * 1024
    (groups / "memory.max").write_text("max\n")
    (groups / "memory.current").write_text("300000\n")
    (groups / "memory.stat").write_text("anon 1\ninactive_file 100000\n")
    assert free_memory(proc, groups) == 800 * 1024
    (groups / "memory.max").write_text("500000\n")
    assert free_memory(proc, groups) == 500_000 - 300_000 + 100_000
    (groups / "memory" / "memory.limit_in_bytes").write_text("50000\n")
    (groups / "memory" / "memory.usage_in_bytes").write_text("20000\n")
    (groups / "memory" / "memory.stat").write_text("total_inactive_file 0\n")
    assert free_memory(proc, groups) == 30_000


def test_by_itself_it_is_most_of_what_is_free() -> None:
    assert 0.5 * free_memory() < MemoryLimit().n_bytes < free_memory()


def test_rows_that_need_more_are_not_read_on(parts: Path) -> None:
    """The error says what all of it would need, about as the whole table does."""
    told: list[tuple[int, int]] = []
    with pytest.raises(DataError) as error:
        UniqueRows.from_file(parts, ParseOptions(memory="2MB"), progress=lambda *bytes_: told.append(bytes_))
    of = sum(file.stat().st_size for file in parts.iterdir())
    assert all(total == of for _, total in told)
    assert told[-1][0] < of
    assert "need about 8." in str(error.value) or "need about 9" in str(error.value)
    assert "; 2 MB may be used." in str(error.value)
    whole = UniqueRows.from_file(parts, ParseOptions(memory="20MB"))
    assert whole == UniqueRows.from_file(parts)
    assert told == sorted(told)


def test_the_first_look_forecasts_it(parts: Path) -> None:
    counter, whole = RowCounter(), UniqueRows.from_file(parts)
    counter.add(whole.codes, whole.sample_weight)
    assert FirstLook.at(parts).n_bytes_needed == pytest.approx(counter.n_bytes_needed, rel=0.05)


def test_rows_that_are_kept_in_their_order(parts: Path) -> None:
    with pytest.raises(DataError, match="MB may be used"):
        Dataset.from_file(parts, memory="2MB")


def test_parts_hold_no_rows(parts: Path) -> None:
    fitted = Learner(ChowLiuTree()).fit(PartitionedTable.of(parts, ParseOptions(memory="2MB")))
    assert len(fitted.structure.structure.edges) == 39


def test_lists_of_items(tmp_path: Path) -> None:
    path = tmp_path / "x.items"
    path.write_text("".join(f"{k} {k + 1} {k + 2}\n" for k in range(1000)))
    with pytest.raises(DataError, match=r"'x.items': Its rows need about 2\d\d kB of memory; 100 kB may be used"):
        read_items(path, ParseOptions(memory="100kB"))
    assert isinstance(read_items(path, ParseOptions(memory="1MB")), SparseRows)  # codes would take four
    assert not isinstance(read_items(path, ParseOptions(memory="10MB")), SparseRows)
