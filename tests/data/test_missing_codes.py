"""Numbers in a column that are codes of missing answers rather than answers."""

from __future__ import annotations

import pytest

from mrfit.data.missing_codes import missing_codes


def _states(text: str) -> list[str]:
    """`1..5 9` as names of states."""
    found: list[str] = []
    for part in text.split():
        first, dots, last = part.partition("..")
        found += map(str, range(int(first), int(last) + 1)) if dots else [part]
    return found


@pytest.mark.parametrize(
    ("states", "codes"),
    [
        ("-99 1..5", "-99"),
        ("1..5 77 88 99", "77 88 99"),
        ("-99 -9 1..5 77 88 99 999", "-99 -9 77 88 99 999"),
        ("1..5 7 8 9", "7 8 9"),
        ("1..5 9", "9"),
        ("1..7 9", "9"),
        ("0..10 77 88 99", "77 88 99"),
        ("0..10 95..99", "95 96 97 98 99"),
        ("0 1 9", "9"),
        ("1 2 7 8 9", "7 8 9"),
        ("-99 -2..2", "-99"),
        ("-99 -2 -1 1 2", "-99"),
        ("-2 -1 1..5", "-2 -1"),
        ("-1 1..4", "-1"),
        ("1..3 5 99", "99"),
        ("18..90 999", "999"),
        ("-9 0 1", "-9"),
        ("-1 0..4", "-1"),
        ("1..5 55", "55"),
        ("1..5 100", "100"),
        ("1..5 1000 1001", "1000 1001"),
        ("-99 0..3 99 500", "-99 99 500"),
    ],
)
def test_codes_beside_a_scale(states: str, codes: str) -> None:
    assert missing_codes(_states(states)) == tuple(codes.split())


@pytest.mark.parametrize(
    "states",
    [
        *("1..5", "0..10", "1..7", "1..9", "-2..2", "-2 -1 1 2", "-3 -1 1 3", "-1 0 1", "-1 1", "-5..-1", "-1..2"),
        *("0 1 3 7", "0..6 8", "1 2 4 8", "1 10 100", "0..12 14 17 20", "18..92 95 99", "5 9", "1 1.5 2 99"),
        *("77 88 99", "-99", "low high", "", "0..5 10 12", "1 2 100", "0..3 5 60"),
    ],
)
def test_scales_and_counts_have_no_codes(states: str) -> None:
    assert missing_codes(_states(states)) == ()
