"""Experiment 2 of Buchman et al. (2012): the spectra of their data sets, by three estimators.

    python spectra.py [--data nltcs,yeast,...] [--plot spectra.png] [--costs]

Strengths by 10-fold cross-validation. `--costs` adds what ignoring larger sets costs, by l1 fits.
"""

from __future__ import annotations

import argparse
import time

from mrfit.data.named import catalogue, find
from mrfit.data.unique_rows import UniqueRows
from mrfit.learning.spectrum import ESTIMATORS, order_costs, spectrum
from mrfit.report.page import save_figure
from mrfit.report.spectrum import draw_spectra
from problems import pin_threads

SETS = "nltcs,yeast,usps,jokes,flow,rochdale,czech"


def rows_of(name: str) -> UniqueRows:
    """The training rows, or all of them where a set is not split."""
    splits = next(entry.splits for entry in catalogue() if entry.name == name)
    return UniqueRows.from_file(find(name, "train" if "train" in splits else "data"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default=SETS)
    parser.add_argument("--plot")
    parser.add_argument("--costs", action="store_true")
    options = parser.parse_args()
    pin_threads()
    names = options.data.split(",")
    print("| set | variables | rows | estimator | strength | held-out NLL | mean size by order | density, % | s |")
    print("|---|---:|---:|---|---:|---:|---|---|---:|")
    drawn = {}
    for name in names:
        rows = rows_of(name)
        for estimator in ESTIMATORS:
            begun = time.perf_counter()
            found = spectrum(rows, estimator)
            seconds = time.perf_counter() - begun
            drawn.setdefault(name, []).append(found.curve)
            means = " ".join(f"{size.mean:.1g}" for size in found.sizes)
            density = " ".join(f"{100 * size.density:.0f}" for size in found.sizes) if estimator == "flat-l1" else ""
            print(
                f"| {name} | {len(rows.domain)} | {rows.total_weight:,.0f} | {estimator} | {found.strength:.3g} "
                f"| {-found.held_out:.4f} | {means} | {density} | {seconds:.1f} |",
                flush=True,
            )
    if options.plot:
        save_figure(draw_spectra(drawn), options.plot)
    if options.costs:
        print("\n| set | up to | strength | nonzeros | held-out NLL | loss (error) |\n|---|---:|---:|---:|---:|---:|")
        for name in names:
            for cost in order_costs(rows_of(name)):
                print(
                    f"| {name} | {cost.order or 'all'} | {cost.strength:.3g} | {cost.n_nonzero:,} "
                    f"| {-cost.held_out:.4f} | {cost.loss:.4f} ({cost.standard_error:.4f}) |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
