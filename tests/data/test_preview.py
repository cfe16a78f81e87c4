"""Preview of a table from its first rows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from mrfit.data.preview import FirstLook


def test_a_table_of_one_piece_is_known(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,1\n0,1\n1,1\n0,0\n")
    look = FirstLook.at(path)
    assert (look.n_rows, look.n_columns, look.n_seen, look.n_bytes) == (4, 2, 4, path.stat().st_size)
    assert (look.share_distinct, look.n_entries, look.n_shared) == (0.75, 5, 4 + 1 + 4)


def test_a_large_table_is_known_from_its_first_piece(tmp_path: Path, rng: np.random.Generator) -> None:
    n_rows, n_columns = 2**20, 16  # two pieces of 2^23 cells
    parquet.write_table(
        pa.table({f"v{j}": rng.random(n_rows) < 0.25 for j in range(n_columns)}), tmp_path / "t.parquet"
    )
    look = FirstLook.at(tmp_path / "t.parquet")
    assert look.n_seen == 2**19
    assert look.n_rows == pytest.approx(n_rows, rel=0.01)
    assert look.n_entries == pytest.approx(0.25 * n_rows * n_columns, rel=0.02)


def test_files_of_lists_are_looked_at_whole(tmp_path: Path) -> None:
    path = tmp_path / "rows.items"
    path.write_text("a b c\n\nb\n")
    look = FirstLook.at(path)
    assert (look.n_rows, look.n_columns, look.n_entries, look.n_shared) == (3, 3, 4, 10)
    assert not look.is_lists  # so few have codes
