"""Map a function over items on threads or on a Dask cluster; the only module that imports Dask.

Inside `cluster(address)`, every function with many items sends them to the cluster's workers as futures. A task carries
all it needs in its arguments, and the scheduler stores them. If a worker dies, its tasks therefore run again elsewhere.
Results come in the order of the items, so sums have the same bits on every cluster.
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

_CONNECT_SECONDS = 10.0  # seconds a scheduler and its first worker may take to answer
_POLL_SECONDS = 2.0  # seconds between checks that workers are alive while a result is pending
_MOST_SECONDS_WITHOUT_WORKERS = 60.0  # seconds without any worker before the run fails

_LOCAL = re.compile(r"local:(\d+)")
_ADDRESS = re.compile(r"[a-z]+://.+|[^/\s:]+:\d+")


class Held(Protocol):
    """Objects that stay where they were built: in this process or on the workers of a cluster."""

    def ask(self, function: Callable[..., Any], *arguments: Any) -> list[Any]:
        """Return ``function(object, *arguments)`` for each object, in order."""

    def made(self, function: Callable[..., Any], *arguments: Any) -> Held:
        """Apply the function to each object and leave the results where the objects are."""


def is_address(text: str) -> bool:
    """Whether the text is the address of a cluster: ``local:4``, ``tcp://host:8786`` or ``host:8786``."""
    return bool(_LOCAL.fullmatch(text) or _ADDRESS.fullmatch(text))


@contextmanager
def cluster(address: str) -> Iterator[None]:
    """Run the work of a ``with`` block on a Dask cluster.

    Folds, bootstrap samples and parts of tables are sent to the workers. Results are the same, bit for bit, as on this
    machine. See the how-to page on large tables and clusters.

    Parameters
    ----------
    address : str
        ``local:N`` for N processes on this machine, or the address of a scheduler, such as ``tcp://host:8786``.

    Yields
    ------
    None
        Nothing; calls inside the block use the cluster.

    Raises
    ------
    InputError
        If Dask is not installed, the address is wrong or does not answer, or another cluster is in use.

    Notes
    -----
    A script that starts local processes needs the guard ``if __name__ == "__main__":``, like any multiprocessing
    script.

    Examples
    --------
    >>> from mrfit import UniqueRows, cluster, learn
    >>> with cluster("local:4"):  # doctest: +SKIP
    ...     fitted = learn(UniqueRows.from_file("nltcs:train"), folds=10)
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
    """Number of threads of all workers of the active cluster; 1 without a cluster."""
    active = _active.get()
    return 1 if active is None else active.n_threads


def is_in_use() -> bool:
    """Whether this thread is inside a `cluster` block."""
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
    """Return ``function(*shared, item)`` for every item, in order: on the active cluster, else on ``jobs`` threads.

    ``name`` is how errors call an item. ``callback`` is called with every finished item, from any thread. On a cluster
    the workers must be able to import the function; ``shared`` is sent once to each worker.
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
    """Yield ``function(item)`` in order, each as soon as it and all before it are done; needs an active cluster."""
    active = _active.get()
    if active is None:
        raise RuntimeError("There is no cluster in use.")
    return active.streamed(function, items, (), name, None)


def held(build: Callable[[Item], Any], items: Sequence[Item], *, name: Callable[[Item], str] = str) -> Held:
    """Build an object from every item and leave it where it was built; the cluster rebuilds lost ones."""
    active = _active.get()
    return _LocalObjects(list(map(build, items))) if active is None else active.held(build, items, name)


@dataclass(frozen=True)
class _LocalObjects:
    objects: list[Any]

    def ask(self, function: Callable[..., Any], *arguments: Any) -> list[Any]:
        return [function(thing, *arguments) for thing in self.objects]

    def made(self, function: Callable[..., Any], *arguments: Any) -> _LocalObjects:
        return _LocalObjects(self.ask(function, *arguments))


# --- Dask


@dataclass(frozen=True)
class _RemoteObjects:
    cluster: _Cluster
    futures: list[Any]
    names: list[str]

    def ask(self, function: Callable[..., Any], *arguments: Any) -> list[Any]:
        return self.cluster.gathered(self.made(function, *arguments).futures, self.names)

    def made(self, function: Callable[..., Any], *arguments: Any) -> _RemoteObjects:
        """Send all tasks in one message: the client waits between messages for longer than a small task takes."""
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
        shared_futures = [self.submitted(_identity, each) for each in shared]
        futures = [self.submitted(function, *shared_futures, item) for item in items]
        for item, result in zip(items, self.results(futures, list(map(name, items))), strict=True):
            if callback is not None:
                callback(item)
            yield result

    def held(self, build: Callable[[Any], Any], items: Sequence[Any], name: Callable[[Any], str]) -> _RemoteObjects:
        return _RemoteObjects(self, [self.submitted(build, item) for item in items], list(map(name, items)))

    def results(self, futures: Sequence[Any], names: Sequence[str]) -> Iterator[Any]:
        """Yield the results in order, each as soon as it is done."""
        with self._cancelling_the_rest(futures):
            for future, name in zip(futures, names, strict=True):
                with self._reporting_failure(future, name):
                    self._wait(future, name)
                    result = future.result()
                yield result

    def gathered(self, futures: Sequence[Any], names: Sequence[str]) -> list[Any]:
        """Wait for all results, then fetch them together."""
        with self._cancelling_the_rest(futures):
            for future, name in zip(futures, names, strict=True):
                with self._reporting_failure(future, name):
                    self._wait(future, name)
        if any(future.status != "finished" for future in futures):
            return list(self.results(futures, names))
        with self._reporting_failure(futures[-1], names[-1]):
            return list(self.client.gather(futures))

    @contextmanager
    def _cancelling_the_rest(self, futures: Sequence[Any]) -> Iterator[None]:
        """Cancel the unfinished futures when the block ends, by an error or an interrupt too."""
        try:
            yield
        finally:
            if left := [future for future in futures if not future.done()]:
                self.client.cancel(left)

    def _wait(self, future: Any, name: str) -> None:
        """Wait for a future; fail if the cluster has no workers for too long."""
        without = 0.0
        while not future.done():
            without = 0.0 if _is_done(future) or self.client.nthreads() else without + _POLL_SECONDS
            if without > _MOST_SECONDS_WITHOUT_WORKERS:
                raise InputError(
                    f"All workers of the cluster {self.address} were lost while {name} was running. Start workers, "
                    "then run the command again."
                )

    @contextmanager
    def _reporting_failure(self, future: Any, name: str) -> Iterator[None]:
        """Report a task without a result in one line."""
        from distributed import KilledWorker

        try:
            yield
        except KilledWorker as error:
            raise InputError(
                f"{error.allowed_failures + 1} workers of the cluster {self.address} died while working on {name}. "
                "Split it into smaller parts, give workers more memory, or leave it out."
            ) from None
        except (CancelledError, OSError) as error:
            if isinstance(error, OSError) and error.errno is not None and future.done():  # the task's own
                raise InputError(f"A worker of the cluster {self.address} failed on {name}: {error}.") from None
            raise InputError(
                f"The scheduler of the cluster {self.address} stopped while {name} was running. Start it, then run "
                "the command again."
            ) from None


_active: ContextVar[_Cluster | None] = ContextVar("cluster", default=None)


def _identity(thing: Result) -> Result:
    return thing


def _task(function: Callable[..., Result], *arguments: Any) -> Result:
    """Run a function on a worker, which may use as many processors as it has threads."""
    from distributed import get_worker

    with at_most_jobs(get_worker().state.nthreads):
        return function(*arguments)


def _is_done(future: Any) -> bool:
    """Wait a few seconds for the future and return whether it is done."""
    try:
        future.exception(timeout=_POLL_SECONDS)
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
            f"{address!r} is not the address of a cluster; write local:4 for four processes of this machine, or the "
            "address of a scheduler such as tcp://host:8786."
        )
    with ExitStack() as until_left:
        try:
            place = until_left.enter_context(_processes(int(local[1]))) if local else address
            how = {"timeout": _CONNECT_SECONDS, "set_as_default": False, "direct_to_workers": local is not None}
            client = until_left.enter_context(distributed.Client(place, **how))
            client.wait_for_workers(1, timeout=_CONNECT_SECONDS)
            versions = set(client.run(_version, on_error="return").values())
        except (OSError, TimeoutError, ValueError) as error:
            raise InputError(
                f"The cluster {address} did not answer ({str(error) or type(error).__name__}). Check the address and "
                "that its scheduler and workers are running."
            ) from None
        if versions != {__version__}:
            found = ", ".join(sorted(map(str, versions)))
            raise InputError(
                f"Workers of the cluster {address} run another version of mrfit ({found}; here {__version__}). "
                "Install the same version everywhere."
            )
        yield _Cluster(address, client)


@contextmanager
def _processes(n: int) -> Iterator[Any]:
    """Start workers on this machine, one thread each, that end with this process; their logs are silenced."""
    import dask
    from distributed import LocalCluster

    # On a busy machine a killed worker comes back later than Dask expects, and Dask would give it up for good.
    patience = dask.config.set({"distributed.deploy.lost-worker-timeout": "1 hour"})
    # Any free port: the usual one may be taken by another cluster.
    how = {"threads_per_worker": 1, "dashboard_address": "127.0.0.1:0", "silence_logs": logging.CRITICAL}
    with patience, LocalCluster(n_workers=n, **how) as cluster:
        yield cluster


def _version() -> str:
    return __version__
