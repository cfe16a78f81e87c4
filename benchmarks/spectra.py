"""Experiment 2 of Buchman et al. (2012): the spectra of their data sets, by three estimators; what larger sets give.

Strengths by 10-fold cross-validation. All their sets, with claims: `mrfit reproduce spec-fig3`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from benchmarks.benchmark import Benchmark, Case, cases
from benchmarks.table import Column, Record, Table, named
from benchmarks.timing import timed
from mrfit.analysis.spectrum.interaction_spectrum import ESTIMATORS, interaction_spectrum, order_costs
from mrfit.analysis.spectrum.spectrum_plot import SpectrumCurve, draw_spectra
from mrfit.data.named_datasets import find
from mrfit.data.unique_rows import UniqueRows
from mrfit.plots.page import save_figure
from mrfit_papers.spec_rows import parts_of

SETS = ("nltcs", "yeast", "jokes", "rochdale", "czech")


def rows_of(name: str) -> UniqueRows:
    """The training rows, or all of them where a set is not split."""
    return UniqueRows.from_file(find(*parts_of(name)[0]))


def run_spectrum(case: Case) -> Iterator[Record]:
    rows = rows_of(case["set"])
    found, seconds = timed(lambda: interaction_spectrum(rows, case["estimator"]))
    yield {
        **case,
        "variables": len(rows.domain),
        "rows": int(rows.total_weight),
        "strength": found.strength,
        "nll": -found.held_out,
        "means": [size.mean for size in found.sizes],
        "densities": [size.density for size in found.sizes],
        "seconds": seconds,
    }


def densities_of(record: Record) -> str:
    """Only flat l1 makes anything zero."""
    return " ".join(f"{100 * share:.0f}" for share in record["densities"]) if record["estimator"] == "flat-l1" else ""


def spectrum_tables(records: list[Record]) -> list[Table]:
    columns = (
        named("set", "{set}"),
        Column("variables", "{variables}"),
        Column("rows", "{rows:,}"),
        named("estimator", "{estimator}"),
        Column("strength", "{strength:.3g}"),
        Column("held-out NLL", "{nll:.4f}"),
        Column("mean size by order", lambda r: " ".join(f"{mean:.1g}" for mean in r["means"]), left=True),
        Column("density, %", densities_of, left=True),
        Column("s", "{seconds:.1f}"),
    )
    return [Table(columns, records)]


def plot(records: list[Record], path: Path) -> None:
    drawn: dict[str, list[SpectrumCurve]] = {}
    for r in records:
        curve = SpectrumCurve(f"{r['estimator']}, strength {r['strength']:.3g}", r["means"], r["densities"])
        drawn.setdefault(r["set"], []).append(curve)
    save_figure(draw_spectra(drawn), str(path))


def run_costs(case: Case) -> Iterator[Record]:
    for cost in order_costs(rows_of(case["set"])):
        yield {
            "set": case["set"],
            "order": cost.order or "all",
            "strength": cost.strength,
            "nonzero": cost.n_nonzero,
            "nll": -cost.held_out,
            "loss": cost.loss,
            "error": cost.standard_error,
        }


def cost_tables(records: list[Record]) -> list[Table]:
    columns = (
        named("set", "{set}"),
        Column("up to", "{order}"),
        Column("strength", "{strength:.3g}"),
        Column("nonzeros", "{nonzero:,}"),
        Column("held-out NLL", "{nll:.4f}"),
        Column("loss (error)", "{loss:.4f} ({error:.4f})"),
    )
    return [Table(columns, records)]


BENCHMARKS = (
    Benchmark(
        "spectra",
        "sizes of spectral parameters by order, three estimators (Buchman et al., experiment 2)",
        cases(set=SETS, estimator=tuple(ESTIMATORS)),
        cases(set=("czech",), estimator=tuple(ESTIMATORS)),
        run_spectrum,
        spectrum_tables,
        plot=plot,
    ),
    Benchmark(
        "order-costs",
        "what ignoring larger sets of variables costs, by l1 fits",
        cases(set=SETS),
        cases(set=("czech",)),
        run_costs,
        cost_tables,
    ),
)
