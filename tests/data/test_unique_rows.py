"""Distinct rows and their weights."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mrfit.core.errors import DataError
from mrfit.data.dataset import Dataset
from mrfit.data.encoding import ParseOptions
from mrfit.data.frames import table_batches
from mrfit.data.unique_rows import UniqueRows
from populations import domain_of, random_codes, tables
from reference.tables import distinct_rows


@given(tables(), st.data())
def test_unique_rows_are_those_of_a_counter(table: tuple[np.ndarray, tuple[int, ...]], data: st.DataObject) -> None:
    """Distinct rows in lexicographic order; rows of weight zero are gone."""
    codes, shape = table
    choices = st.lists(st.sampled_from([0.0, 0.5, 1.0, 3.0]), min_size=len(codes), max_size=len(codes))
    weight = np.array(data.draw(choices.filter(any)))
    rows = UniqueRows.from_codes(domain_of(shape), codes, weight)
    expected = distinct_rows(codes, weight)
    assert rows.codes.tolist() == [list(row) for row, _ in expected]
    assert rows.sample_weight.tolist() == [total for _, total in expected]
    assert rows.n_rows == len(codes)
    assert rows.total_weight == pytest.approx(weight.sum(), rel=1e-15)


def test_unique_rows_are_read_only(rng: np.random.Generator) -> None:
    """Nobody can spoil what a fit was made of."""
    rows = UniqueRows.from_codes(domain_of((2, 3)), random_codes(rng, (2, 3), 10), np.ones(10))
    with pytest.raises(ValueError, match="read-only"):
        rows.codes[0, 0] = 1
    with pytest.raises(ValueError, match="read-only"):
        rows.sample_weight[0] = 2.0


def test_unique_rows_with_columns_of_many_states(rng: np.random.Generator) -> None:
    """Codes up to 254 sort as numbers, not as signed bytes."""
    codes = rng.integers(0, 255, (500, 2)).astype(np.uint8)
    rows = UniqueRows.from_codes(domain_of((255, 255)), codes, np.ones(500))
    assert rows.codes.tolist() == [list(row) for row, _ in distinct_rows(codes, np.ones(500))]


def test_all_weights_zero_is_an_error() -> None:
    """The error explains; there is no empty table."""
    with pytest.raises(DataError, match="Every row has weight zero"):
        UniqueRows.from_codes(domain_of((2,)), np.zeros((3, 1), np.uint8), np.zeros(3))


def test_all_weights_zero_in_a_stream_is_the_same_error() -> None:
    """Streams are files with a column of weights."""
    [batch] = table_batches([[0, 1], [1, 0]])
    with pytest.raises(DataError, match="zero"):
        UniqueRows.from_batches([replace(batch, sample_weight=np.zeros(2))], ParseOptions())


def test_the_order_of_fractional_weights_is_not_seen(rng: np.random.Generator) -> None:
    """Bit for bit, as the class promises of every later sum."""
    codes, weight = random_codes(rng, (2, 2), 200), rng.random(200)
    order = rng.permutation(200)
    one, other = (UniqueRows.from_codes(domain_of((2, 2)), codes[k], weight[k]) for k in (np.arange(200), order))
    assert one.sample_weight.tolist() == other.sample_weight.tolist()


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak of a new process is read from /proc")
def test_memory_grows_with_distinct_rows_not_with_rows(tmp_path: Path) -> None:
    """Three times the rows of a file, the same distinct ones: the peak stays where it was (a new process for each)."""
    block = "".join(f"{k % 2},{k // 2 % 2},{k // 4 % 3},{k // 12 % 5}\n" for k in range(60)) * 1000
    script = (
        "import sys\n"
        "from pathlib import Path\n"
        "from mrfit import UniqueRows\n"
        "rows = UniqueRows.from_file(sys.argv[1])\n"
        "peak = Path('/proc/self/status').read_text().split('VmHWM:')[1].split()[0]\n"
        "print(rows.n_rows, rows.n_distinct, peak)\n"
    )
    peaks = []
    for times in (40, 120):
        path = tmp_path / f"{times}.csv"
        path.write_text("a,b,c,d\n" + block * times)
        output = subprocess.run(
            [sys.executable, "-c", script, str(path)], check=True, capture_output=True, text=True
        ).stdout
        n_rows, n_distinct, peak = map(int, output.split())
        assert (n_rows, n_distinct) == (60_000 * times, 60)
        peaks.append(peak)
    # The 4.8 million rows more would be 38 MB as text and 150 MB as a frame; the smaller file fills several pieces.
    assert peaks[1] < peaks[0] + 25_000, peaks


def test_whatever_holds_rows() -> None:
    """Distinct rows stay what they are; data sets and tables are counted."""
    table = {"a": [0, 1, 1], "b": ["x", "x", "x"]}
    rows = UniqueRows.from_dataset(Dataset.from_table(table))
    assert UniqueRows.of(rows) is rows
    for other in (Dataset.from_table(table), table):
        same = UniqueRows.of(other)
        assert (same.domain, same.sample_weight.tolist()) == (rows.domain, [1.0, 2.0])
