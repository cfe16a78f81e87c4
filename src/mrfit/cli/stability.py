"""`mrfit stability`."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING, Any

import click

from mrfit.cli.cluster_options import column_and_address, enter_cluster, nested_option
from mrfit.cli.exact_options import structure_file
from mrfit.cli.files import check_resumable, csv_bytes, send, summary_beside, writing
from mrfit.cli.idle_options import Rule, refuse_idle
from mrfit.cli.learner_options import LEARNER_SECTIONS, check_orders_of, learner_of, learner_options
from mrfit.cli.options import (
    choice,
    common,
    declared_states,
    parameters_of,
    read_rows,
    reading,
    states_option,
)
from mrfit.cli.output import note_compiling, note_failures, print_json, say
from mrfit.cli.picture_options import PICTURES, check_title, title_of, title_option
from mrfit.cli.progress import counting_progress
from mrfit.cli.relearned import check_weights, is_of_regressions, relearned, weights_option
from mrfit.cli.row_owners import read_owned
from mrfit.cli.sections import SectionedCommand
from mrfit.errors import InputError

if TYPE_CHECKING:
    from mrfit.data.dataset import Dataset
    from mrfit.data.unique_rows import UniqueRows
    from mrfit.learning.relearning import Stability
    from mrfit.summaries.stability import StabilitySummary

_MOST_EDGES = 15  # printed
_COLUMNS = ("source", "target", "sample", "inclusion", "mean", "sd", "low", "high", "zeros", "infinite")
_PAIRS = ("false_edges", "threshold", "assumption")

_SECTIONS = {
    "Options that matter most": (
        *("kind", "resamples", "structure", "select", "rule", "penalty", "strengths", "weights", "output", "plot"),
    ),
    "Resampling": {"resamples_file", "cluster_column", "cluster", "one_step", "resume", "level", *_PAIRS},
    "Data": parameters_of(reading) | {"states"},
    **LEARNER_SECTIONS,
    "Output": {"title", "as_json", "quiet"} | parameters_of(writing),
    "Other": {"folds"},
}


@click.command("stability", cls=SectionedCommand, sections=_SECTIONS)
@click.argument("data")
@choice(
    "--kind",
    "bootstrap",
    "drop",
    "pairs",
    "stars",
    help="bootstrap: rows with replacement; drop: 5 to 75 % of rows left out, for the CS coefficient; pairs: halves "
    "without common rows, for edges with few false ones; stars: which l1 strength is stable.",
)
@click.option("--resamples", type=click.IntRange(min=1), default=1000, show_default=True, help="How many.")
@click.option(
    "--resamples-file",
    metavar="CSV",
    help="Resamples that are given: the distinct rows, and a column for each resample of how often they occur.",
)
@nested_option
@weights_option
@click.option(
    "--one-step",
    is_flag=True,
    help="One Newton step from the fit of DATA instead of a refit: quick, and within a few percent. For the parameters "
    "of a given structure, with --penalty none or l2.",
)
@click.option(
    "--resume",
    metavar="FILE",
    help="Keep in FILE what is learned from resamples, and go on from what it holds: the same command again, after it "
    "was stopped at any moment, loses a second's work.",
)
@click.option("--level", type=float, default=0.95, show_default=True, help="Share of resamples in a range.")
@click.option(
    "--false-edges", type=float, default=1.0, show_default=True, help="For --kind pairs: so many expected at most."
)
@click.option(
    "--threshold", type=float, default=0.75, show_default=True, help="For --kind pairs: share of halves with an edge."
)
@choice(
    "--assumption",
    "unimodal",
    "none",
    "r-concave",
    help="For --kind pairs: on how often edges that are not there are chosen; none is safe, r-concave keeps most.",
)
@learner_options
@click.option("-o", "--output", metavar="CSV", help="Where to write all edges; - is standard output.")
@click.option(
    "--plot",
    metavar="FILE",
    help=f"Draw ranges of edges, for drop the correlations, for stars the paths, as {PICTURES}.",
)
@title_option
@writing
@states_option
@reading
@common
@click.pass_context
def command(context: click.Context, /, data: str, **options: Any) -> None:
    """Learn again from resamples of DATA, everything each time, and say what stays the same.

    Ranges hold the middle of the weights over resamples. Where weights are shrunken or edges selected they are no
    confidence intervals; see `mrfit fit --errors` for these. Resamples in which learning fails are counted and named.

    \b
    Examples:
      mrfit stability survey.csv --structure learned --select ebic --rule and -o edges.csv --plot edges.pdf
      mrfit stability survey.csv --structure learned --select ebic --rule and --kind drop --plot drop.pdf
      mrfit stability survey.csv --structure learned --select ebic --kind pairs --false-edges 1
      mrfit stability survey.csv --structure learned --kind stars --resamples 100
      mrfit stability pupils.csv --structure learned --select ebic --cluster-column school
      mrfit stability survey.csv --structure learned --select ebic --cluster local:8
      mrfit stability survey.csv --penalty l2 --strength 1 --resamples 500
    """
    from mrfit.data.unique_rows import UniqueRows
    from mrfit.learning.relearning import stability
    from mrfit.report.page import check_figure_path
    from mrfit.summaries.stability import StabilitySummary
    from mrfit.workers import resolve_jobs

    jobs = resolve_jobs(options["jobs"])
    _check_options(context, options)
    if options["plot"] is not None:
        check_figure_path(options["plot"])
    check_title(options)
    inputs = {
        "DATA": data,
        "--resamples-file": options["resamples_file"],
        "--structure": structure_file(options),
        "--states": options["states"],
    }
    written = {"-o": options["output"], "--plot": options["plot"]}
    check_resumable(inputs, written, options)
    fitting = learner_of(context, options)
    column, address = column_and_address(data, options)
    if options["resamples_file"] is not None and column is not None:
        raise InputError(
            "--cluster-column has no effect with --resamples-file, which says what is drawn. Leave one out."
        )
    enter_cluster(context, address)
    states = declared_states(options["states"])
    table, clusters = _read(data, column, options, states)
    rows = UniqueRows.of(table)
    check_orders_of(fitting, rows.domain, states)
    learner = relearned(fitting, rows.domain, options)
    resamples = _resamples(options, rows)
    quiet = options["quiet"] or options["as_json"]
    note_compiling(quiet=quiet)
    n = resamples if isinstance(resamples, int) else len(resamples)
    with counting_progress("resamples", n, quiet=quiet) as callback:
        found = stability(
            learner, table, kind=options["kind"], resamples=resamples, clusters=clusters, level=options["level"],
            false_edges=options["false_edges"], threshold=options["threshold"], assumption=options["assumption"],
            one_step=options["one_step"], resume=options["resume"], seed=options["seed"], jobs=jobs, callback=callback,
        )  # fmt: skip
    summary = StabilitySummary.of(found, rows)
    if options["output"] is not None:
        send(options["output"], _csv(summary))
    if options["plot"] is not None:
        _draw(found, options["plot"], title_of(data, options))
    if options["as_json"]:
        print_json({**summary.to_dict(), "output": options["output"]})
    elif not options["quiet"]:
        with summary_beside(options["output"]):
            _print(data, summary, options)
    note_failures(summary.failures, f"of {summary.n_resamples:,} resamples")


def _check_options(context: click.Context, options: dict[str, Any]) -> None:
    """Options without an effect."""
    check_weights(context, options)
    refuse_idle(
        context,
        [
            Rule(_PAIRS, options["kind"] == "pairs", "--kind pairs"),
            Rule(("one_step",), not is_of_regressions(options), "a fit: --weights parameters"),
            Rule(
                ("resume",), options["kind"] != "stars" and not options["one_step"], "resamples learned from one by one"
            ),
            Rule(("resamples",), options["resamples_file"] is None, "no --resamples-file"),
        ],
    )


def _read(
    data: str, column: str | None, options: dict[str, Any], states: dict[str, list[str]] | None
) -> tuple[UniqueRows | Dataset, list[str] | None]:
    """The table; and which cluster each of its rows belongs to."""
    if column is None:
        return read_rows(data, options, states=states), None
    return read_owned(data, column, options, option="cluster-column", states=states)


def _resamples(options: dict[str, Any], rows: UniqueRows) -> Any:
    from mrfit.formats.resamples_file import read_resamples

    path = options["resamples_file"]
    return options["resamples"] if path is None else read_resamples(path, rows)


def _csv(summary: StabilitySummary) -> bytes:
    return csv_bytes(_COLUMNS, ([getattr(edge, name) for name in _COLUMNS] for edge in summary.edges))


def _draw(found: Stability, plot: str, title: str) -> None:
    from mrfit.report.page import save_figure
    from mrfit.report.stability import draw_case_drop, draw_edge_ranges, draw_stability_paths

    if found.case_drop is not None:
        axes = draw_case_drop(found.case_drop, title=title)
    elif found.stars is not None:
        axes = draw_stability_paths(found.stars, found.networks.names, title=title)
    else:
        subtitle = f"{len(found.networks.known):,} resamples ({found.kind}); the middle {found.level:.0%} of weights"
        axes = draw_edge_ranges(found.edges, title=title, subtitle=subtitle, unit=found.unit)
    save_figure(axes.figure, plot)  # type: ignore[arg-type]


def _print(data: str, summary: StabilitySummary, options: dict[str, Any]) -> None:
    rows, failed = summary.rows, f", {summary.n_failed:,} failed" if summary.n_failed else ""
    say(f"{data}: {rows.n_rows:,} rows, {rows.n_variables} variables; {summary.n_resamples:,} resamples{failed}")
    if summary.case_drop is not None:
        say("rows that can be dropped, so that 95 % of subsets correlate above 0.7 with the table (CS coefficients):")
        for name, value in summary.case_drop.coefficients.items():
            say(f"  {value:5.2f}  {'node ' * (name == 'strength')}{name.replace('_', ' ')}")
    if summary.pairs is not None:
        pairs = summary.pairs
        say(
            f"{len(summary.stable):,} edges in {pairs.threshold:.0%} of halves or more, each of which keeps "
            f"{pairs.n_kept:,}; at most {pairs.bound:.2g} false ones are expected ({pairs.assumption})"
        )
        for a, b, share in summary.stable:
            say(f"  {share:4.0%}  {a} - {b}")
    if summary.stars is not None:
        say(f"stable strength {summary.stars.to_dict()['strength']:.4g}: mrfit structure --select strength uses it")
    if summary.case_drop is None and summary.pairs is None:
        _print_edges(summary)
    for option in ("output", "plot"):
        if options[option] is not None:
            say(f"wrote {options[option]}")


def _print_edges(summary: StabilitySummary) -> None:
    if not summary.edges:
        say("no two variables are joined in the table, nor in any resample")
        return
    say(f"edge weights ({summary.unit})")
    say(f"  {'there':>5} {'mean':>8} {'range of the middle ' + format(summary.level, '.0%'):>28}")
    for edge, has_sign in zip(summary.edges[:_MOST_EDGES], summary.has_sign, strict=False):
        form = "+.3f" if has_sign else ".3f"
        ends = f"{edge.low:{form}} to {edge.high:{form}}"
        mean = "-" if isnan(edge.mean) else f"{edge.mean:{form}}"
        infinite = f" (infinite in {edge.infinite:.0%})" if edge.infinite else ""
        say(f"  {edge.inclusion:5.0%} {mean:>8} {ends:>28}  {edge.source} - {edge.target}{infinite}")
    if len(summary.edges) > _MOST_EDGES:
        say(f"  ... and {len(summary.edges) - _MOST_EDGES:,} more edges")
