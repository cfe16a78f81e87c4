"""Experiment 1 of Buchman et al. (2012) on one data set: parameterizations and penalties, on equal thirds.

    python parameterizations.py                 # nltcs, 10 splits
    python parameterizations.py --models S,C1 --splits 3

All rows are pooled and split into thirds ten times (numpy `default_rng(1000 + split).permutation`); the strength is
chosen on the second third, walking down powers of sqrt(2) until three in a row are no better. Differences to S are
paired over splits; "worse" counts splits.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass

import numpy as np

from mrfit.data.dataset import Dataset
from mrfit.data.named import find
from mrfit.data.unique_rows import UniqueRows
from mrfit.domain import Domain
from mrfit.learning import Learner
from mrfit.learning.objective_choice import LIKELIHOOD
from mrfit.learning.parts import PENALTIES
from mrfit.structure.learners import UpToOrder
from problems import pin_threads


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


MODELS = [
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
]


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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default="nltcs")
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--models", help="names as in the table, separated by semicolons; all but flat l1 by default")
    options = parser.parse_args()
    pin_threads()
    wanted = (
        options.models.split(";") if options.models else [model.name for model in MODELS if model.name != "flat l1"]
    )
    domain, codes = pooled(options.data)
    print(f"{options.data}: {len(codes):,} rows, {options.splits} splits of equal thirds\n")
    print("| model | test NLL | difference to S (error) | worse | nonzeros | median log2 strength | gap | s a split |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    baseline: np.ndarray | None = None
    for model in (model for model in MODELS if model.name in wanted):
        scores, nonzeros, strengths, gaps = [], [], [], []
        begun = time.perf_counter()
        for split in range(options.splits):
            train, valid, test = thirds(domain, codes, split)
            learned = model.learner().fit(train, valid)
            scores.append(-learned.best.model.ll(test))
            nonzeros.append(learned.best.n_nonzero)
            strengths.append(np.log2(learned.best.strength))
            gaps.append(max(fit.solution.gap or 0.0 for fit in learned.fits))
        seconds = (time.perf_counter() - begun) / options.splits
        if baseline is None:
            baseline = np.array(scores)
        difference = np.array(scores) - baseline
        error = difference.std(ddof=1) / np.sqrt(len(scores)) if len(scores) > 1 else np.nan
        print(
            f"| {model.name} | {np.mean(scores):.4f} | {difference.mean():+.4f} ({error:.4f}) | "
            f"{np.count_nonzero(difference > 0)} | {np.mean(nonzeros):.0f} | {np.median(strengths):.2f} | "
            f"{max(gaps):.0e} | {seconds:.1f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
