"""Names and order of the states of a variable."""

from __future__ import annotations

import re
from collections.abc import Collection
from numbers import Integral, Real

import numpy as np

MISSING_STATE = "missing"

_BOOLEANS = ("false", "true")
_BITS = ("0", "1")
_SPINS = ("-1", "1")
# The pattern is unambiguous: otherwise matching a long run of digits that is not a number takes quadratic time.
_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")
_PADDED = re.compile(r"[+-]?0[0-9]")
# From here on a float cannot distinguish neighbouring integers.
_EXACT = 2.0**53


def label(value: object) -> str:
    """Return the state name of a value, the same for every spelling of it.

    Text is stripped. Booleans are folded ("True" is "true") and numbers are named by their value: 1, 1.0, "+1" and
    "1.0" all give "1". Zero-padded text such as "007" is a code, not a number, and stays the same.
    """
    match value:
        case str():
            return _text_label(value)
        case bytes():
            return _text_label(value.decode("utf-8", errors="replace"))
        case bool() | np.bool_():
            return _BOOLEANS[bool(value)]
        case Integral():
            return str(int(value))
        case np.floating():
            return _number_label(float(str(value)))  # converted as text, so that float32 0.1 is "0.1"
        case Real():
            return _number_label(float(value))
        case _:
            return _text_label(str(value))


def _text_label(text: str) -> str:
    text = text.strip()
    folded = text.casefold()
    if folded in _BOOLEANS:
        return folded
    if is_number(text) and not _PADDED.match(text) and abs(float(text)) < _EXACT:
        return _number_label(float(text))
    return text


def _number_label(number: float) -> str:
    return str(int(number)) if abs(number) < _EXACT and number.is_integer() else repr(number)


def is_number(text: str) -> bool:
    """Whether a text is a finite decimal number."""
    return _NUMBER.fullmatch(text.strip()) is not None


def is_missing(value: object) -> bool:
    """Whether a value of an in-memory table means "missing": None, NaN, pandas' NA and NaT."""
    if isinstance(value, float | np.floating):
        return bool(np.isnan(value))
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def holds_spins(labels: Collection[str]) -> bool:
    """Whether a column is certainly coded -1/+1."""
    return "-1" in labels and set(labels) <= set(_SPINS)


def ordered_states(labels: Collection[str], *, among_spins: bool = False) -> tuple[str, ...]:
    """Return the states of a column that contains ``labels``.

    Columns coded 0/1, -1/+1 or false/true get both states even if one does not occur. A column of "1" alone is read as
    -1/+1 if another column of its table is (``among_spins``), else as 0/1. Other states are ordered by number if all
    are numbers, else alphabetically.
    """
    met = set(labels)
    coded = (_SPINS, _BITS, _BOOLEANS) if among_spins else (_BITS, _SPINS, _BOOLEANS)
    for states in coded:
        if met and met <= set(states):
            return states
    if all(map(is_number, met)):
        return tuple(sorted(met, key=lambda text: (float(text), text)))
    return tuple(sorted(met))
