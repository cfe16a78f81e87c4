"""EBIC for edges between variables with more than two states: which form finds them, and what states cost in time.

Ten variables on a ladder of eleven edges, sampled from couplings that follow the order of states ("ordered") or are
random tables ("unordered"). The EBIC of every point of the group lasso path is formed in three ways: from its shrunken
loss and all coefficients that are not zero; from that loss and the degrees of freedom of the group lasso, the trace of
(H + strength D)^-1 H with D the second derivative of the norms (Vaiter et al. 2012; Yuan and Lin 2006 for orthogonal
columns); and from the maximum of the likelihood on the point's neighbours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from benchmarks.benchmark import Benchmark, Case, cases
from benchmarks.table import Column, Record, Table, named
from benchmarks.timing import timed
from mrfit.core.domain import Domain
from mrfit.data.unique_rows import UniqueRows
from mrfit.structures.nodewise.criteria import Criterion, EbicCriterion, RefittedEbic, ShrunkenEbic
from mrfit.structures.nodewise.design_matrix import IndicatorTable
from mrfit.structures.nodewise.lasso_paths import NodePath, PathPoint, PathSettings, node_paths
from mrfit.structures.simple import Learned

LADDER = [(0, 1), (1, 2), (2, 3), (3, 4), (5, 6), (6, 7), (7, 8), (8, 9), (0, 5), (2, 7), (4, 9)]
N_VARIABLES = 10
SETTINGS = PathSettings(N_VARIABLES, ratio=0.8, lowest=0.05, tolerance=1e-5)
RULES = {"and": np.logical_and, "or": np.logical_or}


class DegreesOfFreedom(EbicCriterion):
    """2 loss + price * degrees of freedom of the group lasso."""

    def __init__(self, price: float, rows: UniqueRows) -> None:
        super().__init__(price)
        self.rows = rows

    def score(self, variable: int, point: PathPoint) -> float:
        beta = np.vstack([point.constant, point.values])
        n_free, codes = beta.shape[1], self.rows.codes
        columns = [np.ones(len(codes))]
        for j, width in zip(point.selected, point.widths, strict=True):
            columns += [(codes[:, j] == s).astype(float) for s in range(1, 1 + width)]
        design = np.stack(columns, axis=1)
        p = np.exp(np.c_[np.zeros(len(codes)), design @ beta])
        p = (p / p.sum(axis=1, keepdims=True))[:, 1:]
        hessian, weight = np.empty((len(beta), n_free, len(beta), n_free)), self.rows.sample_weight
        for s, t in np.ndindex(n_free, n_free):
            curvature = weight * p[:, s] * ((s == t) - p[:, t])
            hessian[:, s, :, t] = design.T @ (curvature[:, None] * design)
        hessian = hessian.reshape(beta.size, beta.size)
        bent = hessian + 1e-9 * np.trace(hessian) / len(hessian) * np.eye(len(hessian))
        low = n_free
        for table in point.coefficients:
            own, norm = slice(low, low + table.size), np.linalg.norm(table)
            across = np.eye(table.size) - np.outer(table, table) / norm**2
            bent[own, own] += point.strength / norm * across
            low += table.size
        return 2.0 * point.loss + self.price * (np.trace(np.linalg.solve(bent, hessian)) - n_free)


def sampled(rng: np.random.Generator, kind: str, n_states: int, n_rows: int) -> UniqueRows:
    """Rows after sixty sweeps of a Gibbs sampler, one chain for each."""
    scores, couplings = np.linspace(-1, 1, n_states), {}
    for a, b in LADDER:
        table = rng.uniform(0.6, 1.5) * rng.choice([-1, 1]) * np.outer(scores, scores)
        if kind == "unordered":
            table = rng.normal(size=(n_states, n_states))
            table = rng.uniform(0.4, 0.9) * (table - table.mean(axis=0) - table.mean(axis=1)[:, None] + table.mean())
        couplings[a, b], couplings[b, a] = table, table.T
    x = rng.integers(0, n_states, (n_rows, N_VARIABLES))
    for _ in range(60):
        for i in range(N_VARIABLES):
            logits = sum(table[:, x[:, j]].T for (own, j), table in couplings.items() if own == i)
            x[:, i] = (logits + rng.gumbel(size=(n_rows, n_states))).argmax(axis=1)
    domain = Domain.from_states({f"x{i}": [str(s) for s in range(n_states)] for i in range(N_VARIABLES)})
    return UniqueRows.from_codes(domain, x.astype(np.uint8), np.ones(n_rows))


def edges_by(criterion: Criterion, paths: list[NodePath], join: Callable[..., np.ndarray]) -> set[tuple[int, int]]:
    chosen = np.zeros((N_VARIABLES, N_VARIABLES), bool)
    for path in paths:
        chosen[path.variable, path.points[criterion.best(path)].selected] = True
    return {(int(a), int(b)) for a, b in np.argwhere(np.triu(join(chosen, chosen.T), 1))}


def criteria(rows: UniqueRows, n_rows: int) -> dict[str, Criterion]:
    price = np.log(n_rows) + 0.5 * np.log(N_VARIABLES - 1)
    return {
        "shrunken loss, all coefficients": ShrunkenEbic(price),
        "shrunken loss, degrees of freedom": DegreesOfFreedom(price, rows),
        "refitted": RefittedEbic(price, IndicatorTable.of(rows)),
    }


def run_recovery(case: Case) -> Iterator[Record]:
    found: dict[str, list[list[float]]] = {}
    for seed in range(case["samples"]):
        rows = sampled(np.random.default_rng(seed), case["couplings"], case["states"], case["rows"])
        paths = node_paths(rows, SETTINGS)
        for name, criterion in criteria(rows, case["rows"]).items():
            counts = []
            for join in RULES.values():
                edges = edges_by(criterion, paths, join)
                counts += [len(edges - set(LADDER)), len(edges & set(LADDER)) / len(LADDER)]
            found.setdefault(name, []).append(counts)
    fields = [f"{what}_{rule}" for rule in RULES for what in ("false", "found")]
    for name, counts in found.items():
        means = np.mean(counts, axis=0).tolist()
        yield {**case, "ebic": name, **dict(zip(fields, means, strict=True))}


def recovery_tables(records: list[Record]) -> list[Table]:
    columns = (
        named("couplings", "{couplings}"),
        Column("states", "{states}"),
        Column("rows", "{rows}"),
        named("EBIC", "{ebic}"),
        Column("false edges, and", "{false_and:.2f}"),
        Column("found, and", "{found_and:.2f}"),
        Column("false edges, or", "{false_or:.2f}"),
        Column("found, or", "{found_or:.2f}"),
    )
    return [Table(columns, records)]


def questionnaire(n_states: int) -> UniqueRows:
    """Twelve items on a scale, six for each of two traits, 549 rows."""
    rng = np.random.default_rng(0)
    answers = np.repeat(rng.normal(size=(549, 2)), 6, axis=1) + 0.7 * rng.normal(size=(549, 12))
    codes = np.searchsorted(np.quantile(answers, np.linspace(0, 1, n_states + 1)[1:-1]), answers)
    domain = Domain.from_states({f"item{k}": [str(s) for s in range(n_states)] for k in range(12)})
    return UniqueRows.from_codes(domain, codes.astype(np.uint8), np.ones(549))


def run_cost(case: Case) -> Iterator[Record]:
    rows, edges, seconds = questionnaire(case["states"]), {}, []
    for rule in RULES:
        learner = Learned(select="ebic", rule=rule)
        for _ in range(3):
            found, spent = timed(lambda learner=learner: learner.learn(rows))
            edges[rule] = len(found.report)
            seconds.append(spent)
    yield {**case, **edges, "seconds": min(seconds)}


def cost_tables(records: list[Record]) -> list[Table]:
    columns = (
        Column("states", "{states}"),
        Column("edges, and", "{and}"),
        Column("edges, or", "{or}"),
        Column("seconds of one thread", "{seconds:.3f}"),
    )
    return [Table(columns, records)]


NETWORKS = [("ordered", 5, 550), ("ordered", 5, 2000), ("ordered", 3, 550)]
NETWORKS += [("unordered", 3, 550), ("unordered", 3, 2000), ("unordered", 4, 1000)]
BENCHMARKS = (
    Benchmark(
        "ebic-groups",
        "which EBIC finds edges between variables with more than two states",
        tuple({"couplings": kind, "states": c, "rows": n, "samples": 6} for kind, c, n in NETWORKS),
        cases(couplings=("ordered",), states=(3,), rows=(200,), samples=(1,)),
        run_recovery,
        recovery_tables,
    ),
    Benchmark(
        "ebic-cost",
        "what states cost: a questionnaire with 2, 3 and 5 answers",
        cases(states=(2, 3, 5)),
        cases(states=(2, 3)),
        run_cost,
        cost_tables,
    ),
)
