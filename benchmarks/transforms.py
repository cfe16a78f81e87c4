"""Transforms over 2**n values: mrfit, a plain copy, numpy and the packages of PyPI, in one run.

Rivals: `pip install pyfwht pyfht`. All methods take turns, and every result is compared with ours before that. Times
are the lesser of wall and processor time, so the column of two threads says something only where two processors are
free. pyfwht runs on its CPU backend, one thread: its automatic choice fails where there is no GPU driver.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.util import find_spec

import numpy as np

from benchmarks.benchmark import Benchmark, Case, cases
from benchmarks.table import Column, Record, Table
from benchmarks.timing import take_turns
from mrfit.core import transforms

NUMPY_UP_TO = 22  # half a second a call
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


RIVALS: dict[str, Callable[[], Method]] = {"pyfwht": by_pyfwht, "pyfht": by_pyfht}


def fast_transforms(n: int) -> dict[str, Method]:
    """Walsh-Hadamard transforms, all in place."""
    methods: dict[str, Method] = {
        "ours": transforms.walsh_hadamard,
        "threads": lambda a: transforms.walsh_hadamard(a, jobs=2),
    }
    if n <= NUMPY_UP_TO:
        methods["numpy"] = by_numpy
    return methods | {name: make() for name, make in RIVALS.items() if find_spec(name)}


def check(methods: dict[str, Method], values: np.ndarray) -> None:
    """Every method gives what ours gives."""
    expected = values.copy()
    methods["ours"](expected)
    for name, method in methods.items():
        a = values.copy()
        method(a)
        if not np.allclose(a, expected, rtol=1e-10, atol=1e-10 * np.abs(expected).max()):
            raise AssertionError(f"{name} differs from ours at {len(values)} values")


def run(case: Case) -> Iterator[Record]:
    n = case["n"]
    values = np.random.default_rng(n).normal(size=1 << n)
    a, other = values.copy(), values.copy()  # touched memory: untouched zeros would share one page
    methods = fast_transforms(n)
    check(methods, values)
    methods |= {
        "copy": lambda a: np.copyto(other, a),
        "zeta": transforms.subset_sums,
        "exponentiate": transforms.exponentiate,
        "exp": lambda a: np.exp(a, out=a),
    }
    calls = {name: lambda method=method: method(a) for name, method in methods.items()}
    best = take_turns(calls, case["seconds"], before=lambda: np.copyto(a, values))
    ours = best["ours"]
    yield {
        "n": n,
        "copy_ms": 1e3 * best["copy"],
        "ms": 1e3 * ours,
        "copies": ours / best["copy"],
        "additions": n * 2**n / ours / 1e9,
        "threads": ours / best["threads"],
        "zeta": best["zeta"] / ours,
        "numpy": best["numpy"] / ours if "numpy" in best else None,
        **{name: best[name] / ours for name in RIVALS if name in best},
        "exponentiate_ns": 1e9 * best["exponentiate"] / 2**n,
        "exp": best["exp"] / best["exponentiate"],
    }


def tables(records: list[Record]) -> list[Table]:
    columns = (
        Column("n", "{n}"),
        Column("copy, ms", "{copy_ms:.4f}"),
        Column("ours, ms", "{ms:.4f}"),
        Column("ours / copy", "{copies:.2f}"),
        Column("G adds/s", "{additions:.1f}"),
        Column("1 / 2 threads", "{threads:.2f}"),
        Column("zeta / ours", "{zeta:.2f}"),
        *(Column(f"{name} / ours", f"{{{name}:.1f}}") for name in ("numpy", *RIVALS)),
        Column("exponentiate, ns", "{exponentiate_ns:.2f}"),
        Column("np.exp / exponentiate", "{exp:.2f}"),
    )
    return [Table(columns, records)]


BENCHMARKS = (
    Benchmark(
        "transforms",
        "Walsh-Hadamard transforms, subset sums and exponentials over 2^n values",
        cases(n=range(10, 25, 2), seconds=(2.0,)),
        cases(n=(10, 18), seconds=(0.05,)),
        run,
        tables,
        rivals=tuple(RIVALS),
    ),
)
