"""Cost of structure learning: every bound on the 20 sets, and networks of growing size."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.benchmark import Benchmark, Case, cases
from benchmarks.problems import benchmark_names, problem
from benchmarks.table import Column, Record, Table, named
from benchmarks.timing import in_own_process, memory, seconds_of
from mrfit.core.domain import Domain
from mrfit.data.unique_rows import UniqueRows
from mrfit.structures.simple import Learned

BOUNDS = ("path", "top", "gain", "graph")
DEGREES = (5, 15, 50)
MOST_WORK = 3e10  # variables^2 x rows of the largest synthetic network
SIZES = cases(variables=(100, 300, 1000, 3000, 5000), rows=(500, 2000, 8000, 20_000))


def seconds_to_learn(rows: UniqueRows, degree: int, bound: str, jobs: int) -> float:
    return seconds_of(lambda: Learned(max_degree=degree, bound=bound).learn(rows, jobs=jobs))


def measure_bounds(case: Case) -> Record:
    """Seconds of every bound and degree, and this process's memory before and at its peak, in MB."""
    rows = problem(case["set"]).rows
    for bound in BOUNDS:  # compiles
        seconds_to_learn(rows, 1, bound, case["jobs"])
    record: Record = {"set": case["set"], "before": memory("VmHWM") / 2**20}
    for degree in case["degrees"]:
        for bound in BOUNDS:
            record[f"{bound} {degree}"] = seconds_to_learn(rows, degree, bound, case["jobs"])
    return record | {"peak": memory("VmHWM") / 2**20}


def run_bounds(case: Case) -> Iterator[Record]:
    yield in_own_process(measure_bounds, case)


def bound_tables(records: list[Record]) -> list[Table]:
    measured = [name for name in records[0] if name.split()[0] in BOUNDS]
    columns = (
        named("set", "{set}"),
        *(Column(name, f"{{{name}:.2f}}") for name in measured),
        Column("memory at d = 1", "{before:.0f}"),
        Column("peak", "{peak:.0f}"),
    )
    return [Table(columns, records)]


def tree_rows(n_variables: int, n_rows: int) -> UniqueRows:
    """Exact samples of a random tree of rare binary variables, about 6% ones, as in sets of words."""
    rng = np.random.default_rng([n_variables, n_rows])
    codes = np.zeros((n_rows, n_variables), np.uint8)
    codes[:, 0] = rng.random(n_rows) < 0.06
    for j in range(1, n_variables):
        parent = codes[:, rng.integers(max(0, j - 20), j)]
        codes[:, j] = rng.random(n_rows) < np.where(parent, 0.5, 0.03)
    domain = Domain.from_states({f"v{j}": "01" for j in range(n_variables)})
    return UniqueRows.from_codes(domain, codes, np.ones(n_rows))


def measure_size(case: Case) -> Record:
    rows, seconds = tree_rows(case["variables"], case["rows"]), {}
    for bound in ("gain", "path"):
        seconds_to_learn(tree_rows(10, 100), 5, bound, 1)  # compiles
        seconds[bound] = seconds_to_learn(rows, 5, bound, 1)
    return {**case, **seconds, "peak": memory("VmHWM") / 2**20}


def run_size(case: Case) -> Iterator[Record]:
    yield in_own_process(measure_size, case)


def with_exponents(records: list[Record]) -> list[Record]:
    """Seconds as a product of powers, by least squares of logarithms."""
    sizes = [[record["variables"], record["rows"]] for record in records]
    logs = np.column_stack([np.ones(len(sizes)), np.log(sizes)])
    exponents = {}
    for bound in ("gain", "path"):
        (_, a, b), *_ = np.linalg.lstsq(logs, np.log([record[bound] for record in records]), rcond=None)
        exponents[bound] = [float(a), float(b)]
    return [*records, {"exponents": exponents}]


def size_tables(records: list[Record]) -> list[Table]:
    *sizes, last = records
    columns = (
        Column("variables", "{variables:,}"),
        Column("rows", "{rows:,}"),
        Column("gain, s", "{gain:.2f}"),
        Column("path, s", "{path:.2f}"),
        Column("peak, MB", "{peak:.0f}"),
    )
    grow = "{}: seconds grow as variables^{:.2f} x rows^{:.2f}"
    note = "\n\n".join(grow.format(bound, *powers) for bound, powers in last["exponents"].items())
    return [Table(columns, sizes, note=note)]


BENCHMARKS = (
    Benchmark(
        "structure-bounds",
        "seconds and memory of every degree bound on 20 sets, two threads",
        cases(set=benchmark_names(), degrees=(DEGREES,), jobs=(2,)),
        cases(set=("nltcs",), degrees=((5,),), jobs=(2,)),
        run_bounds,
        bound_tables,
    ),
    Benchmark(
        "structure-scaling",
        "seconds and memory on random trees of 100 to 5,000 variables",
        tuple(case for case in SIZES if case["variables"] ** 2 * case["rows"] <= MOST_WORK),
        cases(variables=(50, 100), rows=(500,)),
        run_size,
        size_tables,
        with_exponents,
    ),
)
