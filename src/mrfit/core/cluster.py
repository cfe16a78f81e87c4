"""One `mapped(function, items)` for threads and for clusters; the only file that imports Dask.

Within `cluster(address)` whatever has many items to work on sends them to the workers of a Dask cluster, as futures and
nothing else: all that a task needs is in its arguments, which the scheduler keeps, so that what a dead worker held is
worked out again elsewhere. Results come in the order of the items, so a sum of them has the same bits on any cluster.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar

import numpy as np

from mrfit._version import __version__
from mrfit.core.errors import InputError
from mrfit.core.threads import at_most_jobs, deal, run

Item = TypeVar("Item")
Result = TypeVar("Result")

_CONNECTING = 10.0  # seconds that a scheduler and a first worker may take to answer
_LOOKING = 2.0  # seconds between looks at the workers while a result is waited for
_WITHOUT_WORKERS = 60.0  # seconds after which nobody starts one any more

_LOCAL = re.compile(r"local:(\d+)")
_ADDRESS = re.compile(r"[a-z]+://.+|[^/\s:]+:\d+")


class Held(Protocol):
    """Things that were made where the work is done."""

    def ask(self, function: Callable[..., Any], *arguments: Any) -> list[Any]:
        """``function(thing, *arguments)`` for each, in their order."""

    def made(self, function: Callable[..., Any], *arguments: Any) -> Held:
        """The same of each, kept where it is."""


def is_address(text: str) -> bool:
    """Whether a word is the address of a cluster: ``local:4``, ``tcp://host:8786`` or ``host:8786``."""
    return bool(_LOCAL.fullmatch(text) or _ADDRESS.fullmatch(text))


@contextmanager
def cluster(address: str) -> Iterator[None]:
    """Work on a Dask cluster within the block: ``local:N`` processes of this machine, or the address of a scheduler.

    A script that starts local processes does so under ``if __name__ == "__main__":``, as all that start any.
    """
    if (other := _active.get()) is not None:
        raise InputError(f"The cluster {other.address} is in use already; leave its block before you enter another.")
    with _connected(address) as found:
        token = _active.set(found)
        try:
            yield
        finally:
            _active.reset(token)


def n_at_once() -> int:
    """Threads of all workers of the cluster in use; 1 without one."""
    active = _active.get()
    return 1 if active is None else active.n_threads


def is_in_use() -> bool:
    """Whether this thread is in the block of a cluster."""
    return _active.get() is not None


def mapped(
    function: Callable[..., Result],
    items: Sequence[Item],
    *,
    shared: tuple[Any, ...] = (),
    jobs: int = 1,
    name: Callable[[Item], str] = str,
    callback: Callable[[Item], None] | None = None,
) -> list[Result]:
    """``function(*shared, item)`` for every item, in their order: on the cluster in use, else on ``jobs`` threads.

    ``name`` is what errors call an item. ``callback`` is told of every item that is done, from any thread. On a cluster
    the function must be one that can be imported there; ``shared`` travels once to each worker.
    """
    if (active := _active.get()) is not None:
        return list(active.streamed(function, items, shared, name, callback))

    def work(first: int, last: int) -> list[Result]:
        results = []
        for item in items[first:last]:
            results.append(function(*shared, item))
            if callback is not None:
                callback(item)
        return results

    return [result for part in run(work, deal(np.ones(len(items)), jobs)) for result in part]


def streamed(
    function: Callable[[Item], Result], items: Sequence[Item], *, name: Callable[[Item], str] = str
) -> Iterator[Result]:
    """The same one by one, each as soon as it and those before it are done, on the cluster in use."""
    active = _active.get()
    if active is None:
        raise RuntimeError("There is no cluster in use.")
    return active.streamed(function, items, (), name, None)


def held(build: Callable[[Item], Any], items: Sequence[Item], *, name: Callable[[Item], str] = str) -> Held:
    """What ``build`` makes of every item, kept where it was made, and made again where that is lost."""
    active = _active.get()
    return _HeldHere(list(map(build, items))) if active is None else active.held(build, items, name)


@dataclass(frozen=True)
class _HeldHere:
    things: list[Any]

    def ask(self, function: Callable[..., Any], *arguments: Any) -> list[Any]:
        return [function(thing, *arguments) for thing in self.things]

    def made(self, function: Callable[..., Any], *arguments: Any) -> _HeldHere:
        return _HeldHere(self.ask(function, *arguments))


# --- Dask


@dataclass(frozen=True)
class _HeldThere:
    cluster: _Cluster
    futures: list[Any]
    names: list[str]

    def ask(self, function: Callable[..., Any], *arguments: Any) -> list[Any]:
        return self.cluster.gathered(self.made(function, *arguments).futures, self.names)

    def made(self, function: Callable[..., Any], *arguments: Any) -> _HeldThere:
        """All tasks in one message: the client waits between messages, longer than a small task takes."""
        n = len(self.futures)
        each = ([argument] * n for argument in arguments)
        return replace(self, futures=self.cluster.client.map(_task, [function] * n, self.futures, *each, pure=False))


@dataclass(frozen=True)
class _Cluster:
    """A scheduler and its workers."""

    address: str
    client: Any

    @property
    def n_threads(self) -> int:
        return max(1, int(sum(self.client.nthreads().values())))

    def submitted(self, function: Callable[..., Any], *arguments: Any) -> Any:
        return self.client.submit(_task, function, *arguments, pure=False)

    def streamed(
        self,
        function: Callable[..., Any],
        items: Sequence[Any],
        shared: tuple[Any, ...],
        name: Callable[[Any], str],
        callback: Callable[[Any], None] | None,
    ) -> Iterator[Any]:
        # A task that returns its argument, not `scatter`: the scheduler can do it again for a worker that died.
        travels = [self.submitted(_itself, each) for each in shared]
        futures = [self.submitted(function, *travels, item) for item in items]
        for item, result in zip(items, self.results(futures, list(map(name, items))), strict=True):
            if callback is not None:
                callback(item)
            yield result

    def held(self, build: Callable[[Any], Any], items: Sequence[Any], name: Callable[[Any], str]) -> _HeldThere:
        return _HeldThere(self, [self.submitted(build, item) for item in items], list(map(name, items)))

    def results(self, futures: Sequence[Any], names: Sequence[str]) -> Iterator[Any]:
        """One by one."""
        with self._wanted(futures):
            for future, name in zip(futures, names, strict=True):
                with self._named(future, name):
                    self._wait(future, name)
                    result = future.result()
                yield result

    def gathered(self, futures: Sequence[Any], names: Sequence[str]) -> list[Any]:
        """All of them, fetched together."""
        with self._wanted(futures):
            for future, name in zip(futures, names, strict=True):
                with self._named(future, name):
                    self._wait(future, name)
        if any(future.status != "finished" for future in futures):
            return list(self.results(futures, names))
        with self._named(futures[-1], names[-1]):
            return list(self.client.gather(futures))

    @contextmanager
    def _wanted(self, futures: Sequence[Any]) -> Iterator[None]:
        """After an error or an interrupt nobody wants the others."""
        try:
            yield
        finally:
            if left := [future for future in futures if not future.done()]:
                self.client.cancel(left)

    def _wait(self, future: Any, name: str) -> None:
        """As long as there are workers."""
        without = 0.0
        while not future.done():
            without = 0.0 if _is_done(future) or self.client.nthreads() else without + _LOOKING
            if without > _WITHOUT_WORKERS:
                raise InputError(
                    f"All workers of the cluster {self.address} are lost, while {name} was worked on. Start workers, "
                    "and this again."
                )

    @contextmanager
    def _named(self, future: Any, name: str) -> Iterator[None]:
        """Says in one line what became of a task that has no result."""
        from distributed import KilledWorker

        try:
            yield
        except KilledWorker as error:
            raise InputError(
                f"Every worker of the cluster {self.address} that took {name} died of it ({error.allowed_failures + 1} "
                "did). Cut it into smaller parts, give workers more memory, or leave it out."
            ) from None
        except (CancelledError, OSError) as error:
            if isinstance(error, OSError) and error.errno is not None and future.done():  # its own, such as a full disk
                raise InputError(f"A worker of the cluster {self.address} failed on {name}: {error}.") from None
            raise InputError(
                f"The scheduler of the cluster {self.address} is gone, while {name} was worked on. Start it, and this "
                "again."
            ) from None


_active: ContextVar[_Cluster | None] = ContextVar("cluster", default=None)


def _itself(thing: Result) -> Result:
    return thing


def _task(function: Callable[..., Result], *arguments: Any) -> Result:
    """What runs on a worker, where all processors are the threads of the worker."""
    from distributed import get_worker

    with at_most_jobs(get_worker().state.nthreads):
        return function(*arguments)


def _is_done(future: Any) -> bool:
    """After a while of waiting."""
    try:
        future.exception(timeout=_LOOKING)
    except TimeoutError:
        return False
    return True


@contextmanager
def _connected(address: str) -> Iterator[_Cluster]:
    try:
        import distributed
    except ImportError:
        raise InputError(
            f"The cluster {address} needs Dask, which is not installed. Install it: pip install 'mrfit[cluster]'."
        ) from None
    local = _LOCAL.fullmatch(address)
    if not is_address(address) or (local and int(local[1]) < 1):
        raise InputError(
            f"{address!r} is no cluster; write local:4 for four processes of this machine, or the address of a "
            "scheduler such as tcp://host:8786."
        )
    with ExitStack() as until_left:
        try:
            place = until_left.enter_context(_processes(int(local[1]))) if local else address
            how = {"timeout": _CONNECTING, "set_as_default": False, "direct_to_workers": local is not None}
            client = until_left.enter_context(distributed.Client(place, **how))
            client.wait_for_workers(1, timeout=_CONNECTING)
            versions = set(client.run(_version, on_error="return").values())
        except (OSError, TimeoutError, ValueError) as error:
            raise InputError(
                f"The cluster {address} does not answer ({str(error) or type(error).__name__}). Check the address, and "
                "that its scheduler and workers run."
            ) from None
        if versions != {__version__}:
            found = ", ".join(sorted(map(str, versions)))
            raise InputError(
                f"Workers of the cluster {address} have another mrfit than this one ({found}; here {__version__}). "
                "Install the same on all."
            )
        yield _Cluster(address, client)


@contextmanager
def _processes(n: int) -> Iterator[Any]:
    """Workers of this machine, one thread each, that end with this process; silent, for they are restarted."""
    import dask
    from distributed import LocalCluster

    # On a busy machine one that was killed is not back as soon as Dask expects, which would give it up for good.
    patience = dask.config.set({"distributed.deploy.lost-worker-timeout": "1 hour"})
    # Any free port: the usual one may be taken by another cluster.
    how = {"threads_per_worker": 1, "dashboard_address": "127.0.0.1:0", "silence_logs": logging.CRITICAL}
    with patience, LocalCluster(n_workers=n, **how) as cluster:
        yield cluster


def _version() -> str:
    return __version__
