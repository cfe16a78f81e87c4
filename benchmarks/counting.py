"""Counting of the cells of a sparse structure: merged counts of parts against all rows at once.

DuckDB counts the same states by a `group by` for each variable, over a table in its memory. All take one thread.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pyarrow as pa

from benchmarks.benchmark import Benchmark, Case, cases
from benchmarks.reading import write_table
from benchmarks.table import Column, Record, Table, named
from benchmarks.timing import timed
from mrfit.data.encoding import ParseOptions
from mrfit.data.unique_rows import UniqueRows
from mrfit.objectives.counts.blanket_counts import BlanketCounts
from mrfit.objectives.counts.conditional_cells import ConditionalCells
from mrfit.parameterizations.canonical import Canonical
from mrfit.structures.structure import Structure


def random_structure(n_variables: int, n_edges: int) -> Structure:
    rng = np.random.default_rng(0)
    pairs = np.stack(np.triu_indices(n_variables, 1), axis=1)
    return Structure.from_edges(n_variables, pairs[rng.choice(len(pairs), n_edges, replace=False)].tolist())


def best_of(turns: int, call: Callable[[], object]) -> float:
    """Least seconds of several calls, after a first one that does not count: noise only adds."""
    call()
    return min(timed(call)[1] for _ in range(turns))


def in_duckdb(path: Path, structure: Structure, counts: BlanketCounts, turns: int) -> float:
    """Seconds for the same counts."""
    import duckdb

    adjacency = structure.adjacency | np.eye(structure.n_variables, dtype=bool)
    scopes = [", ".join(f"v{j}" for j in np.flatnonzero(row)) for row in adjacency]
    with duckdb.connect(config={"threads": 1}) as connection:
        connection.execute("set enable_progress_bar = false")
        connection.execute(f"create table t as from '{path}'")

        def count() -> list[int]:
            queries = (f"select {scope}, count(*) as n from t group by all" for scope in scopes)
            return [len(connection.execute(query).fetchall()) for query in queries]

        if count() != [len(states) for states in counts.states]:
            raise AssertionError("DuckDB finds other states than mrfit")
        return best_of(turns, count)


def run(case: Case) -> Iterator[Record]:
    structure = random_structure(case["columns"], case["edges"])
    pa.set_cpu_count(1)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "t.parquet")
        write_table(path, case["rows"], case["columns"])
        rows = UniqueRows.from_file(path)
        reading, parameters = ParseOptions(rows.domain), Canonical(rows.domain, structure)
        part_of = np.arange(rows.n_distinct) % case["parts"]
        parts = [
            BlanketCounts.of(UniqueRows.from_codes(rows.domain, rows.codes[own], rows.sample_weight[own]), structure)
            for own in (part_of == k for k in range(case["parts"]))
        ]
        counts = BlanketCounts.merged(parts)
        calls: dict[str, Callable[[], object]] = {
            "count": lambda: BlanketCounts.of(rows, structure),
            "merge": lambda: BlanketCounts.merged(parts),
            "cells": lambda: ConditionalCells.from_counts(counts, parameters),
            "read and count": lambda: BlanketCounts.from_file(path, structure, reading),
            "at once": lambda: ConditionalCells.count(rows, parameters),
        }
        record: Record = {name: case[name] for name in ("rows", "columns", "edges", "parts")}
        record |= {name: best_of(case["turns"], call) for name, call in calls.items()}
        record |= {"states": counts.n_states, "bytes": counts.n_bytes}
        if find_spec("duckdb"):
            record["duckdb"] = in_duckdb(path, structure, counts, case["turns"])
    yield record


def tables(records: list[Record]) -> list[Table]:
    columns = (
        named("rows x columns, edges", "{rows:,} x {columns}, {edges}"),
        Column("states counted", "{states:,}"),
        Column("bytes", "{bytes:,}"),
        Column("count, CPU s", "{count:.2f}"),
        Column("merge parts", "{merge:.3f}"),
        Column("cells of them", "{cells:.3f}"),
        Column("cells at once", "{at once:.2f}"),
        Column("read and count", "{read and count:.2f}"),
        Column("DuckDB counts", "{duckdb:.2f}"),
    )
    return [Table(columns, records)]


BENCHMARKS = (
    Benchmark(
        "counting",
        "counts of parts that are merged, against cells from all rows at once and DuckDB",
        cases(rows=(1_000_000,), columns=(100,), edges=(150, 300), parts=(4,), turns=(2,)),
        cases(rows=(5_000,), columns=(20,), edges=(30,), parts=(3,), turns=(1,)),
        run,
        tables,
        rivals=("duckdb",),
    ),
)
