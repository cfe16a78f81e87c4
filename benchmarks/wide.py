"""Structures of very many yes/no columns, of which a row has few: lists against the same table as codes.

Rows have each item as often as the density says, and items 2k and 2k + 1 together a tenth of that time. Every call has
a process of its own, which has learned a small structure before: imports and compiled code do not count.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from benchmarks.benchmark import Benchmark, Case
from benchmarks.planted_items import planted_items
from benchmarks.table import Column, Record, Table, named
from benchmarks.timing import in_own_process, memory
from mrfit.data.sparse_rows import SparseRows
from mrfit.structures.simple import Learned

LEARNER = Learned(bound="path", max_degree=5)


def planted(n_rows: int, n_items: int, density: float) -> SparseRows:
    return SparseRows.of_matrix(planted_items(n_rows, n_items, density))


def measured(n_rows: int, n_items: int, density: float, dense: bool) -> dict[str, Any]:
    """Processor time, and memory above what the process held before; the table itself counts, as lists or codes."""
    LEARNER.learn(planted(100, 10, 0.1) if not dense else planted(100, 10, 0.1).dense())
    before = memory("VmHWM")
    rows = planted(n_rows, n_items, density)
    begun = time.process_time()
    learned = LEARNER.learn(rows.dense() if dense else rows)
    edges = learned.structure.edges
    return {
        "s": time.process_time() - begun,
        "bytes": memory("VmHWM") - before,
        "entries": rows.n_entries,
        "edges": len(edges),
        "found": int((edges[:, 0] // 2 == edges[:, 1] // 2).sum()),
        "violation": learned.violation,
    }


def run(case: Case) -> Iterator[Record]:
    shape = case["rows"], case["columns"], case["density"]
    record: Record = {name: case[name] for name in ("rows", "columns", "density")}
    record |= in_own_process(measured, *shape, False)
    if case["dense"]:
        other = in_own_process(measured, *shape, True)
        if other["edges"] != record["edges"] or other["found"] != record["found"]:
            raise AssertionError("codes lead to another structure than lists")
        record |= {"dense s": other["s"], "dense bytes": other["bytes"]}
    yield record


def tables(records: list[Record]) -> list[Table]:
    def of_codes(name: str, form: str, scale: float) -> Any:
        return lambda record: format(record[name] / scale, form) if name in record else ""

    columns = (
        named("rows x columns", "{rows:,} x {columns:,}"),
        Column("entries", "{entries:,}"),
        Column("edges", "{edges:,}"),
        Column("planted pairs found", "{found:,}"),
        Column("CPU s", "{s:.1f}"),
        Column("GB", lambda record: f"{record['bytes'] / 1e9:.2f}"),
        Column("as codes, CPU s", of_codes("dense s", ".1f", 1.0)),
        Column("as codes, GB", of_codes("dense bytes", ".2f", 1e9)),
    )
    return [Table(columns, records)]


def table_case(n_rows: int, n_columns: int, density: float, *, dense: bool = False) -> Case:
    return {"rows": n_rows, "columns": n_columns, "density": density, "dense": dense}


_QUICK = (table_case(500, 50, 0.02, dense=True),)

BENCHMARKS = (
    Benchmark(
        "wide",
        "structures of 1,000 and 10,000 yes/no columns from lists, and from codes where these fit",
        (table_case(20_000, 1_000, 1e-3, dense=True), table_case(100_000, 10_000, 1e-3)),
        _QUICK,
        run,
        tables,
    ),
    Benchmark(
        "wider",
        "the same of 50,000 columns, from lists alone",
        (table_case(100_000, 50_000, 2e-4), table_case(100_000, 50_000, 1e-3)),
        _QUICK,
        run,
        tables,
    ),
)
