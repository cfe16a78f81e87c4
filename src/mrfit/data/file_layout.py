"""Layout of a file: its kind, separator, encoding, header, weights and codes for missing values."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TypedDict

from mrfit.core.errors import InputError, listed

FORMATS = ("csv", "tsv", "txt", "data", "parquet", "items")
_SEPARATOR_WORDS = {"tab": "\t", "space": " ", "comma": ",", "semicolon": ";", "colon": ":", "pipe": "|"}


class LayoutOptions(TypedDict, total=False):
    """The fields of `FileLayout`, as keyword arguments of everything that reads files."""

    weight: str | None
    header: bool | str
    separator: str | None
    encoding: str | None
    na_values: Collection[object]
    format: str | None


@dataclass(frozen=True)
class FileLayout:
    r"""Properties of a file that cannot be detected, or are detected wrongly.

    Parameters
    ----------
    weight : str or None, default=None
        Column that holds row weights; it is not a variable.
    header : {"auto", True, False}, default="auto"
        Whether the first line of a text file names the columns. ``"auto"`` treats it as data if every field is a
        number, unless those numbers look like names. Columns without names are called v0, v1, ...
    separator : str or None, default=None
        One character, or ``tab``, ``space`` (runs of spaces), ``comma``, ``semicolon``, ``colon``, ``pipe``; None
        detects it.
    encoding : str or None, default=None
        Encoding of text files; None means UTF-8, or UTF-16 if the file begins with its byte order mark.
    na_values : collection, default=()
        Values that mean "missing", besides the usual codes.
    format : {"csv", "tsv", "txt", "data", "parquet", "items"} or None, default=None
        Kind of file, regardless of its name; ``items`` are lists of the items in each row. None follows the suffix.

    See Also
    --------
    mrfit.Dataset.from_file : Takes these options as keywords.

    Examples
    --------
    >>> from pathlib import Path
    >>> from mrfit import Dataset
    >>> _ = Path("survey.txt").write_text("a;b\n1;-9\n0;1\n")
    >>> Dataset.from_file("survey.txt", separator=";", na_values=[-9], missing="drop").n_rows
    1
    """

    weight: str | None = None
    header: bool | str = "auto"
    separator: str | None = None
    encoding: str | None = None
    na_values: Collection[object] = ()
    format: str | None = None

    def __post_init__(self) -> None:
        if self.header not in ("auto", True, False):
            raise InputError(f"header={self.header!r} is not an option; use 'auto', True or False.")
        if self.format is not None and self.format not in FORMATS:
            raise InputError(f"format={self.format!r} is not an option; use one of {listed(FORMATS)}.")
        object.__setattr__(self, "na_values", as_tuple(self.na_values))
        if self.separator is not None:
            object.__setattr__(self, "separator", _separator(self.separator))
        if self.encoding is not None:
            _check_encoding(self.encoding)


def as_tuple(values: Collection[object] | object) -> tuple[object, ...]:
    """Return one or several values as a tuple; a text is a single value."""
    return tuple(values) if isinstance(values, Collection) and not isinstance(values, str | bytes) else (values,)


def _separator(text: str) -> str:
    character = _SEPARATOR_WORDS.get(text.lower(), text).replace("\\t", "\t")
    if len(character) != 1 or not character.isascii() or character.isalnum() or character in '"\r\n.+-':
        raise InputError(
            f"separator={text!r} cannot separate fields; expected one character such as ',' or '|', or one of "
            f"{listed(_SEPARATOR_WORDS)}."
        )
    return character


def _check_encoding(name: str) -> None:
    try:
        "".encode(name)
    except (LookupError, ValueError):
        raise InputError(f"encoding={name!r} is unknown; use for instance 'utf-8', 'utf-16' or 'latin-1'.") from None
