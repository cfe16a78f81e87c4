"""First calls of single kernels after installation, which compile."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.benchmark import Benchmark, Case, cases
from benchmarks.table import Column, Record, Table, named
from benchmarks.timing import seconds_of_first_call

TRANSFORM = "import numpy; from mrfit.core import transforms; a = numpy.zeros(1 << {n})"
CLUSTER = (
    "import numpy; from mrfit.data.kmeans1d import kmeans1d; values = numpy.random.default_rng(0).normal(size=1000)"
)
PREPARED = {
    "transforms.exponentiate(a)  # n = 10": TRANSFORM.format(n=10),
    "transforms.walsh_hadamard(a)  # n = 10": TRANSFORM.format(n=10),
    "transforms.walsh_hadamard(a)  # n = 18": TRANSFORM.format(n=18),
    "transforms.subset_sums(a)  # n = 10": TRANSFORM.format(n=10),
    "kmeans1d(values, 30)": CLUSTER,
}


def run(case: Case) -> Iterator[Record]:
    yield {"call": case["call"], "seconds": seconds_of_first_call(PREPARED[case["call"]], case["call"])}


def tables(records: list[Record]) -> list[Table]:
    return [Table((named("first call", "`{call}`"), Column("seconds", "{seconds:.2f}")), records)]


BENCHMARKS = (
    Benchmark(
        "compiling",
        "first calls of single kernels without compiled code from earlier ones",
        cases(call=tuple(PREPARED)),
        cases(call=tuple(PREPARED)[:1]),
        run,
        tables,
    ),
)
