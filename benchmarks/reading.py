"""Reading a file into distinct rows with counts: mrfit against query engines, one thread each.

Every call has a process of its own, which has read a small table before: imports and compiled code do not count. Only
mrfit sorts the rows and knows the states of every column; `null` reads the file with Arrow and does nothing.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import csv, parquet

from benchmarks.benchmark import Benchmark, Case, cases
from benchmarks.table import Column, Record, Table, named
from benchmarks.timing import in_own_process, memory
from mrfit.data.unique_rows import UniqueRows


def ours(path: str) -> int:
    return UniqueRows.from_file(path).n_distinct


def duckdb(path: str) -> int:
    import duckdb

    with duckdb.connect(config={"threads": 1}) as connection:
        connection.execute("set enable_progress_bar = false")
        rows = connection.sql(f"select *, count(*) as n from '{path}' group by all").to_arrow_table()
    return int(rows.num_rows)


def polars(path: str) -> int:
    import polars as pl

    table = (pl.scan_parquet if path.endswith(".parquet") else pl.scan_csv)(path)
    return table.group_by(pl.all()).agg(pl.len().alias("how often")).collect(engine="streaming").height


def null(path: str) -> int:
    if path.endswith(".parquet"):
        pieces = parquet.ParquetFile(path).iter_batches(batch_size=2**16)
    else:
        pieces = csv.open_csv(path, csv.ReadOptions(use_threads=False))
    return sum(piece.num_rows for piece in pieces)


METHODS: dict[str, Callable[[str], int]] = {"mrfit": ours, "duckdb": duckdb, "polars": polars, "null": null}


def write_table(path: Path, n_rows: int, n_columns: int) -> None:
    """Independent columns, true in a third of the rows: all distinct from about 40 columns on."""
    rng = np.random.default_rng(0)
    table = pa.table({f"v{j}": rng.random(n_rows) < 1 / 3 for j in range(n_columns)})
    if path.suffix == ".parquet":
        parquet.write_table(table, path)
    else:
        csv.write_csv(table.cast(pa.schema([(name, pa.uint8()) for name in table.column_names])), path)


def measured(method: str, small: str, large: str) -> dict[str, float]:
    """Processor time, and memory above what the process held before."""
    call = METHODS[method]
    pa.set_cpu_count(1)
    call(small)
    before, begun = memory("VmHWM"), time.process_time()
    n_distinct = call(large)
    return {
        f"{method} s": time.process_time() - begun,
        f"{method} bytes": memory("VmHWM") - before,
        f"{method} distinct": n_distinct,
    }


def run(case: Case) -> Iterator[Record]:
    methods = [name for name in METHODS if name in ("mrfit", "null") or find_spec(name)]
    with tempfile.TemporaryDirectory() as folder:
        small, large = (Path(folder, f"{size}.{case['format']}") for size in ("small", "large"))
        write_table(small, 1000, case["columns"])
        write_table(large, case["rows"], case["columns"])
        # Turns, so that a busy minute is one for all; noise only adds.
        turns = [
            {name: in_own_process(measured, name, str(small), str(large)) for name in methods}
            for _ in range(case["turns"])
        ]
    record: Record = {name: case[name] for name in ("rows", "columns", "format")}
    for name in methods:
        record |= {f"{name} {what}": min(turn[name][f"{name} {what}"] for turn in turns) for what in ("s", "bytes")}
    record["distinct"] = turns[0]["mrfit"]["mrfit distinct"]
    for name in set(methods) - {"null"}:
        if turns[0][name][f"{name} distinct"] != record["distinct"]:
            raise AssertionError(f"{name} finds another number of distinct rows than mrfit")
    yield record


def times(name: str) -> Column:
    def show(record: Record) -> str:
        return f"{record[f'{name} s'] / record['mrfit s']:.2f}" if f"{name} s" in record else ""

    return Column(f"{name}, x slower", show)


def bytes_a_row(name: str) -> Column:
    def show(record: Record) -> str:
        return f"{record[f'{name} bytes'] / record['rows']:.0f}" if f"{name} bytes" in record else ""

    return Column(f"{name}, bytes a row", show)


def tables(records: list[Record]) -> list[Table]:
    columns = (
        named("rows x columns", "{rows:,} x {columns} {format}"),
        Column("distinct", "{distinct:,}"),
        Column("mrfit, CPU s", "{mrfit s:.2f}"),
        *(times(name) for name in METHODS if name != "mrfit"),
        *(bytes_a_row(name) for name in METHODS if name != "null"),
    )
    return [Table(columns, records)]


def table_cases(*shapes: tuple[int, int, str], turns: int) -> tuple[Case, ...]:
    return tuple(
        case for n, m, kind in shapes for case in cases(rows=(n,), columns=(m,), format=(kind,), turns=(turns,))
    )


BENCHMARKS = (
    Benchmark(
        "reading",
        "a file to its distinct rows, against DuckDB, polars and reading alone",
        table_cases(
            (1_000_000, 100, "parquet"),
            (1_000_000, 12, "parquet"),
            (5_000_000, 30, "parquet"),
            (200_000, 100, "csv"),
            turns=3,
        ),
        table_cases((20_000, 100, "parquet"), (5_000, 12, "csv"), turns=1),
        run,
        tables,
        rivals=("duckdb", "polars"),
    ),
)
