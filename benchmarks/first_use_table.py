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
    command = [sys.executable, str(SCRIPT), str(case["table"]), *(["--quick"] if case["quick"] else [])]
    wheels = sorted(SCRIPT.parents[1].glob("dist/mrfit-*.whl"))
    if case["table"] == "commands" and wheels:
        command += ["--wheel", str(wheels[-1])]
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


BENCHMARKS = tuple(
    Benchmark(name, summary, ({"table": table, "quick": False},), ({"table": table, "quick": True},), run, tables)
    for name, table, summary in (
        ("first-use", "starts", "what a user waits for before any work is done: imports and help"),
        ("first-commands", "commands", "the first and later calls of commands, from a checkout and from a wheel"),
    )
)
