"""Words and numbers in columns, and distributions as bars."""

from __future__ import annotations

import pytest

from mrfit.core.sparkline import BLOCKS, sparkline
from mrfit.core.text_table import columns


def test_decimal_points_stand_below_each_other() -> None:
    lines = columns([["-12.5", "a"], ["+0.125", "b"], ["|2,000.1|", "c"], ["3", "d"]], n_names=1)
    assert lines == [
        "   -12.5    a",
        "    +0.125  b",
        "|2,000.1|   c",
        "     3      d",
    ]


def test_errors_follow_their_numbers() -> None:
    lines = columns([["p"], ["0.175 +- 0.003"], ["0.0377 +- 0.0011"]])
    assert [line.find(".") for line in lines[1:]] == [1, 1]


def test_words_are_to_the_left_and_long_ones_cut() -> None:
    lines = columns([["variable", "p"], ["x" * 50, "1"], ["y", "22"]], n_words=1)
    assert lines == ["variable" + " " * 32 + "   p", "x" * 39 + "…   1", "y" + " " * 39 + "  22"]
    assert columns([["x" * 50, "1"]], n_words=1, longest=None) == ["x" * 50 + "  1"]
    assert columns([]) == []


@pytest.mark.parametrize(
    ("p", "bars"),
    [([0.0, 0.5, 1.0], "▁▅█"), ([0.2, 0.2], "██"), ([0.0, 0.0], "▁▁"), ([], "")],
)
def test_bars(p: list[float], bars: str) -> None:
    assert sparkline(p) == bars


def test_bars_of_one_scale() -> None:
    assert sparkline([0.25, 0.5], most=1.0) == "▃▅"


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "no such encoding"])
def test_bars_without_blocks(encoding: str) -> None:
    bars = sparkline([0.0, 0.5, 1.0], encoding=encoding)
    assert bars.isascii()
    assert len(set(bars)) == 3
    assert not set(bars) & set(BLOCKS)
