"""Waiting times of a new user: imports, the command line, and the first call of every command.

    python benchmarks/first_use.py [starts|commands] [--quick] [--wheel dist/mrfit-*.whl]

Every time is of a new process, the lesser of wall and processor time. First calls are measured from a checkout with
nothing compiled, from one that was compiled as the Makefile does after installing, and from a wheel (`make wheel`),
each in a folder of its own; without a wheel its columns are left out. "Later" is the best of some more calls.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import mrfit

STARTS = {
    "python -c pass": ["-c", "pass"],
    "import mrfit": ["-c", "import mrfit"],
    "from mrfit import MarkovNetwork, learn": ["-c", "from mrfit import MarkovNetwork, learn"],
    "import sklearn.base (not ours)": ["-c", "import sklearn.base"],
    "from mrfit import MarkovNetworkLearner": ["-c", "from mrfit import MarkovNetworkLearner"],
    "mrfit --help": ["-m", "mrfit", "--help"],
}
_EXACT = "fit nltcs:train --objective likelihood"
_LEAST = "spectrum rochdale:data --estimator pseudo-counts --max-order 0"  # of all commands it compiles least
COMMANDS = (
    "fit nltcs:train --strength 10 -o m.mrf",
    "score m.mrf nltcs:test",
    "structure nltcs:train --max-degree 5",
    "structure nltcs:train --select ebic",
    "fit nltcs:train --penalty l1 --strength 10",
    "fit nltcs:train --penalty hard --groups 5 --strength 10 -o tied.mrf",
    "fit nltcs:train --valid nltcs:valid --penalty tied --groups 5 --strength 10",
    "theory tied.mrf",
    f"{_EXACT} --parameterization spectral --penalty l1 --strength 10",
    f"{_EXACT} --order 3 --penalty hierarchical --strength 100",
    _LEAST,
    "demo",
    "warm-up",
)


@dataclass(frozen=True)
class Installed:
    """A package in a folder of its own, which commands work in and keep machine code in."""

    package: Path

    @property
    def cache(self) -> Path:
        return self.package / "cache"

    def seconds(self, arguments: list[str]) -> float:
        """The lesser of wall and processor time of a new process: other work on the machine does not count."""
        own = {"PYTHONPATH": str(self.package), "NUMBA_CACHE_DIR": str(self.cache)}
        begun, spent = time.perf_counter(), seconds_of_children()
        subprocess.run(
            [sys.executable, *arguments], check=True, capture_output=True, cwd=self.package, env=os.environ | own
        )
        return min(time.perf_counter() - begun, seconds_of_children() - spent)

    def first(self, command: str) -> tuple[int, float]:
        """Run the first call after installation; return the kernels it compiled (each a file) and its seconds."""
        shutil.rmtree(self.cache, ignore_errors=True)
        seconds = self.seconds(in_shell(command))
        return sum(1 for _ in self.cache.rglob("*.nbc")), seconds


def copied(folder: Path) -> Installed:
    """The package without any machine code."""
    nothing_compiled = shutil.ignore_patterns("_compiled", "*.nb?")
    shutil.copytree(Path(mrfit.__file__).parent, folder / "mrfit", ignore=nothing_compiled)
    return Installed(folder)


def seconds_of_children() -> float:
    """Processor time of all processes that this one has waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def in_shell(command: str) -> list[str]:
    return ["-m", "mrfit", *command.split(), "--quiet"]


def start_table(checkout: Installed, *, repeats: int) -> str:
    lines = ["| what | seconds |", "|---|---:|"]
    for name, arguments in STARTS.items():
        lines.append(f"| {name} | {min(checkout.seconds(arguments) for _ in range(repeats)):.2f} |")
    return "\n".join(lines)


def command_table(installed: dict[str, Installed], *, commands: Sequence[str], repeats: int) -> str:
    heads = [f"{place}: {what}" for place in installed for what in ("compiled", "s")] + ["later: s"]
    lines = ["| command | " + " | ".join(heads) + " |", "|---|" + "---:|" * len(heads)]
    for command in commands:
        cells = []
        for place in installed.values():
            n_compiled, first = place.first(command)
            cells += [str(n_compiled), f"{first:.1f}"]
        later = min(place.seconds(in_shell(command)) for _ in range(repeats))
        lines.append(f"| {command} | " + " | ".join([*cells, f"{later:.1f}"]) + " |")
        print(lines[-1], file=sys.stderr)
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", choices=("starts", "commands"), nargs="?", default="starts")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--wheel", type=Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        installed = {"bare checkout": copied(folder / "bare")}
        if arguments.table == "commands" and not arguments.quick:
            installed["after make"] = copied(folder / "made")
            installed["after make"].seconds(["-m", "mrfit._kernels.machine_code.build"])
        if arguments.wheel is not None:
            zipfile.ZipFile(arguments.wheel).extractall(folder / "site")
            installed["wheel"] = Installed(folder / "site")
        if arguments.table == "starts":
            table = start_table(installed["bare checkout"], repeats=1 if arguments.quick else 7)
        else:
            commands = (_LEAST,) if arguments.quick else COMMANDS
            table = command_table(installed, commands=commands, repeats=1 if arguments.quick else 3)
    print(table)


if __name__ == "__main__":
    main()
