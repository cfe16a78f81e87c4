"""Experiment 1 of Buchman et al. (2012) on one data set: parameterizations and penalties, on equal thirds.

All rows are pooled and split into thirds ten times (numpy `default_rng(1000 + split).permutation`); the strength is
chosen on the second third, walking down powers of sqrt(2) until three in a row are no better. Differences to the first
model are paired over splits; "worse" counts splits. Flat l1 takes long: `--with model "flat l1"`. All data sets of the
paper, with intervals and claims: `mrfit reproduce spec-fig1`.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial

import numpy as np

from benchmarks.benchmark import Benchmark, Case, cases
from benchmarks.table import Column, Record, Table, named
from mrfit_papers.spec_fit import Model
from mrfit_papers.spec_rows import thirds

Optimum = partial(Model, search="exact")

MODELS = (
    Optimum("S", "spectral"),
    Optimum("S, order 2", "spectral", order=2),
    Optimum("S, order 3", "spectral", order=3),
    Optimum("C1", "canonical"),
    Optimum("C2", "canonical", reference="last"),
    Optimum("CR", "canonical", reference="random"),
    Optimum("I, order 4", "ising", order=4),
    Optimum("GI, order 4", "generalized-ising", order=4),
    Optimum("F, order 3", "full", order=3),
    Model("S, search", "spectral"),
    Model("C1, search", "canonical"),
    Model("C2, search", "canonical", reference="last"),
    Optimum("S-h, order 3", "spectral", "hierarchical", order=3),
    Optimum("C1-h, order 3", "canonical", "hierarchical", order=3),
    Optimum("C2-h, order 3", "canonical", "hierarchical", "last", order=3),
    Optimum("GI-g, order 3", "generalized-ising", "group", order=3),
    Optimum("flat l2", "spectral", "flat-l2"),
    Optimum("pseudo-counts", "spectral", "pseudo-counts"),
    Optimum("flat l1", "spectral", "flat-l1"),
)


def run(case: Case) -> Iterator[Record]:
    model = next(model for model in MODELS if model.name == case["model"])
    begun, fitted = time.perf_counter(), []
    for split in range(case["splits"]):
        train, valid, test = thirds(case["set"], split)
        learned = model.learner(case["set"], 0).fit(train, valid)
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
    """Add the differences from the first model, paired over splits."""
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
