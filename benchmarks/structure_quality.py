"""How well structures predict: every way to meet a degree bound, refitted with L2, scored on test rows.

    python benchmarks/structure_quality.py [--sets nltcs,dna] [--degree 5] [--jobs 2]

The strength of the refit is chosen on the validation rows.
"""

from __future__ import annotations

import argparse
import time

from mrfit.data.coding import Reading
from mrfit.data.named import find
from mrfit.data.unique_rows import UniqueRows
from mrfit.learning import Learner
from mrfit.learning.penalized import L2
from mrfit.structure.learners import Given, Learned
from mrfit.structure.nodewise import BOUNDS

SETS = "nltcs,plants,audio,jester,dna,bbc"
STRENGTHS = (0.01, 0.1, 0.3, 1.0, 3.0, 10.0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", default=SETS)
    parser.add_argument("--degree", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    print("| set | bound | edges | largest degree | seconds | test negative pll |\n|---|---|---:|---:|---:|---:|")
    for name in arguments.sets.split(","):
        train = UniqueRows.from_file(find(name, "train"))
        valid, test = (UniqueRows.from_file(find(name, s), Reading(train.domain)) for s in ("valid", "test"))
        for bound in BOUNDS:
            begun = time.perf_counter()
            structure = Learned(max_degree=arguments.degree, bound=bound).learn(train, jobs=arguments.jobs).structure
            seconds = time.perf_counter() - begun
            fits = Learner(Given(structure), L2(STRENGTHS)).fit(train, valid, jobs=arguments.jobs)
            score = -fits.best.model.pll(test)
            largest = int(structure.degrees.max())
            print(
                f"| {name} | {bound} | {len(structure.edges)} | {largest} | {seconds:.1f} | {score:.3f} |", flush=True
            )


if __name__ == "__main__":
    main()
