"""What tying costs: passes over the data against L2, the paper's whole grid, and the share of k-means.

    python benchmarks/tying.py                       passes of single fits, several sets
    python benchmarks/tying.py --grid dna,bbc        the paper's grid: 90 tied fits, 9 with L2, 10 by LTR

    python benchmarks/tying.py --flipped dna         the same data with the states of every variable exchanged

Structures come from l1 paths of at most `--degree` neighbours, joined by OR.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

import mrfit.tying.groups
from mrfit.data.coding import Reading
from mrfit.data.named import find
from mrfit.data.readers import read_batches
from mrfit.data.unique_rows import UniqueRows
from mrfit.learning import HELD_AT, Learner
from mrfit.learning.grid import Grid
from mrfit.learning.penalized import L2, l2_path
from mrfit.learning.problem import Problem as Fitting
from mrfit.learning.tied import STRENGTHS, LearnTieRelearn, Tied
from mrfit.model import MarkovNetwork
from mrfit.parameterizations.parameterization import Parameterization
from mrfit.penalties import l2
from mrfit.solvers.minimize import minimize
from mrfit.solvers.newton import TruncatedNewton
from mrfit.structure.learners import Given, Learned
from mrfit.tying.soft import Tying, tie_softly
from problems import Problem, pin_threads

JOBS = 2


def prepared(name: str, degree: int) -> tuple[Fitting, Parameterization]:
    rows = Problem(name).rows
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
    spent, original = [0.0], mrfit.tying.groups.kmeans1d

    def timed(*arguments: Any, **options: Any) -> Any:
        begun = time.perf_counter()
        found = original(*arguments, **options)
        spent[0] += time.perf_counter() - begun
        return found

    mrfit.tying.groups.kmeans1d = timed
    try:
        yield spent
    finally:
        mrfit.tying.groups.kmeans1d = original


def print_passes(names: list[str], degree: int) -> None:
    """One tied and one L2 fit from the same start, a rough L2 fit at strength 0.1."""
    print(f"\n### Passes over the data of one fit, from the same start, at most {degree} neighbours\n")
    print("| set | parameters | no penalty | strength | L2 | k = 2 | k = 10 | k = 100 | largest ratio to L2 |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|")
    for name in names:
        task, parameters = prepared(name, degree)
        m = parameters.n_parameters
        rough, _ = l2.L2(0.1).added_to(task.objective, total_weight=task.total_weight)
        start = minimize(rough, TruncatedNewton(), tolerance=1e-3).w
        bound = np.full(m, HELD_AT)
        minimize(fresh(task).objective, TruncatedNewton(), start, bound=bound, tolerance=1e-6)
        unpenalised = task.objective.passes
        for strength in (1.0, 10.0, 30.0):
            one = fresh(task)
            smooth, _ = l2.L2(strength).added_to(one.objective, total_weight=one.total_weight)
            minimize(smooth, TruncatedNewton(), start, tolerance=1e-6)
            plain, tied = one.objective.passes, []
            for k in (2, 10, 100):
                one = fresh(task)
                what = Tying(min(k, m), strength, np.zeros(m, np.int64))
                tied.append(tie_softly(one.objective, start, what, total_weight=one.total_weight, bound=bound).passes)
            cells = " | ".join(map(str, [unpenalised, f"{strength:g}", plain, *tied]))
            print(f"| {name} | {m:,} | {cells} | {max(tied) / plain:.1f} |", flush=True)


def print_grid(names: list[str], degree: int) -> None:
    """The paper's grid, chosen on the validation rows."""
    print(f"\n### The paper's grid, at most {degree} neighbours, {JOBS} threads\n")
    print("| set | parameters | what | fits | seconds | passes | in k-means | best | valid | test |")
    print("|---|---:|---|---:|---:|---:|---:|---|---:|---:|")
    for name in names:
        task, parameters = prepared(name, degree)
        domain = parameters.domain
        valid, test = (
            UniqueRows.from_batches(read_batches(find(name, part)), Reading(domain)) for part in ("valid", "test")
        )
        next(Tied().fits(fresh(task), Grid((1.0,), (2,)), None))  # compiles
        best_l2, whole = 1.0, np.zeros(4)  # fits, seconds, passes, seconds in k-means
        for what in ("L2", "tied", "LTR"):
            one = fresh(task)
            begun = time.perf_counter()
            with clustering_clock() as clustering:
                if what == "L2":
                    grid = l2_path(one, STRENGTHS)
                elif what == "tied":
                    grid = Tied().fits(one, Tied().grid(one, selecting=True), None)
                else:
                    ltr = LearnTieRelearn(best_l2)
                    grid = ltr.fits(one, ltr.grid(one, selecting=True), None)
                fits = [(found, MarkovNetwork(parameters, found.solution.w)) for found in grid]
            seconds = time.perf_counter() - begun
            found, model = max(fits, key=lambda fit: fit[1].pll(valid))
            if what == "L2":
                best_l2 = found.strength
            point = f"strength {found.strength:g}" + ("" if found.n_groups is None else f", k = {found.n_groups}")
            spent = np.array([len(fits), seconds, one.objective.passes, clustering[0]])
            whole += spent
            cost = _cost(spent)
            scores = f"{-model.pll(valid):.4f} | {-model.pll(test):.4f}"
            print(f"| {name} | {len(model.w):,} | {what} | {cost} | {point} | {scores} |", flush=True)
        print(f"| {name} | {parameters.n_parameters:,} | all | {_cost(whole)} | | | |", flush=True)


def _cost(spent: np.ndarray) -> str:
    fits, seconds, passes, clustering = spent
    return f"{fits:.0f} | {seconds:.1f} | {passes:,.0f} | {100 * clustering / seconds:.1f}%"


def print_flipped(names: list[str], degree: int) -> None:
    """Tying depends on the coordinates: exchange 0 and 1 everywhere, and equal parameters mean something else."""
    print("\n### Tied in two groups, strength 30, states as given and exchanged: negative test pll\n")
    print("| set | L2, as given | L2, exchanged | tied, as given | tied, exchanged |\n|---|---:|---:|---:|---:|")
    for name in names:
        rows, test = (
            UniqueRows.from_batches(read_batches(find(name, part)), Reading(Problem(name).rows.domain))
            for part in ("train", "test")
        )
        structure = Given(Learned(max_degree=degree, bound="path").learn(rows, jobs=JOBS).structure)
        scores: dict[str, list[float]] = {"l2": [], "tied": []}
        for flip in (False, True):
            given, judged = (
                UniqueRows.from_codes(part.domain, 1 - part.codes if flip else part.codes, part.sample_weight)
                for part in (rows, test)
            )
            for penalty in (L2(0.1), Tied(30.0, groups=2)):
                scores[penalty.word].append(-Learner(structure, penalty).fit(given, jobs=JOBS).model.pll(judged))
        print(f"| {name} | {' | '.join(f'{score:.3f}' for score in scores['l2'] + scores['tied'])} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--sets", type=lambda text: text.split(","), default=["nltcs", "plants", "jester", "dna", "bbc"]
    )
    parser.add_argument("--grid", type=lambda text: text.split(","))
    parser.add_argument("--flipped", type=lambda text: text.split(","))
    parser.add_argument("--degree", type=int, default=15)
    arguments = parser.parse_args()
    pin_threads()
    if arguments.grid:
        print_grid(arguments.grid, arguments.degree)
    if arguments.flipped:
        print_flipped(arguments.flipped, arguments.degree)
    if not arguments.grid and not arguments.flipped:
        print_passes(arguments.sets, arguments.degree)


if __name__ == "__main__":
    main()
