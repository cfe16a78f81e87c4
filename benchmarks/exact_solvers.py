"""The l1 penalty over all 65,535 sets of the variables of nltcs: one cold fit against our own FISTA, and a path."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.benchmark import Benchmark, Case, cases
from benchmarks.problems import problem
from benchmarks.table import Column, Record, Table
from benchmarks.timing import take_turns, timed
from mrfit.data.unique_rows import UniqueRows
from mrfit.learning import Learner
from mrfit.learning.fit_problem import FitProblem
from mrfit.learning.fit_result import Optimum
from mrfit.learning.objective_specs import LIKELIHOOD
from mrfit.learning.penalty_specs import L1
from mrfit.solvers.fista import Fista
from mrfit.solvers.method import Method
from mrfit.structures.structure import Structure

ACCURACY = 1e-6  # of the objective, relative, to which solvers race


def task_of(rows: UniqueRows, parameterization: str) -> FitProblem:
    """l1 over all sets of variables, single ones free, from the independent model."""
    learner = Learner(penalty=L1(), objective=LIKELIHOOD, parameterization=parameterization, max_iterations=20_000)
    return FitProblem(rows, Structure.up_to_order(len(rows.domain), len(rows.domain)), learner)


def race(task: FitProblem, strength: float, goal: float, solver: Method | None = None) -> Optimum:
    """A cold fit that ends when its value is at most ``goal``."""
    return L1().fit(task, strength, task.start, solver=solver, callback=lambda _, record: record.value <= goal)


def run_race(case: Case) -> Iterator[Record]:
    task, strength = task_of(problem(case["set"]).rows, case["coordinates"]), case["strength"]
    whole = L1().fit(task, strength, task.start)
    goal = (1.0 + ACCURACY) * whole.solution.value
    best = take_turns(
        {
            "whole": lambda: L1().fit(task, strength, task.start),
            "ours": lambda: race(task, strength, goal),
        },
        case["seconds"],
        least=3,
    )
    fista, fista_seconds = timed(lambda: race(task, strength, goal, Fista()))
    yield {
        **{field: case[field] for field in ("set", "coordinates", "strength", "target")},
        "nonzero": int(np.count_nonzero(whole.solution.w)),
        "evaluations": whole.passes,
        "seconds": best["whole"],
        "gap": whole.solution.gap,
        "violation": whole.solution.violation,
        "race_seconds": best["ours"],
        "race_evaluations": race(task, strength, goal).passes,
        "fista_seconds": fista_seconds,
        "fista_evaluations": fista.passes,
        "ratio": fista_seconds / best["ours"],
    }


def race_tables(records: list[Record]) -> list[Table]:
    columns = (
        Column("coordinates", "{coordinates}"),
        Column("strength", "{strength:g}"),
        Column("nonzero", "{nonzero}"),
        Column("evaluations, ≤ 30", "{evaluations}"),
        Column("seconds", "{seconds:.3f}"),
        Column("gap/N", "{gap:.0e}"),
        Column("violation/N", "{violation:.0e}"),
        Column(f"seconds to {ACCURACY:.0e}", "{race_seconds:.3f}"),
        Column("evaluations", "{race_evaluations}"),
        Column("FISTA seconds", "{fista_seconds:.2f}"),
        Column("FISTA evaluations", "{fista_evaluations}"),
        Column("FISTA / ours", "{ratio:.1f}"),
        Column("target", "≥ {target}"),
    )
    return [Table(columns, records)]


def run_path(case: Case) -> Iterator[Record]:
    task = task_of(problem(case["set"]).rows, case["coordinates"])
    strengths = [2.0 ** (9 - k / 2) for k in range(case["strengths"])]
    path, seconds = timed(lambda: list(L1().solve_path(task, strengths)))
    yield {
        **case,
        "evaluations": sum(found.passes for found in path),
        "seconds": seconds,
        "nonzero": int(np.count_nonzero(path[-1].solution.w)),
        "gap": max(found.solution.gap for found in path),
    }


def path_tables(records: list[Record]) -> list[Table]:
    columns = (
        Column("coordinates", "{coordinates}"),
        Column("strengths", "{strengths}"),
        Column("evaluations, ≤ 80", "{evaluations}"),
        Column("seconds", "{seconds:.2f}"),
        Column("nonzero at the end", "{nonzero}"),
        Column("largest gap/N", "{gap:.0e}"),
    )
    return [Table(columns, records)]


RACES = (("spectral", 16.0, 8), ("canonical", 2.0, 15))
BENCHMARKS = (
    Benchmark(
        "exact-solvers",
        "l1 over all sets of nltcs, cold, against FISTA",
        tuple(
            {"set": "nltcs", "coordinates": word, "strength": strength, "target": target, "seconds": 2.0}
            for word, strength, target in RACES
        ),
        ({"set": "nltcs", "coordinates": "spectral", "strength": 256.0, "target": 1, "seconds": 0.0},),
        run_race,
        race_tables,
    ),
    Benchmark(
        "exact-path",
        "the same down a path of strengths, 512 to 8",
        cases(set=("nltcs",), coordinates=("spectral", "canonical"), strengths=(13,)),
        cases(set=("nltcs",), coordinates=("spectral", "canonical"), strengths=(3,)),
        run_path,
        path_tables,
    ),
)
