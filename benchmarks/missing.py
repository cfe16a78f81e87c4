"""Learning from incomplete rows by EM, beside one fit of the same rows without holes; all pairs, no penalty.

One thread. Cells are taken away by lot, in a given share; rows that lose all are left out.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.benchmark import Benchmark, Case
from benchmarks.table import Column, Record, Table, named
from benchmarks.timing import best_seconds, timed
from mrfit.data.encoding import UNOBSERVED
from mrfit.data.unique_rows import UniqueRows
from mrfit.learning import Learner
from mrfit.learning.em import fit_incomplete
from mrfit.learning.objective_specs import LIKELIHOOD, PSEUDO_LIKELIHOOD
from mrfit.learning.penalty_specs import NoPenalty

OBJECTIVES = {objective.word: objective for objective in (PSEUDO_LIKELIHOOD, LIKELIHOOD)}
CASES = tuple(
    {"set": name, "missing": share, "objective": objective}
    for name, share, objective in (
        ("czech:data", 0.15, "pseudo-likelihood"),
        ("czech:data", 0.15, "likelihood"),
        ("rochdale:data", 0.1, "pseudo-likelihood"),
        ("nltcs:train", 0.05, "pseudo-likelihood"),
    )
)


def holed(rows: UniqueRows, share: float) -> UniqueRows:
    """Every row of the table by itself, with holes."""
    codes = np.repeat(rows.codes, rows.sample_weight.astype(int), axis=0)
    gone = np.random.default_rng(0).random(codes.shape) < share
    return UniqueRows.from_codes(rows.domain, np.where(gone, UNOBSERVED, codes).astype(np.uint8), np.ones(len(codes)))


def run(case: Case) -> Iterator[Record]:
    rows = UniqueRows.from_file(case["set"])
    incomplete = holed(rows, case["missing"])
    learner = Learner(penalty=NoPenalty(), objective=OBJECTIVES[case["objective"]])
    fit = best_seconds(lambda: learner.fit(rows))
    found, em = timed(lambda: fit_incomplete(learner, incomplete))
    again, seconds = timed(lambda: fit_incomplete(learner, incomplete))
    yield {
        **case,
        "rounds": found.rounds,
        "converged": again.converged,
        "fit": fit,
        "em": min(em, seconds),
    }


def tables(records: list[Record]) -> list[Table]:
    columns = (
        named("set", "{set}"),
        Column("missing", lambda record: f"{record['missing']:.0%}"),
        named("objective", "{objective}"),
        Column("rounds", "{rounds}"),
        Column("one fit, s", "{fit:.4f}"),
        Column("EM, s", "{em:.3f}"),
        Column("fits' time", lambda record: f"{record['em'] / record['fit']:.0f}"),
    )
    return [Table(columns, records)]


BENCHMARKS = (
    Benchmark(
        "missing",
        "learning from incomplete rows, beside a fit of complete ones",
        CASES,
        CASES[:1],
        run,
        tables,
    ),
)
