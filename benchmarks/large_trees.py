"""The whole of `mrfit fit --structure tree` on many rows that are nearly all distinct: all that its process takes."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.benchmark import Benchmark, Case, cases
from benchmarks.reading import write_table
from benchmarks.table import Column, Record, Table, named
from benchmarks.timing import in_own_process

_KILOBYTE = 1 if sys.platform == "darwin" else 1024  # in which the system counts memory


def fitted(table: Path, *options: str) -> dict[str, float]:
    """Processor seconds and the most memory of the command, its start and imports included."""
    command = [sys.executable, "-m", "mrfit", "fit", str(table), "--structure", "tree", "--jobs", "1", "--quiet"]
    with subprocess.Popen([*command, *options]) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"the fit ended with code {process.returncode}")
    return {"s": used.ru_utime + used.ru_stime, "bytes": used.ru_maxrss * _KILOBYTE}


def run(case: Case) -> Iterator[Record]:
    with tempfile.TemporaryDirectory() as folder:
        small, large = Path(folder, "small.parquet"), Path(folder, "large.parquet")
        # The most memory of a command begins with that of the process that starts it, so others write the tables.
        in_own_process(write_table, small, 1000, case["columns"])
        in_own_process(write_table, large, case["rows"], case["columns"])
        fitted(small)  # compiles what is not compiled
        held, parted = fitted(large), fitted(large, "--in-parts")
    in_parts = {f"in parts {name}": value for name, value in parted.items()}
    yield {"rows": case["rows"], "columns": case["columns"], **held, **in_parts}


def tables(records: list[Record]) -> list[Table]:
    columns = (
        named("rows x columns", "{rows:,} x {columns}"),
        Column("CPU s", "{s:.1f}"),
        Column("GB", lambda record: f"{record['bytes'] / 1e9:.2f}"),
        Column("in parts, CPU s", "{in parts s:.1f}"),
        Column("in parts, GB", lambda record: f"{record['in parts bytes'] / 1e9:.2f}"),
    )
    return [Table(columns, records)]


BENCHMARKS = (
    Benchmark(
        "large-trees",
        "mrfit fit --structure tree on five million rows, from start to end, with its memory",
        cases(rows=(5_000_000,), columns=(30,)),
        cases(rows=(20_000,), columns=(30,)),
        run,
        tables,
    ),
)
