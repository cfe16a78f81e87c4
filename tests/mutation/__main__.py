"""`PYTHONPATH=tests python -m mutation` puts one mistake after another into a copy of the sources, and runs tests.

A mutant is killed if a test fails, or does not end within the time limit. ``--only solvers/newton`` takes those of some
files, ``--every 3`` every third; ``--log FILE`` adds a line of JSON for each.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy  # noqa: F401  (what every child would import again)
import pytest
import scipy.sparse  # noqa: F401

from mutation.mutants import MUTANTS, Mutant

ROOT = Path(__file__).parents[2]
SURVIVED, KILLED, TIME_LIMIT = "survived", "killed", "killed by the time limit"
# The tests of a package and the contract of what it holds, those that find most first.
TESTS = {
    "penalties": ["contracts/test_penalties.py", "penalties"],
    "objectives": ["contracts/test_objectives.py", "objectives"],
    "solvers": ["solvers", "contracts/test_methods_with_kinks.py", "contracts/test_methods.py"],
}
# What else is about a file: it comes before all others.
_GAPS = ["contracts/test_duality_gaps.py"]
_QUADRATICS = ["contracts/test_quadratics.py", "solvers/quadratics", "contracts/test_speed.py"]
TESTS_OF_FILE = {
    "penalties/group_l1.py": ["contracts/test_penalties.py", *_QUADRATICS, *_GAPS],
    "penalties/hierarchical_l1.py": ["contracts/test_penalties.py", *_QUADRATICS, *_GAPS],
    "penalties/penalized_objective.py": ["solvers/test_newton.py"],
    "penalties/cluster_penalty.py": ["solvers/test_newton.py"],
    "objectives/decomposable_closed_form.py": ["learning/test_smoothed_trees.py", "learning/test_tree_learning.py"],
    "objectives/chow_liu_closed_form.py": ["learning/test_tree_learning.py"],
    "objectives/gradient_products.py": ["model", "analysis/stability"],
    "objectives/likelihood.py": _GAPS,
    "objectives/weighted_mean.py": _GAPS,
    "objectives/reparameterized.py": _GAPS,
    "objectives/row_scores.py": [
        "model/test_markov_network.py",
        "learning/test_covariate_likelihood.py",
        "model/queries",
    ],
    "objectives/sharded.py": ["core/test_cluster.py"],
    "objectives/tree_likelihood.py": _GAPS,
    "solvers/method.py": ["solvers", *_GAPS],
    "solvers/minimize.py": _GAPS,
    "solvers/projected_gradient.py": ["learning/tying"],
    "solvers/quadratics": _QUADRATICS,
}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m mutation")
    parser.add_argument("--only", nargs="+", default=[""], help="beginnings of paths below src/mrfit")
    parser.add_argument("--number", nargs="+", type=int, help="of mutants among these")
    parser.add_argument("--every", type=int, default=1, help="every so many mutants (default %(default)s)")
    parser.add_argument("--first", type=int, default=0, help="number of the first (default %(default)s)")
    parser.add_argument("--limit", type=float, default=600.0, help="seconds for a mutant (default %(default)s)")
    parser.add_argument("--log", type=Path, help="file for lines of JSON")
    options = parser.parse_args(arguments)
    chosen = [mutant for mutant in MUTANTS if mutant.path.startswith(tuple(options.only))]
    chosen = [chosen[k] for k in options.number] if options.number else chosen[options.first :: options.every]
    found: Counter[tuple[str, str]] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        copy = _copied(Path(folder))
        for mutant in chosen:
            begun = time.monotonic()
            outcome = verdict(mutant, copy, options.limit)
            found[mutant.package, outcome] += 1
            _say(f"{outcome} after {time.monotonic() - begun:.0f} s: {mutant}")
            if options.log:
                with options.log.open("a", encoding="utf-8") as log:
                    log.write(json.dumps({**mutant.__dict__, "outcome": outcome}) + "\n")
    for (package, outcome), count in sorted(found.items()):
        _say(f"{package}: {count} {outcome}")
    return 0


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _copied(folder: Path) -> Path:
    """Copy what tests need, without bytecode: that of a mutant must not be taken for that of the original."""
    for name in ("src", "tests", "benchmarks", "docs", "pyproject.toml"):
        source, target = ROOT / name, folder / name
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, target)
    return folder


def verdict(mutant: Mutant, copy: Path, limit: float) -> str:
    path = copy / "src" / "mrfit" / mutant.path
    text = path.read_text(encoding="utf-8")
    if text.count(mutant.old) != 1:
        raise ValueError(f"{mutant.path} has {mutant.old!r} {text.count(mutant.old)} times; a mutant needs it once.")
    path.write_text(text.replace(mutant.old, mutant.new), encoding="utf-8")
    try:
        return _tested(copy, tests_of(mutant), limit)
    finally:
        path.write_text(text, encoding="utf-8")


def tests_of(mutant: Mutant) -> list[str]:
    own = [test for path, tests in TESTS_OF_FILE.items() if mutant.path.startswith(path) for test in tests]
    return list(dict.fromkeys(own + TESTS[mutant.package]))


def _tested(copy: Path, tests: list[str], limit: float) -> str:
    """Run tests in a child process that has imported everything but mrfit."""
    child = os.fork()
    if child == 0:
        signal.setitimer(signal.ITIMER_REAL, limit)  # nobody handles the signal: it ends the process
        os.chdir(copy)
        sys.dont_write_bytecode = True
        sys.path[:0] = [str(copy / "src"), str(copy / "tests")]
        silence = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silence, 1)
        os.dup2(silence, 2)
        paths = [f"tests/{name}" for name in tests]
        os._exit(pytest.main(["-x", "-q", "-n", "0", "-p", "no:cacheprovider", *paths]))
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return TIME_LIMIT
    code = os.waitstatus_to_exitcode(status)
    if code not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.INTERRUPTED):
        return f"{KILLED}, pytest ended with {code}"
    return SURVIVED if code == pytest.ExitCode.OK else KILLED


if __name__ == "__main__":
    sys.exit(main())
