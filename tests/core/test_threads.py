"""Dealing work to threads."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forked import process_of, run_script
from mrfit.core.errors import InputError
from mrfit.core.threads import available_jobs, deal, resolve_jobs, run


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
    """Errors keep their type and message."""

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


def test_nothing_to_do_is_done() -> None:
    """An empty table has no ranges."""
    assert run(lambda *_: 1, deal(np.empty(0), 4)) == []


def test_after_an_error_all_ranges_have_ended() -> None:
    """The first error by range is raised, and no thread goes on writing behind the caller's back."""
    failed, ended = threading.Event(), []

    def work(first: int, last: int) -> None:
        if first == 0:
            failed.set()
            raise InputError("range 0")
        failed.wait(60)
        time.sleep(0.05)
        ended.append(first)
        if first == 2:
            raise ValueError("range 2")

    with pytest.raises(InputError, match="range 0"):
        run(work, [(0, 1), (1, 2), (2, 3)])
    assert sorted(ended) == [1, 2]
    assert run(lambda first, _: first, [(0, 1), (1, 2)]) == [0, 1]


def outcome(script: str, tmp_path: Path) -> str:
    """Return what a script prints in a process of its own, which is killed with all its children if it does not end."""
    process = process_of(run_script, script, tmp_path / "printed")
    process.join(300)
    if process.exitcode is None:
        os.killpg(process.pid, signal.SIGKILL)
        pytest.fail("It did not end within five minutes.")
    return (tmp_path / "printed").read_text()


def test_ranges_within_ranges_end(tmp_path: Path) -> None:
    """A function that is run on threads may itself call something that is."""
    script = """
from mrfit.core.threads import run

def inner(first, last):
    return run(lambda a, b: (first, a), [(0, 1), (1, 2), (2, 3)])

print(run(inner, [(0, 1), (1, 2), (2, 3)]) == [[(k, a) for a in range(3)] for k in range(3)])
"""
    assert outcome(script, tmp_path) == "True\n"


def test_ranges_from_many_threads_end(tmp_path: Path) -> None:
    """Callers on threads of their own do not wait for each other's ranges to be taken."""
    script = """
import threading
from concurrent.futures import ThreadPoolExecutor
from mrfit.core.threads import run

barrier = threading.Barrier(12, timeout=60)  # every range of every caller at once

def caller(k):
    return run(lambda first, last: barrier.wait() >= 0, [(0, 1), (1, 2), (2, 3)])

with ThreadPoolExecutor(4) as callers:
    print(all(all(done) for done in callers.map(caller, range(4))))
"""
    assert outcome(script, tmp_path) == "True\n"


FIT = """
import multiprocessing, os, sys, warnings
import numpy as np
from mrfit import MarkovNetworkLearner
from mrfit.objectives import conditional_loss, row_scores

warnings.simplefilter("ignore", DeprecationWarning)  # of forking beside threads, which is what is tried here
conditional_loss._WORTH_A_THREAD = row_scores._WORTH_A_THREAD = -1
table = np.random.default_rng(0).integers(0, 2, (3000, 6))

def fit(*_):
    learner = MarkovNetworkLearner(n_jobs=2).fit(table)
    return learner.model_.w.tobytes() + learner.score_samples(table).tobytes()
"""

forking = pytest.mark.skipif(not hasattr(os, "fork"), reason="only where processes fork")


@forking
def test_a_fit_in_a_forked_child_equals_that_of_its_parent(tmp_path: Path) -> None:
    """Fits agree with the parent's threads asleep: in a child, in a child of that child, and in the parent again."""
    script = """
here = fit()

def child(depth):
    same = fit() == here
    if depth:
        pid = os.fork()
        if pid == 0:
            child(depth - 1)
        same &= os.waitpid(pid, 0)[1] == 0
    os._exit(0 if same else 1)

pid = os.fork()
if pid == 0:
    child(1)
print(os.waitpid(pid, 0)[1], fit() == here)
"""
    assert outcome(FIT + script, tmp_path) == "0 True\n"


@forking
def test_fits_in_a_pool_of_forked_processes(tmp_path: Path) -> None:
    """Pools work as scikit-learn's and multiprocessing's users use them on Linux, also from within a thread of ours."""
    script = """
from mrfit.core.threads import run
here = fit()

def many(*_):
    with multiprocessing.get_context("fork").Pool(2) as pool:
        return all(there == here for there in pool.map(fit, range(4)))

print(many(), run(lambda first, last: first > 0 or many(), [(0, 1), (1, 2)]))
"""
    assert outcome(FIT + script, tmp_path) == "True [True, True]\n"
