"""Benchmarks, each in a process of its own."""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from multiprocessing import set_forkserver_preload

from benchmarks.benchmark import Benchmark, Case
from benchmarks.catalogue import MODULES
from benchmarks.results import Result, circumstances
from benchmarks.timing import forks, in_own_process, pinned_threads


def measured(named: Sequence[Benchmark], plans: Sequence[list[Case]], *, quick: bool) -> Iterator[Result]:
    """Each in a new process, so that nothing one has loaded or compiled is there for another.

    Quick ones run two at a time and begin as forks of one process that has imported all modules and run nothing, as do
    the processes that they start: imports would take longer than most of them.
    """
    command = f"python -m benchmarks {shlex.join(sys.argv[1:])}"
    own_process = partial(in_own_process, measure, start="forkserver" if quick else "spawn")
    set_forkserver_preload([f"benchmarks.{module}" for module in MODULES])
    with pinned_threads(), ThreadPoolExecutor(2 if quick else 1) as pool:
        yield from pool.map(lambda benchmark, plan: own_process(benchmark, plan, command, quick), named, plans)


def measure(benchmark: Benchmark, cases: list[Case], command: str, quick: bool = False) -> Result:
    if quick:
        forks()
    records, begun = [], time.perf_counter()
    for number, case in enumerate(cases, 1):
        print(f"{benchmark.name} {number}/{len(cases)}: {case}", file=sys.stderr, flush=True)
        records += benchmark.run(case)
    finished = benchmark.finish(records)
    spent = {"seconds": round(time.perf_counter() - begun, 1)}
    return Result(benchmark.name, circumstances(command, benchmark.absent) | spent, finished)
