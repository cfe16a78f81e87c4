"""Resamples of node-wise EBIC networks (gamma 0.25, rule and), one thread, everything learned again in each.

As bootnet does, at the l1 solutions (`--no-refit`); and as mrfit does by itself, by refits of what points select, over
a fifth of the resamples.

The seconds of bootnet 1.9.1 with IsingFit 0.4.1 were measured once, on one thread of a quiet machine of two processors
with R 4.2; they are not measured here, so that ratios are across machines.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.benchmark import Benchmark, Case, cases
from benchmarks.table import Column, Record, Table, named
from benchmarks.timing import timed
from mrfit.analysis.stability.edge_bootstrap import bootstrap_edges
from mrfit.analysis.stability.resamples import bootstrap
from mrfit.data.unique_rows import UniqueRows
from mrfit.structures.simple import Learned

BOOTNET = {"czech": 0.266, "rochdale": 0.132, "yeast": 1.35, "jokes": 2.46, "nltcs": 4.43}  # seconds a resample


def run(case: Case) -> Iterator[Record]:
    source = "nltcs:train" if case["set"] == "nltcs" else f"{case['set']}:data"
    rows, learner = UniqueRows.from_file(source), Learned(select="ebic", rule="and", refit=False)
    weights = bootstrap(rows, case["resamples"], np.random.default_rng(0))
    bootstrap_edges(learner, rows, resamples=weights[:1])  # compiles
    found, seconds = timed(lambda: bootstrap_edges(learner, rows, resamples=weights))
    some = weights[: len(weights) // 5]
    refitted = timed(lambda: bootstrap_edges(Learned(select="ebic", rule="and", refit=True), rows, resamples=some))[1]
    yield {
        **case,
        "n": len(rows.domain),
        "rows": int(rows.total_weight),
        "failed": found.networks.n_failed,
        "seconds": seconds / (1 + len(weights)),  # the table itself is learned from too
        "refitted": refitted / (1 + len(some)),
        "bootnet": BOOTNET[case["set"]],
    }


def tables(records: list[Record]) -> list[Table]:
    columns = (
        named("set", "{set}"),
        Column("variables", "{n}"),
        Column("rows", "{rows:,}"),
        Column("bootnet, s a resample", "{bootnet:.3f}"),
        Column("mrfit, s a resample", "{seconds:.4f}"),
        Column("times", lambda record: f"{record['bootnet'] / record['seconds']:.0f}"),
        Column("refitted, s a resample", "{refitted:.4f}"),
        Column("1,000 resamples, s", lambda record: f"{1000 * record['seconds']:.1f}"),
    )
    return [Table(columns, records)]


BENCHMARKS = (
    Benchmark(
        "bootstrap",
        "a thousand resamples of a node-wise network, beside bootnet",
        cases(set=tuple(BOOTNET), resamples=(1000,)),
        cases(set=("czech",), resamples=(10,)),
        run,
        tables,
    ),
)
