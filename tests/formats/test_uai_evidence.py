"""Evidence in its dialects, soft evidence, and queries."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mrfit.core.errors import InputError
from mrfit.formats.uai_evidence import (
    evidence_bytes,
    query_bytes,
    read_evidence,
    read_query,
    read_soft_evidence,
    soft_evidence_bytes,
)

SHAPE = (2, 3, 2, 2, 2, 2, 2, 2)


@pytest.fixture(name="path")
def _path(tmp_path: Path) -> Path:
    return tmp_path / "model.uai.evid"


@pytest.mark.parametrize(
    ("text", "samples"),
    [
        ("2 5 0 1 2\n", [{5: 0, 1: 2}]),
        ("2\n5 0\n1 2\n", [{5: 0, 1: 2}]),
        ("2\n2 5 0 1 2\n1 5 1\n", [{5: 0, 1: 2}, {5: 1}]),
        ("1\n2 5 0 1 2\n", [{5: 0, 1: 2}]),
        ("1 2 5 0 1 2", [{5: 0, 1: 2}]),
        ("0", [{}]),
        ("0\n", [{}]),
        ("", [{}]),
        ("\n\n", [{}]),
        ("1\n0\n", [{}]),
        ("2\n1 5 0\n0\n", [{5: 0}, {}]),  # as numbers alone also two pairs, (1, 5) and (0, 0)
        ("2 1 2 0 0", [{1: 2, 0: 0}]),
        ("2 5 0 5 0", [{5: 0}]),
    ],
)
def test_dialects(path: Path, text: str, samples: list[dict[int, int]]) -> None:
    path.write_text(text)
    assert list(read_evidence(path, SHAPE)) == samples


@given(st.lists(st.dictionaries(st.integers(0, 7), st.integers(0, 1)), min_size=1, max_size=4))
def test_samples_come_back(samples: list[dict[int, int]]) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "x.evid"
        path.write_bytes(evidence_bytes(samples))
        assert list(read_evidence(path, SHAPE)) == samples


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("1 8 0", "token 2: '8' is wrong; expected a variable: 0 to 7"),
        ("1 1 3", "token 3: '3' is wrong; expected a state of variable 1: 0 to 2"),
        ("2 5 0 5 1", "token 5: '1' is wrong; variable 5 is in state 0"),
        ("2 5 0 1", "ends after 4 tokens, where a variable should follow"),
        ("1 1 0 1 7", "token 5: '7' is wrong; expected the end"),
        ("x", "'x' is wrong"),
        ("99999999999999 1", "ends after 2 tokens"),
    ],
)
def test_wrong_evidence(path: Path, text: str, complaint: str) -> None:
    path.write_text(text)
    with pytest.raises(InputError, match=complaint):
        read_evidence(path, SHAPE)


def test_soft_evidence(path: Path) -> None:
    path.write_text("2\n0 2 0.25 1\n1 3 0 0.5 1\n")
    found = read_soft_evidence(path, SHAPE)
    np.testing.assert_allclose(np.exp(found[0]), [0.25, 1.0])
    np.testing.assert_allclose(np.exp(found[1]), [0.0, 0.5, 1.0])
    path.write_bytes(soft_evidence_bytes(found))
    assert {i: log.tolist() for i, log in read_soft_evidence(path, SHAPE).items()} == {
        i: log.tolist() for i, log in found.items()
    }


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("1 0 3 1 1 1", "'3' is wrong; expected the number of states of variable 0: 2 to 2"),
        ("1 0 2 0 0", "at least one state of variable 0"),
        ("2 0 2 1 1 0 2 1 1", "variable 0 has likelihoods already"),
        ("1 0 2 1 -1", "'-1' is wrong; expected a likelihood"),
        ("1 0 2 1 1 1", "left over"),
    ],
)
def test_wrong_soft_evidence(path: Path, text: str, complaint: str) -> None:
    path.write_text(text)
    with pytest.raises(InputError, match=complaint):
        read_soft_evidence(path, SHAPE)


def test_queries(path: Path) -> None:
    path.write_bytes(query_bytes([4, 1]))
    assert path.read_text() == "2 4 1\n"
    assert read_query(path, 8) == (4, 1)
    for text, complaint in [("2 4 4", "twice"), ("1 8", "'8' is wrong"), ("2 4", "ends after"), ("1 4 4", "left over")]:
        path.write_text(text)
        with pytest.raises(InputError, match=complaint):
            read_query(path, 8)
