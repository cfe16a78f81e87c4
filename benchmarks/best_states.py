"""Most probable states without a junction tree over the whole: max-product alone, local search, and toulbar2.

The truth is that of a junction tree where one fits. Digits are scikit-learn's 1,797 images of 8 x 8 pixels, black where
they are larger than 7, with a complete network fitted by L2. One grid has random tables and fields; the other is a spin
glass, which has couplings of both signs only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from importlib.util import find_spec

import numpy as np

from benchmarks.benchmark import Benchmark, Case, cases
from benchmarks.exact_inference import tables as competition
from benchmarks.table import Column, Record, Table
from benchmarks.timing import timed
from mrfit.core.domain import Domain
from mrfit.core.factors import Factors
from mrfit.data.dataset import Dataset
from mrfit.data.unique_rows import UniqueRows
from mrfit.inference.exact.junction_tree import JunctionTree
from mrfit.inference.map.state_search import StateSearch
from mrfit.inference.map.toulbar2 import Toulbar2
from mrfit.inference.messages.max_product import MaxProduct
from mrfit.learning import Learner
from mrfit.learning.penalty_specs import L2
from mrfit.structures.simple import CompleteGraph

UAI = ("Segmentation_11", "Pedigree_11", "CSP_12", "Grids_11", "Grids_15", "DBN_11", "linkage_24")
SIDE = 15


@lru_cache(maxsize=1)
def digits() -> Factors:
    from sklearn.datasets import load_digits

    pixels = (load_digits().data > 7).astype(np.uint8)
    domain = Domain.from_states({f"p{k}": ("off", "on") for k in range(pixels.shape[1])})
    rows = UniqueRows.from_dataset(Dataset(domain, pixels))
    return Learner(CompleteGraph(), L2(10.0)).fit(rows).best.model.factors


def pairs_of_a_grid() -> list[tuple[int, int]]:
    number = np.arange(SIDE * SIDE).reshape(SIDE, SIDE)
    across = np.stack([number[:, :-1].ravel(), number[:, 1:].ravel()], axis=1)
    down = np.stack([number[:-1].ravel(), number[1:].ravel()], axis=1)
    return [(int(i), int(j)) for i, j in np.concatenate([across, down])]


def grid() -> Factors:
    rng, scopes = np.random.default_rng(0), [*((i,) for i in range(SIDE**2)), *pairs_of_a_grid()]
    return Factors.from_tables((2,) * SIDE**2, [(scope, rng.standard_normal(2 ** len(scope))) for scope in scopes])


def spin_glass() -> Factors:
    rng, table = np.random.default_rng(0), np.array([[1.0, -1.0], [-1.0, 1.0]])
    return Factors.from_tables((2,) * SIDE**2, [(pair, rng.standard_normal() * table) for pair in pairs_of_a_grid()])


MADE: dict[str, Callable[[], Factors]] = {"digits": digits, "grid": grid, "spin glass": spin_glass}


def run(case: Case) -> Iterator[Record]:
    name = case["problem"]
    factors = MADE[name]() if name in MADE else competition(name)
    tree, messages = JunctionTree(), MaxProduct()
    plan = tree.plan(factors)
    record: Record = {"problem": name, "variables": len(factors.shape)}
    if plan.fits:
        record["tree"] = tree.best(plan, factors)[1]
    StateSearch(work=1).best(factors)  # compiled
    guess, seconds = timed(lambda: messages.run(messages.plan(factors), factors))
    record["max-product"] = {"score": guess.score, "s": seconds}
    found, seconds = timed(lambda: StateSearch().best(factors))
    record["search"] = {"score": found.log_potential, "s": seconds, "gap": found.bound - found.log_potential}
    record["search"] |= {"hits": found.n_hits, "starts": found.n_starts}
    if find_spec("pytoulbar2") and case["patience"]:
        solved, seconds = timed(lambda: Toulbar2(seconds=case["patience"]).best(factors))
        record["toulbar2"] = {"score": solved.log_potential, "s": seconds, "proven": solved.proven}
    scores = [record[method]["score"] for method in ("max-product", "search", "toulbar2") if method in record]
    record["best"] = max([*scores, record.get("tree", -np.inf)])
    yield record


def behind(record: Record, method: str) -> str:
    if method not in record:
        return "-"
    found = record[method]
    off = record["best"] - found["score"]
    shown = "0" if off < 1e-6 else "impossible" if off == np.inf else f"-{off:.2f}"
    return f"{shown} ({found['s']:.2g} s{'' if found.get('proven', True) else ', stopped'})"


def starts(record: Record) -> str:
    found = record["search"]
    return "proven" if found["gap"] == 0 else f"{found['hits']} of {found['starts']}"


def tables(records: list[Record]) -> list[Table]:
    columns = (
        Column("problem", "{problem}"),
        Column("variables", "{variables:,}"),
        Column("best score", "{best:.4f}"),
        Column("max-product", lambda r: behind(r, "max-product")),
        Column("search", lambda r: behind(r, "search")),
        Column("its gap to the bound", lambda r: f"{r['search']['gap']:.2f}"),
        Column("starts at its score", starts),
        Column("toulbar2", lambda r: behind(r, "toulbar2")),
    )
    return [Table(columns, records)]


BENCHMARKS = (
    Benchmark(
        "best-states",
        "most probable states where no tree fits: local search, max-product and toulbar2",
        cases(problem=(*MADE, *UAI), patience=(20,)),
        cases(problem=("grid",), patience=(0,)),
        run,
        tables,
        rivals=("pytoulbar2",),
    ),
)
