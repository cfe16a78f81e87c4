"""Level of the G-squared test with nine bootstrap tables: how often it calls a true model wrong.

p is then one of 0.1, ..., 1. Drawn from the truth, observed and drawn tables would be exchangeable and each p as
frequent as any other. They are drawn from an estimate, for which nothing of that kind is proven at any number of rows.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.benchmark import Benchmark, Case, cases
from benchmarks.table import Column, Record, Table
from mrfit.analysis.goodness.bootstrap_goodness import bootstrap_goodness
from mrfit.core.domain import Domain
from mrfit.data.unique_rows import UniqueRows
from mrfit.learning.learner import Learner
from mrfit.learning.penalty_specs import L2
from mrfit.model.markov_network import MarkovNetwork
from mrfit.parameterizations.canonical import Canonical
from mrfit.structures.structure import Structure

DRAWN = 9


def truth() -> MarkovNetwork:
    """Four variables and all pairs of them, of middling strength."""
    domain = Domain.from_states({f"x{i}": ["0", "1"] for i in range(4)})
    parameters = Canonical(domain, Structure.complete(4))
    return MarkovNetwork(parameters, 0.6 * np.cos(np.arange(parameters.n_parameters)))


def run(case: Case) -> Iterator[Record]:
    true, learner, p = truth(), Learner(penalty=L2(0.1)), []
    for seed in range(case["tables"]):
        rows = UniqueRows.of(true.sample(case["rows"], seed=seed, jobs=1))
        p.append(bootstrap_goodness(learner.fit(rows).model, rows, tables=DRAWN, seed=10**6 + seed).p)
    values = np.array(p)
    yield {
        **case,
        "tenth": float(np.mean(values < 0.15)),
        "half": float(np.mean(values < 0.55)),
        "mean": float(values.mean()),
    }


def with_error(share: float, n: int) -> str:
    return f"{share:.3f} ± {np.sqrt(share * (1.0 - share) / n):.3f}"


def tables(records: list[Record]) -> list[Table]:
    columns = (
        Column("rows", "{rows:,}"),
        Column("tables", "{tables:,}"),
        Column("share with p ≤ 0.1", lambda record: with_error(record["tenth"], record["tables"])),
        Column("share with p ≤ 0.5", lambda record: with_error(record["half"], record["tables"])),
        Column("mean p (0.55 if level)", "{mean:.3f}"),
    )
    return [Table(columns, records)]


BENCHMARKS = (
    Benchmark(
        "goodness-level",
        "how often G-squared by drawn tables calls a true model wrong",
        cases(rows=(60, 250, 1000), tables=(500,)),
        cases(rows=(60,), tables=(3,)),
        run,
        tables,
    ),
)
