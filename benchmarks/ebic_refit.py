"""EBIC for edges between binary variables: at l1 solutions, or at refits of the selected edges.

Sixteen variables on four graphs, couplings of 0/1 columns of sizes between 0.6 and 1.6, a quarter of them negative, and
constants at which every variable would be in either state equally often if it were alone with its couplings. Tables are
drawn from all joint states. Rule "and", gamma 0.25; weights of edges are the means of their two coefficients.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from benchmarks.benchmark import Benchmark, Case, cases
from benchmarks.table import Column, Record, Table, named
from mrfit.core.domain import Domain, Variable
from mrfit.data.unique_rows import UniqueRows
from mrfit.structures.simple import Learned

N = 16
Edges = list[tuple[int, int]]
WAYS = {"l1": False, "refit": True}


def _chain(rng: np.random.Generator) -> Edges:
    return [(i, i + 1) for i in range(N - 1)]


def _grid(rng: np.random.Generator) -> Edges:
    side = 4
    right = [(i, i + 1) for i in range(N) if i % side < side - 1]
    return right + [(i, i + side) for i in range(N - side)]


def _random(rng: np.random.Generator) -> Edges:
    pairs = np.stack(np.triu_indices(N, 1), axis=1)
    return [(int(a), int(b)) for a, b in rng.permutation(pairs)[:24]]


def _hubs(rng: np.random.Generator) -> Edges:
    """Two variables with seven neighbours each, joined."""
    return [(0, i) for i in range(2, 9)] + [(1, i) for i in range(9, 16)] + [(0, 1)]


GRAPHS: dict[str, Callable[[np.random.Generator], Edges]] = {
    "chain": _chain,
    "grid": _grid,
    "random": _random,
    "hubs": _hubs,
}


def _truth(graph: str, rng: np.random.Generator) -> NDArray[np.float64]:
    """Couplings, (variables, variables)."""
    w = np.zeros((N, N))
    for a, b in GRAPHS[graph](rng):
        w[a, b] = w[b, a] = rng.uniform(0.6, 1.6) * (-1.0 if rng.random() < 0.25 else 1.0)
    return w


def _drawn(w: NDArray[np.float64], n_rows: int, rng: np.random.Generator) -> UniqueRows:
    states = (np.arange(2**N)[:, None] >> np.arange(N)) & 1
    logits = 0.5 * ((states @ w) * states).sum(axis=1) - states @ (0.5 * w.sum(axis=1))
    p = np.exp(logits - logits.max())
    counts = rng.multinomial(n_rows, p / p.sum())
    domain = Domain(tuple(Variable(f"x{i}", ("0", "1")) for i in range(N)))
    some = counts > 0
    return UniqueRows.from_codes(domain, states[some].astype(np.uint8), counts[some].astype(np.float64))


def run(case: Case) -> Iterator[Record]:
    found: dict[str, list[tuple[float, float, float]]] = {way: [] for way in WAYS}
    for repetition in range(case["tables"]):
        rng = np.random.default_rng([sorted(GRAPHS).index(case["graph"]), case["rows"], repetition])
        w = _truth(case["graph"], rng)
        rows = _drawn(w, case["rows"], rng)
        for way, refit in WAYS.items():
            report = Learned(select="ebic", rule="and", refit=refit).learn(rows).report
            learned = np.zeros((N, N))
            learned[tuple(report.edges.T)] = report.coefficients.mean(axis=1)
            pairs = np.triu_indices(N, 1)
            true, mine = w[pairs], learned[pairs]
            false = float(((mine != 0) & (true == 0)).sum())
            recall = float((mine[true != 0] != 0).mean())
            found[way].append((false, recall, float(np.sqrt(((mine - true) ** 2).mean()))))
    for way, measures in found.items():
        false, recall, error = np.mean(measures, axis=0).tolist()
        yield {**case, "way": way, "false": false, "recall": recall, "error": error}


def tables(records: list[Record]) -> list[Table]:
    merged = []
    for record in records:
        if record["way"] == "l1":
            other = next(r for r in records if r["way"] == "refit" and _same(r, record))
            merged.append({**record, **{f"refit_{name}": other[name] for name in ("false", "recall", "error")}})
    columns = (
        named("graph", "{graph}"),
        Column("rows", "{rows:,}"),
        Column("false edges, l1", "{false:.2f}"),
        Column("refit", "{refit_false:.2f}"),
        Column("recall, l1", "{recall:.2f}"),
        Column("refit", "{refit_recall:.2f}"),
        Column("rmse of weights, l1", "{error:.3f}"),
        Column("refit", "{refit_error:.3f}"),
    )
    return [Table(columns, merged)]


def _same(a: Record, b: Record) -> bool:
    return all(a[name] == b[name] for name in ("graph", "rows", "tables"))


BENCHMARKS = (
    Benchmark(
        "ebic-refit",
        "edges found by the EBIC of l1 solutions and of refits, four graphs",
        cases(graph=tuple(GRAPHS), rows=(250, 500, 1000, 2000, 4000), tables=(25,)),
        cases(graph=("chain",), rows=(250,), tables=(2,)),
        run,
        tables,
    ),
)
