"""Whole fits to a violation of 1e-6: our two solvers against SciPy's L-BFGS-B on the same compiled objective.

    python benchmarks/whole_fits.py [--jobs 2]

A pass is one value with gradient, or one Hessian product; all cost about the same. SciPy stops by the same rule,
the largest entry of the gradient of the mean objective.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from scipy import optimize

from mrfit.counts.conditional_cells import ConditionalCells
from mrfit.objectives.pseudo_likelihood import PseudoLikelihood
from mrfit.penalties.l2 import L2
from mrfit.penalties.penalized import Penalized
from mrfit.solvers.lbfgs import LBFGS
from mrfit.solvers.minimize import minimize
from mrfit.solvers.newton import TruncatedNewton
from problems import Problem

TOLERANCE = 1e-6
COMPLETE = None
CASES = [
    *[("nltcs", COMPLETE), ("plants", COMPLETE), ("audio", COMPLETE)],
    *[("dna", 15), ("jester", 15), ("bbc", 5), ("20ng", 15), ("ad", 5)],
]
STRENGTHS = (0.01, 1.0, 30.0)


def scipy_fit(objective: Penalized) -> tuple[int, float, float]:
    result = optimize.minimize(
        objective.value_and_gradient,
        np.zeros(objective.n_parameters),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": 20_000, "maxfun": 20_000, "gtol": TOLERANCE, "ftol": 0.0},
    )
    return result.nfev, float(np.abs(result.jac).max()), float(result.fun)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=2)
    jobs = parser.parse_args().jobs
    print("| set, graph | strength | newton: passes, s | lbfgs: passes, s | SciPy: passes, s | objective |")
    print("|---|---:|---:|---:|---:|---:|")
    for name, degree in CASES:
        problem = Problem(name)
        n = len(problem.rows.domain)
        graph = ~np.eye(n, dtype=bool) if degree is COMPLETE else problem.neighbour_graph(degree)
        begun = time.perf_counter()
        cells = ConditionalCells.count(problem.rows, problem.parameters(graph), jobs=jobs)
        counting = time.perf_counter() - begun
        pseudo_likelihood = PseudoLikelihood(cells, jobs=jobs)
        for strength in STRENGTHS:
            objective = Penalized(pseudo_likelihood, L2(strength), total_weight=problem.rows.total_weight)
            columns, values = [], []
            for method in (TruncatedNewton(), LBFGS()):
                begun = time.perf_counter()
                solution = minimize(objective, method, tolerance=TOLERANCE, max_iterations=20_000)
                seconds = time.perf_counter() - begun
                flag = "" if solution.converged else " (not converged)"
                columns.append(f"{solution.evaluations + solution.products}, {seconds:.2f}{flag}")
                values.append(solution.value)
            begun = time.perf_counter()
            passes, violation, value = scipy_fit(objective)
            flag = "" if violation <= TOLERANCE else f" (violation {violation:.0e})"
            columns.append(f"{passes}, {time.perf_counter() - begun:.2f}{flag}")
            assert np.allclose(values, value, rtol=1e-6), (values, value)
            label = f"{name}, {'complete' if degree is COMPLETE else f'd = {degree}'} (cells: {counting:.2f} s)"
            print(f"| {label} | {strength:g} | {' | '.join(columns)} | {min(values):.6f} |", flush=True)


if __name__ == "__main__":
    main()
