"""Rows needed to find the groups: tying on samples of a network with known groups, beside Theorem 1.

A random network of binary variables has parameters in k groups: equal within a group, or spread a little. All learners
maximise the exact likelihood; `mrfit_papers.recovery` says what they are and when they succeed.

Beside the theorem stands the normal approximation: rows with which no error of the unpenalised estimate exceeds the
bound of Lemma 1 (Corollary 1 for hard tying), with probability 1 - delta at least.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from benchmarks.benchmark import Benchmark, Case, cases
from benchmarks.table import Column, Record, Table, named
from mrfit.plots.page import save_figure
from mrfit_papers.recovery import METHODS, Design, Truth, recovery_share
from mrfit_papers.recovery_picture import RecoveryPanel, draw_recovery

SPREAD = {"equal within groups": 0.0, "spread within groups": 0.2}


def run(case: Case) -> Iterator[Record]:
    """Twice as many rows each time, until every method recovers the groups every time; then what theory says."""
    truth = Truth.drawn(Design(spread=SPREAD[case["parameters"]]), case["seed"])
    lines = list(curve(truth, case))
    yield from lines
    for method in METHODS:
        bound = truth.theory.hard if method == "hard tying" else truth.theory.soft
        enough = rows_needed(lines, method, 1.0 - truth.theory.delta)
        yield {
            "parameters": case["parameters"],
            "method": method,
            "enough": enough,
            "normal": truth.normal_rows(bound.largest_error),
            "theorem": bound.n_samples,
            "loose": bound.n_samples / enough if enough else None,
            **{name: getattr(truth.theory, name) for name in ("omega", "alpha", "c_min")},
        }


def curve(truth: Truth, case: Case) -> Iterator[Record]:
    n_rows, how = case["first"], {name: case[name] for name in ("seed", "repetitions", "share", "restarts")}
    while n_rows <= case["most"]:
        line = recovery_share(truth, n_rows, **how)
        yield {"parameters": case["parameters"], "rows": n_rows, **line.found, "center_error": line.center_error}
        if min(line.found.values()) == 1.0:
            return
        n_rows *= 2


def rows_needed(lines: list[Record], method: str, probability: float) -> int | None:
    """The first number of rows from which on the groups are found so often; None if the grid ends before."""
    short = [number for number, line in enumerate(lines) if line[method] < probability]
    first = max(short, default=-1) + 1
    return lines[first]["rows"] if first < len(lines) else None


def tables(records: list[Record]) -> list[Table]:
    shares = (
        named("parameters", "{parameters}"),
        Column("rows", "{rows:,}"),
        *(Column(method, f"{{{method}:.2f}}") for method in METHODS),
        Column("L1 error of hard centers", "{center_error:.3f}"),
    )
    theory = (
        named("parameters", "{parameters}"),
        named("method", "{method}"),
        Column("rows for 95 %", "{enough:,}"),
        Column("normal approximation", "{normal:,.0f}"),
        Column("Theorem 1", "{theorem:.2g}"),
        Column("Theorem 1 / measured", "{loose:.1g}"),
    )
    lines = [record for record in records if "rows" in record]
    return [Table(shares, lines), Table(theory, [record for record in records if "method" in record])]


def draw(records: list[Record], path: Path) -> None:
    panels = []
    for kind in dict.fromkeys(record["parameters"] for record in records):
        own = [record for record in records if record["parameters"] == kind]
        theory = {record["method"]: record for record in own if "method" in record}
        lines = [record for record in own if "rows" in record]
        sizes = "ω = {omega:.2g}, α = {alpha:.2g}, $C_{{min}}$ = {c_min:.2g}".format(**theory["soft tying"])
        shares = {method: [line[method] for line in lines] for method in METHODS}
        bounds = {f"Theorem 1, {method}": theory[method]["theorem"] for method in ("hard tying", "soft tying")}
        panels.append(RecoveryPanel(f"Parameters {kind}\n{sizes}", [line["rows"] for line in lines], shares, bounds))
    save_figure(draw_recovery(panels), path)


BENCHMARKS = (
    Benchmark(
        "tying-recovery",
        "how many rows find known groups, beside Theorem 1",
        cases(
            parameters=tuple(SPREAD),
            seed=(0,),
            repetitions=(50,),
            first=(250,),
            most=(1_100_000,),
            share=(0.01,),
            restarts=(10,),
        ),
        cases(
            parameters=tuple(SPREAD),
            seed=(0,),
            repetitions=(2,),
            first=(250,),
            most=(250,),
            share=(0.01,),
            restarts=(1,),
        ),
        run,
        tables,
        plot=draw,
    ),
)
