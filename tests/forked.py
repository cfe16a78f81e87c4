"""The command line in processes that need no second for their imports: forks of one that has made them all."""

from __future__ import annotations

import multiprocessing
import sys
from multiprocessing.process import BaseProcess

from mrfit.cli.main import main

_LOADED = ["mrfit.cli.reproduce", "mrfit.reproduction.reproduction", "mrfit.reproduction.experiments"]


def started(*arguments: str) -> BaseProcess:
    """A process that runs a command and ends with its exit code."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(_LOADED)
    process = context.Process(target=_run, args=(arguments,))
    process.start()
    return process


def _run(arguments: tuple[str, ...]) -> None:
    sys.exit(main(arguments))
