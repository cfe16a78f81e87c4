"""Structures as text."""

from __future__ import annotations

from pathlib import Path

import pytest

from mrfit.core.domain import Domain
from mrfit.core.errors import StructureError
from mrfit.structures.edges_file import read_edges
from mrfit.structures.structure import Structure

DOMAIN = Domain.from_states(dict.fromkeys(("a", "b", "c c", "d,e", "é"), "01"))


def _read(tmp_path: Path, text: str, **options: str) -> Structure:
    path = tmp_path / "edges.csv"
    path.write_text(text, encoding=options.get("encoding", "utf-8"), newline="")
    return read_edges(path, DOMAIN)


@pytest.mark.parametrize(
    "text",
    [
        "a,b\nb,c c\n",
        "a, b\n b ,c c",
        "\n# a comment, with a comma\na,b\n\n#b,é\nb,c c\n\n",
        "a\tb\nb\tc c\n",
        "a,b\r\nb,c c\r\n",
        "source,target\na,b\nb,c c\n",
        "weight,source,target,note\n0.5,a,b,strong\n-1,b,c c,\n",
        "target\tsource\tweight\nb\ta\t1\nc c\tb\t2\n",
        "# header follows\nsource,target\na,b\nc c,b\nb,a\n",
    ],
    ids=["plain", "spaces", "comments", "tabs", "crlf", "header", "extra columns", "tab header", "late header"],
)
def test_spellings_of_one_structure(tmp_path: Path, text: str) -> None:
    """Delimiters, comments, headers and repeats make no difference."""
    assert _read(tmp_path, text) == Structure.from_edges(5, [(0, 1), (1, 2)])


def test_a_byte_order_mark_is_not_part_of_a_name(tmp_path: Path) -> None:
    """Spreadsheets write one."""
    assert _read(tmp_path, "a,b\n", encoding="utf-8-sig") == Structure.from_edges(5, [(0, 1)])


def test_more_names_are_a_higher_scope(tmp_path: Path) -> None:
    """All subsets are added; a single name adds nothing."""
    assert _read(tmp_path, "a,b,é\nc c\n") == Structure.from_scopes(5, [(0, 1, 4)])


def test_quoted_names_may_hold_the_delimiter(tmp_path: Path) -> None:
    """Quotes work as in any CSV file."""
    assert _read(tmp_path, '"d,e",a\n') == Structure.from_edges(5, [(0, 3)])


@pytest.mark.parametrize("text", ["", "# nothing\n", "source,target\n"])
def test_no_edges_is_independence(tmp_path: Path, text: str) -> None:
    """An empty file names no scope."""
    assert _read(tmp_path, text) == Structure.independent(5)


def test_an_unknown_variable_is_named_with_file_and_line(tmp_path: Path) -> None:
    """Comments and blank lines count."""
    with pytest.raises(StructureError, match=r"edges\.csv, line 4: there is no variable 'zz'; the variables are 'a',"):
        _read(tmp_path, "a,b\n# comment\n\nb,zz\n")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    """The path as the user gave it."""
    with pytest.raises(StructureError, match=r"no edge file '.*nowhere\.csv'"):
        read_edges(tmp_path / "nowhere.csv", DOMAIN)


def test_a_directory_is_refused(tmp_path: Path) -> None:
    """The error has the path and the reason."""
    with pytest.raises(StructureError, match="Cannot read the edge file"):
        read_edges(tmp_path, DOMAIN)


def test_a_file_of_bytes_is_refused(tmp_path: Path) -> None:
    """Not text, not a structure."""
    path = tmp_path / "edges.bin"
    path.write_bytes(b"\xff\xfe\x00a,b")
    with pytest.raises(StructureError, match="Cannot read the edge file"):
        read_edges(path, DOMAIN)


def test_a_tab_in_a_comment_is_only_a_comment(tmp_path: Path) -> None:
    """The delimiter is that of the scopes."""
    assert _read(tmp_path, "# made\tby hand\na,b\n") == Structure.from_edges(5, [(0, 1)])


def test_a_quote_that_never_ends_is_refused(tmp_path: Path) -> None:
    """A file that is no table of names."""
    with pytest.raises(StructureError, match="edges"):
        _read(tmp_path, '"' + "a,b\n" * 50_000)
