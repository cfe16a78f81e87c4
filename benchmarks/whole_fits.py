"""Whole fits to a violation of 1e-6: our two solvers against SciPy's L-BFGS-B on the same compiled objective.

A pass is one value with gradient, or one Hessian product; all cost about the same. SciPy stops by the same rule,
the largest entry of the gradient of the mean objective.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
from scipy import optimize

from benchmarks.benchmark import Benchmark, Case
from benchmarks.problems import problem
from benchmarks.table import Column, Record, Table
from benchmarks.timing import timed
from mrfit.objectives.counts.conditional_cells import ConditionalCells
from mrfit.objectives.pseudo_likelihood import PseudoLikelihood
from mrfit.penalties.l2 import Ridge
from mrfit.penalties.penalized_objective import PenalizedObjective
from mrfit.solvers.lbfgs import LBFGS
from mrfit.solvers.minimize import minimize
from mrfit.solvers.newton import TruncatedNewton

TOLERANCE = 1e-6
GRAPHS = {"nltcs": "complete", "plants": "complete", "audio": "complete"}
GRAPHS |= {"dna": 15, "jester": 15, "bbc": 5, "20ng": 15, "ad": 5}
STRENGTHS = (0.01, 1.0, 30.0)
METHODS = {"newton": TruncatedNewton(), "lbfgs": LBFGS()}


def scipy_fit(objective: PenalizedObjective) -> tuple[int, float, float]:
    result = optimize.minimize(
        objective.value_and_gradient,
        np.zeros(objective.n_parameters),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": 20_000, "maxfun": 20_000, "gtol": TOLERANCE, "ftol": 0.0},
    )
    return result.nfev, float(np.abs(result.jac).max()), float(result.fun)


def run(case: Case) -> Iterator[Record]:
    given, degree = problem(case["set"]), case["degree"]
    n = len(given.rows.domain)
    graph = ~np.eye(n, dtype=bool) if degree == "complete" else given.neighbour_graph(degree)
    parameters = given.parameters(graph)
    cells, counting = timed(lambda: ConditionalCells.count(given.rows, parameters, jobs=case["jobs"]))
    pseudo_likelihood = PseudoLikelihood(cells, jobs=case["jobs"])
    for strength in case["strengths"]:
        objective = PenalizedObjective(pseudo_likelihood, Ridge(strength), total_weight=given.rows.total_weight)
        head = {"set": given.name, "degree": degree, "counting": counting, "strength": strength}
        yield head | one_fit(objective)


def one_fit(objective: PenalizedObjective) -> Record:
    """Passes, seconds and violation of every method, all at one value."""
    record: Record = {}
    values = []
    for name, method in METHODS.items():
        fit = partial(minimize, objective, method, tolerance=TOLERANCE, max_iterations=20_000)
        solution, seconds = timed(fit)
        passes = solution.evaluations + solution.products
        record[name] = reached(passes, seconds, solution.violation)
        values.append(solution.value)
    (passes, violation, value), seconds = timed(lambda: scipy_fit(objective))
    record["SciPy"] = reached(passes, seconds, violation)
    if not np.allclose(values, value, rtol=1e-6):
        raise AssertionError(f"Solvers end at different values: {values} and SciPy's {value}")
    return record | {"objective": min(values)}


def reached(passes: int, seconds: float, violation: float) -> Record:
    return {"passes": passes, "seconds": seconds, "violation": violation, "reached": violation <= TOLERANCE}


def graph_of(record: Record) -> str:
    graph = "complete" if record["degree"] == "complete" else f"d = {record['degree']}"
    return f"{record['set']}, {graph} (cells: {record['counting']:.2f} s)"


def fit_of(record: Record, name: str) -> str:
    fit = record[name]
    unfinished = "" if fit["reached"] else f" (violation {fit['violation']:.0e})"
    return f"{fit['passes']}, {fit['seconds']:.2f}{unfinished}"


def tables(records: list[Record]) -> list[Table]:
    columns = (
        Column("set, graph", graph_of, left=True),
        Column("strength", "{strength:g}"),
        *(Column(f"{name}: passes, s", partial(fit_of, name=name)) for name in (*METHODS, "SciPy")),
        Column("objective", "{objective:.6f}"),
    )
    return [Table(columns, records)]


BENCHMARKS = (
    Benchmark(
        "whole-fits",
        "fits with L2 to the optimum: truncated Newton, L-BFGS, SciPy",
        tuple({"set": name, "degree": graph, "strengths": STRENGTHS, "jobs": 2} for name, graph in GRAPHS.items()),
        ({"set": "nltcs", "degree": 5, "strengths": (1.0,), "jobs": 2},),
        run,
        tables,
    ),
)
