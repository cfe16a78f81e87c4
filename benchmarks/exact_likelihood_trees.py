"""The exact likelihood on junction trees of learned structures: evaluations to a gradient of 1e-6.

L2 of strength 1 on all parameters. Everything from a plan and the rows is counted: moments, the covariance of the
features, where it begins, and the solver. The rivals have the same objective, begin with independent variables and know
no curvature: our own L-BFGS from the diagonal of the Hessian, and SciPy's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from scipy.optimize import minimize as scipy_minimize

from benchmarks.benchmark import Benchmark, Case
from benchmarks.table import Column, Record, Table
from benchmarks.timing import timed
from mrfit.data.unique_rows import UniqueRows
from mrfit.learning import Learner
from mrfit.learning.fit_problem import FitProblem
from mrfit.learning.objective_specs import LikelihoodSpec
from mrfit.learning.penalty_specs import L2
from mrfit.objectives.objective import Objective
from mrfit.objectives.tree_likelihood import TreeLikelihood
from mrfit.penalties.l2 import Ridge
from mrfit.solvers.lbfgs import LBFGS
from mrfit.solvers.minimize import minimize
from mrfit.structures.simple import Learned

TOLERANCE = 1e-6
Answer = tuple[int, float, float]  # evaluations, objective per row, largest entry of the gradient


class Plain(TreeLikelihood):
    """Likelihood without a guess at the Hessian."""

    def rough_hessian(self) -> None:
        return None


def problem_of(case: Case) -> FitProblem:
    rows = UniqueRows.from_file(f"{case['set']}:train")
    structure = Learned(max_degree=5, bound="gain", rule=case["rule"]).learn(rows).structure
    learner = Learner(penalty=L2(1.0, free_orders=()), objective=LikelihoodSpec("tree"), tolerance=TOLERANCE)
    return FitProblem(rows, structure, learner)


def ours(task: FitProblem) -> Answer:
    again = task.on(task.structure)  # nothing of it is known yet but the plan
    again.__dict__["coordinates"] = task.coordinates
    penalty: L2 = task.learner.penalty  # type: ignore[assignment]
    (found,) = penalty.solve_path(again, (1.0,))
    return found.solution.evaluations, found.solution.value, found.solution.violation


def plain(task: FitProblem) -> Answer:
    objective, start = _begun(task)
    found = minimize(objective, LBFGS(), start, tolerance=TOLERANCE, max_iterations=5000)
    return found.evaluations, found.value, found.violation


def scipys(task: FitProblem) -> Answer:
    objective, start = _begun(task)
    options = {"maxiter": 5000, "maxfun": 20_000, "gtol": TOLERANCE, "ftol": 0.0, "maxcor": 20}
    found = scipy_minimize(objective.value_and_gradient, start, jac=True, method="L-BFGS-B", options=options)
    return int(found.nfev), float(found.fun), float(np.abs(found.jac).max())


def _begun(task: FitProblem) -> tuple[Objective, np.ndarray]:
    """The objective with its penalty, and independent variables."""
    states = task.coordinates.states  # type: ignore[attr-defined]
    smooth, _ = Ridge(1.0).added_to(Plain(states, task.rows), total_weight=task.total_weight)
    start, _ = task.coordinates.start_and_bound(task.rows, np.zeros(task.coordinates.n_parameters, bool))
    return smooth, start


def run(case: Case) -> Iterator[Record]:
    task = problem_of(case)
    methods: dict[str, Callable[[FitProblem], Answer]] = {"ours": ours, "plain": plain, "scipy": scipys}
    record: Record = {**case, "parameters": task.coordinates.n_parameters, "cells": task.objective.n_cells}
    for name, method in methods.items():
        turns = [timed(lambda method=method: method(task)) for _ in range(3 if name == "ours" else 1)]  # type: ignore[misc]
        (evaluations, value, violation), _ = turns[0]
        seconds = min(each for _, each in turns)
        record |= {f"{name}_evaluations": evaluations, f"{name}_seconds": seconds, f"{name}_violation": violation}
        record |= {f"{name}_value": value}
    yield record | {"fewer": record["plain_evaluations"] / record["ours_evaluations"]}


def tables(records: list[Record]) -> list[Table]:
    columns = (
        Column("structure", "{set}-{rule}"),
        Column("parameters", "{parameters}"),
        Column("cells", "{cells:,}"),
        Column("objective/N", "{ours_value:.8f}"),
        Column("evaluations", "{ours_evaluations}"),
        Column("target", "≤ {target}"),
        Column("seconds", "{ours_seconds:.2f}"),
        Column("gradient", "{ours_violation:.0e}"),
        Column("plain L-BFGS: evaluations", "{plain_evaluations}"),
        Column("seconds", "{plain_seconds:.2f}"),
        Column("SciPy L-BFGS-B: evaluations", "{scipy_evaluations}"),
        Column("seconds", "{scipy_seconds:.2f}"),
        Column("gradient", "{scipy_violation:.0e}"),
        Column("plain / ours", "{fewer:.1f}"),
    )
    return [Table(columns, records)]


STRUCTURES = (
    ("nltcs", "or", 25),
    ("kdd", "or", 100),
    ("plants", "or", 45),
    ("accidents", "and", 100),
    ("jester", "and", 30),
    ("pumsb_star", "and", 200),
    ("dna", "and", 35),
)
BENCHMARKS = (
    Benchmark(
        "exact-likelihood-trees",
        "the exact likelihood on junction trees, against L-BFGS without a guess at the Hessian",
        tuple({"set": name, "rule": rule, "target": target} for name, rule, target in STRUCTURES),
        ({"set": "nltcs", "rule": "or", "target": 25},),
        run,
        tables,
    ),
)
