"""Threads for kernels that release the interpreter lock."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from mrfit.errors import InputError

Result = TypeVar("Result")


def available_jobs() -> int:
    """Processors this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)  # Linux only
    return len(affinity(0)) if affinity else (os.cpu_count() or 1)


def resolve_jobs(jobs: int | None) -> int:
    """``None`` and -1 mean all available processors."""
    if jobs in (None, -1):
        return available_jobs()
    if jobs is None or jobs < 1:
        raise InputError(f"The number of jobs must be positive, or -1 for all processors; got {jobs}.")
    return jobs


@cache
def _pool(jobs: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(jobs, thread_name_prefix="mrfit")


def run(function: Callable[[int, int], Result], ranges: Sequence[tuple[int, int]]) -> list[Result]:
    """Call ``function(first, last)`` for every range, each range on a thread of its own."""
    if len(ranges) == 1:
        return [function(*ranges[0])]
    return list(_pool(len(ranges)).map(lambda span: function(*span), ranges))


def deal(cost: NDArray[np.float64], jobs: int) -> list[tuple[int, int]]:
    """Cut 0 .. len(cost) into at most ``jobs`` consecutive ranges of about equal cost."""
    goal = np.cumsum(cost)
    cuts = np.searchsorted(goal, goal[-1] * np.arange(1, jobs) / jobs) + 1 if len(cost) else []
    edges = sorted({0, len(cost), *(int(min(cut, len(cost))) for cut in cuts)})
    return list(pairwise(edges))
