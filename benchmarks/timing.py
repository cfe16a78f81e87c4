"""Time and memory of calls, on a machine that others use too."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from typing import TypeVar

import llvmlite.binding
import numpy as np

PINNED = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
PINNED["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"

Call = Callable[[], object]
Result = TypeVar("Result")


@contextmanager
def pinned_threads() -> Iterator[None]:
    """One thread for every library in processes that start meanwhile; libraries read this when first imported."""
    before = {name: os.environ.get(name) for name in PINNED}
    os.environ |= PINNED
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def timed(call: Callable[[], Result]) -> tuple[Result, float]:
    """Return a call's result, and the lesser of its wall and processor time, since the machine is shared."""
    processors, wall = time.process_time(), time.perf_counter()
    result = call()
    return result, min(time.perf_counter() - wall, time.process_time() - processors)


def seconds_of(call: Call) -> float:
    return timed(call)[1]


def best_seconds(call: Call, *, at_least: float = 0.2, most: int = 200) -> float:
    """The fastest of several calls, after one that does not count: the machine is noisy, noise only adds.

    Who asks for no seconds at least, as quick cases do, gets those of one call.
    """
    call()
    best, spent, n = np.inf, 0.0, 0
    while (spent < at_least or n < (3 if at_least else 1)) and n < most:
        seconds = seconds_of(call)
        best, spent, n = min(best, seconds), spent + seconds, n + 1
    return best


def take_turns(
    calls: Mapping[str, Call], seconds: float, *, least: int = 5, repeats: int = 1, before: Call = lambda: None
) -> dict[str, float]:
    """The best time of each, after a call that does not count; noise is then noise for all of them.

    Where the first of several calls finds cold caches, ask for ``repeats``; ``before`` each runs what does not count.
    """
    best = dict.fromkeys(calls, np.inf)
    for call in calls.values():
        before()
        call()
    begun, n_rounds = time.perf_counter(), 0
    while n_rounds < least or (time.perf_counter() - begun < seconds and n_rounds < 2000):
        for name, call in calls.items():
            for _ in range(repeats):
                before()
                best[name] = min(best[name], seconds_of(call))
        n_rounds += 1
    return best


def geometric_mean(values: Sequence[float]) -> float:
    return float(np.exp(np.mean(np.log(values))))


def copy_bandwidth() -> float:
    """Bytes read and written a second by a plain copy of an array larger than any cache, 1e9."""
    source = np.random.default_rng(0).random(2**24)  # written pages: untouched zeros would share one
    target = source.copy()
    return 2 * source.nbytes / best_seconds(lambda: np.copyto(target, source)) / 1e9


def memory(entry: str) -> int:
    """Bytes that this process holds (VmRSS) or ever held (VmHWM).

    `ru_maxrss` would begin with what the process that started this one ever held.
    """
    status = Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in status if line.startswith(entry))


def in_own_process(function: Callable[..., Result], *arguments: object, start: str | None = None) -> Result:
    """Peak memory is that of a new process, if it is spawned, as processes are unless `forks` has been called."""
    with ProcessPoolExecutor(1, mp_context=get_context(start or _start)) as pool:
        return pool.submit(function, *arguments).result()


def forks() -> None:
    """Use forks for all further processes: they import nothing, but their measurements mean less."""
    global _start
    _start = "fork"


_start = "spawn"


def seconds_of_first_call(prepare: str, call: str) -> float:
    """Seconds of a statement in a new process without any compiled code, as after installation."""
    script = f"import time\n{prepare}\nbegun = time.perf_counter()\n{call}\nprint(time.perf_counter() - begun)"
    with tempfile.TemporaryDirectory() as directory:
        # Named, the processor gets code of its own, and not what `make` or a wheel brought.
        processor = llvmlite.binding.get_host_cpu_name()
        environment = {**os.environ, "NUMBA_CACHE_DIR": directory, "NUMBA_CPU_NAME": processor}
        command = [sys.executable, "-c", script]
        return float(subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True).stdout)
