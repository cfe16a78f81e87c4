"""Internal: threads for kernels that release the interpreter lock."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from itertools import pairwise
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from mrfit.core.errors import InputError

Result = TypeVar("Result")

_this_thread = threading.local()  # .is_ours on threads of the pool, .most_jobs within `at_most_jobs`


def available_jobs() -> int:
    """Number of processors this process may use, or the limit that `at_most_jobs` sets on this thread."""
    if (limit := getattr(_this_thread, "most_jobs", None)) is not None:
        return int(limit)
    affinity = getattr(os, "sched_getaffinity", None)  # Linux only
    return len(affinity(0)) if affinity else (os.cpu_count() or 1)


def resolve_jobs(jobs: int | None) -> int:
    """Return the number of jobs; ``None`` and -1 mean all available processors."""
    if jobs in (None, -1):
        return available_jobs()
    if not isinstance(jobs, int | np.integer) or isinstance(jobs, bool) or jobs < 1:
        raise InputError(f"The number of jobs must be a positive whole number, or -1 for all processors; got {jobs!r}.")
    return int(jobs)


@contextmanager
def at_most_jobs(n: int) -> Iterator[None]:
    """Limit "all processors" to ``n`` on this thread within the block, because other threads are busy too."""
    _this_thread.most_jobs = n
    try:
        yield
    finally:
        del _this_thread.most_jobs


_MOST_THREADS = 1024  # a bound on what a wrong number of jobs can start


@cache
def _pool() -> ThreadPoolExecutor:
    """Return the thread pool of this process; its threads start on demand."""

    def begin() -> None:
        _this_thread.is_ours = True

    return ThreadPoolExecutor(_MOST_THREADS, thread_name_prefix="mrfit", initializer=begin)


def _reset_after_fork() -> None:
    """Reset the pool in a forked child: it inherits the pool but no threads, so submitted work would never start."""
    _pool.cache_clear()
    _this_thread.is_ours = False


if hasattr(os, "register_at_fork"):  # Windows does not fork
    os.register_at_fork(after_in_child=_reset_after_fork)


def run(function: Callable[[int, int], Result], ranges: Sequence[tuple[int, int]]) -> list[Result]:
    """Call ``function(first, last)`` for every range, each on its own thread.

    It returns when all ranges have ended, so that no thread still writes to the caller's arrays. If some failed, it
    raises the error of the first of them. Called from a thread of the pool, it takes the ranges one after the other,
    because the processors are busy.
    """
    if len(ranges) <= 1 or getattr(_this_thread, "is_ours", False):
        return [function(*span) for span in ranges]
    started = [_pool().submit(function, *span) for span in ranges]
    try:
        for future in started:
            future.exception()  # waits for its end
    finally:  # after an interrupt of the caller, cancel ranges that have not started
        for future in started:
            future.cancel()
    return [future.result() for future in started]


def one_blas_thread() -> AbstractContextManager[object]:
    """Limit BLAS to one thread: on small matrices several threads wait for each other."""
    limit: AbstractContextManager[object] = _blas().limit(limits=1)
    return limit


@cache
def _blas() -> ThreadpoolController:
    """Return the controller of BLAS, found once: inspecting all loaded libraries takes as long as a small fit."""
    import scipy.linalg  # noqa: F401  (its library is found only if it is loaded)

    return ThreadpoolController().select(user_api="blas")


def deal(cost: NDArray[np.float64], jobs: int) -> list[tuple[int, int]]:
    """Cut 0 .. len(cost) into at most ``jobs`` consecutive ranges of about equal cost."""
    goal = np.cumsum(cost)
    cuts = np.searchsorted(goal, goal[-1] * np.arange(1, jobs) / jobs) + 1 if len(cost) else []
    edges = sorted({0, len(cost), *(int(min(cut, len(cost))) for cut in cuts)})
    return list(pairwise(edges))
