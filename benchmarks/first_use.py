"""What a user waits for before any work is done: imports, the command line, and the first call of every command.

    python benchmarks/first_use.py [starts|commands] [--quick] [--wheel dist/mrfit-*.whl]

Every time is of a new process, the best of several. "First" starts with nothing kept from earlier runs, as after
installation; "later" is the best of some more. The wheel (`make wheel`) is unpacked into a folder of its own; without
one its columns are left out.
"""

from __future__ import annotations

import argparse
import os
import re
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
    "spectrum rochdale:data --estimator pseudo-counts --max-order 0",
    "demo",
)
RUN = """
import sys
from mrfit.cli.main import main
code = main(sys.argv[1:])
compiled = sys.modules.get("mrfit._kernels.compiled")
print("\\nCOMPILED", compiled.n_compiled() if compiled else 0)
sys.exit(code)
"""


@dataclass(frozen=True)
class Installed:
    """A package in a folder, and a folder to work and keep machine code in."""

    package: Path
    folder: Path

    def seconds(self, arguments: list[str]) -> tuple[float, int]:
        """Wall time of a new process, and how many kernels it compiled."""
        own = {"PYTHONPATH": str(self.package), "NUMBA_CACHE_DIR": str(self.folder / "cache")}
        begun = time.perf_counter()
        ran = subprocess.run(
            [sys.executable, *arguments],
            check=True,
            capture_output=True,
            text=True,
            cwd=self.folder,
            env=os.environ | own,
        )
        seconds = time.perf_counter() - begun
        counted = re.search(r"^COMPILED (\d+)$", ran.stdout, re.MULTILINE)
        return seconds, int(counted[1]) if counted else 0

    def first_and_later(self, command: str, *, repeats: int) -> tuple[float, float, int]:
        """Wall times with nothing kept and with everything kept, and how many kernels the first compiled."""
        shutil.rmtree(self.folder / "cache", ignore_errors=True)
        arguments = ["-c", RUN, *command.split(), "--quiet"]
        first, n_compiled = self.seconds(arguments)
        return first, min(self.seconds(arguments)[0] for _ in range(repeats)), n_compiled


def start_table(checkout: Installed, *, repeats: int) -> str:
    lines = ["| what | seconds |", "|---|---:|"]
    for name, arguments in STARTS.items():
        lines.append(f"| {name} | {min(checkout.seconds(arguments)[0] for _ in range(repeats)):.2f} |")
    return "\n".join(lines)


def command_table(installed: dict[str, Installed], *, commands: Sequence[str], repeats: int) -> str:
    heads = [f"{place}, {what}" for place in installed for what in ("compiled", "first, s", "later, s")]
    lines = ["| command | " + " | ".join(heads) + " |", "|---|" + "---:|" * len(heads)]
    for command in commands:
        cells = []
        for place in installed.values():
            first, later, n_compiled = place.first_and_later(command, repeats=repeats)
            cells += [str(n_compiled), f"{first:.1f}", f"{later:.1f}"]
        lines.append(f"| {command} | " + " | ".join(cells) + " |")
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
        installed = {"checkout": Installed(Path(mrfit.__file__).parents[1], folder)}
        if arguments.wheel is not None:
            zipfile.ZipFile(arguments.wheel).extractall(folder / "site")
            installed["wheel"] = Installed(folder / "site", folder)
        if arguments.table == "starts":
            table = start_table(installed["checkout"], repeats=1 if arguments.quick else 7)
        else:
            commands = COMMANDS[:1] if arguments.quick else COMMANDS
            table = command_table(installed, commands=commands, repeats=1 if arguments.quick else 3)
    print(table)


if __name__ == "__main__":
    main()
