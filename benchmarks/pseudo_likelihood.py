"""One value and gradient of the pseudo-likelihood: mrfit against what a user would write, one thread each.

    python benchmarks/pseudo_likelihood.py [--sets nltcs,dna] [--degrees 5,15,50] [--json FILE]

needs the 20 data sets (`mrfit data get`, or MRFIT_DATA). Every rival's value and gradient are checked against ours.
The last table leaves graphs aside: on complete graphs, where cells do not merge, our pass against the two matrix
products alone that any dense form needs.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

from mrfit.counts.conditional_cells import ConditionalCells
from mrfit.objectives.pseudo_likelihood import PseudoLikelihood
from mrfit.parameterizations.canonical import Canonical
from problems import Problem, benchmark_names, best_seconds, copy_bandwidth, geometric_mean, pin_threads
from rivals import installed_rivals

COMPLETE = ("nltcs", "msnbc", "plants", "audio", "jester", "accidents", "pumsb_star", "dna")


def measure(problem: Problem, degree: int) -> dict[str, Any]:
    graph = problem.neighbour_graph(degree)
    parameters = problem.parameters(graph)
    ours = _ours(problem, parameters)
    w = 0.2 * np.random.default_rng(0).normal(size=parameters.n_parameters)
    value, gradient = ours.value_and_gradient(w)
    seconds = best_seconds(lambda: ours.value_and_gradient(w))
    cells = ours.cells
    threaded = PseudoLikelihood(cells, jobs=2)
    record: dict[str, Any] = {
        "set": problem.name,
        "degree": degree,
        "variables": len(graph),
        "distinct": problem.rows.n_distinct,
        "cells": cells.n_cells,
        "lookups": cells.n_lookups,
        "mrfit": seconds,
        "two_threads": seconds / best_seconds(lambda: threaded.value_and_gradient(w)),
        "ns_per_cell": 1e9 * seconds / cells.n_cells,
        # Each lookup is done once forwards and once backwards.
        "ns_per_index": 1e9 * seconds / (2 * cells.n_lookups),
        "gb_per_second": cells.n_bytes / seconds / 1e9,
    }
    edges = parameters.structure.edges
    for rival_class in installed_rivals():
        rival = rival_class(problem.rows.codes, problem.rows.sample_weight, edges)
        their_value, their_gradient = rival(w)
        scale = problem.rows.total_weight
        assert np.isclose(their_value / scale, value, rtol=1e-10), (rival.name, their_value / scale, value)
        assert np.allclose(their_gradient / scale, gradient, atol=1e-10), rival.name
        record[rival.name] = best_seconds(lambda rival=rival: rival(w)) / seconds
    return record


def measure_complete(problem: Problem) -> dict[str, Any]:
    n = len(problem.rows.domain)
    parameters = problem.parameters(~np.eye(n, dtype=bool))
    ours = _ours(problem, parameters)
    rng = np.random.default_rng(0)
    w = 0.2 * rng.normal(size=parameters.n_parameters)
    X, W, R = problem.rows.codes.astype(float), rng.normal(size=(n, n)), rng.normal(size=problem.rows.codes.shape)
    seconds = best_seconds(lambda: ours.value_and_gradient(w))
    return {
        "set": problem.name,
        "cells": ours.cells.n_cells,
        "entries": X.size,
        "mrfit_ms": 1e3 * seconds,
        "products_alone": best_seconds(lambda: (X @ W, X.T @ R)) / seconds,
    }


def _ours(problem: Problem, parameters: Canonical) -> PseudoLikelihood:
    return PseudoLikelihood(ConditionalCells.count(problem.rows, parameters), jobs=1)


def print_table(records: list[dict[str, Any]], rivals: list[str], degree: int) -> None:
    print(f"\n### d = {degree}\n")
    print(
        "| set | variables | distinct rows | cells | mrfit, ms | 2 threads, x faster | ns a cell | ns an index |",
        end="",
    )
    print("".join(f" {name}, x slower |" for name in rivals))
    print("|---" + "|---:" * (7 + len(rivals)) + "|")
    for r in records:
        print(
            f"| {r['set']} | {r['variables']} | {r['distinct']:,} | {r['cells']:,} | {1e3 * r['mrfit']:.3f} "
            f"| {r['two_threads']:.2f} | {r['ns_per_cell']:.1f} | {r['ns_per_index']:.2f} |"
            + "".join(f" {r[n]:.1f} |" for n in rivals),
            flush=True,
        )
    means = "".join(f" **{geometric_mean([r[name] for r in records]):.1f}** |" for name in rivals)
    least = "".join(f" {min(r[name] for r in records):.1f} |" for name in rivals)
    threads = geometric_mean([r["two_threads"] for r in records])
    cell = geometric_mean([r["ns_per_cell"] for r in records])
    print(f"| geometric mean | | | | | {threads:.2f} | {cell:.1f} | |{means}")
    print(f"| least | | | | | | | |{least}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", default=",".join(benchmark_names()))
    parser.add_argument("--degrees", default="5,15,50")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    pin_threads()
    problems = [Problem(name) for name in arguments.sets.split(",")]
    rivals = [rival.name for rival in installed_rivals()]
    print(f"Memory: a plain copy moves {copy_bandwidth():.0f} GB a second.")
    everything = []
    for degree in map(int, arguments.degrees.split(",")):
        records = [measure(problem, degree) for problem in problems]
        everything += records
        print_table(records, rivals, degree)
        rates = [r["gb_per_second"] for r in records]
        print(f"\nOur pass reads its arrays at {min(rates):.1f} to {max(rates):.1f} GB a second.")
    print("\n### Complete graphs: the two matrix products alone\n")
    print("| set | rows x variables | cells | mrfit, ms | products alone, x slower |\n|---|---:|---:|---:|---:|")
    for problem in problems:
        if problem.name in COMPLETE:
            r = measure_complete(problem)
            print(
                f"| {r['set']} | {r['entries']:,} | {r['cells']:,} | {r['mrfit_ms']:.3f} | {r['products_alone']:.2f} |"
            )
    if arguments.json:
        arguments.json.write_text(json.dumps(everything, indent=1))


if __name__ == "__main__":
    main()
