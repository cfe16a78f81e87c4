"""Progress of long work on standard error: a bar on a terminal, a line every 30 seconds in a log."""

from __future__ import annotations

import math
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from functools import partial
from typing import Any

from mrfit.cli.output import note

_MANY_BYTES = 2**24  # fewer are read within a second or so
_EVERY = 30.0  # seconds between two lines of a log


class _Work:
    """Progress of one piece of work: its name, its total, how much is done, and its state."""

    def __init__(self, what: str, total: float) -> None:
        self._what, self._total, self._done, self._state = what, total, 0.0, ""
        self._begun = time.monotonic()

    def advance(self, n: float, total: float | None = None) -> None:
        self.update(completed=self._done + n, total=total)

    def update(self, *, completed: float, total: float | None = None, what: str | None = None, state: str = "") -> None:
        self._done, self._state = completed, state
        self._total, self._what = total or self._total, what or self._what

    def described(self) -> str:
        """One line for a log, with the time left at the speed so far where one can tell."""
        spent, share = time.monotonic() - self._begun, self._done / self._total if self._total else 0.0
        state = self._state or (f"{share:.0%}" if self._total else "at work")
        left = f", about {duration(spent / share - spent)} left" if share > 0 else ""
        return f"{self._what}: {state} after {duration(spent)}{left}"


_at_work: list[_Work | None] = []  # the outermost first; None stands for waiting, which is no work


@contextmanager
def _logged(work: _Work | None) -> Iterator[None]:
    """Write a line about the innermost work every 30 seconds, also while it says nothing."""
    _at_work.append(work)
    ended = threading.Event()

    def tell() -> None:
        while not ended.wait(_EVERY):
            innermost = _at_work[-1]
            if innermost is not None:
                note(innermost.described())

    teller = threading.Thread(target=tell, daemon=True)
    if len(_at_work) == 1:
        teller.start()
    try:
        yield
    finally:
        ended.set()
        if len(_at_work) == 1:
            teller.join()
        _at_work.pop()


@contextmanager
def command_progress(name: str, *, quiet: bool) -> Iterator[None]:
    """Say in a log that a command is still at work, where nothing within it says how far it is."""
    with nullcontext() if quiet or sys.stderr.isatty() else _logged(_Work(name, 0)):
        yield


@contextmanager
def waiting() -> Iterator[None]:
    """Say nothing while a command waits for its user."""
    with _logged(None) if _at_work else nullcontext():
        yield


@contextmanager
def counting_progress(what: str, total: int, *, quiet: bool) -> Iterator[Callable[..., None] | None]:
    """Follow work that is counted: told how many more are done, and the total if it changed."""
    if quiet:
        yield None
        return
    if not sys.stderr.isatty():
        work = _Work(what, total)
        with _logged(work):
            yield work.advance
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(what, total=total)
        yield lambda n, total=total: progress.update(task, advance=n, total=total)


@contextmanager
def reading_progress(*, quiet: bool) -> Iterator[Callable[[int, int], None] | None]:
    """Follow the bytes of a table that are read; a terminal shows them where they are many."""
    if quiet:
        yield None
        return
    if not sys.stderr.isatty():
        work = _Work("reading", 0)
        with _logged(work):
            yield lambda done, total: work.update(completed=done, total=total)
        return
    with ExitStack() as until_read:
        bars: list[Callable[..., None]] = []

        def follow(done: int, total: int) -> None:
            if total >= _MANY_BYTES and not bars:
                bars.append(until_read.enter_context(_byte_bar(total)))
            for update in bars:
                update(completed=done)

        yield follow


@contextmanager
def _byte_bar(total: int) -> Iterator[Callable[..., None]]:
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        yield partial(progress.update, progress.add_task("reading", total=total))


@contextmanager
def grid_progress(*, quiet: bool) -> Iterator[Callable[[int, int], None] | None]:
    """Follow the fits of a grid: told how many are done, of how many."""
    with counting_progress("fits", 1, quiet=quiet) as advance:
        yield None if advance is None else lambda done, total: advance(1, total)


@contextmanager
def solver_progress(tolerance: float, *, quiet: bool) -> Iterator[Callable[[float, Any], None] | None]:
    """Follow the max. gradient of each fit down to the tolerance, on a logarithmic scale."""
    if quiet:
        yield None
        return
    if not sys.stderr.isatty():
        work = _Work("fit", 1)
        with _logged(work):
            yield lambda strength, record: work.update(
                completed=0, what=f"fit at penalty strength {strength:g}", state=_described(record)
            )
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[state]}"))
    with Progress(*columns, TimeElapsedColumn(), console=Console(stderr=True), transient=True) as progress:
        bars: dict[float, tuple[Any, float]] = {}

        def follow(strength: float, record: Any) -> None:
            distance = math.log(max(record.violation, tolerance) / tolerance)
            if strength not in bars:
                total = max(distance, 1e-9)
                bars[strength] = progress.add_task(f"penalty strength {strength:g}", total=total, state=""), total
            task, total = bars[strength]
            progress.update(task, completed=total - distance, state=_described(record))

        yield follow


@contextmanager
def unit_progress(*, quiet: bool) -> Iterator[Callable[[int, int, str, float], None] | None]:
    """Follow pieces of work that have names: told how many are done, of how many, the next, and the seconds left.

    A log has a line for each piece, too: work of hours leaves a record.
    """
    if quiet:
        yield None
        return
    if not sys.stderr.isatty():
        work = _Work("units", 0)

        def follow(done: int, total: int, what: str, left: float) -> None:
            note(f"{done}/{total} {what}; {duration(left)} left")
            work.update(completed=done, total=total, state=f"{done}/{total}, at work on the next")

        with _logged(work):
            yield follow
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (TextColumn("{task.fields[left]:>8} left"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TextColumn("{task.description}"), console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None, left="?")
        yield lambda done, total, what, left: bar.update(
            task, completed=done, total=total, description=what, left=duration(left)
        )


def duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"


def _described(record: Any) -> str:
    return f"iteration {record.iteration}, max. gradient {record.violation:.1e}"
