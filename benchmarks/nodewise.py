"""Node-wise l1 paths: the same nodes and strengths through mrfit and its rivals, to one violation, one thread each.

    python benchmarks/nodewise.py [--sets nltcs,dna,audio,bbc] [--nodes 3] [--patience 30]
    python benchmarks/nodewise.py --all [--sets ...] [--degrees 5,15,50]
    python benchmarks/nodewise.py --scaling

needs the 20 data sets (`mrfit data get`, or MRFIT_DATA). Our paths over all nodes give the strengths. Rivals solve a
seeded sample of nodes, and their seconds are scaled to all nodes by the number of points; making their matrices does
not count. One judge in NumPy measures every solution. Each rival gets, for every node, the loosest of its tolerances
(steps of sqrt(10)) that reaches the violation, and dense or sparse rows, whichever is faster. A ">" marks a rival that
had not reached it when patience (seconds for a node, tuning included) ran out: its longest try counts.
"""

from __future__ import annotations

import argparse
import os
import resource
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from importlib.util import find_spec
from multiprocessing import get_context
from typing import Any

import numpy as np

from mrfit.data.unique_rows import UniqueRows
from mrfit.domain import Domain
from mrfit.structure.node_paths import NodePath, PathSettings, node_paths
from mrfit.structure.nodewise import StructureSettings, learn_structure
from node_rivals import RIVALS, VIOLATION, Node, Rival
from problems import Problem, benchmark_names, best_seconds, geometric_mean, pin_threads

SETTINGS = PathSettings(max_selected=15, tolerance=VIOLATION)
BOUNDS = ("path", "top", "gain", "graph")
SCALING = ((100, 300, 1000, 3000, 5000), (500, 2000, 8000, 20_000))
MOST_WORK = 3e10  # variables^2 x rows of the largest synthetic network


@dataclass(frozen=True)
class Run:
    """Seconds and violation; not ``reached`` means that the seconds are those of the longest try."""

    seconds: float
    violation: float
    reached: bool = True

    def __add__(self, other: Run) -> Run:
        worst = max(self.violation, other.violation)
        return Run(self.seconds + other.seconds, worst, self.reached and other.reached)


def run_once(rival: Rival, node: Node, tolerance: float, patience: float = np.inf) -> Run:
    data = node.data(rival.forms[0], rival.repeated, rival.column)
    seconds, solutions, begun = 0.0, [], time.perf_counter()
    for solution in rival.solve(node, *data, tolerance):
        solutions.append(solution)
        seconds = time.perf_counter() - begun
        if seconds > patience:
            break
    worst = max(node.violation(*s, strength) for s, strength in zip(solutions, node.strengths, strict=False))
    return Run(seconds, worst, len(solutions) == len(node.strengths) and worst <= VIOLATION)


def tuned(rival: Rival, node: Node, patience: float) -> Run:
    """The loosest tolerance that reaches the violation; quick ones are repeated and the best time counts."""
    tolerance, runs = rival.loosest, [run_once(rival, node, rival.loosest, patience)]
    while not runs[-1].reached:
        left = patience - sum(run.seconds for run in runs)
        if left <= 0 or tolerance < 1e-15:
            return replace(runs[-1], seconds=max(run.seconds for run in runs))
        tolerance /= np.sqrt(10)
        runs.append(run_once(rival, node, tolerance, left))
    quick = runs[-1].seconds < 1
    again = [run_once(rival, node, tolerance).seconds for _ in range(4 if quick else 0)]
    return replace(runs[-1], seconds=min([runs[-1].seconds, *again]))


def faster_form(rival: Rival, node: Node) -> Rival:
    """Dense or sparse rows, by a few strengths at the loosest tolerance; the first call of each compiles."""
    some = replace(node, strengths=node.strengths[::8])
    forms = [replace(rival, forms=(form,)) for form in rival.forms]
    return min(forms, key=lambda form: min(run_once(form, some, rival.loosest).seconds for _ in range(2)))


def against_rivals(name: str, n_nodes: int, patience: float) -> dict[str, Any]:
    rows = Problem(name).rows
    compiling = _seconds(lambda: node_paths(rows, SETTINGS, variables=[0, 1]))
    paths = [path for path in node_paths(rows, SETTINGS) if path.points]
    chosen = np.random.default_rng(0).choice(len(paths), min(n_nodes, len(paths)), replace=False)
    sample = [paths[k] for k in sorted(chosen)]
    variables = [path.variable for path in sample]
    nodes = [Node(rows, p.variable, np.array([q.strength for q in p.points]), p.critical) for p in sample]
    return {
        "set": name,
        "variables": len(rows.domain),
        "rows": rows.n_distinct,
        "points": _n_points(paths),
        "share": _n_points(sample) / _n_points(paths),
        "compiling": compiling,
        "ours": best_seconds(lambda: node_paths(rows, SETTINGS), at_least=1.0, most=5),
        "on_sample": best_seconds(lambda: node_paths(rows, SETTINGS, variables=variables)),
        "violation": max(_violation(path, node) for path, node in zip(sample, nodes, strict=True)),
        "runs": {rival.name: over_nodes(rival, nodes, patience) for rival in RIVALS if find_spec(rival.package)},
    }


def over_nodes(rival: Rival, nodes: list[Node], patience: float) -> Run:
    warnings.simplefilter("ignore")  # rivals say when they stop early; the judge sees it
    best = faster_form(rival, nodes[0])
    return sum((tuned(best, node, patience) for node in nodes), Run(0.0, 0.0))


def _seconds(call: Callable[[], object]) -> float:
    begun = time.perf_counter()
    call()
    return time.perf_counter() - begun


def _n_points(paths: list[NodePath]) -> int:
    return sum(len(path.points) for path in paths)


def _violation(path: NodePath, node: Node) -> float:
    """Ours, by the same judge."""
    worst = 0.0
    for point in path.points:
        beta = np.zeros(len(node.rows.domain))
        beta[point.selected] = point.sizes
        worst = max(worst, node.violation(float(point.constant[0]), np.delete(beta, path.variable), point.strength))
    return worst


def print_rivals(records: list[dict[str, Any]], n_nodes: int) -> None:
    names = list(records[0]["runs"])
    print(f"\n### All nodes (rivals: scaled from {n_nodes} nodes), times slower than ours\n")
    print("| set | variables | rows | points | ours, s | compiling, s |" + "".join(f" {n} |" for n in names))
    print("|---" + "|---:" * (5 + len(names)) + "|")
    for r in records:
        ratios = [_ratio(r["runs"][n], r["ours"] * r["share"]) for n in names]
        head = f"| {r['set']} | {r['variables']} | {r['rows']:,} | {r['points']:,} | {r['ours']:.3f} "
        print(f"{head}| {r['compiling']:.1f} | {' | '.join(ratios)} |")
    means = [_mean([(r["runs"][n], r["ours"] * r["share"]) for r in records]) for n in names]
    print(f"| geometric mean | | | | | | {' | '.join(means)} |")
    print("\n### The sampled nodes alone: times slower than ours (violation)\n")
    print("| set | ours, s | ours, violation |" + "".join(f" {n} |" for n in names))
    print("|---" + "|---:" * (2 + len(names)) + "|")
    for r in records:
        cells = [f"{_ratio(r['runs'][n], r['on_sample'])} ({r['runs'][n].violation:.0e})" for n in names]
        print(f"| {r['set']} | {r['on_sample']:.4f} | {r['violation']:.0e} | {' | '.join(cells)} |")


def _ratio(run: Run, ours: float) -> str:
    return f"{'' if run.reached else '> '}{run.seconds / ours:.{1 if run.seconds < 10 * ours else 0}f}"


def _mean(pairs: list[tuple[Run, float]]) -> str:
    mean = geometric_mean([run.seconds / ours for run, ours in pairs])
    return _ratio(Run(mean, 0.0, all(run.reached for run, _ in pairs)), 1.0)


def all_bounds(name: str, degrees: Sequence[int]) -> dict[str, Any]:
    """Seconds of every bound and degree on two jobs, and this process's memory before and at its peak, in MB."""
    rows = Problem(name).rows
    for bound in BOUNDS:  # compiles
        learn_structure(rows, StructureSettings(max_degree=1, bound=bound, jobs=2))
    record: dict[str, Any] = {"set": name, "before": _peak()}
    for degree in degrees:
        for bound in BOUNDS:
            settings = StructureSettings(max_degree=degree, bound=bound, jobs=2)
            record[f"{bound} {degree}"] = _seconds(partial(learn_structure, rows, settings))
    return record | {"peak": _peak()}


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def print_bounds(names: list[str], degrees: list[int]) -> None:
    columns = [f"{bound} {degree}" for degree in degrees for bound in BOUNDS]
    print("\n### Seconds on two jobs, and memory of the process in MB\n")
    print("| set |" + "".join(f" {c} |" for c in columns) + " memory at d = 1 | peak |")
    print("|---" + "|---:" * (len(columns) + 2) + "|")
    for name in names:
        r = in_own_process(all_bounds, name, degrees)
        seconds = "".join(f" {r[c]:.2f} |" for c in columns)
        print(f"| {name} |{seconds} {r['before']:.0f} | {r['peak']:.0f} |", flush=True)


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


def scaling_case(n_variables: int, n_rows: int) -> dict[str, float]:
    rows = tree_rows(n_variables, n_rows)
    seconds = {}
    for bound in ("gain", "path"):
        settings = StructureSettings(max_degree=5, bound=bound)
        learn_structure(tree_rows(10, 100), settings)  # compiles
        seconds[bound] = _seconds(partial(learn_structure, rows, settings))
    return seconds | {"peak": _peak()}


def print_scaling() -> None:
    sizes = [(n, N) for n in SCALING[0] for N in SCALING[1] if n**2 * N <= MOST_WORK]
    print("\n### Synthetic trees, d = 5, one job\n\n| variables | rows | gain, s | path, s | peak, MB |")
    print("|---:|---:|---:|---:|---:|")
    records = []
    for n, N in sizes:
        r = in_own_process(scaling_case, n, N)
        records.append(r)
        print(f"| {n:,} | {N:,} | {r['gain']:.2f} | {r['path']:.2f} | {r['peak']:.0f} |", flush=True)
    logs = np.column_stack([np.ones(len(sizes)), np.log(sizes)])
    for bound in ("gain", "path"):
        (_, a, b), *_ = np.linalg.lstsq(logs, np.log([r[bound] for r in records]), rcond=None)
        print(f"\n{bound}: seconds grow as variables^{a:.2f} x rows^{b:.2f}")


def in_own_process(function: Callable[..., Any], *arguments: Any) -> Any:
    """Peak memory and compiling are those of a new process."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(function, *arguments).result()


def print_all_rivals(names: list[str], n_nodes: int, patience: float) -> None:
    records = []
    for name in names:
        with tempfile.TemporaryDirectory() as directory:  # no compiled code from earlier runs
            os.environ["NUMBA_CACHE_DIR"] = directory
            records.append(in_own_process(against_rivals, name, n_nodes, patience))
    print_rivals(records, n_nodes)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", type=lambda text: text.split(","))
    parser.add_argument("--nodes", type=int, default=3)
    parser.add_argument("--patience", type=float, default=30.0)
    parser.add_argument("--degrees", type=lambda text: [int(d) for d in text.split(",")], default=[5, 15, 50])
    parser.add_argument("--all", action="store_true", help="all sets, degrees and bounds")
    parser.add_argument("--scaling", action="store_true", help="synthetic networks")
    arguments = parser.parse_args()
    pin_threads()
    if arguments.all:
        print_bounds(arguments.sets or benchmark_names(), arguments.degrees)
    if arguments.scaling:
        print_scaling()
    if not arguments.all and not arguments.scaling:
        names = arguments.sets or ["nltcs", "dna", "audio", "bbc"]
        print_all_rivals(names, arguments.nodes, arguments.patience)


if __name__ == "__main__":
    main()
