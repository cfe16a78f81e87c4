"""Benchmarks, each in a process of its own."""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

from benchmarks.benchmark import Benchmark, Case
from benchmarks.results import Result, circumstances
from benchmarks.timing import in_own_process, pinned_threads


def measured(named: Sequence[Benchmark], plans: Sequence[list[Case]], *, at_once: int) -> Iterator[Result]:
    """Each in a new process, so that nothing one has loaded or compiled is there for another."""
    command = f"python -m benchmarks {shlex.join(sys.argv[1:])}"
    with pinned_threads(), ThreadPoolExecutor(at_once) as pool:
        yield from pool.map(lambda benchmark, plan: in_own_process(measure, benchmark, plan, command), named, plans)


def measure(benchmark: Benchmark, cases: list[Case], command: str) -> Result:
    records, begun = [], time.perf_counter()
    for number, case in enumerate(cases, 1):
        print(f"{benchmark.name} {number}/{len(cases)}: {case}", file=sys.stderr, flush=True)
        records += benchmark.run(case)
    finished = benchmark.finish(records)
    spent = {"seconds": round(time.perf_counter() - begun, 1)}
    return Result(benchmark.name, circumstances(command, benchmark.absent) | spent, finished)
