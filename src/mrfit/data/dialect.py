"""Detection of the separator and the header line from the first lines of a text file.

The separator is the one that cuts all of the first lines into the same number of fields, at least two. Commas, tabs,
semicolons and bars take precedence over colons and spaces, which also occur within values. Otherwise more fields win.

The first line names the columns unless all its fields are numbers. It also names them if they are whole numbers that

- count evenly upwards (1, 2, 3, or 10, 20, 30; at least three), or are distinct years from 1800 to 2100, and
- are absent from the lines below, at least half of them, and
- those lines have few distinct values: each occurs twice on average, or more.

In doubtful cases a note reports the decision.
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
_PLURALS = {"\t": "tabs", " ": "spaces", ":": "colons"}

_Records = list[list[str]]


@dataclass(frozen=True)
class Dialect:
    """Separator, column names and header length of a text file."""

    separator: str
    names: tuple[str, ...]
    n_lines: int  # lines of names, before the rows
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, head: str, header: bool | str, separator: str | None) -> Dialect:
        """Detect the dialect from the first lines of a file, which must be whole and not blank."""
        lines = io.StringIO(head, newline="").readlines()
        notes = []
        if separator is None:
            separator = _detected_separator(lines)
            if separator in _WEAK:
                notes.append(
                    f"its fields are taken to be separated by {_PLURALS[separator]}; pass separator=',' if it has one "
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
    """Replace runs of spaces between fields by one space and strip lines; text within quotes stays the same."""
    parts = re.split(r'("[^"]*")', text)
    parts[::2] = [re.sub(r" ?([\r\n]+) ?", r"\1", re.sub(" {2,}", " ", part)) for part in parts[::2]]
    return "".join(parts).strip(" ")


def _records(lines: Sequence[str], separator: str) -> _Records:
    lines = [squeezed(line) for line in lines] if separator == " " else lines
    # A blank line is not a record; Arrow skips it too.
    return list(islice(filter(None, csv.reader(lines, delimiter=separator)), _N_RECORDS))


def _n_lines(lines: Sequence[str], separator: str) -> int:
    """Return the number of lines of the first record; a quoted name may contain a line break."""
    reader = csv.reader(lines, delimiter=separator)
    next(reader)
    return reader.line_num


def _detected_separator(lines: Sequence[str]) -> str:
    for candidates in (_STRONG, _WEAK):
        widths = {separator: _width(lines, separator) for separator in candidates}
        best = max(candidates, key=lambda separator: widths[separator])
        if widths[best] > 1:
            return best
    # No separator fits all lines: take the one that most lines contain, so that the error names a row and a separator.
    bare = [re.sub(r'"[^"]*"', "", line) for line in lines[:_N_RECORDS]]
    holding = {separator: sum(separator in line for line in bare) for separator in _STRONG}
    best = max(_STRONG, key=lambda separator: holding[separator])
    return best if 2 * holding[best] >= len(bare) else ","


def _width(lines: Sequence[str], separator: str) -> int:
    """Return the number of fields that the first records share, 0 if they differ."""
    widths = {len(record) for record in _records(lines, separator)}
    return widths.pop() if len(widths) == 1 else 0


def _is_header(first: Sequence[str], body: _Records) -> tuple[bool, list[str]]:
    """Return whether the first record names the columns, with a note in doubtful cases."""
    if not all(map(is_number, first)):
        return True, []
    if not _looks_like_names(first):
        return False, []
    cells = [label(field) for record in body for field in record]
    values = set(cells)
    n_unmatched = sum(label(field) not in values for field in first)
    shown = f"its first line ({', '.join(first[:3])}{', ...' if len(first) > 3 else ''})"
    if not cells or not n_unmatched or 2 * len(values) > len(cells):
        return False, []
    if 2 * n_unmatched >= len(first):
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
