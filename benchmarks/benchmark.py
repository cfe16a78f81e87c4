"""The one shape of all benchmarks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import Any

from benchmarks.table import Record, Table

Case = dict[str, Any]


def cases(**values: Sequence[Any]) -> tuple[Case, ...]:
    """All combinations, the last field fastest."""
    return tuple(dict(zip(values, chosen, strict=True)) for chosen in product(*values.values()))


def _as_measured(records: list[Record]) -> list[Record]:
    return records


@dataclass(frozen=True)
class Benchmark:
    """Cases as data, a function that measures one, and the tables that show the records of all.

    ``quick`` are cases that take a second or two; ``finish`` adds what takes all records (means, differences);
    ``rivals`` are packages with which it compares where they are installed.
    """

    name: str
    summary: str
    cases: tuple[Case, ...]
    quick: tuple[Case, ...]
    run: Callable[[Case], Iterable[Record]]
    tables: Callable[[list[Record]], list[Table]]
    finish: Callable[[list[Record]], list[Record]] = _as_measured
    plot: Callable[[list[Record], Path], None] | None = None
    rivals: tuple[str, ...] = ()

    @property
    def absent(self) -> list[str]:
        return [package for package in self.rivals if not find_spec(package)]

    def markdown(self, records: list[Record]) -> str:
        return "\n\n".join(table.markdown() for table in self.tables(records))


def chosen(available: Sequence[Case], only: dict[str, list[Any]], instead: Case) -> list[Case]:
    """Cases whose fields are among those of ``only``, with other fields replaced, each once."""
    for name in {*only, *instead}:
        if not any(name in case for case in available):
            known = sorted({field for case in available for field in case})
            raise ValueError(f"There is no field {name!r} in these cases. They have: {', '.join(known)}.")
    kept = [case for case in available if all(case.get(name) in allowed for name, allowed in only.items())]
    if not kept:
        known = {name: sorted({case[name] for case in available if name in case}, key=str) for name in only}
        offers = "; ".join(f"{name}: {', '.join(map(str, values))}" for name, values in known.items())
        raise ValueError(f"No case is left. There are {offers}. Choose among these, or replace a field by --with.")
    replaced = [case | {name: value for name, value in instead.items() if name in case} for case in kept]
    return [case for place, case in enumerate(replaced) if case not in replaced[:place]]
