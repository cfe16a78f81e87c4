"""Quality of learned structures: every kind of degree bound, refitted with L2 and scored on test rows.

The strength of the refit is chosen on the validation rows.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.benchmark import Benchmark, Case, cases
from benchmarks.problems import problem, rows_of
from benchmarks.table import Column, Record, Table, named
from benchmarks.timing import timed
from mrfit.learning import Learner
from mrfit.learning.penalty_specs import L2
from mrfit.structures.nodewise.learned import BOUNDS
from mrfit.structures.simple import FixedStructure, Learned, StructureLearner

SETS = ("nltcs", "plants", "audio", "jester", "dna", "bbc")
PRICED_SETS = ("nltcs", "accidents", "retail", "dna", "kosarek", "book", "tmovie", "webkb", "bbc", "ad")
PRICES = {"fixed": "price 3.84", "valid": "price chosen"}
STRENGTHS = (0.01, 0.1, 0.3, 1.0, 3.0, 10.0)


def run(case: Case) -> Iterator[Record]:
    yield {"set": case["set"], "bound": case["bound"], **_quality(case, Learned(case["degree"], case["bound"]))}


def run_prices(case: Case) -> Iterator[Record]:
    found = {
        f"{name}_{price}": value for price in PRICES for name, value in _quality(case, _by_gain(case, price)).items()
    }
    yield {"set": case["set"], "degree": case["degree"], **found}


def _by_gain(case: Case, price: str) -> StructureLearner:
    return Learned(case["degree"], "gain", **({"price": price} if price == "valid" else {}))


def _quality(case: Case, learner: Learned) -> Record:
    train, jobs = problem(case["set"]).rows, case["jobs"]
    valid, test = (rows_of(case["set"], part, train.domain) for part in ("valid", "test"))
    held_out = valid if learner.uses_valid else None
    found, seconds = timed(lambda: learner.learn(train, valid=held_out, jobs=jobs))
    fits = Learner(FixedStructure(found.structure), L2(STRENGTHS)).fit(train, valid, jobs=jobs)
    return {
        "edges": len(found.structure.edges),
        "largest": int(found.structure.degrees.max()),
        "seconds": seconds,
        "score": -fits.best.model.pll(test),
    }


def tables(records: list[Record]) -> list[Table]:
    columns = (
        named("set", "{set}"),
        named("bound", "{bound}"),
        Column("edges", "{edges}"),
        Column("largest degree", "{largest}"),
        Column("seconds", "{seconds:.1f}"),
        Column("test negative pll", "{score:.3f}"),
    )
    return [Table(columns, records)]


def price_tables(records: list[Record]) -> list[Table]:
    columns = [named("set", "{set}"), Column("d", "{degree}")]
    for price, words in PRICES.items():
        columns += [
            Column(f"edges, {words}", f"{{edges_{price}}}"),
            Column("seconds", f"{{seconds_{price}:.1f}}"),
            Column("test negative pll", f"{{score_{price}:.3f}}"),
        ]
    return [Table(tuple(columns), records)]


BENCHMARKS = (
    Benchmark(
        "structure-quality",
        "how well the structures of every degree bound predict, six sets",
        cases(set=SETS, bound=tuple(BOUNDS), degree=(5,), jobs=(2,)),
        cases(set=("nltcs",), bound=tuple(BOUNDS), degree=(3,), jobs=(2,)),
        run,
        tables,
    ),
    Benchmark(
        "structure-price",
        "the bound `gain` with its fixed price and with one chosen on held-out rows",
        cases(set=PRICED_SETS, degree=(5, 15), jobs=(2,)),
        cases(set=("nltcs",), degree=(3,), jobs=(2,)),
        run_prices,
        price_tables,
    ),
)
