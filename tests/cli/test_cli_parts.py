"""Several DATA, tables in parts, and what is said of clusters; a cluster itself is in tests/core/test_cluster.py."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mrfit import MarkovNetwork

Shell = Callable[..., Any]


@pytest.fixture
def _files(tmp_path: Path, rng: np.random.Generator) -> None:
    """Two files of one table, with a column that looks like an address."""
    for name in ("x.csv", "y.csv"):
        codes = rng.integers(0, 2, (60, 3))
        codes[:, 1] = np.where(rng.random(60) < 0.8, codes[:, 0], codes[:, 1])
        lines = [f"s{k // 6},{a},{b},{c}" for k, (a, b, c) in enumerate(codes.tolist())]
        (tmp_path / name).write_text("\n".join(["local:2,a,b,c", *lines]) + "\n")


@pytest.mark.usefixtures("_files")
def test_several_data_are_one_table_together_or_in_parts(shell: Shell, tmp_path: Path) -> None:
    fit = ("fit", "x.csv", "y.csv", "--exclude", "local:2", "--structure", "tree", "--strength", "1,10", "--folds", "2")
    together, parted = shell(*fit, "-o", "t.mrf"), shell(*fit, "--in-parts", "-o", "p.mrf")
    assert (together.code, parted.code) == (0, 0)
    assert "x.csv and 1 more: 120 rows, 8 distinct, 3 variables" in together.out
    assert "x.csv and 1 more: 120 rows, 3 variables" in parted.out
    assert "Counts of 2 files were merged" in parted.out
    one, other = MarkovNetwork.load(tmp_path / "t.mrf"), MarkovNetwork.load(tmp_path / "p.mrf")
    assert one.structure == other.structure
    as_json = shell(*fit[:-4], "--in-parts", "--json").document
    assert (as_json["n_rows"], as_json["n_distinct_rows"]) == (120, None)


@pytest.mark.usefixtures("_files")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("fit", "x.csv", "--in-parts", "--objective", "likelihood"), "--in-parts is for the pseudo-likelihood"),
        (("fit", "x.csv", "none.csv", "--in-parts"), "none.csv"),
        (("fit", "x.csv", "x.csv"), "named twice"),
        (("fit", "x.csv", "-", "--in-parts"), "a stream only once"),
        (("fit", "x.csv", "--cluster", "local:none"), "'local:none' is not the address of a cluster"),
        (
            ("stability", "x.csv", "--cluster", "a", "--cluster", "b"),
            "--cluster names more than one column: 'a' and 'b'",
        ),
    ],
)
def test_refused(arguments: tuple[str, ...], said: str, shell: Shell) -> None:
    ran = shell(*arguments)
    assert ran.code == 2
    assert said in ran.err
    assert ran.err.count("\n") == 1


@pytest.mark.usefixtures("_files")
def test_an_address_beside_a_column(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    """A column of that very name goes before; else it is an address, for which Dask is not here."""
    monkeypatch.setitem(sys.modules, "distributed", None)
    again = ("stability", "x.csv", "--structure", "learned", "--select", "ebic", "--resamples", "3")
    assert shell(*again, "--cluster", "local:2").code == 0
    for options in (("--cluster", "local:3"), ("--cluster", "local:2", "--cluster", "tcp://h:1")):
        refused = shell(*again, *options)
        assert refused.code == 2
        assert "pip install 'mrfit[cluster]'" in refused.err
