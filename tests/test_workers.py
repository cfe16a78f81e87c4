"""Dealing work to threads."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mrfit.errors import InputError
from mrfit.workers import available_jobs, deal, resolve_jobs, run


@given(st.lists(st.floats(0, 1e9), min_size=1, max_size=30), st.integers(1, 40))
def test_deal_cuts_everything_into_consecutive_ranges(cost: list[float], jobs: int) -> None:
    """Every item once, in order, in at most ``jobs`` non-empty ranges."""
    ranges = deal(np.array(cost), jobs)
    assert 1 <= len(ranges) <= jobs
    assert [k for first, last in ranges for k in range(first, last)] == list(range(len(cost)))
    assert all(first < last for first, last in ranges)


@given(st.lists(st.floats(0.1, 10), min_size=1, max_size=60), st.integers(1, 8))
def test_deal_balances_the_cost(cost: list[float], jobs: int) -> None:
    """No range costs more than its share plus its last item."""
    for first, last in deal(np.array(cost), jobs):
        assert sum(cost[first : last - 1]) <= sum(cost) / jobs * (1 + 1e-9)


def test_run_keeps_the_order_of_the_ranges() -> None:
    """Whichever thread ends first."""
    barrier = threading.Barrier(3, timeout=60)

    def work(first: int, last: int) -> tuple[int, int, str]:
        barrier.wait()
        return first, last, threading.current_thread().name

    results = run(work, [(0, 2), (2, 3), (3, 9)])
    assert [result[:2] for result in results] == [(0, 2), (2, 3), (3, 9)]
    assert len({result[2] for result in results}) == 3


def test_one_range_stays_on_the_calling_thread() -> None:
    """No thread is woken for nothing."""
    assert run(lambda *_: threading.current_thread(), [(0, 5)]) == [threading.current_thread()]


def test_errors_in_a_thread_reach_the_caller() -> None:
    """As they were raised."""

    def work(first: int, last: int) -> None:
        raise InputError(f"range {first} to {last}")

    with pytest.raises(InputError, match="range 0 to 1"):
        run(work, [(0, 1), (1, 2)])


def test_jobs_are_resolved() -> None:
    """None and -1 are all processors; nothing else below one is a number of jobs."""
    assert resolve_jobs(None) == resolve_jobs(-1) == available_jobs() >= 1
    assert resolve_jobs(3) == 3
    for jobs in (0, -2):
        with pytest.raises(InputError, match=f"got {jobs}"):
            resolve_jobs(jobs)
