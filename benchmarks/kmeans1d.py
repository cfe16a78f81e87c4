"""Optimal one-dimensional k-means: normal values through mrfit and the packages of PyPI, one thread each.

    python benchmarks/kmeans1d.py [--values 40000] [--clusters 10,100,1000,10000] [--patience 300]

Rivals (`pip install kmeans1d ckwrap ckmeans-1d-dp`) run once, or several times if they are quick; their time grows with
k, and one that is expected to need more than patience (seconds) is left out. At 40,000 values and 10,000 clusters they
take minutes and up to 10 GB. One judge in extended precision computes the cost of every assignment.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from mrfit.tying.kmeans1d import kmeans1d as ours
from problems import best_seconds, pin_threads

# This file has the name of a rival, which must not be taken for it.
sys.path = [entry for entry in sys.path if Path(entry).resolve() != Path(__file__).resolve().parent]

FIRST_CALL = """
import numpy, time
from mrfit.tying.kmeans1d import kmeans1d
values = numpy.random.default_rng(0).normal(size=1000)
begun = time.perf_counter()
kmeans1d(values, 30)
print(time.perf_counter() - begun)
"""


def by_kmeans1d(values: np.ndarray, k: int) -> np.ndarray:
    import kmeans1d

    return np.array(kmeans1d.cluster(values, k).clusters)


def by_ckwrap(values: np.ndarray, k: int) -> np.ndarray:
    import ckwrap

    return ckwrap.ckmeans(values, k).labels


def by_ckmeans_1d_dp(values: np.ndarray, k: int) -> np.ndarray:
    import ckmeans_1d_dp

    return ckmeans_1d_dp.ckmeans(values, k).cluster


Method = Callable[[np.ndarray, int], np.ndarray]
RIVALS: dict[str, Method] = {"kmeans1d": by_kmeans1d, "ckwrap": by_ckwrap, "ckmeans_1d_dp": by_ckmeans_1d_dp}


@dataclass(frozen=True)
class Run:
    seconds: float
    cost: float


def judged(values: np.ndarray, assignment: np.ndarray) -> float:
    """Sum of squared distances to the means of an assignment, with 64 bits of mantissa and no common offset."""
    order = np.lexsort((values, assignment))
    x = values[order].astype(np.longdouble)
    begin = np.flatnonzero(np.diff(assignment[order], prepend=-1))
    size = np.diff(begin, append=len(x))
    beyond = x - np.repeat(x[begin], size)
    mean = np.add.reduceat(beyond, begin) / size
    return float(np.sum((beyond - np.repeat(mean, size)) ** 2))


def run(method: Method, values: np.ndarray, k: int, *, at_least: float = 0.0) -> Run:
    """The best of several calls while they are quick; slow ones are called once."""
    kept: list[np.ndarray] = []
    once = _seconds(lambda: kept.append(method(values, k)))
    if once < 1.0:
        once = min(once, best_seconds(lambda: method(values, k), at_least=at_least))
    return Run(once, judged(values, kept[0]))


def _seconds(call: Callable[[], object]) -> float:
    begun = time.perf_counter()
    call()
    return time.perf_counter() - begun


def compiling() -> float:
    """Seconds of the first call after installation, which compiles."""
    with tempfile.TemporaryDirectory() as directory:
        environment = {**os.environ, "NUMBA_CACHE_DIR": directory}
        answer = subprocess.run([sys.executable, "-c", FIRST_CALL], env=environment, capture_output=True, check=True)
    return float(answer.stdout)


def print_table(n_values: int, clusters: list[int], patience: float) -> None:
    values = np.random.default_rng(0).normal(size=n_values)
    present = {name: method for name, method in RIVALS.items() if find_spec(name)}
    print(f"\n### {n_values:,} normal values: times slower than ours (cost above ours, as a share)\n")
    print("| k | ours, ms | cost |" + "".join(f" {name} |" for name in present))
    print("|---:" * (3 + len(present)) + "|")
    last: dict[str, float] = {}
    for k in clusters:
        mine = run(lambda x, k: ours(x, k).assignment, values, k, at_least=2.0)
        cells = [f"{k:,}", f"{1e3 * mine.seconds:.1f}", f"{mine.cost:.15g}"]
        for name, method in present.items():
            if last.get(name, 0.0) * k > patience:
                cells.append(f"expected {last[name] * k:.0f} s")
                continue
            rival = run(method, values, k)
            last[name] = rival.seconds / k
            cells.append(f"{rival.seconds / mine.seconds:,.1f} ({rival.cost / mine.cost - 1.0:.0e})")
        print(f"| {' | '.join(cells)} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--values", type=int, default=40_000)
    parser.add_argument("--clusters", type=lambda text: [int(k) for k in text.split(",")], default="10,100,1000,10000")
    parser.add_argument("--patience", type=float, default=300.0)
    arguments = parser.parse_args()
    pin_threads()
    print_table(arguments.values, arguments.clusters, arguments.patience)
    print(f"\nFirst call of ours after installation, which compiles: {compiling():.1f} s")


if __name__ == "__main__":
    main()
