"""Work that kills its process: what tests of clusters send to workers, and commands that do not come to their end."""

from __future__ import annotations

import errno
import os
import signal
from dataclasses import replace
from pathlib import Path

import numpy as np

from mrfit.cli.main import main
from mrfit.core.threads import resolve_jobs
from mrfit.formats.jsonl import LineFile
from mrfit.objectives.objective import Expansion
from mrfit.objectives.pseudo_likelihood import PseudoLikelihood

DEATHS = "MRFIT_TEST_DEATHS"  # names the folder of these files


def die_once(where: str) -> None:
    """Whoever takes the file away is killed."""
    try:
        Path(os.environ[DEATHS], where).unlink()
    except FileNotFoundError:
        return
    os.kill(os.getpid(), signal.SIGKILL)


class DyingLoss(PseudoLikelihood):
    """Pseudo-likelihood whose process dies while it is made, in an expansion and in a product."""

    def __init__(self, *args: object, **options: int) -> None:
        die_once("building")
        super().__init__(*args, **options)  # type: ignore[arg-type]

    def expand(self, w: np.ndarray) -> Expansion:
        die_once("expansion")
        found = super().expand(w)

        def product(v: np.ndarray) -> np.ndarray:
            die_once("product")
            return found.product(v)

        return replace(found, product=product)


def deadly(item: str) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def on_full_disk(item: str) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def jobs_of(item: int) -> int:
    return resolve_jobs(-1)


def scaled(factor: float, item: float) -> float:
    return factor * item


def run_for_lines(n: int, arguments: list[str]) -> None:
    """A command that is killed as soon as it has added so many lines to what it is to be resumed from."""
    add, lines = LineFile.add, []

    def add_and_die(file: LineFile, line: str) -> None:
        add(file, line)
        lines.append(line)
        if len(lines) == n:
            os.kill(os.getpid(), signal.SIGKILL)

    LineFile.add = add_and_die  # type: ignore[method-assign]
    main(arguments)
