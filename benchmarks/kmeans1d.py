"""Optimal one-dimensional k-means: normal values through mrfit and the packages of PyPI, one thread each.

Rivals (`pip install kmeans1d ckwrap ckmeans-1d-dp`) run once, or several times if they are quick; their time grows with
k, and one that is expected to need more than patience (seconds) is left out. At 40,000 values and 10,000 clusters they
take minutes and up to 10 GB. One judge in extended precision computes the cost of every assignment.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec

import numpy as np

from benchmarks.benchmark import Benchmark, Case
from benchmarks.table import Column, Record, Table
from benchmarks.timing import best_seconds, timed
from mrfit.data.kmeans1d import kmeans1d as ours


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


def once_or_more(method: Method, values: np.ndarray, k: int, *, at_least: float = 0.0) -> Run:
    """The best of several calls while they are quick; slow ones are called once."""
    assignment, seconds = timed(lambda: method(values, k))
    if seconds < 1.0:
        seconds = min(seconds, best_seconds(lambda: method(values, k), at_least=at_least))
    return Run(seconds, judged(values, assignment))


def run(case: Case) -> Iterator[Record]:
    """One record for each k; the last time of a rival says what to expect of its next."""
    values = np.random.default_rng(0).normal(size=case["values"])
    ours(values[:100], 10)  # compiles
    last: dict[str, float] = {}
    for k in case["clusters"]:
        mine = once_or_more(lambda x, k: ours(x, k).assignment, values, k, at_least=case["seconds"])
        record: Record = {"values": case["values"], "k": k, "ms": 1e3 * mine.seconds, "cost": mine.cost}
        for name in filter(find_spec, RIVALS):
            if last.get(name, 0.0) * k > case["patience"]:
                record[name] = {"expected_seconds": last[name] * k}
                continue
            rival = once_or_more(RIVALS[name], values, k)
            last[name] = rival.seconds / k
            record[name] = {"ratio": rival.seconds / mine.seconds, "above": rival.cost / mine.cost - 1.0}
        yield record


def slower(record: Record, name: str) -> str:
    rival = record.get(name)
    if rival is None:
        return ""
    if "ratio" not in rival:
        return f"expected {rival['expected_seconds']:.0f} s"
    return f"{rival['ratio']:,.1f} ({rival['above']:.0e})"


def tables(records: list[Record]) -> list[Table]:
    columns = (
        Column("k", "{k:,}"),
        Column("ours, ms", "{ms:.1f}"),
        Column("cost", "{cost:.15g}"),
        *(Column(name, partial(slower, name=name)) for name in RIVALS),
    )
    return [Table(columns, records)]


BENCHMARKS = (
    Benchmark(
        "kmeans1d",
        "optimal one-dimensional k-means of 40,000 values, against three packages",
        ({"values": 40_000, "clusters": (10, 100, 1000, 10_000), "patience": 300.0, "seconds": 2.0},),
        ({"values": 2000, "clusters": (10, 100), "patience": 1.0, "seconds": 0.0},),
        run,
        tables,
        rivals=tuple(RIVALS),
    ),
)
