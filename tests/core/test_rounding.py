"""Numbers with the digits that their errors leave known."""

from __future__ import annotations

import math
from math import inf, nan

import pytest

from mrfit.core.rounding import (
    format_count,
    format_size,
    in_file,
    known_decimals,
    probability,
    short_probability,
    significant,
    strength_text,
    with_error,
)


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        (0.42137, 0.0312, "0.42 +- 0.03"),
        (0.42137, 0.0142, "0.421 +- 0.014"),
        (0.42137, 0.096, "0.42 +- 0.10"),
        (0.42137, 0.00031, "0.4214 +- 0.0003"),
        (0.42137, 3e-7, "0.4214 +- 3e-07"),
        (0.42137, 0.0, "0.4214"),
        (0.42137, None, "0.42"),
        (-2.5, inf, "-2.50"),
        (1234.5, 42.0, "1230 +- 40"),
        (1234.5, 4.2, "1234 +- 4"),
        (-0.02, 0.5, "0.0 +- 0.5"),
        (nan, 0.1, "nan"),
    ],
)
def test_digits_end_where_the_error_begins(value: float, error: float | None, text: str) -> None:
    assert with_error(value, error) == text


def test_signs_and_digits() -> None:
    assert with_error(0.2, 0.03, sign="+") == "+0.20 +- 0.03"
    assert with_error(-0.2, 0.0, digits=3, sign="+") == "-0.200"


def test_what_is_possible_is_not_zero() -> None:
    assert probability(2e-7) == "2e-07"
    assert probability(2e-7, 1e-7) == "2e-07 +- 1e-07"
    assert probability(0.0) == "0.0000"
    assert probability(0.0, 0.003) == "0.000 +- 0.003"
    assert probability(0.001, 0.2) == "0.0 +- 0.2"
    assert probability(0.004, None) == "4e-03"


def test_a_file_holds_one_digit_more_than_is_known() -> None:
    assert in_file(0.42137, 0.0312) == "0.421"
    assert in_file(0.42137, 0.0112) == "0.4214"
    assert in_file(-1234.5678, 20.0) == "-1235"
    assert in_file(0.00012, 0.03) == "1.2e-04"
    assert in_file(0.0, 0.03) == "0.000"
    assert in_file(1 / 3) == in_file(1 / 3, None) == in_file(1 / 3, inf) == repr(1 / 3)


@pytest.mark.parametrize(("error", "decimals"), [(0.03, 2), (0.019, 2), (0.01, 3), (0.5, 1), (1.0, 1), (40.0, -1)])
def test_an_error_has_one_digit_or_two_that_begin_with_one(error: float, decimals: int) -> None:
    assert known_decimals(error) == decimals


@pytest.mark.parametrize(
    ("n_bytes", "text"),
    [
        (8, "8 B"),
        (999.6, "1 kB"),
        (1500, "1.5 kB"),
        (2**31, "2.15 GB"),
        (9.6e16, "96,000 TB"),
        (1.2e300, "1.2e+288 TB"),
    ],
)
def test_sizes_have_a_unit_that_suits_them(n_bytes: float, text: str) -> None:
    assert format_size(n_bytes) == text


@pytest.mark.parametrize(("count", "text"), [(5, "5"), (12_345, "12,345"), (1.24e16, "1.2e+16")])
def test_counts_are_whole_while_they_can_be_read(count: float, text: str) -> None:
    assert format_count(count) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (2.8583, "2.86"), (0.1766, "0.177"), (0.03234, "0.0323"), (0.00042, "0.0004"), (0.0, "0"), (-0.0, "0"),
        (9.9996, "10.0"), (-99.96, "-100"), (2896.31, "2900"), (math.inf, "inf"), (-math.inf, "-inf"),
    ],
)  # fmt: skip
def test_three_significant_digits(value: float, text: str) -> None:
    assert significant(value) == text
    assert significant(value, sign="+") == (f"+{text}" if value > 0 else text)


@pytest.mark.parametrize(
    ("value", "text"),
    [(2896.31, "2900"), (90.5097, "90.5"), (100.0, "100"), (1.0, "1"), (0.01, "0.01"), (1e-5, "1e-05"), (0.0, "0")],
)
def test_penalty_strengths(value: float, text: str) -> None:
    assert strength_text(value) == text


@pytest.mark.parametrize(
    ("p", "text"),
    [
        (0.0, "0.000"), (1e-7, "1e-07"), (0.0001, "0.0001"), (0.04326, "0.0433"), (0.09996, "0.100"), (0.15, "0.150"),
        (0.9994, "0.999"), (0.9996, "0.9996"), (0.99999, ">0.9999"), (1.0, "1.000"),
    ],
)  # fmt: skip
def test_exact_probabilities(p: float, text: str) -> None:
    """Only what is impossible is zero, and only what is sure is one."""
    assert short_probability(p) == text
