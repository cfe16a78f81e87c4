"""Experiment 1 of Buchman et al. (2012) on one data set: parameterizations and penalties, on equal thirds.

All rows are pooled and split into thirds ten times (numpy `default_rng(1000 + split).permutation`); the strength is
chosen on the second third, walking down powers of sqrt(2) until three in a row are no better. Differences to the first
model are paired over splits; "worse" counts splits. Flat l1 takes long: `--with model "flat l1"`.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from benchmarks.benchmark import Benchmark, Case, cases
from benchmarks.table import Column, Record, Table, named
from mrfit.data.dataset import Dataset
from mrfit.data.named import find
from mrfit.data.unique_rows import UniqueRows
from mrfit.domain import Domain
from mrfit.learning import Learner
from mrfit.learning.objective_choice import LIKELIHOOD
from mrfit.learning.parts import PENALTIES
from mrfit.structure.learners import UpToOrder


@dataclass(frozen=True)
class Model:
    name: str
    parameterization: str
    penalty: str = "l1"
    order: int | None = None
    reference: str = "first"
    search: str = "exact"

    def learner(self) -> Learner:
        penalty = PENALTIES[self.penalty](**({} if self.search == "exact" else {"search": self.search}))
        return Learner(UpToOrder(self.order), penalty, LIKELIHOOD, self.parameterization, self.reference)


MODELS = (
    Model("S", "spectral"),
    Model("S, order 2", "spectral", order=2),
    Model("S, order 3", "spectral", order=3),
    Model("C1", "canonical"),
    Model("C2", "canonical", reference="last"),
    Model("CR", "canonical", reference="random"),
    Model("I, order 4", "ising", order=4),
    Model("GI, order 4", "generalized-ising", order=4),
    Model("F, order 3", "full", order=3),
    Model("S, search", "spectral", search="hierarchical"),
    Model("C1, search", "canonical", search="hierarchical"),
    Model("C2, search", "canonical", reference="last", search="hierarchical"),
    Model("S-h, order 3", "spectral", "hierarchical", 3),
    Model("C1-h, order 3", "canonical", "hierarchical", 3),
    Model("C2-h, order 3", "canonical", "hierarchical", 3, "last"),
    Model("GI-g, order 3", "generalized-ising", "group", 3),
    Model("flat l2", "spectral", "flat-l2"),
    Model("pseudo-counts", "spectral", "pseudo-counts"),
    Model("flat l1", "spectral", "flat-l1"),
)


def pooled(name: str) -> tuple[Domain, np.ndarray]:
    """All rows in the order of the files."""
    parts = [Dataset.from_file(find(name, part)) for part in ("train", "valid", "test")]
    domain = parts[0].domain
    return domain, np.concatenate([part.recoded(domain).codes for part in parts])


def thirds(domain: Domain, codes: np.ndarray, split: int) -> list[UniqueRows]:
    order = np.random.default_rng(1000 + split).permutation(len(codes))
    third = len(codes) // 3
    parts = (order[:third], order[third : 2 * third], order[2 * third :])
    return [UniqueRows.from_codes(domain, codes[part], np.ones(len(part))) for part in parts]


def run(case: Case) -> Iterator[Record]:
    domain, codes = pooled(case["set"])
    model = next(model for model in MODELS if model.name == case["model"])
    begun, fitted = time.perf_counter(), []
    for split in range(case["splits"]):
        train, valid, test = thirds(domain, codes, split)
        learned = model.learner().fit(train, valid)
        fitted.append((learned, -learned.best.model.ll(test)))
    yield {
        **case,
        "scores": [score for _, score in fitted],
        "nll": float(np.mean([score for _, score in fitted])),
        "nonzero": float(np.mean([learned.best.n_nonzero for learned, _ in fitted])),
        "log2_strength": float(np.median([np.log2(learned.best.strength) for learned, _ in fitted])),
        "gap": max(fit.solution.gap or 0.0 for learned, _ in fitted for fit in learned.fits),
        "seconds": (time.perf_counter() - begun) / case["splits"],
    }


def with_differences(records: list[Record]) -> list[Record]:
    """To the first model, paired over splits."""
    return [record | paired(np.subtract(record["scores"], records[0]["scores"])) for record in records]


def paired(difference: np.ndarray) -> Record:
    error = float(difference.std(ddof=1) / np.sqrt(len(difference))) if len(difference) > 1 else None
    return {"difference": float(difference.mean()), "error": error, "worse": int(np.count_nonzero(difference > 0))}


def tables(records: list[Record]) -> list[Table]:
    columns = (
        named("model", "{model}"),
        Column("test NLL", "{nll:.4f}"),
        Column(f"difference to {records[0]['model']} (error)", "{difference:+.4f} ({error:.4f})"),
        Column("worse", "{worse}"),
        Column("nonzeros", "{nonzero:.0f}"),
        Column("median log2 strength", "{log2_strength:.2f}"),
        Column("gap", "{gap:.0e}"),
        Column("s a split", "{seconds:.1f}"),
    )
    return [Table(columns, records)]


BENCHMARKS = (
    Benchmark(
        "parameterizations",
        "coordinates and sparse penalties on nltcs, ten splits (Buchman et al., experiment 1)",
        cases(set=("nltcs",), model=[model.name for model in MODELS if model.name != "flat l1"], splits=(10,)),
        cases(set=("nltcs",), model=("S, order 2",), splits=(1,)),
        run,
        tables,
        with_differences,
    ),
)
