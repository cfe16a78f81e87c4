"""Measure how far one datum walks through mrfit: files, functions, calls and switches between files of three tasks.

    python tools/walks.py [--cold] [--files]

Each task runs once before it is measured, so that imports and compilation do not count; ``--cold`` leaves that out.
``--files`` lists the files of every walk with the functions that ran in them. Kernels are opaque. Comprehensions and
lambdas belong to the function they stand in.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import click
import numpy as np
import pandas as pd

import mrfit
from mrfit.cli.main import main

N_ROWS, N_COLUMNS = 3_000, 16
PACKAGE = str(Path(mrfit.__file__).parent)
KERNELS = str(Path(PACKAGE, "_kernels"))


class Walk:
    """The functions of mrfit that ran, and how often one file handed over to another."""

    def __init__(self) -> None:
        self.functions: set[CodeType] = set()
        self.calls = self.switches = 0
        self._latest = ""

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        path = code.co_filename
        if event != "call" or code.co_name[0] == "<" or not path.startswith(PACKAGE) or path.startswith(KERNELS):
            return
        self.functions.add(code)
        self.calls += 1
        self.switches += path != self._latest
        self._latest = path

    @property
    def files(self) -> dict[str, list[str]]:
        """Names of the functions that ran, by file."""
        found: dict[str, list[str]] = {}
        for code in sorted(self.functions, key=lambda code: (code.co_filename, code.co_firstlineno)):
            found.setdefault(str(Path(code.co_filename).relative_to(PACKAGE)), []).append(code.co_qualname)
        return found


def table(n_rows: int, seed: int) -> pd.DataFrame:
    """Rows of a binary chain: each column repeats the one before it three times in four."""
    rng = np.random.default_rng(seed)
    flips = rng.random((n_rows, N_COLUMNS)) < np.where(np.arange(N_COLUMNS) == 0, 0.5, 0.25)
    return pd.DataFrame(np.cumsum(flips, axis=1) % 2, columns=[f"v{k}" for k in range(N_COLUMNS)])


def tasks(folder: Path) -> dict[str, Callable[[], object]]:
    """The three tasks, over files in ``folder``."""
    data, valid, model = (str(folder / name) for name in ("data.csv", "valid.csv", "m.mrf"))
    rows = table(N_ROWS, 1)
    rows.to_csv(data, index=False)
    table(N_ROWS, 2).to_csv(valid, index=False)
    main(["fit", data, "--quiet", "-o", model])
    learner = mrfit.MarkovNetworkLearner(structure=mrfit.Learned(max_degree=5), objective="likelihood")
    return {
        "mrfit fit data.csv --valid v.csv --penalty tied": lambda: main(
            ["fit", data, "--valid", valid, "--penalty", "tied"]
        ),
        'MarkovNetworkLearner(Learned(max_degree=5), objective="likelihood").fit(df)': lambda: learner.fit(rows),
        "mrfit query m.mrf --given v1=1": lambda: main(["query", model, "--given", "v1=1"]),
    }


def walk(task: Callable[[], object]) -> Walk:
    """Run a task, and return what ran."""
    found = Walk()
    sys.setprofile(found)
    try:
        task()
    finally:
        sys.setprofile(None)
    return found


@click.command()
@click.option("--cold", is_flag=True, help="Count what runs only the first time, too.")
@click.option("--files", is_flag=True, help="List files and functions.")
def report(*, cold: bool, files: bool) -> None:
    """Print one line for each task."""
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        for name, task in tasks(Path(folder)).items():
            if not cold:
                task()
            found = walk(task)
            packages = {Path(path).parts[0] for path in found.files}
            sizes = f"{len(found.files):>6} {len(found.functions):>10} {found.calls:>8,} {found.switches:>9,}"
            lines.append(f"{sizes} {len(packages):>9}  {name}")
            lines += [f"    {path}: {', '.join(names)}" for path, names in found.files.items() if files]
    click.echo(f"{'files':>6} {'functions':>10} {'calls':>8} {'switches':>9} {'packages':>9}  task")
    click.echo("\n".join(lines))


if __name__ == "__main__":
    report()
