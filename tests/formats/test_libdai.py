"""libDAI: factor graphs whose leftmost variable is fastest, with any labels; tables with unknown states."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mrfit.core.errors import InputError
from mrfit.formats.libdai import Tab, fg_bytes, read_fg, read_tab, tab_bytes

GRAPH = """# two factors
2

2
7 3
2 3
3
0 0.5
5   2
1 4

1
3
3
2
2\t1
0 3
"""


def test_the_leftmost_variable_is_fastest() -> None:
    """Variables count in the order in which a factor lists them, whatever their labels; entries left out are zero."""
    network = read_fg(GRAPH.encode(), "model.fg")
    assert network.domain.names == ("v3", "v7")
    assert network.domain.shape == (3, 2)
    table = np.zeros((3, 2))  # v3, v7
    table[0, 0], table[2, 1], table[0, 1] = 0.5 * 3, 2 * 1, 4 * 3
    codes = np.array([(a, b) for a in range(3) for b in range(2)])
    np.testing.assert_allclose(np.exp(network.log_potential(codes)), table.ravel())


def test_variables_in_no_table_have_a_place(rng: np.random.Generator) -> None:
    """Else they would be lost, and with them a part of Z."""
    network = read_fg(GRAPH.encode(), "model.fg")
    assert b"\n1\n7\n2\n2\n0 1.0\n1 1.0\n" not in fg_bytes(network)
    lonely = read_fg(b"1\n\n1\n4\n3\n3\n0 1\n1 1\n2 1\n", "lonely.fg")
    assert read_fg(fg_bytes(lonely), "again") == lonely


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (("7 3", "7 7"), "line 5, token 2: '7' is wrong; a factor must name"),
        (("2 3\n3\n", "2 0\n3\n"), "line 6, token 2: '0' is wrong; expected the number of states of variable 3"),
        (("3\n2\n2\t1", "4\n2\n2\t1"), "line 14, token 1: '4' is wrong; variable 3 has 3 states in a factor before"),
        (("5   2", "6 2"), "line 9, token 1: '6' is wrong; expected an index: 0 to 5"),
        (("5   2", "0 2"), "line 9, token 1: '0' is wrong; expected an index: 0 to 5, each once"),
        (("5   2", "5 -2"), "line 9, token 2: '-2' is wrong; expected a potential"),
        (("5   2", "5 nan"), "line 9, token 2: 'nan' is wrong"),
        (("0 3\n", ""), "ends after"),
        (("0 3\n", "0 3 1\n"), "line 17, token 3: '1' is wrong; expected the end"),
        (("2 3\n3\n", "2 3\n7\n"), "'7' is wrong; expected the number of entries that are not zero: 0 to 6"),
    ],
)
def test_wrong_graphs(change: tuple[str, str], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        read_fg(GRAPH.replace(*change, 1).encode(), "bad.fg")


def test_a_table_beyond_memory_is_refused_before_it_is_made() -> None:
    """Though the file has one entry of it."""
    labels = " ".join(map(str, range(60)))
    with pytest.raises(InputError, match=r"cells together, and the one whose .* has 1.15e\+18"):
        read_fg(f"1\n\n60\n{labels}\n{'2 ' * 60}\n1\n0 1\n".encode(), "wide.fg")


def test_no_variables() -> None:
    with pytest.raises(InputError, match="no variables"):
        read_fg(b"0\n", "empty.fg")


def test_tables_come_back(tmp_path: Path) -> None:
    path = tmp_path / "rows.tab"
    path.write_bytes(tab_bytes(Tab((3, 7), np.array([[0, -1], [-1, 1], [2, 0]]))))
    assert path.read_text() == "3\t7\n\n0\t\n\t1\n2\t0\n"
    found = read_tab(path)
    assert found.labels == (3, 7)
    assert found.codes.tolist() == [[0, -1], [-1, 1], [2, 0]]
    domain = read_fg(GRAPH.encode(), "model.fg").domain
    assert found.codes_of(domain).tolist() == found.codes.tolist()


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "is empty"),
        ("3\t3\n\n0\t0\n", "line 1: labels must be given, each once"),
        ("3\t7\n\n0\n", "line 3 has 1 fields; expected 2"),
        ("3\t7\n\n0\tx\n", "line 3, field 2: 'x' is wrong"),
    ],
)
def test_wrong_tables(tmp_path: Path, text: str, complaint: str) -> None:
    path = tmp_path / "rows.tab"
    path.write_text(text)
    with pytest.raises(InputError, match=complaint):
        read_tab(path)
