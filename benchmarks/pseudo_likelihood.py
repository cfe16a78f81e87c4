"""One value and gradient of the pseudo-likelihood: mrfit against what a user would write, one thread each.

Every rival's value and gradient are checked against ours. `complete-graphs` leaves graphs aside: where cells do not
merge, our pass against the two matrix products alone that any dense form needs.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.benchmark import Benchmark, Case, cases
from benchmarks.problems import Problem, benchmark_names, problem
from benchmarks.rivals import RIVALS, installed_rivals
from benchmarks.table import Column, Record, Table, named
from benchmarks.timing import best_seconds, copy_bandwidth, geometric_mean
from mrfit.objectives.counts.conditional_cells import ConditionalCells
from mrfit.objectives.pseudo_likelihood import PseudoLikelihood
from mrfit.parameterizations.canonical import Canonical

COMPLETE = ("nltcs", "msnbc", "plants", "audio", "jester", "accidents", "pumsb_star", "dna")
NAMES = [rival.name for rival in RIVALS]


def ours(given: Problem, parameters: Canonical) -> PseudoLikelihood:
    return PseudoLikelihood(ConditionalCells.count(given.rows, parameters), jobs=1)


def against_rivals(case: Case) -> Iterator[Record]:
    given = problem(case["set"])
    parameters = given.parameters(given.neighbour_graph(case["degree"]))
    objective = ours(given, parameters)
    threaded, cells = PseudoLikelihood(objective.cells, jobs=2), objective.cells
    w = 0.2 * np.random.default_rng(0).normal(size=parameters.n_parameters)
    seconds = best_seconds(lambda: objective.value_and_gradient(w), at_least=case["seconds"])
    record: Record = {
        "set": given.name,
        "degree": case["degree"],
        "variables": len(given.rows.domain),
        "distinct": given.rows.n_distinct,
        "cells": cells.n_cells,
        "lookups": cells.n_lookups,
        "ms": 1e3 * seconds,
        "threads": seconds / best_seconds(lambda: threaded.value_and_gradient(w), at_least=case["seconds"]),
        "ns_per_cell": 1e9 * seconds / cells.n_cells,
        # Each lookup is done once forwards and once backwards.
        "ns_per_index": 1e9 * seconds / (2 * cells.n_lookups),
        "gb_per_second": cells.n_bytes / seconds / 1e9,
    }
    for rival_class in installed_rivals():
        rival = rival_class(given.rows.codes, given.rows.sample_weight, parameters.structure.edges)
        check(rival, objective, w, given.rows.total_weight)
        record[rival.name] = best_seconds(lambda rival=rival: rival(w), at_least=case["seconds"]) / seconds
    yield record


def check(rival, objective: PseudoLikelihood, w: np.ndarray, total_weight: float) -> None:
    (value, gradient), (sum_value, sum_gradient) = objective.value_and_gradient(w), rival(w)
    close = np.isclose(sum_value / total_weight, value, rtol=1e-10)
    if not (close and np.allclose(sum_gradient / total_weight, gradient, atol=1e-10)):
        raise AssertionError(f"{rival.name} differs from ours: {sum_value / total_weight} against {value}")


def with_means(records: list[Record]) -> list[Record]:
    """Two lines under the table of each degree."""
    finished: list[Record] = []
    for degree in sorted({r["degree"] for r in records}):
        own = [r for r in records if r["degree"] == degree]
        rivals = [name for name in NAMES if name in own[0]]
        means = {name: geometric_mean([r[name] for r in own]) for name in ("threads", "ns_per_cell", *rivals)}
        least = {name: min(r[name] for r in own) for name in rivals}
        rates = [r["gb_per_second"] for r in own]
        finished += [
            *own,
            {"set": "geometric mean", "degree": degree, **means},
            {"set": "least", "degree": degree, **least, "slowest": min(rates), "fastest": max(rates)},
        ]
    return [*finished, {"copy_gb_per_second": copy_bandwidth()}]


COLUMNS = (
    named("set", "{set}"),
    Column("variables", "{variables}"),
    Column("distinct rows", "{distinct:,}"),
    Column("cells", "{cells:,}"),
    Column("mrfit, ms", "{ms:.3f}"),
    Column("2 threads, x faster", "{threads:.2f}"),
    Column("ns a cell", "{ns_per_cell:.1f}"),
    Column("ns an index", "{ns_per_index:.2f}"),
    *(Column(f"{name}, x slower", lambda r, name=name: f"{r[name]:.1f}" if name in r else "") for name in NAMES),
)


def degree_tables(records: list[Record]) -> list[Table]:
    *own, memory = records
    tables = []
    for degree in sorted({r["degree"] for r in own}):
        chosen = [r for r in own if r["degree"] == degree]
        note = "Our pass reads its arrays at {slowest:.1f} to {fastest:.1f} GB a second".format(**chosen[-1])
        copy = "; a plain copy moves {copy_gb_per_second:.0f}.".format(**memory)
        tables.append(Table(COLUMNS, chosen, f"d = {degree}", note + copy))
    return tables


def complete(case: Case) -> Iterator[Record]:
    given = problem(case["set"])
    n = len(given.rows.domain)
    parameters = given.parameters(~np.eye(n, dtype=bool))
    objective = ours(given, parameters)
    rng = np.random.default_rng(0)
    w = 0.2 * rng.normal(size=parameters.n_parameters)
    X, W, R = given.rows.codes.astype(float), rng.normal(size=(n, n)), rng.normal(size=given.rows.codes.shape)
    seconds = best_seconds(lambda: objective.value_and_gradient(w), at_least=case["seconds"])
    products = best_seconds(lambda: (X @ W, X.T @ R), at_least=case["seconds"])
    yield {
        "set": given.name,
        "entries": X.size,
        "cells": objective.cells.n_cells,
        "ms": 1e3 * seconds,
        "products": products / seconds,
    }


def complete_tables(records: list[Record]) -> list[Table]:
    columns = (
        named("set", "{set}"),
        Column("rows x variables", "{entries:,}"),
        Column("cells", "{cells:,}"),
        Column("mrfit, ms", "{ms:.3f}"),
        Column("products alone, x slower", "{products:.2f}"),
    )
    return [Table(columns, records)]


BENCHMARKS = (
    Benchmark(
        "pseudo-likelihood",
        "one value and gradient on 20 sets, against numpy, scipy.sparse and jax",
        cases(set=benchmark_names(), degree=(5, 15, 50), seconds=(0.2,)),
        cases(set=("nltcs",), degree=(5, 15), seconds=(0.01,)),
        against_rivals,
        degree_tables,
        with_means,
        rivals=("jax",),
    ),
    Benchmark(
        "complete-graphs",
        "the same on complete graphs, against matrix products alone",
        cases(set=COMPLETE, seconds=(0.2,)),
        cases(set=("nltcs",), seconds=(0.01,)),
        complete,
        complete_tables,
    ),
)
