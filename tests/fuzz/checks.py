"""Run a case and say what was wrong with how it ended."""

from __future__ import annotations

import contextlib
import faulthandler
import hashlib
import io
import os
import re
import resource
import signal
import subprocess
import sys
import traceback
import warnings
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from fuzz.cases import Case, make_case
from mrfit.cli.main import main

SECONDS = 60  # of processors for one case, compilation included
MOST_SECONDS = 4 * SECONDS  # by the clock, on a machine that has other work too
MEGABYTES = 600  # by which one case may raise what the process ever held

_AS_PROCESS = 100  # every so many cases one runs as a process of its own
_NOTES = ("mrfit: note: ", "mrfit: warning: ", "mrfit: exact over ", "mrfit: chose the weakest ")
_PROGRESS = re.compile(r"mrfit: .+ after \d+ (s|min)(, about \d+ (s|min) left)?")  # on a machine with other work


class TookTooLong(BaseException):
    """Not an exception that anything would catch."""


def problem_of(number: int) -> str | None:
    """Return what a case did wrong; None if it behaved."""
    with TemporaryDirectory() as name, contextlib.chdir(name):
        folder = Path(name)
        case = make_case(number, folder)
        before, held = _hashes(folder), _megabytes()
        as_process = number % _AS_PROCESS == _AS_PROCESS - 1
        try:
            code, out, err = (_in_process_of_its_own if as_process else _here)(case)
        except TookTooLong:
            return f"{case.arguments}: not done after {SECONDS} seconds of work, or {MOST_SECONDS} in all"
        except BaseException:
            return f"{case.arguments}: {traceback.format_exc()}"
        problems = [*_ending(code, out, err), *_files(case, code, before, _hashes(folder))]
        if _megabytes() - held > MEGABYTES or "not enough memory" in err:
            problems.append(f"took {_megabytes() - held:.0f} MB")
    return f"{case.arguments}: {'; '.join(problems)}" if problems else None


def _here(case: Case) -> tuple[int, str, str]:
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), _time_limit(), warnings.catch_warnings():
        warnings.simplefilter("error")
        code = main(case.arguments)
    out.flush()
    err.flush()
    return code, out.buffer.getvalue().decode(), err.buffer.getvalue().decode()  # type: ignore[attr-defined]


def _in_process_of_its_own(case: Case) -> tuple[int, str, str]:
    command = [sys.executable, "-m", "mrfit", *case.arguments]
    try:
        ran = subprocess.run(command, capture_output=True, timeout=MOST_SECONDS, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        raise TookTooLong from None
    return ran.returncode, ran.stdout.decode(), ran.stderr.decode()


@contextlib.contextmanager
def _time_limit() -> Iterator[None]:
    """An alarm for Python, and the end of the process, with its stack, where compiled code hears no alarm."""

    def stop(*_: object) -> None:
        raise TookTooLong

    before = signal.signal(signal.SIGALRM, stop), signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_REAL, MOST_SECONDS)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    faulthandler.dump_traceback_later(MOST_SECONDS + SECONDS, exit=True, file=sys.__stderr__)
    try:
        yield
    finally:
        for timer in (signal.ITIMER_REAL, signal.ITIMER_PROF):
            signal.setitimer(timer, 0)
        signal.signal(signal.SIGALRM, before[0])
        signal.signal(signal.SIGPROF, before[1])
        faulthandler.cancel_dump_traceback_later()


def _ending(code: int, out: str, err: str) -> Iterator[str]:
    if code not in (0, 2):
        yield f"exit code {code}"
    messages = re.sub(r"\n +", " ", err).split("\n")[:-1]  # notes are wrapped; errors are one line
    lines = [line for line in messages if not line.startswith(_NOTES) and not _PROGRESS.fullmatch(line)]
    if len(lines) != (1 if code else 0) or not err.endswith("\n" if err else ""):
        yield f"{len(lines)} lines of error: {err[:2000]!r}"
    if code and out:
        yield f"output in spite of an error: {out[:200]!r}"
    if "Traceback" in err or not all(line.startswith("mrfit: ") for line in lines):
        yield f"not a message: {err[:2000]!r}"
    if not all(c.isprintable() or c == "\n" for c in out + err):
        yield f"characters that command terminals: {(out + err)[:500]!r}"
    if len(err) > 3000:
        yield f"a message of {len(err)} characters: {err[:300]!r}"


def _files(case: Case, code: int, before: dict[str, str], after: dict[str, str]) -> Iterator[str]:
    changed = [name for name in before if after.get(name) != before[name]]
    if changed:
        yield f"inputs changed: {changed}"
    left = sorted(after.keys() - before.keys() - set(case.outputs if code == 0 else ()))
    if left:
        yield f"files left: {left}"


def _hashes(folder: Path) -> dict[str, str]:
    paths = (Path(root) / name for root, _, names in os.walk(folder) for name in names)
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}


def _megabytes() -> float:
    """The most this process ever held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


@contextlib.contextmanager
def memory_limit(gigabytes: float = 6.0) -> Iterator[None]:
    """Let allocations beyond what the process has, and so much more, fail at once rather than hurt the machine."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + int(gigabytes * 2**30), before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)
