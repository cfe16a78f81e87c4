"""Forecasts of `mrfit plan` beside measured memory and time: the check of its constants.

Every step has a process of its own, which has taken it on a small table before; memory is above what the process held
then, the rows included, and time that of the step alone, one thread.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.benchmark import Benchmark, Case, cases
from benchmarks.reading import write_table
from benchmarks.table import Column, Record, Table, named
from benchmarks.timing import in_own_process, memory
from mrfit.analysis.advice.forecast import Forecast
from mrfit.data.partitioned_table import PartitionedTable
from mrfit.data.preview import FirstLook
from mrfit.data.unique_rows import UniqueRows
from mrfit.learning import Learner
from mrfit.structures.simple import CompleteGraph, FixedStructure, Learned
from mrfit.structures.structure import Structure


def ring(n: int) -> FixedStructure:
    """Three or four neighbours for each variable."""
    pairs = [(i, (i + step) % n) for i in range(n) for step in (1, 7) if i < (i + step) % n]
    return FixedStructure(Structure.from_edges(n, pairs))


STEPS: dict[str, Callable[[Any, int], object]] = {
    "read": lambda path, _: UniqueRows.from_file(path),
    "structure by l1 paths": lambda rows, _: Learned(bound="path", max_degree=5).learn(rows),
    "fit of a sparse structure": lambda rows, n: Learner(ring(n)).fit(rows),
    "the same, rows not held": lambda path, n: Learner(ring(n)).fit(PartitionedTable.of(path)),
    "fit of all pairs": lambda rows, _: Learner(CompleteGraph()).fit(rows),
}
FROM_FILES = ("read", "the same, rows not held")


def measured(step: str, small: Path, large: Path, n_columns: int) -> dict[str, float]:
    take = STEPS[step]
    take(small if step in FROM_FILES else UniqueRows.from_file(small), n_columns)
    before = memory("VmHWM")
    source = large if step in FROM_FILES else UniqueRows.from_file(large)
    begun = time.process_time()
    take(source, n_columns)
    return {"s": time.process_time() - begun, "bytes": memory("VmHWM") - before}


def run(case: Case) -> Iterator[Record]:
    shape = case["rows"], case["columns"]
    with tempfile.TemporaryDirectory() as folder:
        small, large = Path(folder, "small.parquet"), Path(folder, "large.parquet")
        in_own_process(write_table, small, 200, case["columns"])
        in_own_process(write_table, large, *shape)
        plan = in_own_process(forecast, large)
        for step in case["steps"]:
            found = in_own_process(measured, step, small, large, case["columns"])
            yield {"rows": shape[0], "columns": shape[1], "step": step, **found, **plan[step]}


def forecast(path: Path) -> dict[str, dict[str, float]]:
    FirstLook.at(path)  # what is compiled is compiled
    steps = Forecast.of(FirstLook.at(path), 1e12).steps
    return {step.name: {"forecast s": step.seconds, "forecast bytes": step.bytes} for step in steps}


def tables(records: list[Record]) -> list[Table]:
    columns = (
        named("rows x columns", "{rows:,} x {columns}"),
        Column("step", "{step}"),
        Column("forecast, CPU s", "{forecast s:.2f}"),
        Column("CPU s", "{s:.2f}"),
        Column("forecast, MB", lambda record: f"{record['forecast bytes'] / 1e6:.0f}"),
        Column("MB", lambda record: f"{record['bytes'] / 1e6:.0f}"),
    )
    return [Table(columns, records)]


BENCHMARKS = (
    Benchmark(
        "forecasts",
        "what mrfit plan says that steps take, and what they take",
        cases(rows=(200_000,), columns=(100,), steps=(tuple(STEPS)[:4],))
        + cases(rows=(20_000,), columns=(50,), steps=(tuple(STEPS),)),
        cases(rows=(300,), columns=(12,), steps=(tuple(STEPS),)),
        run,
        tables,
    ),
)
