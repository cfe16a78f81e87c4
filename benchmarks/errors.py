"""Cost of standard errors beside the fit: all pairs of the first columns of real tables, by sandwich.

Both are timed on one thread, kernels compiled, in turns; a fit begins with distinct rows, and counts its cells. Errors
of the pseudo-likelihood take the outer products of the gradients of all distinct rows, J, one product of matrices. It
is timed alone, too: they cannot take less.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from benchmarks.benchmark import Benchmark, Case
from benchmarks.problems import problem
from benchmarks.table import Column, Record, Table, named
from benchmarks.timing import best_seconds, take_turns
from mrfit.learning import Learner
from mrfit.learning.objective_specs import LIKELIHOOD, PSEUDO_LIKELIHOOD
from mrfit.learning.penalty_specs import L2

OBJECTIVES = {objective.word: objective for objective in (PSEUDO_LIKELIHOOD, LIKELIHOOD)}
CASES = tuple(
    {"set": name, "columns": columns, "objective": objective}
    for name, columns, objective in (
        ("nltcs", 16, "pseudo-likelihood"),
        ("plants", 20, "pseudo-likelihood"),
        ("plants", 31, "pseudo-likelihood"),
        ("jester", 31, "pseudo-likelihood"),
        ("msnbc", 17, "pseudo-likelihood"),
        ("nltcs", 16, "likelihood"),
        ("plants", 20, "likelihood"),
    )
)


def run(case: Case) -> Iterator[Record]:
    rows = problem(case["set"]).rows.on_columns(range(case["columns"]))
    learner = Learner(penalty=L2(1.0), objective=OBJECTIVES[case["objective"]])
    calls = {str(kind): partial(learner.fit, rows, errors=kind) for kind in (None, "sandwich")}
    seconds = take_turns(calls, 2.0, least=12)  # a difference of two times takes the best of many
    n_parameters = len(learner.fit(rows).model.w)
    fit, errors = seconds["None"], seconds["sandwich"] - seconds["None"]
    least = _least(rows.n_distinct, n_parameters) if case["objective"] == PSEUDO_LIKELIHOOD.word else {}
    yield {**case, "distinct": rows.n_distinct, "parameters": n_parameters, "fit": fit, "errors": errors, **least}


def _least(n_rows: int, n_parameters: int) -> Record:
    """Least work for J, with all gradients in memory. The likelihood reads its J off the table's moments."""
    gradients = np.random.default_rng(0).random((n_parameters, n_rows))
    seconds = best_seconds(lambda: gradients @ gradients.T)
    return {"gflop": n_rows * n_parameters**2 / 1e9, "milliseconds": 1e3 * seconds}


def tables(records: list[Record]) -> list[Table]:
    columns = (
        named("set", "{set}"),
        named("objective", "{objective}"),
        Column("distinct rows", "{distinct:,}"),
        Column("parameters", "{parameters}"),
        Column("fit, ms", lambda record: f"{1e3 * record['fit']:.1f}"),
        Column("errors, ms", lambda record: f"{1e3 * record['errors']:.1f}"),
        Column("J alone, GFlop", "{gflop:.2f}"),
        Column("J alone, ms", "{milliseconds:.1f}"),
        Column("share", lambda record: f"{record['errors'] / record['fit']:.0%}"),
    )
    return [Table(columns, records)]


BENCHMARKS = (
    Benchmark(
        "errors",
        "standard errors: what they cost beside the fit",
        CASES,
        CASES[:1],
        run,
        tables,
    ),
)
