"""l1 over all sets of up to 24 variables: 20,000 rows of a sparse model, each strength from the last.

Memory is that of a fresh process for each number of variables, from where everything is imported and compiled, in
vectors of 2**n doubles. ``path`` in the records has every strength: what is selected, what of it is true, its cost.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial

import numpy as np

from benchmarks.benchmark import Benchmark, Case, cases
from benchmarks.exact_likelihood import N_ROWS, binary_domain
from benchmarks.exact_solvers import task_of
from benchmarks.table import Column, Record, Table
from benchmarks.timing import in_own_process, memory, seconds_of, timed
from mrfit.core import transforms
from mrfit.data.unique_rows import UniqueRows
from mrfit.learning.fit_problem import FitProblem
from mrfit.learning.fit_result import Optimum
from mrfit.learning.penalty_specs import L1
from mrfit.parameterizations.bases import Walsh

N_SETS = 100
ENOUGH = 150  # penalised parameters that are not zero: there a path ends
SQRT2 = float(np.sqrt(2.0))


def sparse_model(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Positions and values of about `N_SETS` spectral parameters: all single variables, else sets of 2 to 4."""
    strides = Walsh((2,) * n).strides
    sets = {tuple(sorted(rng.choice(n, rng.integers(2, 5), replace=False).tolist())) for _ in range(N_SETS - n)}
    positions = np.array([*strides, *(strides[list(scope)].sum() for scope in sorted(sets))])
    values = rng.choice([-1.0, 1.0], len(positions)) * rng.uniform(0.15, 0.3, len(positions))
    return positions, values


def drawn(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Codes of rows drawn from a sparse model, by going through all states; and its sets of several variables."""
    rng = np.random.default_rng(n)
    positions, values = sparse_model(n, rng)
    w = np.zeros(1 << n)
    w[positions] = values
    base = Walsh((2,) * n)
    p = base.potentials(w)
    transforms.exponentiate(p)
    np.cumsum(p, out=p)
    states = np.searchsorted(p, np.sort(rng.uniform(0.0, p[-1], N_ROWS)))
    digits = np.stack(np.unravel_index(states, base.shape), axis=1)
    codes = np.stack([np.argsort(base.digits[i])[digits[:, i]] for i in range(n)], axis=1)
    return codes.astype(np.uint8), positions[n:]


def problem_of(codes: np.ndarray) -> FitProblem:
    return task_of(UniqueRows.from_codes(binary_domain(codes.shape[1]), codes, np.ones(len(codes))), "spectral")


def warm_up() -> None:
    """Load or compile all that a large problem needs."""
    transforms.walsh_hadamard(np.zeros(1 << 19))
    task = problem_of(drawn(10)[0])
    for found in L1().solve_path(task, [L1().critical_strength(task) / 2.0]):
        assert found.solution.converged


def timed_path(task: FitProblem, critical: float) -> Iterator[tuple[Optimum, float]]:
    """Walk from just below the critical strength until `ENOUGH` parameters are not zero; yield optima with seconds."""
    w, n_free = task.start, int(np.count_nonzero(~task.layout.penalized))
    for k in range(1, 40):
        found, spent = timed(partial(L1().fit, task, critical / SQRT2**k, w))
        w = found.solution.w
        yield found, spent
        if np.count_nonzero(w) >= ENOUGH + n_free:
            return


def point_of(found: Optimum, seconds: float, truth: np.ndarray, n: int) -> Record:
    sets = np.setdiff1d(np.flatnonzero(found.solution.w != 0) + 1, Walsh((2,) * n).strides)
    right = len(np.intersect1d(sets, truth))
    cost = {"evaluations": found.passes, "gap": found.solution.gap, "seconds": seconds}
    return {"strength": found.strength, "nonzero": len(sets), "true": right, "false": len(sets) - right, **cost}


def measure(codes: np.ndarray, truth: np.ndarray, seconds: float) -> Record:
    """Measure in a process of its own: walk the path again while there is time, and take the best of every strength."""
    warm_up()
    before, n = memory("VmRSS"), codes.shape[1]
    task = problem_of(codes)
    critical = L1().critical_strength(task)
    path = [point_of(found, spent, truth, n) for found, spent in timed_path(task, critical)]
    peak = memory("VmHWM") - before
    evaluate = partial(task.objective.objective.value_and_gradient, task.start)
    unit, begun = np.inf, time.perf_counter()
    while unit == np.inf or time.perf_counter() - begun < seconds:
        unit = min(unit, *(seconds_of(evaluate) for _ in range(5)))
        for point, (_, spent) in zip(path, timed_path(task, critical), strict=True):
            point["seconds"] = min(point["seconds"], spent)
    spent = [point["seconds"] for point in path]
    return {
        "n": n,
        "ms": 1e3 * unit,
        "least": min(spent),
        "most": max(spent),
        "median_evaluations": float(np.median(spent)) / unit,
        "most_evaluations": max(spent) / unit,
        "vectors": peak / (8 << n),
        "gigabytes": peak / 1e9,
        "truth": len(truth),
        "path": path,
    }


def run(case: Case) -> Iterator[Record]:
    yield in_own_process(measure, *drawn(case["n"]), case["seconds"])


def evaluation_of(record: Record) -> str:
    return f"{record['ms']:.1f} ms" if record["ms"] < 10 else f"{record['ms']:.0f} ms"


def range_of(record: Record) -> str:
    digits = 1 if record["least"] >= 1 else 2
    return f"{record['least']:.{digits}f} - {record['most']:.{digits}f}"


def tables(records: list[Record]) -> list[Table]:
    columns = (
        Column("variables", "{n}"),
        Column("sets", lambda r: f"{2 ** r['n'] - 1:,}"),
        Column("one evaluation", evaluation_of),
        Column("seconds a strength", range_of),
        Column("in evaluations, median (most)", "{median_evaluations:.1f} ({most_evaluations:.1f})"),
        Column("peak memory, vectors of 2^n doubles", "{vectors:.1f} ({gigabytes:.1f} GB)"),
    )
    return [Table(columns, records)]


BENCHMARKS = (
    Benchmark(
        "exact-large",
        "l1 over all sets of 20, 22 and 24 variables: seconds and memory",
        cases(n=(20, 22, 24), seconds=(10.0,)),
        cases(n=(12,), seconds=(0.0,)),
        run,
        tables,
    ),
)
