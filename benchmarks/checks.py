"""The check after a fit beside the fit itself: what it costs, and what it finds.

Networks have up to five neighbours a variable by gain, joined by OR, and an L2 fit by pseudo-likelihood of strength 1.
Both are timed on one thread, kernels compiled; learning is structure and parameters together.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.benchmark import Benchmark, Case, cases
from benchmarks.problems import problem
from benchmarks.table import Column, Record, Table, named
from benchmarks.timing import timed
from mrfit.learning.penalty_specs import L2
from mrfit.learning.specification import learn
from mrfit.structures.simple import Learned

SETS = ("nltcs", "kdd", "plants", "jester", "dna", "msweb", "tmovie", "bbc")


def run(case: Case) -> Iterator[Record]:
    rows = problem(case["set"]).rows
    structure = Learned(max_degree=5, bound="gain", rule="or")
    fitted, learning = timed(lambda: learn(rows, structure, penalty=L2(1.0), jobs=1))
    fitted.check(rows, jobs=1)  # compiles
    check, checking = timed(lambda: fitted.check(rows, jobs=1))
    phantom = check.phantom_mode
    yield {
        "set": case["set"],
        "n": len(rows.domain),
        "edges": len(fitted.model.structure.edges),
        "learning": learning,
        "checking": checking,
        "engine": check.engine,
        "max_marginal_error": check.max_marginal_error,
        "standard_error": check.variables[0].error if check.variables else None,
        "phantom": None if phantom is None else [phantom.mass, phantom.sum, phantom.data_mean, phantom.data_max],
        "pll": fitted.best.train_pll,
        "ll": check.ll,
        "ll_error": check.ll_error,
    }


def marginal_error(record: Record) -> str:
    if record["max_marginal_error"] is None:
        return "not known"
    error = record["standard_error"]
    return f"{record['max_marginal_error']:.3f}" + (f" ± {error:.3f}" if error else "")


def log_likelihood(record: Record) -> str:
    if record["ll"] is None:
        return "not known"
    return f"{record['ll']:.2f}" + (f" ± {record['ll_error']:.2f}" if record["ll_error"] else "")


def phantom_mode(record: Record) -> str:
    if record["phantom"] is None:
        return "none"
    mass, there, mean, most = record["phantom"]
    size = "≥ 0.99" if mass > 0.99 else f"{mass:.2f}"
    return f"{size} at {there:.0f} of {record['n']:,} (data: {mean:.1f}, at most {most})"


def tables(records: list[Record]) -> list[Table]:
    columns = (
        named("set", "{set}"),
        Column("edges", "{edges:,}"),
        Column("learning, s", "{learning:.2f}"),
        Column("check, s", "{checking:.2f}"),
        Column("by", "{engine}"),
        Column("largest error of a marginal", marginal_error),
        Column("train pll", "{pll:.2f}"),
        Column("train ll", log_likelihood),
        Column("phantom mode", phantom_mode),
    )
    return [Table(columns, records)]


BENCHMARKS = (
    Benchmark(
        "check",
        "the check after a fit: what it costs beside the fit, and what it finds",
        cases(set=SETS),
        cases(set=("nltcs",)),
        run,
        tables,
    ),
)
