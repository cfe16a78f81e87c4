"""Answers in the competition's form."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from mrfit.core.errors import InputError
from mrfit.formats.uai_results import (
    map_bytes,
    mar_bytes,
    mmap_bytes,
    pr_bytes,
    read_map,
    read_mar,
    read_mmap,
    read_pr,
)


@pytest.fixture(name="path")
def _path(tmp_path: Path) -> Path:
    return tmp_path / "model.uai.answer"


@pytest.mark.parametrize("base", [10.0, math.e, 2.0])
@pytest.mark.parametrize("log_z", [690.7, -1e-9, 0.0, -np.inf])
def test_log_z_to_a_base(path: Path, base: float, log_z: float) -> None:
    path.write_bytes(pr_bytes(log_z, base=base))
    assert read_pr(path, base=base) == pytest.approx(log_z, rel=1e-14)


def test_the_competition_has_base_ten(path: Path) -> None:
    assert pr_bytes(math.log(100.0)) == b"PR\n2.0\n"
    path.write_text("PR\n-2\n")
    assert read_pr(path) == pytest.approx(math.log(0.01))
    with pytest.raises(InputError, match="no base 1"):
        read_pr(path, base=1.0)


def test_marginals(path: Path) -> None:
    marginals = [np.array([0.25, 0.75]), np.array([1.0]), np.array([0.0, 1.0, 1 / 3])]
    path.write_bytes(mar_bytes(marginals))
    assert [p.tolist() for p in read_mar(path)] == [p.tolist() for p in marginals]


def test_states(path: Path) -> None:
    path.write_bytes(map_bytes((1, 0, 2)))
    assert path.read_text() == "MAP\n3 1 0 2\n"
    assert read_map(path) == (1, 0, 2)
    path.write_bytes(map_bytes((1, 0), task="MPE"))
    assert read_map(path) == (1, 0)
    with pytest.raises(InputError, match="'MAP' or 'MPE'"):
        map_bytes((1,), task="PR")


def test_states_of_a_query(path: Path) -> None:
    path.write_bytes(mmap_bytes({4: 1, 2: 0}))
    assert path.read_text() == "MMAP\n2 4 1 2 0\n"
    assert read_mmap(path, (4, 2)) == {4: 1, 2: 0}
    path.write_text("MMAP\n2 1 0\n")
    assert read_mmap(path, (4, 2)) == {4: 1, 2: 0}
    path.write_text("MMAP\n2 4 1 3 0\n")
    with pytest.raises(InputError, match="answers for variables"):
        read_mmap(path, (4, 2))


def test_the_last_solution_counts(path: Path) -> None:
    path.write_text("MPE\n-BEGIN-\n2 0 0\n-BEGIN-\n2 0 1\n")
    assert read_map(path) == (0, 1)
    path.write_text("MPE\n2 0 0\n-BEGIN-\n2 0 1\n")
    assert read_map(path) == (0, 1)
    path.write_text("MPE\n-BEGIN-\n2 0 0\n-BEGIN-\n2 0 x\n")
    with pytest.raises(InputError, match="line 5, token 3: 'x' is wrong"):
        read_map(path)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("MAR\n1 2 0.5 0.5\n", "'MAR' is wrong; expected one of 'PR'"),
        ("PR\n", "ends after 1 tokens"),
        ("PR\nnan", "'nan' is wrong"),
        ("PR\n1 2", "left over"),
    ],
)
def test_wrong_answers(path: Path, text: str, complaint: str) -> None:
    path.write_text(text)
    with pytest.raises(InputError, match=complaint):
        read_pr(path)
