"""Node-wise l1 paths: the same nodes and strengths through mrfit and its rivals, to one violation, one thread each.

Our paths over all nodes give the strengths. Rivals solve a seeded sample of nodes, and their seconds are scaled to all
nodes by the number of points; making their matrices does not count. One judge in NumPy measures every solution. Each
rival gets, for every node, the loosest of its tolerances (steps of sqrt(10)) that reaches the violation, and dense or
sparse rows, whichever is faster. A ">" marks a rival that had not reached it when patience (seconds for a node, tuning
included) ran out: its longest try counts.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from importlib.util import find_spec

import numpy as np

from benchmarks.benchmark import Benchmark, Case, cases
from benchmarks.node_rivals import RIVALS, VIOLATION, Node, Rival
from benchmarks.problems import problem
from benchmarks.table import Column, Record, Table, named
from benchmarks.timing import best_seconds, geometric_mean, seconds_of_first_call
from mrfit.structures.nodewise.lasso_paths import NodePath, PathSettings, node_paths

SETTINGS = PathSettings(max_selected=15, tolerance=VIOLATION)
NAMES = [rival.name for rival in RIVALS]


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


def faster_form(rival: Rival, node: Node, patience: float) -> Rival:
    """Dense or sparse rows, by a few strengths at the loosest tolerance; the first call of each compiles."""
    some = replace(node, strengths=node.strengths[::8])
    forms = [replace(rival, forms=(form,)) for form in rival.forms]
    return min(forms, key=lambda form: min(run_once(form, some, rival.loosest, patience).seconds for _ in range(2)))


def run(case: Case) -> Iterator[Record]:
    rows = problem(case["set"]).rows
    paths = [path for path in node_paths(rows, SETTINGS) if path.points]
    chosen = np.random.default_rng(0).choice(len(paths), min(case["nodes"], len(paths)), replace=False)
    sample = [paths[k] for k in sorted(chosen)]
    variables = [path.variable for path in sample]
    nodes = [Node(rows, p.variable, np.array([q.strength for q in p.points]), p.critical) for p in sample]
    ours = best_seconds(lambda: node_paths(rows, SETTINGS), at_least=case["seconds"], most=5)
    on_sample = best_seconds(lambda: node_paths(rows, SETTINGS, variables=variables))
    share = n_points(sample) / n_points(paths)
    runs = {r.name: over_nodes(r, nodes, case["patience"]) for r in RIVALS if find_spec(r.package)}
    yield {
        "set": case["set"],
        "variables": len(rows.domain),
        "rows": rows.n_distinct,
        "points": n_points(paths),
        "nodes": len(nodes),
        "seconds": ours,
        "compiling": compiling(case["set"]) if case["cold"] else None,
        "sample_seconds": on_sample,
        "violation": max(violation(path, node) for path, node in zip(sample, nodes, strict=True)),
        "all": {name: {"ratio": r.seconds / (ours * share), "reached": r.reached} for name, r in runs.items()},
        "sample": {
            name: {"ratio": r.seconds / on_sample, "reached": r.reached, "violation": r.violation}
            for name, r in runs.items()
        },
    }


def compiling(name: str) -> float:
    prepare = "from benchmarks.node_paths import SETTINGS, node_paths, problem"
    return seconds_of_first_call(
        f"{prepare}\nrows = problem({name!r}).rows", "node_paths(rows, SETTINGS, variables=[0, 1])"
    )


def over_nodes(rival: Rival, nodes: list[Node], patience: float) -> Run:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # rivals say when they stop early; the judge sees it
        best = faster_form(rival, nodes[0], patience)
        return sum((tuned(best, node, patience) for node in nodes), Run(0.0, 0.0))


def n_points(paths: list[NodePath]) -> int:
    return sum(len(path.points) for path in paths)


def violation(path: NodePath, node: Node) -> float:
    """Ours, by the same judge."""
    worst = 0.0
    for point in path.points:
        beta = np.zeros(len(node.rows.domain))
        beta[point.selected] = point.sizes
        worst = max(worst, node.violation(float(point.constant[0]), np.delete(beta, path.variable), point.strength))
    return worst


def with_means(records: list[Record]) -> list[Record]:
    means = {}
    for name in records[0]["all"]:
        runs = [record["all"][name] for record in records]
        ratio = geometric_mean([run["ratio"] for run in runs])
        means[name] = {"ratio": ratio, "reached": all(run["reached"] for run in runs)}
    return [*records, {"set": "geometric mean", "all": means}]


def slower(record: Record, part: str, name: str) -> str:
    run = record[part].get(name)
    if run is None:
        return ""
    ratio = f"{'' if run['reached'] else '> '}{run['ratio']:.{1 if run['ratio'] < 10 else 0}f}"
    return f"{ratio} ({run['violation']:.0e})" if "violation" in run else ratio


def tables(records: list[Record]) -> list[Table]:
    every = (
        named("set", "{set}"),
        Column("variables", "{variables}"),
        Column("rows", "{rows:,}"),
        Column("points", "{points:,}"),
        Column("ours, s", "{seconds:.3f}"),
        Column("compiling, s", "{compiling:.1f}"),
        *(Column(name, partial(slower, part="all", name=name)) for name in NAMES),
    )
    sampled = (
        named("set", "{set}"),
        Column("ours, s", "{sample_seconds:.4f}"),
        Column("ours, violation", "{violation:.0e}"),
        *(Column(name, partial(slower, part="sample", name=name)) for name in NAMES),
    )
    title = f"All nodes (rivals: scaled from {records[0]['nodes']} nodes), times slower than ours"
    single = [record for record in records if "sample" in record]
    return [
        Table(every, records, title),
        Table(sampled, single, "The sampled nodes alone: times slower than ours (violation)"),
    ]


BENCHMARKS = (
    Benchmark(
        "node-paths",
        "l1 paths of all regressions, against six solvers",
        cases(set=("nltcs", "dna", "audio", "bbc"), nodes=(3,), patience=(5.0,), seconds=(1.0,), cold=(True,)),
        cases(set=("dna",), nodes=(1,), patience=(0.1,), seconds=(0.0,), cold=(False,)),
        run,
        tables,
        with_means,
        rivals=("adelie", "glmnet", "skglm", "celer"),
    ),
)
