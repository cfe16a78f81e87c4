"""False edges that `mrfit structure` finds by default: in pure noise, and beside the edges of a planted network."""

from __future__ import annotations

from collections.abc import Iterator
from math import sqrt

import numpy as np
from scipy.special import gammaincc

from benchmarks.benchmark import Benchmark, Case, cases
from benchmarks.table import Column, Record, Table, named
from mrfit.core.domain import Domain
from mrfit.data.unique_rows import UniqueRows
from mrfit.structures.nodewise.forward_neighbours import THRESHOLD
from mrfit.structures.simple import Learned, StructureLearner

N_ITEMS = 12
N_PAIRS = N_ITEMS * (N_ITEMS - 1) // 2
NOMINAL = float(gammaincc(0.5, 0.5 * THRESHOLD))  # the share of pairs that exceed the price of one parameter by chance
RING = [(k, (k + 1) % N_ITEMS) for k in range(N_ITEMS)]
PLANTED = {tuple(sorted(edge)) for edge in [*RING, (0, 6), (2, 8), (4, 10)]}
SWEEPS = 30
DEGREES = (5, Learned().max_degree)
# How much more frequent each state is than the next one.
ANSWERS = {"even": 1.0, "skewed": 2.0}


def noise(rng: np.random.Generator, answers: str, n_states: int, n_rows: int) -> UniqueRows:
    """Independent items."""
    frequency = ANSWERS[answers] ** -np.arange(n_states)
    return _rows(rng.choice(n_states, (n_rows, N_ITEMS), p=frequency / frequency.sum()), n_states)


def signal(rng: np.random.Generator, n_states: int, n_rows: int) -> UniqueRows:
    """Ordered items coupled along the planted edges, with random signs: one Gibbs chain for each row."""
    scores = np.linspace(-1.0, 1.0, n_states)
    coupling = np.zeros((N_ITEMS, N_ITEMS))
    for a, b in sorted(PLANTED):
        coupling[a, b] = coupling[b, a] = rng.uniform(0.6, 1.2) * rng.choice([-1, 1])
    x = rng.integers(0, n_states, (n_rows, N_ITEMS))
    for _ in range(SWEEPS):
        for i in range(N_ITEMS):
            field = scores[x] @ coupling[i]
            x[:, i] = (np.outer(field, scores) + rng.gumbel(size=(n_rows, n_states))).argmax(axis=1)
    return _rows(x, n_states)


def _rows(codes: np.ndarray, n_states: int) -> UniqueRows:
    domain = Domain.from_states({f"item{k}": [str(s) for s in range(n_states)] for k in range(N_ITEMS)})
    return UniqueRows.from_codes(domain, codes.astype(np.uint8), np.ones(len(codes)))


def run_noise(case: Case) -> Iterator[Record]:
    rows = (_noise_of(case, seed) for seed in range(case["samples"]))
    found = sum(len(Learned().learn(each).structure.edges) for each in rows)
    yield {**case, "nominal": NOMINAL, **_share(found, case["samples"] * N_PAIRS)}


def _noise_of(case: Case, seed: int) -> UniqueRows:
    rng = np.random.default_rng([seed, case["rows"], case["states"]])
    return noise(rng, case["answers"], case["states"], case["rows"])


def run_planted(case: Case) -> Iterator[Record]:
    tables = [signal(np.random.default_rng(k), case["states"], case["rows"]) for k in range(case["samples"])]
    for degree in DEGREES:
        found = [_edges(Learned(degree), rows) for rows in tables]
        false = sum(len(edges - PLANTED) for edges in found)
        n_found = sum(len(edges & PLANTED) for edges in found)
        means = {"mean_found": n_found / len(tables), "mean_false": false / len(tables)}
        shares = _share(false, len(tables) * (N_PAIRS - len(PLANTED)))
        yield {**case, "degree": degree, "planted": len(PLANTED), "nominal": NOMINAL, **means, **shares}


def _edges(learner: StructureLearner, rows: UniqueRows) -> set[tuple[int, ...]]:
    return {tuple(sorted(edge)) for edge in learner.learn(rows).structure.edges.tolist()}


def _share(false: int, n_pairs: int) -> Record:
    """The share of false edges, and the standard error it has where the share is nominal."""
    return {
        "false": false,
        "pairs": n_pairs,
        "share": false / n_pairs,
        "error": sqrt(NOMINAL * (1 - NOMINAL) / n_pairs),
    }


def noise_tables(records: list[Record]) -> list[Table]:
    """One line for each kind of answers and number of states, one column for each number of rows."""
    lines: dict[tuple[str, int], Record] = {}
    for record in records:
        line = lines.setdefault((record["answers"], record["states"]), dict(record))
        line[f"share_{record['rows']}"] = record["share"]
    columns = [named("answers", "{answers}"), Column("states", "{states}")]
    columns += [Column(f"{n:,} rows", f"{{share_{n}:.1%}}") for n in sorted({record["rows"] for record in records})]
    nominal, error = (max(record[name] for record in records) for name in ("nominal", "error"))
    note = f"The nominal share is {nominal:.1%}; a share has a standard error of at most {error:.1%}."
    return [Table(columns, list(lines.values()), note=note)]


def planted_tables(records: list[Record]) -> list[Table]:
    columns = (
        Column("states", "{states}"),
        Column("rows", "{rows:,}"),
        Column("`--max-degree`", "{degree}"),
        Column("edges found", "{mean_found:.1f} of {planted}"),
        Column("false edges", "{mean_false:.1f}"),
        Column("share of the other pairs", "{share:.1%}"),
        Column("standard error", "{error:.1%}"),
    )
    return [Table(columns, records)]


BENCHMARKS = (
    Benchmark(
        "noise-edges",
        "share of false edges among items that are pure noise, beside the nominal share",
        cases(answers=tuple(ANSWERS), states=(2, 3, 5), rows=(100, 300, 1000, 5000), samples=(100,)),
        cases(answers=("skewed",), states=(2, 5), rows=(100,), samples=(3,)),
        run_noise,
        noise_tables,
    ),
    Benchmark(
        "planted-edges",
        "edges found in a planted network of twelve items, and false ones",
        cases(states=(2, 3, 5), rows=(300, 800), samples=(15,)),
        cases(states=(3,), rows=(300,), samples=(1,)),
        run_planted,
        planted_tables,
    ),
)
