"""`first_use.py` is a script of its own, for what it measures is new processes; here its table becomes records."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.benchmark import Benchmark, Case
from benchmarks.table import Column, Record, Table

SCRIPT = Path(__file__).with_name("first_use.py")


def run(case: Case) -> Iterator[Record]:
    command = [sys.executable, str(SCRIPT), *(["--quick"] if case["quick"] else [])]
    printed = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    yield from records_of(printed)


def records_of(markdown: str) -> list[Record]:
    """The rows of a table, by the titles of its columns; cells stay as printed."""
    lines = [line for line in markdown.splitlines() if line.startswith("|")]
    titles, _, *rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in lines)
    return [dict(zip(titles, row, strict=True)) for row in rows]


def tables(records: list[Record]) -> list[Table]:
    titles = list(records[0])
    columns = [Column(title, lambda r, title=title: r[title], left=title == titles[0]) for title in titles]
    return [Table(columns, records)]


BENCHMARKS = (
    Benchmark(
        "first-use",
        "what a user waits for before any work is done: imports, help, the first compiled call",
        ({"quick": False},),
        ({"quick": True},),
        run,
        tables,
    ),
)
