"""Running units: one after another, or in several processes that outlive none of us."""

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
    """What came of a unit: a result, or what went wrong.

    ``seconds`` are those of the processor, whatever else it was busy with; ``memory`` is the most its process took, in
    bytes.
    """

    unit: Unit
    seconds: float
    memory: float
    result: dict[str, Any] | None = None
    error: str = ""


def outcomes(units: Iterable[Unit], *, jobs: int = 1) -> Iterator[Outcome]:
    """Every unit once, in any order; results do not depend on ``jobs``. A unit that fails stops no other.

    On the cluster in use, where there is one.
    """
    bundles = bundled(units)
    if is_in_use():
        return (outcome for outcomes in streamed(_outcomes_of, bundles, name=_first_in_words) for outcome in outcomes)
    if jobs == 1:
        return (outcome_of(unit) for bundle in bundles for unit in bundle)
    return _in_processes(bundles, jobs)


def bundled(units: Iterable[Unit]) -> list[list[Unit]]:
    """Units of one turn that share work together.

    Within a turn the dearest bundles are first: a long one at the end would keep one process busy.
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
    except Exception as failure:  # of whatever kind: it is told of with its unit, and the others go on
        result, error = None, f"{type(failure).__name__}: {failure}"
    return Outcome(unit, time.process_time() - begun, _memory(), result, error)


def _memory() -> float:
    return 1024.0 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


# --- processes


class _Worker:
    """A process with a bundle of units to do.

    A fork of this process would inherit locks of compiled threads. Workers are forks of one that has imported all they
    need and run nothing, or each would import it for a second or two.
    """

    def __init__(self) -> None:
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload([__name__, "mrfit_papers.experiments"])
        self.connection, theirs = context.Pipe()
        self.process: BaseProcess = context.Process(target=_work, args=(theirs,), daemon=True)
        self.process.start()
        theirs.close()
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
    except (EOFError, BrokenPipeError):  # nobody wants any more
        return


def _end_with_parent() -> None:
    """A parent that is killed cannot end its children."""
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
                except (EOFError, ConnectionResetError):  # it was killed, most likely for want of memory
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
    """Time left, by the cost of what is done and what is not."""

    total: float
    now: Callable[[], float] = time.perf_counter
    done: float = 0.0

    def __post_init__(self) -> None:
        self.begun = self.now()

    def left(self, cost: float) -> float:
        """In seconds, after another unit of so much is done."""
        self.done += cost
        return (self.now() - self.begun) * (self.total - self.done) / self.done
