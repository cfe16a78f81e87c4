"""How well structures predict: every way to meet a degree bound, refitted with L2, scored on test rows.

The strength of the refit is chosen on the validation rows.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.benchmark import Benchmark, Case, cases
from benchmarks.problems import problem, rows_of
from benchmarks.table import Column, Record, Table, named
from benchmarks.timing import timed
from mrfit.learning import Learner
from mrfit.learning.penalized import L2
from mrfit.structure.learners import Given, Learned
from mrfit.structure.nodewise.learned import BOUNDS

SETS = ("nltcs", "plants", "audio", "jester", "dna", "bbc")
STRENGTHS = (0.01, 0.1, 0.3, 1.0, 3.0, 10.0)


def run(case: Case) -> Iterator[Record]:
    train, jobs = problem(case["set"]).rows, case["jobs"]
    valid, test = (rows_of(case["set"], part, train.domain) for part in ("valid", "test"))
    learner = Learned(max_degree=case["degree"], bound=case["bound"])
    found, seconds = timed(lambda: learner.learn(train, jobs=jobs))
    fits = Learner(Given(found.structure), L2(STRENGTHS)).fit(train, valid, jobs=jobs)
    yield {
        "set": case["set"],
        "bound": case["bound"],
        "edges": len(found.structure.edges),
        "largest": int(found.structure.degrees.max()),
        "seconds": seconds,
        "score": -fits.best.model.pll(test),
    }


def tables(records: list[Record]) -> list[Table]:
    columns = (
        named("set", "{set}"),
        named("bound", "{bound}"),
        Column("edges", "{edges}"),
        Column("largest degree", "{largest}"),
        Column("seconds", "{seconds:.1f}"),
        Column("test negative pll", "{score:.3f}"),
    )
    return [Table(columns, records)]


BENCHMARKS = (
    Benchmark(
        "structure-quality",
        "how well the structures of every degree bound predict, six sets",
        cases(set=SETS, bound=tuple(BOUNDS), degree=(5,), jobs=(2,)),
        cases(set=("nltcs",), bound=tuple(BOUNDS), degree=(3,), jobs=(2,)),
        run,
        tables,
    ),
)
