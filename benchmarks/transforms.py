"""Transforms over 2**n values: mrfit, a plain copy, numpy and the packages of PyPI, in one run.

    python benchmarks/transforms.py [--variables 10,12,14,16,18,20,22,24] [--seconds 2]

Rivals: `pip install pyfwht pyfht`; one that is absent is left out and said to be. All methods take turns, so that a
noisy machine is noisy for all of them, and the best time of each counts (the lesser of wall and processor time, so the
column of two threads says something only where two processors are free). Before that, every result is compared with
ours. pyfwht runs on its CPU backend, one thread: its automatic choice fails where there is no GPU driver.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.util import find_spec

import numpy as np

from mrfit import transforms
from problems import pin_threads

NUMPY_UP_TO = 22  # half a second a call
RIVALS = ("pyfwht", "pyfht")
HEADER = (
    "n", "copy, ms", "ours, ms", "ours / copy", "G adds/s", "1 / 2 threads", "zeta / ours",
    "numpy / ours", *(f"{name} / ours" for name in RIVALS), "exponentiate, ns", "np.exp / exponentiate",
)  # fmt: skip

FIRST_CALLS = """
import numpy, time
from mrfit import transforms
for name, n in (("exponentiate", 10), ("walsh_hadamard", 10), ("walsh_hadamard", 18), ("subset_sums", 10)):
    a = numpy.zeros(1 << n)
    begun = time.perf_counter()
    getattr(transforms, name)(a)
    print(f"{name} (n = {n}) {time.perf_counter() - begun:.2f} s", end="; ")
"""

Method = Callable[[np.ndarray], object]


def by_numpy(a: np.ndarray) -> None:
    half = 1
    while half < len(a):
        x, y = np.moveaxis(a.reshape(-1, 2, half), 1, 0)
        x += y
        y *= -2.0
        y += x
        half *= 2


def by_pyfwht() -> Method:
    import pyfwht

    return lambda a: pyfwht.transform(a, backend=pyfwht.Backend.CPU)


def by_pyfht() -> Method:
    import pyfht

    return pyfht.fht_inplace


def fast_transforms(n: int) -> dict[str, Method]:
    """Walsh-Hadamard transforms, all in place."""
    methods: dict[str, Method] = {
        "ours": transforms.walsh_hadamard,
        "threads": lambda a: transforms.walsh_hadamard(a, jobs=2),
    }
    if n <= NUMPY_UP_TO:
        methods["numpy"] = by_numpy
    makers = {"pyfwht": by_pyfwht, "pyfht": by_pyfht}
    return methods | {name: makers[name]() for name in RIVALS if find_spec(name)}


def check(methods: dict[str, Method], values: np.ndarray) -> None:
    """Every method gives what ours gives; this also warms them up."""
    expected = values.copy()
    methods["ours"](expected)
    for name, method in methods.items():
        a = values.copy()
        method(a)
        if not np.allclose(a, expected, rtol=1e-10, atol=1e-10 * np.abs(expected).max()):
            raise SystemExit(f"{name} differs from ours at {len(values)} values")


def take_turns(methods: dict[str, Method], values: np.ndarray, seconds: float) -> dict[str, float]:
    """The best time of each, every call on fresh values in one array."""
    a = values.copy()
    best = dict.fromkeys(methods, np.inf)
    begun = time.perf_counter()
    n_rounds = 0
    while n_rounds < 5 or (time.perf_counter() - begun < seconds and n_rounds < 2000):
        for name, method in methods.items():
            np.copyto(a, values)
            best[name] = min(best[name], *_seconds(method, a))
        n_rounds += 1
    return best


def _seconds(method: Method, a: np.ndarray) -> tuple[float, float]:
    """Time on the wall, and on processors: where others share the machine a long call never has it to itself."""
    processors, wall = time.process_time(), time.perf_counter()
    method(a)
    return time.perf_counter() - wall, time.process_time() - processors


def row(n: int, seconds: float) -> list[str]:
    values = np.random.default_rng(n).normal(size=1 << n)
    other = values.copy()  # touched memory: untouched zeros would share one page
    methods = fast_transforms(n)
    check(methods, values)
    methods |= {
        "copy": lambda a: np.copyto(other, a),
        "zeta": transforms.subset_sums,
        "exponentiate": transforms.exponentiate,
        "exp": lambda a: np.exp(a, out=a),
    }
    best = take_turns(methods, values, seconds)
    ours = best["ours"]
    return [
        f"{n}",
        f"{1e3 * best['copy']:.4f}",
        f"{1e3 * ours:.4f}",
        f"{ours / best['copy']:.2f}",
        f"{n * 2**n / ours / 1e9:.1f}",
        f"{ours / best['threads']:.2f}",
        f"{best['zeta'] / ours:.2f}",
        *(f"{best[name] / ours:.1f}" if name in best else "-" for name in ("numpy", *RIVALS)),
        f"{1e9 * best['exponentiate'] / 2**n:.2f}",
        f"{best['exp'] / best['exponentiate']:.2f}",
    ]


def compiling() -> str:
    """Seconds of first calls after installation, which compile."""
    with tempfile.TemporaryDirectory() as directory:
        environment = {**os.environ, "NUMBA_CACHE_DIR": directory}
        command = [sys.executable, "-c", FIRST_CALLS]
        return subprocess.run(command, env=environment, capture_output=True, check=True, text=True).stdout


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    default = "10,12,14,16,18,20,22,24"
    parser.add_argument("--variables", type=lambda text: [int(n) for n in text.split(",")], default=default)
    parser.add_argument("--seconds", type=float, default=2.0, help="per row")
    arguments = parser.parse_args()
    pin_threads()
    for name in RIVALS:
        if not find_spec(name):
            print(f"{name} cannot be imported here: no column for it\n")
    print(f"| {' | '.join(HEADER)} |\n{'|---:' * len(HEADER)}|")
    for n in arguments.variables:
        print(f"| {' | '.join(row(n, arguments.seconds))} |", flush=True)
    print(f"\nFirst calls after installation, which compile: {compiling()}")


if __name__ == "__main__":
    main()
