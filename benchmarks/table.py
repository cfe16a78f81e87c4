"""Results of a benchmark as records, and their display as a table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from string import Formatter
from typing import Any

Record = dict[str, Any]


@dataclass(frozen=True)
class Column:
    """A title, and how a record is shown under it: a format string over its fields, or a function.

    A record without the field leaves its cell empty; where the field is None a dash says that nothing was measured.
    """

    title: str
    show: str | Callable[[Record], str]
    left: bool = False

    def cell(self, record: Record) -> str:
        if callable(self.show):
            return self.show(record)
        fields = [name for _, name, _, _ in Formatter().parse(self.show) if name]
        if any(name not in record for name in fields):
            return ""
        return "-" if any(record[name] is None for name in fields) else self.show.format(**record)


def named(title: str, show: str) -> Column:
    """A column of words, which stand on the left."""
    return Column(title, show, left=True)


@dataclass(frozen=True)
class Table:
    """Records under columns; a column that is empty everywhere (a rival that is not installed) is left out."""

    columns: Sequence[Column]
    records: Sequence[Record]
    title: str = ""
    note: str = ""

    def markdown(self) -> str:
        shown = [column for column in self.columns if any(column.cell(record) for record in self.records)]
        lines = [
            _line(column.title for column in shown),
            "".join("|---" if column.left else "|---:" for column in shown) + "|",
            *(_line(column.cell(record) for column in shown) for record in self.records),
        ]
        parts = [f"#### {self.title}" if self.title else "", "\n".join(lines), self.note]
        return "\n\n".join(part for part in parts if part)


def _line(cells: Iterable[str]) -> str:
    return "|" + "|".join(f" {cell} " if cell else " " for cell in cells) + "|"
