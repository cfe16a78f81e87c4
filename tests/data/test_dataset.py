"""Tables and files as data sets: one table, one answer, however it is given."""

from __future__ import annotations

import csv
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mrfit.core.domain import Domain
from mrfit.core.errors import DataError
from mrfit.data import Dataset
from mrfit.data.readers import MISSING_SPELLINGS

# Text that survives a CSV file: anything but what is stripped, reads as missing, or cannot be written.
words = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=5).filter(
    lambda text: text.strip() not in MISSING_SPELLINGS
)


@st.composite
def tables(draw: st.DrawFn) -> list[list[str]]:
    n_columns = draw(st.integers(1, 4))
    pools = [draw(st.lists(words, min_size=1, max_size=3)) for _ in range(n_columns)]
    return draw(st.lists(st.tuples(*map(st.sampled_from, pools)).map(list), min_size=1, max_size=8))


def same(one: Dataset, other: Dataset) -> bool:
    return (
        one.domain == other.domain
        and np.array_equal(one.codes, other.codes)
        and np.array_equal(one.sample_weight, other.sample_weight)
    )


@settings(deadline=None)
@given(tables())
def test_a_file_equals_its_table(rows: list[list[str]]) -> None:
    with TemporaryDirectory() as directory:
        path = Path(directory) / "t.csv"
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, quoting=csv.QUOTE_ALL)
            writer.writerow([f"v{j}" for j in range(len(rows[0]))])
            writer.writerows(rows)
        assert same(Dataset.from_file(path), Dataset.from_table(rows))


@given(st.lists(st.lists(st.booleans(), min_size=3, max_size=3), min_size=1, max_size=10))
def test_codings_of_two_states_agree(rows: list[list[bool]]) -> None:
    bits = np.array(rows).astype(int)
    spins = 2 * bits - 1
    if not (spins == -1).any():
        return  # a table of ones alone says nothing of -1
    words = np.where(bits == 1, "yes", "no")
    states = {f"v{j}": ["no", "yes"] for j in range(3)}
    expected = bits.tolist()
    for table in (
        bits,
        bits.astype(float),
        bits.astype(str),
        np.array(rows),
        np.array(rows).astype(str),
        spins,
    ):
        assert Dataset.from_table(table).codes.tolist() == expected
        assert set(Dataset.from_table(table).domain.shape) == {2}
    assert Dataset.from_table(words, states=states).codes.tolist() == expected


@given(tables(), st.randoms(use_true_random=False))
def test_permuted_columns_are_matched_by_name(rows: list[list[str]], random: Random) -> None:
    data = Dataset.from_table(rows)
    order = list(range(len(rows[0])))
    random.shuffle(order)
    permuted = {f"v{j}": [row[j] for row in rows] for j in order}
    assert same(Dataset.from_table(permuted, domain=data.domain), data)


def test_arrays_are_read_only_bytes_in_row_order() -> None:
    data = Dataset.from_table(np.eye(4))
    assert data.codes.dtype == np.uint8
    assert data.codes.flags.c_contiguous
    assert not data.codes.flags.writeable
    assert not data.sample_weight.flags.writeable
    assert (data.n_rows, data.n_variables, data.total_weight, data.dropped_rows) == (4, 4, 4.0, 0)


def test_weights_stay_with_their_rows() -> None:
    data = Dataset.from_table({"a": ["x", None, "y"]}, sample_weight=[1, 2, 3], missing="drop")
    assert data.sample_weight.tolist() == [1, 3]
    assert data.total_weight == 4
    assert data.dropped_rows == 1


def test_zero_weights_alone_are_refused(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,w\nx,0\ny,0\n")
    with pytest.raises(DataError, match="zero in every row"):
        Dataset.from_file(tmp_path / "t.csv", weight="w")


def test_the_weight_column_alone_is_no_table(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("w\n1\n2\n")
    with pytest.raises(DataError, match="no columns besides its weights"):
        Dataset.from_file(tmp_path / "t.csv", weight="w")


def test_continuous_columns_of_files_are_refused(tmp_path: Path) -> None:
    pd.DataFrame({"age": np.linspace(0, 1, 300)}).to_csv(tmp_path / "t.csv", index=False)
    with pytest.raises(DataError, match=r"Column 'age' has too many different values \(300 in 300 rows\)"):
        Dataset.from_file(tmp_path / "t.csv")


def test_the_caller_keeps_the_array() -> None:
    codes = np.zeros((2, 1), dtype=np.uint8)
    data = Dataset(Domain.from_states({"a": ["x", "y"]}), codes)
    assert data.sample_weight.tolist() == [1, 1]
    assert codes.flags.writeable


@pytest.mark.parametrize(
    ("codes", "message"),
    [
        (np.zeros((2, 2), np.uint8), r"shape \(2, 2\).* 1 columns"),
        (np.zeros((0, 1), np.uint8), "at least one row"),
        (np.zeros((2, 1)), "type float64"),
        (np.full((2, 1), 2), "codes of 'a' leave the range 0 to 1"),
        (np.full((2, 1), -1), "codes of 'a' leave the range 0 to 1"),
    ],
)
def test_codes_must_fit_the_domain(codes: np.ndarray, message: str) -> None:
    with pytest.raises(DataError, match=message):
        Dataset(Domain.from_states({"a": ["x", "y"]}), codes)


def test_a_domain_of_too_many_states() -> None:
    with pytest.raises(DataError, match="has 300 states; the limit is 255"):
        Dataset(Domain.from_states({"a": map(str, range(300))}), np.zeros((1, 1), np.uint8))


@pytest.mark.parametrize(("name", "shape"), [("nltcs", (16181, 16)), ("dna", (1600, 180))])
def test_real_benchmark_sets(data_dir: Path, name: str, shape: tuple[int, int]) -> None:
    data = Dataset.from_file(data_dir / name / "train.csv.gz")
    assert data.codes.shape == shape
    assert set(data.domain.to_states()["v0"]) == {"0", "1"}
    plain = np.loadtxt(data_dir / name / "train.csv.gz", delimiter=",", dtype=np.uint8)
    np.testing.assert_array_equal(data.codes, plain)


@pytest.mark.parametrize("name", ["rochdale", "czech"])
def test_counts_weigh_as_much_as_rows(data_dir: Path, name: str) -> None:
    rows = Dataset.from_file(data_dir / name / "data.csv.gz")
    counts = Dataset.from_file(data_dir / name / "counts.csv", weight="count")
    assert counts.domain == rows.domain
    assert counts.total_weight == rows.n_rows
    np.testing.assert_allclose(counts.sample_weight @ counts.codes, rows.codes.sum(axis=0))
