"""What the first lines of a text file say of the rest: the separator, and whether they begin with names.

The separator is the one that cuts all of the first lines into the same number of fields, two or more. Commas, tabs,
semicolons and bars go before colons and spaces, which also stand within values; more fields go before fewer.

The first line names the columns unless all its fields are numbers. It also names them if they are whole numbers that

- count evenly upwards (1, 2, 3, or 10, 20, 30; at least three), or are different years from 1800 to 2100, and
- occur nowhere in the lines below, at least half of them, and
- those hold few values: each two times on average, or more.

Where that was close, a note says what was decided.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice, pairwise

from mrfit.data.labels import is_number, label

_STRONG = (",", "\t", ";", "|")
_WEAK = (":", " ")
_N_RECORDS = 100
_YEARS = range(1800, 2101)
_SPOKEN = {"\t": "tabs", " ": "spaces", ":": "colons"}

_Records = list[list[str]]


@dataclass(frozen=True)
class Dialect:
    """How the rest of a file is read: what separates fields, what they are called, where the rows begin."""

    separator: str
    names: tuple[str, ...]
    n_lines: int  # of names, before the rows
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, head: str, header: bool | str, separator: str | None) -> Dialect:
        """From the first lines of a file, not blank and whole."""
        lines = io.StringIO(head, newline="").readlines()
        notes = []
        if separator is None:
            separator = _guessed(lines)
            if separator in _WEAK:
                notes.append(
                    f"its fields are taken to be separated by {_SPOKEN[separator]}; pass separator=',' if it has one "
                    "column."
                )
        first, *body = _records(lines, separator)
        named = bool(header)
        if header == "auto":
            named, doubts = _is_header(first, body)
            notes += doubts
        names = [f"v{position}" for position in range(len(first))]
        if named:
            names = [field.strip() or name for field, name in zip(first, names, strict=True)]
        if len(names) == 1:
            notes.append(
                f"it has one column, {names[0]!r}; if that should be several, say what separates them, for instance "
                "separator='|'."
            )
        return cls(separator, tuple(names), _n_lines(lines, separator) if named else 0, tuple(notes))


def squeezed(text: str) -> str:
    """Fields parted by any run of spaces, parted by one; none at the ends of lines, those within quotes stay."""
    parts = re.split(r'("[^"]*")', text)
    parts[::2] = [re.sub(r" ?([\r\n]+) ?", r"\1", re.sub(" {2,}", " ", part)) for part in parts[::2]]
    return "".join(parts).strip(" ")


def _records(lines: Sequence[str], separator: str) -> _Records:
    lines = [squeezed(line) for line in lines] if separator == " " else lines
    # A blank line is no record: Arrow skips it, too.
    return list(islice(filter(None, csv.reader(lines, delimiter=separator)), _N_RECORDS))


def _n_lines(lines: Sequence[str], separator: str) -> int:
    """Lines that the first record takes; a quoted name may hold a line break."""
    reader = csv.reader(lines, delimiter=separator)
    next(reader)
    return reader.line_num


def _guessed(lines: Sequence[str]) -> str:
    for candidates in (_STRONG, _WEAK):
        widths = {separator: _width(lines, separator) for separator in candidates}
        best = max(candidates, key=lambda separator: widths[separator])
        if widths[best] > 1:
            return best
    # Nothing fits all lines: the one that most of them hold, so that the error names a row and a separator.
    bare = [re.sub(r'"[^"]*"', "", line) for line in lines[:_N_RECORDS]]
    holding = {separator: sum(separator in line for line in bare) for separator in _STRONG}
    best = max(_STRONG, key=lambda separator: holding[separator])
    return best if 2 * holding[best] >= len(bare) else ","


def _width(lines: Sequence[str], separator: str) -> int:
    """The number of fields that all of the first records have, 0 if they differ."""
    widths = {len(record) for record in _records(lines, separator)}
    return widths.pop() if len(widths) == 1 else 0


def _is_header(first: Sequence[str], body: _Records) -> tuple[bool, list[str]]:
    """Whether the first record names the columns, and a note if one may think otherwise."""
    if not all(map(is_number, first)):
        return True, []
    if not _looks_like_names(first):
        return False, []
    cells = [label(field) for record in body for field in record]
    values = set(cells)
    unmet = sum(label(field) not in values for field in first)
    shown = f"its first line ({', '.join(first[:3])}{', ...' if len(first) > 3 else ''})"
    if not cells or not unmet or 2 * len(values) > len(cells):
        return False, []
    if 2 * unmet >= len(first):
        return True, [f"{shown} is taken for the names of the columns; pass header=False if it is a row."]
    return False, [f"{shown} is taken for a row; pass header=True if it names the columns."]


def _looks_like_names(fields: Sequence[str]) -> bool:
    if not all(re.fullmatch("[0-9]{1,9}", field.strip()) for field in fields):
        return False
    numbers = [int(field) for field in fields]
    steps = {after - before for before, after in pairwise(numbers)}
    counts = len(numbers) > 2 and len(steps) == 1 and min(steps) > 0
    years = len(numbers) > 1 and len(set(numbers)) == len(numbers) and all(number in _YEARS for number in numbers)
    return counts or years
