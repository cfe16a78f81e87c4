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
    """Processors this process may use, or those that `at_most_jobs` leaves to this thread."""
    if (limit := getattr(_this_thread, "most_jobs", None)) is not None:
        return int(limit)
    affinity = getattr(os, "sched_getaffinity", None)  # Linux only
    return len(affinity(0)) if affinity else (os.cpu_count() or 1)


def resolve_jobs(jobs: int | None) -> int:
    """``None`` and -1 mean all available processors."""
    if jobs in (None, -1):
        return available_jobs()
    if not isinstance(jobs, int | np.integer) or isinstance(jobs, bool) or jobs < 1:
        raise InputError(f"The number of jobs must be a positive whole number, or -1 for all processors; got {jobs!r}.")
    return int(jobs)


@contextmanager
def at_most_jobs(n: int) -> Iterator[None]:
    """In the block, on this thread, all processors are so many: others may be as busy."""
    _this_thread.most_jobs = n
    try:
        yield
    finally:
        del _this_thread.most_jobs


_MOST_THREADS = 1024  # a bound on what a wrong number of jobs can start


@cache
def _pool() -> ThreadPoolExecutor:
    """The threads of this process; they are started as they are needed."""

    def begin() -> None:
        _this_thread.is_ours = True

    return ThreadPoolExecutor(_MOST_THREADS, thread_name_prefix="mrfit", initializer=begin)


def _begin_anew() -> None:
    """A forked child inherits the pool but none of its threads: work handed to them would never begin."""
    _pool.cache_clear()
    _this_thread.is_ours = False


if hasattr(os, "register_at_fork"):  # Windows does not fork
    os.register_at_fork(after_in_child=_begin_anew)


def run(function: Callable[[int, int], Result], ranges: Sequence[tuple[int, int]]) -> list[Result]:
    """Call ``function(first, last)`` for every range, each range on a thread of its own.

    It returns when all ranges have ended, so that nothing goes on writing to what the caller owns; if some failed, with
    the error of the first of them. Within a range it takes the ranges one after the other: the processors are busy.
    """
    if len(ranges) <= 1 or getattr(_this_thread, "is_ours", False):
        return [function(*span) for span in ranges]
    started = [_pool().submit(function, *span) for span in ranges]
    try:
        for future in started:
            future.exception()  # waits for its end
    finally:  # an interrupt of the caller: what has not begun need not
        for future in started:
            future.cancel()
    return [future.result() for future in started]


def one_blas_thread() -> AbstractContextManager[object]:
    """Hold BLAS to one thread: on small matrices more of them wait for each other."""
    held: AbstractContextManager[object] = _blas().limit(limits=1)
    return held


@cache
def _blas() -> ThreadpoolController:
    """Found once: looking through all loaded libraries takes as long as a small fit."""
    import scipy.linalg  # noqa: F401  (its library is found only if it is loaded)

    return ThreadpoolController().select(user_api="blas")


def deal(cost: NDArray[np.float64], jobs: int) -> list[tuple[int, int]]:
    """Cut 0 .. len(cost) into at most ``jobs`` consecutive ranges of about equal cost."""
    goal = np.cumsum(cost)
    cuts = np.searchsorted(goal, goal[-1] * np.arange(1, jobs) / jobs) + 1 if len(cost) else []
    edges = sorted({0, len(cost), *(int(min(cut, len(cost))) for cut in cuts)})
    return list(pairwise(edges))
