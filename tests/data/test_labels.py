"""Values become state names, states get an order."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mrfit.data.labels import holds_spins, is_missing, is_number, label, ordered_states


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("yes", "yes"),
        ("  yes ", "yes"),
        ("TRUE", "true"),
        ("False", "false"),
        (True, "true"),
        (np.bool_(False), "false"),
        (1, "1"),
        (1.0, "1"),
        (-0.0, "0"),
        (np.float64(2.0), "2"),
        (np.uint8(3), "3"),
        (0.5, "0.5"),
        (np.float32(0.1), "0.1"),
        ("1.0", "1"),
        ("+1", "1"),
        ("-1", "-1"),
        ("1e2", "100"),
        ("0.50", "0.5"),
        ("007", "007"),
        ("1-2", "1-2"),
        ("nan", "nan"),
        ("1_000", "1_000"),
        ("12345678901234567891", "12345678901234567891"),
        ("9" * 5000, "9" * 5000),
        ("1e999", "1e999"),
        (1e300, "1e+300"),
        (12345678901234567891, "12345678901234567891"),
        (b"abc", "abc"),
        (Decimal("1.0"), "1"),
    ],
)
def test_a_value_has_one_name(value: object, expected: str) -> None:
    assert label(value) == expected


@given(st.one_of(st.text(), st.floats(allow_nan=False, allow_infinity=False), st.integers(), st.booleans()))
def test_the_name_of_a_name_is_itself(value: object) -> None:
    assert label(label(value)) == label(value)


@given(st.integers(-(2**52), 2**52))
def test_spellings_of_an_integer_agree(value: int) -> None:
    assert label(value) == label(float(value)) == label(str(value)) == label(f"{value}.0") == label(f"{value:+d}")


@pytest.mark.parametrize("value", [None, float("nan"), np.float32("nan"), pd.NA, pd.NaT])
def test_no_value_is_missing(value: object) -> None:
    assert is_missing(value)


@pytest.mark.parametrize("value", ["", "NA", 0, False, 0.0])
def test_values_are_not_missing(value: object) -> None:
    assert not is_missing(value)


@pytest.mark.parametrize("text", ["1", "-1.5", "+2", ".5", "3.", "1e-05", " 4 ", "007"])
def test_numbers(text: str) -> None:
    assert is_number(text)


@pytest.mark.parametrize("text", ["", "nan", "inf", "1,5", "0x1", "one", "1_0", "٣"])
def test_no_numbers(text: str) -> None:
    assert not is_number(text)


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (["b", "a"], ("a", "b")),
        (["10", "9", "-1"], ("-1", "9", "10")),
        (["0.5", "1e-05"], ("1e-05", "0.5")),
        (["10", "9", "x"], ("10", "9", "x")),
        (["true"], ("false", "true")),
        (["0"], ("0", "1")),
        (["1"], ("0", "1")),
        (["1", "0"], ("0", "1")),
        (["-1"], ("-1", "1")),
        (["1", "-1"], ("-1", "1")),
        (["-1", "0", "1"], ("-1", "0", "1")),
        (["2"], ("2",)),
        ([], ()),
    ],
)
def test_order_of_states(labels: list[str], expected: tuple[str, ...]) -> None:
    assert ordered_states(labels) == expected


def test_ones_among_spins_are_spins() -> None:
    assert ordered_states(["1"], among_spins=True) == ("-1", "1")
    assert ordered_states(["0"], among_spins=True) == ("0", "1")
    assert ordered_states(["0", "1"], among_spins=True) == ("0", "1")


def test_spins_need_a_minus_one() -> None:
    assert holds_spins(["-1", "1"])
    assert holds_spins(["-1"])
    assert not holds_spins(["1"])
    assert not holds_spins(["-1", "0", "1"])


def test_long_runs_of_digits_are_read_once() -> None:
    """A field of a megabyte that begins like a number: quadratic work would take hours."""
    digits = "7" * 1_000_000
    assert not is_number(digits + "x")
    assert label(digits + "x") == digits + "x"
    assert is_number(digits + ".")
