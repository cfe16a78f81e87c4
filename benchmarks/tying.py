"""Cost of tying, and what it depends on: passes against L2, the paper's whole grid, exchanged states.

Structures come from l1 paths of at most ``degree`` neighbours, joined by OR.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

import mrfit.parameterizations.groups
from benchmarks.benchmark import Benchmark, Case, cases
from benchmarks.problems import problem, rows_of
from benchmarks.table import Column, Record, Table, named
from mrfit.data.unique_rows import UniqueRows
from mrfit.learning import HELD_AT, Learner
from mrfit.learning.fit_problem import FitProblem as Fitting
from mrfit.learning.fit_result import Optimum
from mrfit.learning.penalty_spec import Grid
from mrfit.learning.penalty_specs import L2, l2_path
from mrfit.learning.tying.soft_tying import TyingTask, tie_softly
from mrfit.learning.tying.tying_problem import TyingProblem
from mrfit.learning.tying_specs import STRENGTHS, LearnTieRelearn, SoftTied
from mrfit.model.markov_network import MarkovNetwork
from mrfit.parameterizations.parameterization import Parameterization
from mrfit.penalties.l2 import Ridge
from mrfit.solvers.minimize import minimize
from mrfit.solvers.newton import TruncatedNewton
from mrfit.structures.simple import FixedStructure, Learned

JOBS = 2
GROUPS = (2, 10, 100)


def prepared(name: str, degree: int) -> tuple[Fitting, Parameterization]:
    rows = problem(name).rows
    structure = Learned(max_degree=degree, bound="path").learn(rows, jobs=JOBS).structure
    fitting = Fitting(rows, structure, Learner(), JOBS)
    return fitting, fitting.coordinates.parameters


def fresh(task: Fitting) -> Fitting:
    """Nothing remembered, no passes counted."""
    task.objective.forget()
    return task


@contextmanager
def clustering_clock() -> Iterator[list[float]]:
    """Seconds spent in k-means."""
    spent, original = [0.0], mrfit.parameterizations.groups.kmeans1d

    def timed(*arguments: Any, **options: Any) -> Any:
        begun = time.perf_counter()
        found = original(*arguments, **options)
        spent[0] += time.perf_counter() - begun
        return found

    mrfit.parameterizations.groups.kmeans1d = timed
    try:
        yield spent
    finally:
        mrfit.parameterizations.groups.kmeans1d = original


def run_passes(case: Case) -> Iterator[Record]:
    """One tied and one L2 fit from the same start, a rough L2 fit at strength 0.1."""
    task, parameters = prepared(case["set"], case["degree"])
    m = parameters.n_parameters
    rough, _ = Ridge(0.1).added_to(task.objective, total_weight=task.total_weight)
    start, bound = minimize(rough, TruncatedNewton(), tolerance=1e-3).w, np.full(m, HELD_AT)
    minimize(fresh(task).objective, TruncatedNewton(), start, bound=bound, tolerance=1e-6)
    unpenalised = task.objective.passes
    for strength in (1.0, 10.0, 30.0):
        one = fresh(task)
        smooth, _ = Ridge(strength).added_to(one.objective, total_weight=one.total_weight)
        minimize(smooth, TruncatedNewton(), start, tolerance=1e-6)
        plain, tied = one.objective.passes, {}
        for k in GROUPS:
            one = fresh(task)
            what = TyingTask(min(k, m), strength, np.zeros(m, np.int64))
            to_tie = TyingProblem(one.objective, one.total_weight, bound=HELD_AT)
            tied[f"k{k}"] = tie_softly(to_tie, start, what).passes
        head = {"set": case["set"], "parameters": m, "unpenalised": unpenalised, "strength": strength}
        yield {**head, "l2": plain, **tied, "ratio": max(tied.values()) / plain}


def pass_tables(records: list[Record]) -> list[Table]:
    columns = (
        named("set", "{set}"),
        Column("parameters", "{parameters:,}"),
        Column("no penalty", "{unpenalised}"),
        Column("strength", "{strength:g}"),
        Column("L2", "{l2}"),
        *(Column(f"k = {k}", f"{{k{k}}}") for k in GROUPS),
        Column("largest ratio to L2", "{ratio:.1f}"),
    )
    return [Table(columns, records)]


def grid_of(what: str, task: Fitting, best_l2: float) -> Iterable[Optimum]:
    if what == "L2":
        return l2_path(task, STRENGTHS)
    penalty = SoftTied() if what == "tied" else LearnTieRelearn(best_l2)
    return penalty.fits(task, penalty.grid(task, selecting=True), None)


def run_grid(case: Case) -> Iterator[Record]:
    """The paper's grid, the best of each kind chosen on the validation rows."""
    task, parameters = prepared(case["set"], case["degree"])
    valid, test = (rows_of(case["set"], part, parameters.domain) for part in ("valid", "test"))
    next(SoftTied().fits(fresh(task), Grid((1.0,), (2,)), None))  # compiles
    head = {"set": case["set"], "parameters": parameters.n_parameters}
    best_l2, costs = 1.0, []
    for what in ("L2", "tied", "LTR"):
        one, begun = fresh(task), time.perf_counter()
        with clustering_clock() as clustering:
            fits = [(found, MarkovNetwork(parameters, found.solution.w)) for found in grid_of(what, one, best_l2)]
        seconds = time.perf_counter() - begun
        costs.append({"fits": len(fits), "seconds": seconds, "passes": one.objective.passes, "kmeans": clustering[0]})
        found, model = max(fits, key=lambda fit: fit[1].pll(valid))
        if what == "L2":
            best_l2 = found.strength
        best = {"strength": found.strength, "groups": found.n_groups}
        yield {**head, "what": what, **shares(costs[-1]), **best, "valid": -model.pll(valid), "test": -model.pll(test)}
    yield {**head, "what": "all", **shares({name: sum(cost[name] for cost in costs) for name in costs[0]})}


ROUGH = 1e-4


def run_rough(case: Case) -> Iterator[Record]:
    """The paper's whole grids with all fits run to 1e-6, and with those far from the best to 1e-4."""
    rows = problem(case["set"]).rows
    valid, test = (rows_of(case["set"], part, rows.domain) for part in ("valid", "test"))
    structure = Learned(max_degree=case["degree"], bound="top").learn(rows, valid=valid)
    for what, penalty in (("tied", SoftTied()), ("LTR", LearnTieRelearn())):
        learner = Learner(FixedStructure(structure.structure), penalty)
        for rough in (None, ROUGH):
            begun = time.process_time()
            fitted = learner.fit(rows, valid, compared=False, rough=rough)
            seconds, best = time.process_time() - begun, fitted.best
            yield {
                "set": case["set"], "degree": case["degree"], "what": what, "rough": rough is not None,
                "parameters": fitted.n_candidate_parameters, "fits": len(fitted.fits), "seconds": seconds,
                "fine": sum(fit.solution.violation <= learner.tolerance for fit in fitted.fits),
                "strength": best.strength, "groups": best.n_groups, "valid": -best.rank, "test": -best.model.pll(test),
            }  # fmt: skip


def rough_tables(records: list[Record]) -> list[Table]:
    columns = (
        named("set", "{set}"),
        Column("d", "{degree}"),
        Column("parameters", "{parameters:,}"),
        Column("what", lambda record: f"{record['what']}, rough" if record["rough"] else record["what"], left=True),
        Column("fits", "{fits}"),
        Column("to 1e-6", "{fine}"),
        Column("seconds", "{seconds:.1f}"),
        Column("best", best_of, left=True),
        Column("valid", "{valid:.4f}"),
        Column("test", "{test:.4f}"),
    )
    return [Table(columns, records)]


def shares(cost: dict[str, float]) -> dict[str, float]:
    """Add the seconds in k-means as a share of all."""
    return cost | {"kmeans": cost["kmeans"] / cost["seconds"]}


def best_of(record: Record) -> str:
    if "strength" not in record:
        return ""
    return f"strength {record['strength']:g}" + (f", k = {record['groups']}" if record["groups"] else "")


def grid_tables(records: list[Record]) -> list[Table]:
    columns = (
        named("set", "{set}"),
        Column("parameters", "{parameters:,}"),
        named("what", "{what}"),
        Column("fits", "{fits}"),
        Column("seconds", "{seconds:.1f}"),
        Column("passes", "{passes:,}"),
        Column("in k-means", "{kmeans:.1%}"),
        Column("best", best_of, left=True),
        Column("valid", "{valid:.4f}"),
        Column("test", "{test:.4f}"),
    )
    return [Table(columns, records)]


def run_flipped(case: Case) -> Iterator[Record]:
    """Tying depends on the coordinates: exchange 0 and 1 everywhere, and equal parameters mean something else."""
    rows = problem(case["set"]).rows
    test = rows_of(case["set"], "test", rows.domain)
    structure = FixedStructure(Learned(max_degree=case["degree"], bound="path").learn(rows, jobs=JOBS).structure)
    record: Record = {"set": case["set"]}
    for penalty in (L2(0.1), SoftTied(30.0, groups=2)):
        for word, exchange in (("given", False), ("exchanged", True)):
            given, judged = (flipped(part) if exchange else part for part in (rows, test))
            record[f"{penalty.word}_{word}"] = -Learner(structure, penalty).fit(given, jobs=JOBS).model.pll(judged)
    yield record


def flipped(rows: UniqueRows) -> UniqueRows:
    return UniqueRows.from_codes(rows.domain, 1 - rows.codes, rows.sample_weight)


def flipped_tables(records: list[Record]) -> list[Table]:
    columns = (
        named("set", "{set}"),
        Column("L2, as given", "{l2_given:.3f}"),
        Column("L2, exchanged", "{l2_exchanged:.3f}"),
        Column("tied, as given", "{tied_given:.3f}"),
        Column("tied, exchanged", "{tied_exchanged:.3f}"),
    )
    return [Table(columns, records)]


BENCHMARKS = (
    Benchmark(
        "tying-passes",
        "passes over the data of one tied fit against one with L2",
        cases(set=("nltcs", "plants", "jester", "dna", "bbc"), degree=(15,)),
        cases(set=("nltcs",), degree=(5,)),
        run_passes,
        pass_tables,
    ),
    Benchmark(
        "tying-grid",
        "the paper's whole grid: tied, L2, and learn-tie-relearn",
        cases(set=("dna", "bbc"), degree=(15,)),
        cases(set=("nltcs",), degree=(3,)),
        run_grid,
        grid_tables,
    ),
    Benchmark(
        "tying-rough",
        "the paper's whole grid with fits far from the best left rough",
        cases(set=("dna",), degree=(15,)) + cases(set=("tmovie",), degree=(5,)),
        cases(set=("nltcs",), degree=(3,)),
        run_rough,
        rough_tables,
    ),
    Benchmark(
        "tying-flipped",
        "the same data with the states of every variable exchanged",
        cases(set=("dna", "plants"), degree=(15,)),
        cases(set=("nltcs",), degree=(5,)),
        run_flipped,
        flipped_tables,
    ),
)
