"""Separators and names, told from the first lines."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mrfit.core.errors import DataError, InputError
from mrfit.data import Dataset
from mrfit.data.dialect import Dialect, squeezed
from mrfit.data.file_layout import FileLayout

BITS = np.random.default_rng(0).integers(0, 2, (30, 4))
SEPARATORS = [",", "\t", ";", "|", ":", " "]


def text(rows: Sequence[Sequence[object]], separator: str = ",", end: str = "\n") -> str:
    return "".join(separator.join(map(str, row)) + end for row in rows)


def of(content: str, *, header: bool | str = "auto", separator: str | None = None) -> Dialect:
    return Dialect.of(content, header, separator)


@pytest.mark.parametrize("separator", SEPARATORS)
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_separator_cuts_all_lines_alike(separator: str, end: str) -> None:
    found = of(text([list("abcd"), *BITS.tolist()], separator, end))
    assert (found.separator, found.names, found.n_lines) == (separator, ("a", "b", "c", "d"), 1)
    assert of(text(BITS.tolist(), separator, end)).names == ("v0", "v1", "v2", "v3")


@pytest.mark.parametrize("separator", SEPARATORS)
def test_files_of_every_separator_are_one_table(tmp_path: Path, separator: str) -> None:
    (tmp_path / "t.txt").write_text(text([list("abcd"), *BITS.tolist()], separator))
    data = Dataset.from_file(tmp_path / "t.txt")
    assert data.domain.names == ("a", "b", "c", "d")
    np.testing.assert_array_equal(data.codes, BITS)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("when,place\n12:30,a b\n14:45,c d\n", ","),  # colons and spaces stand within values
        ("a;b\nx,y;1\nz;0\n", ";"),
        ("text\nvery good\nbad\n", ","),
        ("time\n12:30\n14:45\n", ","),
        ('"a|b",c\n"0|1",1\n', ","),
        ('"a,b"|c\n"0,1"|1\n', "|"),
        ("a|b\n1\n0\n1\n", ","),  # a bar in a name alone
        ("a|b|c\n1|0|1\n1|0\n1|1|1\n", "|"),  # a ragged row is an error of its own
        ("a b  c\n 1  0 1\n0 1  1 \n", " "),
    ],
)
def test_what_looks_like_a_separator(content: str, expected: str) -> None:
    assert of(content).separator == expected


def test_a_ragged_row_is_not_one_column(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a|b\n1|0\n1|0|1\n")
    with pytest.raises(DataError, match=r"row 2 has 3 fields; expected 2.*separator '\|'"):
        Dataset.from_file(tmp_path / "t.csv")


def test_guesses_that_may_be_wrong_are_told() -> None:
    assert of("a,b\n1,0\n").notes == ()
    assert "separated by spaces" in of("a b\n1 0\n").notes[0]
    assert "separated by colons" in of("a:b\n1:0\n").notes[0]
    assert "one column, 'a'" in of("a\n1\n0\n").notes[0]
    assert of("a b\n1 0\n", separator=" ").notes == ()


@given(st.lists(st.text('ab ",\n', max_size=8), min_size=1, max_size=5))
def test_spaces_are_squeezed_outside_quotes(fields: list[str]) -> None:
    quoted = ['"' + field.replace('"', '""') + '"' for field in fields]
    assert squeezed("  " + "   ".join(quoted) + " \n  x  ") == " ".join(quoted) + "\nx"


@pytest.mark.parametrize(
    "names",
    [[2001, 2002, 2003, 2004], [1, 2, 3, 4], [0, 1, 2, 3], [10, 20, 30, 40], [2019, 2017, 2013, 2009], [1990, 2001]],
)
def test_numbers_that_count_or_are_years_are_names(names: list[int]) -> None:
    found = of(text([names, *BITS[:, : len(names)].tolist()]))
    assert found.names == tuple(map(str, names))
    assert "pass header=False if it is a row" in found.notes[0]


@pytest.mark.parametrize(
    "rows",
    [
        BITS.tolist(),
        [[1, 2, 3], [2, 1, 1], [1, 1, 2], [3, 2, 1]],  # answers from 1 to 3
        [[1, 2, 3], [2, 1, 1], [1, 1, 2]],  # of which 3 is met once
        [[1, 35, 69], [2, 28, 54], [3, 61, 80]],  # measurements
        [[2001, 2002], [2003, 2004], [2005, 2006]],  # years are the values
        [[0, 1], [1, 1], [0, 0]],
        [[3, 7], [1, 1], [1, 2], [2, 2]],  # any two numbers count evenly
        [["9" * 5000, "1"], ["1", "1"]],
        [[1, 2, 3]],
    ],
)
def test_rows_of_numbers_are_rows(rows: list[list[int]]) -> None:
    assert of(text(rows)).n_lines == 0


def test_a_close_call_is_told() -> None:
    assert "is taken for a row; pass header=True" in of(text([[0, 1, 2], *BITS[:, :3].tolist()])).notes[0]


def test_header_as_said() -> None:
    assert of(text([[2001, 2002], [0, 1], [1, 1]]), header=False) == Dialect(",", ("v0", "v1"), 0)
    assert of("1,0\n1,1\n", header=True) == Dialect(",", ("1", "0"), 1)


@pytest.mark.parametrize(
    ("word", "character"), [("tab", "\t"), ("\\t", "\t"), ("space", " "), ("Pipe", "|"), ("~", "~")]
)
def test_words_for_separators(word: str, character: str) -> None:
    assert FileLayout(separator=word).separator == character


@pytest.mark.parametrize("separator", ["", "ab", "a", "1", '"', "\n", "é"])
def test_what_cannot_separate(separator: str) -> None:
    with pytest.raises(InputError, match="cannot separate fields"):
        FileLayout(separator=separator)


@pytest.mark.parametrize("encoding", ["klingon", "hex", "utf\0"])
def test_unknown_encodings(encoding: str) -> None:
    with pytest.raises(InputError, match=r"encoding=.* is unknown"):
        FileLayout(encoding=encoding)


def test_unknown_formats() -> None:
    with pytest.raises(InputError, match="format='xlsx' is not an option; use one of 'csv'"):
        FileLayout(format="xlsx")
