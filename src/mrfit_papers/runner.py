"""Running units: one after another, or in several processes that end with this one."""

from __future__ import annotations

import multiprocessing
import os
import resource
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any

from threadpoolctl import threadpool_limits

from mrfit.core.cluster import is_in_use, streamed
from mrfit_papers.unit import Unit


@dataclass(frozen=True)
class Outcome:
    """The result of a unit, or its error.

    ``seconds`` are processor seconds, independent of other load; ``memory`` is the peak memory of its process, in
    bytes.
    """

    unit: Unit
    seconds: float
    memory: float
    result: dict[str, Any] | None = None
    error: str = ""


def outcomes(units: Iterable[Unit], *, jobs: int = 1) -> Iterator[Outcome]:
    """Run every unit once, in any order; results do not depend on ``jobs``. A failing unit stops no other.

    They run on the cluster in use, if there is one.
    """
    bundles = bundled(units)
    if is_in_use():
        return (outcome for outcomes in streamed(_outcomes_of, bundles, name=_first_in_words) for outcome in outcomes)
    if jobs == 1:
        return (outcome_of(unit) for bundle in bundles for unit in bundle)
    return _in_processes(bundles, jobs)


def bundled(units: Iterable[Unit]) -> list[list[Unit]]:
    """Group units of one turn that share work.

    Within a turn the most expensive bundles come first: a long one at the end would leave the other processes idle.
    """
    bundles: dict[tuple[int, Hashable], list[Unit]] = defaultdict(list)
    for unit in units:
        bundles[unit.turn(), unit.shared()].append(unit)
    return sorted(bundles.values(), key=lambda bundle: (bundle[0].turn(), -sum(unit.cost() for unit in bundle)))


def _outcomes_of(bundle: list[Unit]) -> list[Outcome]:
    return [outcome_of(unit) for unit in bundle]


def _first_in_words(bundle: list[Unit]) -> str:
    return bundle[0].describe()


def outcome_of(unit: Unit) -> Outcome:
    begun = time.process_time()
    try:
        with threadpool_limits(limits=1):
            result, error = unit.run(), ""
    except Exception as failure:  # reported with its unit, and the others continue
        result, error = None, f"{type(failure).__name__}: {failure}"
    return Outcome(unit, time.process_time() - begun, _memory(), result, error)


def _memory() -> float:
    return 1024.0 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


# --- processes


class _Worker:
    """A process that works through a bundle of units.

    A fork of this process would inherit locks of compiled threads. Workers are forks of a server that has imported all
    modules and runs nothing; otherwise each would take a second or two to import them.
    """

    def __init__(self) -> None:
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload([__name__, "mrfit_papers.experiments"])
        self.connection, child_end = context.Pipe()
        self.process: BaseProcess = context.Process(target=_work, args=(child_end,), daemon=True)
        self.process.start()
        child_end.close()
        self.waiting: deque[Unit] = deque()

    def give(self, bundle: Iterable[Unit]) -> None:
        self.waiting = deque(bundle)
        self.connection.send(list(self.waiting))

    def end(self) -> None:
        self.connection.close()
        self.process.kill()
        self.process.join()


def _work(connection: Connection) -> None:
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        while True:
            for unit in connection.recv():
                connection.send(outcome_of(unit))
    except (EOFError, BrokenPipeError):  # the parent wants no more results
        return


def _end_with_parent() -> None:
    """End this process when its parent ends: a parent that is killed cannot do it."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
    os._exit(1)


def _in_processes(bundles: list[list[Unit]], jobs: int) -> Iterator[Outcome]:
    waiting = deque(bundles)
    workers = [_Worker() for _ in range(min(jobs, len(bundles)))]
    try:
        for worker in workers:
            worker.give(waiting.popleft())
        while busy := {worker.connection: worker for worker in workers if worker.waiting}:
            for connection in wait(list(busy)):
                worker = busy[connection]  # type: ignore[index]
                try:
                    outcome: Outcome = worker.connection.recv()
                    worker.waiting.popleft()
                except (EOFError, ConnectionResetError):  # the worker was killed, most likely because memory ran out
                    outcome = Outcome(worker.waiting.popleft(), 0.0, 0.0, error="its process was ended from outside")
                    rest = worker.waiting
                    worker.end()
                    workers[workers.index(worker)] = worker = _Worker()
                    if rest:
                        worker.give(rest)
                yield outcome
                if not worker.waiting and waiting:
                    worker.give(waiting.popleft())
    finally:
        for worker in workers:
            worker.end()


@dataclass
class Clock:
    """An estimate of the time left, from the costs of finished and remaining units."""

    total: float
    now: Callable[[], float] = time.perf_counter
    done: float = 0.0

    def __post_init__(self) -> None:
        self.begun = self.now()

    def left(self, cost: float) -> float:
        """Return the seconds left, after another unit of this cost is done."""
        self.done += cost
        return (self.now() - self.begun) * (self.total - self.done) / self.done
