"""Messages on learned networks: what a message costs, how many sweeps it takes, and how far off the answers are.

Networks are learned with at most five neighbours chosen for each variable and refitted with L2. The truth is that of
the junction tree, where its plan fits. Bethe values may err to both sides; tree-reweighted ones lie above, mean-field
ones below.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.benchmark import Benchmark, Case, cases
from benchmarks.problems import problem, rows_of
from benchmarks.table import Column, Record, Table, named
from benchmarks.timing import best_seconds, timed
from mrfit.core.factors import Factors
from mrfit.inference.engine import Engine, Posterior
from mrfit.inference.exact.junction_tree import JunctionTree
from mrfit.inference.messages.belief_propagation import BeliefPropagation
from mrfit.inference.messages.factor_graph import FactorGraph
from mrfit.inference.messages.mean_field import MeanField
from mrfit.inference.messages.message_passing import MessagePassing, Schedule
from mrfit.inference.messages.tree_reweighted import TreeReweighted
from mrfit.learning import Learner
from mrfit.learning.penalty_specs import L2
from mrfit.structures.simple import FixedStructure, Learned

SETS = ("nltcs", "msnbc", "kdd", "plants", "accidents", "jester", "dna")
DEGREE = 5
STRENGTHS = (0.1, 1.0, 10.0)
SCHEDULES = ("sequential", "flooding", "residual")
STARTS = 10
MOST_CELLS = 2**28  # of an exact plan: seconds, and a few hundred megabytes


def network(name: str, bound: str, jobs: int) -> Factors:
    """The tables of a model learned from a set."""
    train = problem(name).rows
    structure = Learned(max_degree=DEGREE, bound=bound, rule="or").learn(train, jobs=jobs).structure
    fits = Learner(FixedStructure(structure), L2(STRENGTHS)).fit(train, rows_of(name, "valid", train.domain), jobs=jobs)
    return fits.best.model.factors


def run(case: Case) -> Iterator[Record]:
    factors = network(case["set"], case["bound"], case["jobs"])
    record: Record = {"set": case["set"], "bound": case["bound"], "truth": None}
    exact = JunctionTree(max_cells=MOST_CELLS)
    plan = exact.plan(factors)
    truth = exact.run(plan, factors) if plan.fits else None
    if truth is not None:
        record["truth"] = truth.log_z
    for schedule in SCHEDULES:
        record[schedule] = measured(BeliefPropagation(schedule), factors, truth, case["seconds"])
    record["messages"] = 2 * sum(len(scope) == 2 for scope in factors.scopes)
    record["ns"] = 1e9 * one_message(factors, case["seconds"])
    record["bethe"] = record["sequential"]
    record["random trees"] = measured(TreeReweighted(max_trees=0), factors, truth, case["seconds"])
    record["trees"] = measured(TreeReweighted(), factors, truth, case["seconds"])
    record["mean field"] = measured(MeanField(), factors, truth, case["seconds"])
    record["mean field, starts"] = measured(MeanField(n_starts=STARTS), factors, truth, case["seconds"])
    yield record


def measured(engine: Engine, factors: Factors, truth: Posterior | None, seconds: float) -> Record:
    """Values, sweeps and the time of a run on a plan that is there."""
    plan = engine.plan(factors)
    found, spent = timed(lambda: engine.run(plan, factors))
    if seconds and spent < 1.0:  # several times while it is quick
        spent = min(spent, best_seconds(lambda: engine.run(plan, factors), at_least=seconds))
    record: Record = {"converged": bool(found.converged), "sweeps": found.n_sweeps, "ms": 1e3 * spent}
    if np.isfinite(found.log_z):
        record["log_z"] = found.log_z
        if truth is not None:
            record["gap"] = found.log_z - truth.log_z
            record["off"] = furthest(found, truth, len(factors.shape))
    return record


def furthest(found: Posterior, truth: Posterior, n: int) -> float:
    """The largest difference between marginals of single variables."""
    return max(float(np.abs(found.marginal((i,)) - truth.marginal((i,))).max()) for i in range(n))


def one_message(factors: Factors, seconds: float) -> float:
    """Seconds for one message of sequential sweeps that nothing stops."""
    graph = FactorGraph(factors.shape, factors.scopes)
    field, log_table, _ = graph.gather(factors)
    potentials = graph.potentials(field, log_table, np.ones(len(graph.hosts)))
    passing = MessagePassing((Schedule("sequential"),), -1.0, 1000)
    return best_seconds(lambda: passing.run(graph, potentials), at_least=seconds) / 1000 / len(graph.arrays.scope)


def sweeps(record: Record, schedule: str) -> str:
    found = record[schedule]
    return f"{found['sweeps']} ({found['ms']:.2g} ms)" if found["converged"] else "no"


def gap(record: Record, name: str, digits: int = 2) -> str:
    """The distance from the truth, or the value itself where there is none to compare with."""
    found = record[name]
    if "log_z" not in found:
        return "-"
    return f"{found['gap']:+.{digits}f}" if "gap" in found else f"[{found['log_z']:.2f}]"


def with_time(record: Record, name: str) -> str:
    return f"{gap(record, name)} ({record[name]['ms']:.2g} ms)"


def tables(records: list[Record]) -> list[Table]:
    network_name = named("network", "{set}, {bound}")
    cost = (
        network_name,
        Column("messages", "{messages:,}"),
        Column("ns a message", "{ns:.0f}"),
        *(Column(f"{schedule}, sweeps", lambda r, s=schedule: sweeps(r, s)) for schedule in SCHEDULES),
    )
    values = (
        network_name,
        Column("ln Z", "{truth:.4f}"),
        Column("Bethe", lambda r: gap(r, "bethe", 3)),
        Column("largest marginal error", lambda r: f"{r['bethe']['off']:.2f}" if "off" in r["bethe"] else ""),
        Column("random trees", lambda r: with_time(r, "random trees")),
        Column("optimised trees", lambda r: with_time(r, "trees")),
        Column("mean field", lambda r: with_time(r, "mean field")),
        Column(f"best of {STARTS} starts", lambda r: with_time(r, "mean field, starts")),
    )
    note = "Differences from ln Z; in brackets values, where no exact plan fits. A dash: no convergence, no value."
    return [Table(cost, records, "Cost of belief propagation"), Table(values, records, "Estimates and bounds", note)]


BENCHMARKS = (
    Benchmark(
        "message-passing",
        "belief propagation, tree-reweighted and mean-field bounds on learned networks",
        (
            *cases(set=SETS, bound=("gain",), jobs=(2,), seconds=(0.2,)),
            *cases(set=("dna",), bound=("graph",), jobs=(2,), seconds=(0.2,)),
        ),
        cases(set=("nltcs",), bound=("gain",), jobs=(1,), seconds=(0.0,)),
        run,
        tables,
    ),
)
