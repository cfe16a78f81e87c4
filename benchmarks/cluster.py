"""Processes of this machine as a cluster: what an evaluation over shards costs, and whether bits stay the same.

Every case starts its own workers, and waits until they have compiled; 1 and 2 of them take turns, and the best of
each counts. Ratios of 1 and 2 workers mean something on an idle machine only.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.benchmark import Benchmark, Case, cases
from benchmarks.reading import write_table
from benchmarks.table import Column, Record, Table, named
from mrfit.core.cluster import cluster, held, mapped
from mrfit.data.named_datasets import resolved
from mrfit.data.partitioned_table import PartitionedTable
from mrfit.data.unique_rows import UniqueRows
from mrfit.learning import Learner
from mrfit.learning.partitioned_rows import CountedRows, shard_of
from mrfit.learning.penalty_specs import L2
from mrfit.objectives.counts.part_counts import PartCounts, count_part
from mrfit.objectives.pseudo_likelihood import PseudoLikelihood
from mrfit.objectives.sharded import Shard, Sharded
from mrfit.parameterizations.canonical import Canonical
from mrfit.structures.simple import ChowLiuTree
from mrfit.structures.structure import Structure

SETS = (
    "nltcs", "msnbc", "kdd", "plants", "audio", "jester", "netflix", "accidents", "retail", "pumsb_star", "dna",
    "kosarek", "msweb", "book", "tmovie", "webkb", "reuters", "20ng", "bbc", "ad",
)  # fmt: skip


def own_seconds(shard: Shard, w: NDArray[np.float64]) -> float:
    """Seconds of a shard's own work in one evaluation."""
    begun = time.perf_counter()
    shard.value_and_gradient(w)
    return time.perf_counter() - begun


def cpu_of_counting(structure: Structure, item: tuple[int, PartitionedTable]) -> tuple[PartCounts, float]:
    begun = time.process_time()
    return count_part(structure, 0, 0, item), time.process_time() - begun


def passes(case: Case) -> Iterator[Record]:
    with tempfile.TemporaryDirectory() as folder:
        for k in range(2):
            write_table(Path(folder, f"{k}.parquet"), case["rows"] // 2, case["columns"])
        n = case["columns"]
        ring = Structure.from_edges(n, [(i, (i + step) % n) for i in range(n) for step in (1, 7) if i < (i + step) % n])
        record: Record = {name: case[name] for name in ("rows", "columns")}
        for _ in range(case["rounds"]):
            for workers in (1, 2):
                for name, seconds in one_round(Path(folder), ring, workers, case["turns"]).items():
                    key = f"{name} {workers}"
                    record[key] = min(seconds, record.get(key, seconds))
    record["ratio"] = record["wall 1"] / record["wall 2"]
    yield record


def one_round(folder: Path, ring: Structure, workers: int, turns: int) -> dict[str, float]:
    """Seconds of counting and merging, of a processor, and of an evaluation over two shards and what of it is not work.

    A single worker has both shards, so its work is their sum.
    """
    with cluster(f"local:{workers}"):
        parts = PartitionedTable.of(folder)
        numbered = list(enumerate(parts.each()))
        mapped(cpu_of_counting, numbered, shared=(ring,), name=str)  # compiles
        counted = mapped(cpu_of_counting, numbered, shared=(ring,), name=str)
        begun = time.process_time()
        PartCounts.merged([part for part, _ in counted])
        count = sum(cpu for _, cpu in counted) + time.process_time() - begun
        parameters = Canonical(parts.domain, Structure.complete(len(parts.domain)))
        rows = held(PartitionedTable.rows, parts.each(), name=PartitionedTable.called)
        shards = rows.made(shard_of, PseudoLikelihood, parameters)
        objective, w = Sharded(shards), np.zeros(parameters.n_parameters)
        busy = max if workers > 1 else sum
        walls, works = [], []
        objective.value_and_gradient(w)
        for _ in range(turns):  # in turns, so that a busy minute spoils both or none
            begun = time.perf_counter()
            objective.value_and_gradient(w)
            walls.append(time.perf_counter() - begun)
            works.append(busy(shards.ask(own_seconds, w)))
    return {"count": count, "wall": min(walls), "overhead": max(0.0, min(walls) - min(works))}


def pass_tables(records: list[Record]) -> list[Table]:
    columns = (
        named("rows x columns", "{rows:,} x {columns}"),
        Column("count and merge, CPU s", "{count 2:.2f}"),
        Column("evaluation, 1 worker, s", "{wall 1:.3f}"),
        Column("2 workers, s", "{wall 2:.3f}"),
        Column("of it overhead, 1 worker", "{overhead 1:.3f}"),
        Column("overhead, 2 workers", "{overhead 2:.3f}"),
        Column("1 worker / 2 workers", "{ratio:.2f}"),
    )
    return [Table(columns, records)]


def fitted_w(learner: Learner, data: PartitionedTable | UniqueRows) -> tuple[NDArray[np.float64], bool]:
    """The parameters, and whether they are of counts that were merged."""
    fitted = learner.fit(data)
    return fitted.model.w, isinstance(fitted.parts, CountedRows)


def sets(case: Case) -> Iterator[Record]:
    """The rows of a real set in three files: in parts here, in parts on a cluster, and held together."""
    learner = Learner(ChowLiuTree(), L2(strength=1.0))
    with tempfile.TemporaryDirectory() as folder, cluster("local:2") if case["workers"] else nullcontext():
        for name in case["sets"]:
            place = Path(folder, name)
            place.mkdir()
            lines = _lines(name)
            for k in range(3):
                (place / f"{k}.csv").write_text("\n".join(lines[k::3]) + "\n")
            parts = PartitionedTable.of(place)
            there, merged = fitted_w(learner, parts)
            here, _ = _on_this_machine(learner, parts)
            together, _ = fitted_w(learner, UniqueRows.from_file(place))
            yield {
                "set": name,
                "rows": len(lines),
                "columns": len(parts.domain),
                "merged": merged,
                "same bits": bool((there == here).all()),
                "difference": float(np.abs(there - together).max()),
            }


def _on_this_machine(learner: Learner, parts: PartitionedTable) -> tuple[NDArray[np.float64], bool]:
    """Fit in a thread of its own, which belongs to no cluster."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(fitted_w, learner, parts).result()


def _lines(name: str) -> list[str]:
    import gzip

    return gzip.decompress(resolved(f"{name}:train").read_bytes()).decode().splitlines()


def set_tables(records: list[Record]) -> list[Table]:
    columns = (
        Column("set", "{set}"),
        Column("rows", "{rows:,}"),
        Column("columns", "{columns}"),
        Column("counts merge", "{merged}"),
        Column("cluster and here: same bits", "{same bits}"),
        Column("largest difference to rows held together", "{difference:.1e}"),
    )
    return [Table(columns, records)]


BENCHMARKS = (
    Benchmark(
        "cluster-passes",
        "counting, and evaluations over shards, on 1 and 2 processes as a cluster",
        cases(rows=(20_000,), columns=(100,), turns=(30,), rounds=(3,))
        + cases(rows=(400_000,), columns=(100,), turns=(5,), rounds=(2,)),
        cases(rows=(500,), columns=(12,), turns=(2,), rounds=(1,)),
        passes,
        pass_tables,
        rivals=("distributed",),
    ),
    Benchmark(
        "cluster-sets",
        "trees of all sets through a cluster: the bits of this machine",
        cases(sets=(SETS,), workers=(2,)),
        cases(sets=(("nltcs",),), workers=(0,)),
        sets,
        set_tables,
        rivals=("distributed",),
    ),
)
