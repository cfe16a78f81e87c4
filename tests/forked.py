"""The command line in processes that need no second for their imports: forks of one that has made them all."""

from __future__ import annotations

import multiprocessing
import os
import sys
import tempfile
from collections.abc import Callable, Mapping
from multiprocessing import forkserver
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from subprocess import CompletedProcess
from typing import IO, Any

from mrfit.cli.main import main, run

_COMMANDS = ("data", "explore", "fit", "query", "score", "show", "stability", "structure", "theory")
_LOADED = [
    "pytest",
    "distributed.nanny",
    *(f"mrfit.cli.{command}" for command in _COMMANDS),
    "mrfit.explorer.two_models",
    "mrfit.analysis.stability.stability",
    "mrfit_papers.command",
    "mrfit_papers.experiments",
    "mrfit_papers.reproduction",
]


def started(*arguments: str) -> BaseProcess:
    """A process that runs a command and ends with its exit code."""
    return process_of(_main, arguments)


def run_apart(
    *arguments: str, cwd: Path, input: bytes = b"", stdout: IO[Any] | None = None, env: Mapping[str, str] | None = None
) -> CompletedProcess[bytes]:
    """Run ``subprocess.run([sys.executable, "-m", "mrfit", *arguments], ...)``, with standard streams of its own."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        streams = [_pipe_with(input), *(Connection(os.dup(file.fileno())) for file in (stdout or out, err))]
        process = process_of(_run, arguments, cwd, dict(env or os.environ), streams)
        process.join(120)
        assert process.exitcode is not None, f"mrfit {' '.join(arguments)} did not end"
        return CompletedProcess(arguments, process.exitcode, _content(out), _content(err))


def process_of(function: Callable[..., Any], *arguments: Any) -> BaseProcess:
    """A process that calls a function of a module."""
    load()
    process = multiprocessing.get_context("forkserver").Process(target=function, args=arguments)
    process.start()
    return process


def run_script(script: str, printed: Path) -> None:
    """Run a script as `python -c` does, print into a file, and make this process and all it starts one group."""
    os.setsid()
    with printed.open("wb") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    sys.stdout, sys.stderr = (os.fdopen(k, "w", closefd=False) for k in (1, 2))
    names = sys.modules["__main__"].__dict__  # where forks of this process look for functions
    exec(compile(script, "script", "exec"), names)


def load() -> None:
    """Have the one process import all; what is forked from then on, by whomever, has it."""
    forkserver.set_forkserver_preload(_LOADED)
    forkserver.ensure_running()


def _main(arguments: tuple[str, ...]) -> None:
    sys.exit(main(arguments))


def _pipe_with(content: bytes) -> Connection:
    """The end to read from; all is in it already."""
    read, write = os.pipe()
    with os.fdopen(write, "wb") as into:
        into.write(content)  # no more than a pipe holds
    return Connection(read)


def _content(file: IO[bytes]) -> bytes:
    file.seek(0)
    return file.read()


def _run(arguments: tuple[str, ...], cwd: Path, env: dict[str, str], streams: list[Connection]) -> None:
    """Run `python -m mrfit` with the folder and the streams of another process."""
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(env)
    for k, name in enumerate(("stdin", "stdout", "stderr")):
        os.dup2(streams[k].fileno(), k)
        streams[k].close()
        stream = os.fdopen(
            k,
            "w" if k else "r",
            encoding=env.get("PYTHONIOENCODING", "utf-8"),
            errors="backslashreplace" if name == "stderr" else "strict",
            closefd=False,
        )
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    sys.argv = ["mrfit", *arguments]
    run()
