"""Permutations of node-wise EBIC networks (gamma 0.25, rule and) of two groups, one thread.

The seconds of NetworkComparisonTest 2.2.2 with IsingFit 0.4.1 were measured once, on one thread of a quiet machine of
two processors with R 4.2; they are not measured here, so that ratios are across machines.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.benchmark import Benchmark, Case
from benchmarks.table import Column, Record, Table, named
from benchmarks.timing import timed
from mrfit.analysis.groups.compare_groups import compare_groups
from mrfit.data.unique_rows import UniqueRows
from mrfit.structures.simple import Learned

NCT = {"czech:data": 0.131, "nltcs:train": 4.67}  # seconds a permutation

CASES = (
    {"set": "czech:data", "by": "smoke", "permutations": 1000},
    {"set": "nltcs:train", "by": "v0", "permutations": 100},
)


def run(case: Case) -> Iterator[Record]:
    rows, learner = UniqueRows.from_file(case["set"]), Learned(select="ebic", rule="and", refit=False)
    compare_groups(learner, rows, by=case["by"], permutations=1)  # compiles
    found, seconds = timed(lambda: compare_groups(learner, rows, by=case["by"], permutations=case["permutations"]))
    failed = 0 if found.permutations is None else sum(found.permutations.failures.values())
    networks = 3 + 2 * case["permutations"]  # of the groups and of all rows too
    yield {**case, "failed": failed, "seconds": 2 * seconds / networks, "nct": NCT[case["set"]]}


def tables(records: list[Record]) -> list[Table]:
    columns = (
        named("set", "{set}"),
        named("by", "{by}"),
        Column("NetworkComparisonTest, s a permutation", "{nct:.3f}"),
        Column("mrfit, s a permutation", "{seconds:.4f}"),
        Column("times", lambda record: f"{record['nct'] / record['seconds']:.0f}"),
        Column("1,000 permutations, s", lambda record: f"{1000 * record['seconds']:.0f}"),
    )
    return [Table(columns, records)]


BENCHMARKS = (
    Benchmark(
        "groups",
        "permutations of the networks of two groups, beside NetworkComparisonTest",
        CASES,
        ({**CASES[0], "permutations": 5},),
        run,
        tables,
    ),
)
