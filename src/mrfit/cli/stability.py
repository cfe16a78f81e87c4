"""`mrfit stability`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from mrfit.cli.cluster_columns import read_owned
from mrfit.cli.cluster_options import column_and_address, enter_cluster, nested_option
from mrfit.cli.exact_options import structure_file
from mrfit.cli.files import check_resumable, csv_bytes, send, summary_beside, writing
from mrfit.cli.learner_options import LEARNER_SECTIONS, check_orders_of, learner_of, learner_options
from mrfit.cli.option_rules import Rule, refuse_idle
from mrfit.cli.options import (
    choice,
    common,
    declared_states,
    parameters_of,
    read_rows,
    reading,
    states_option,
)
from mrfit.cli.output import note_compiling, note_failures, print_json, print_lines, say
from mrfit.cli.picture_options import PICTURES, check_title, title_of, title_option
from mrfit.cli.progress import counting_progress
from mrfit.cli.resampling_options import check_weights, is_of_regressions, relearned, weights_option
from mrfit.cli.sections import MAIN, SectionedCommand
from mrfit.core.errors import InputError

if TYPE_CHECKING:
    from mrfit.analysis.stability.resampling import Stability
    from mrfit.data.dataset import Dataset
    from mrfit.data.unique_rows import UniqueRows

_COLUMNS = ("source", "target", "sample", "inclusion", "mean", "sd", "low", "high", "zeros", "infinite")
_PAIRS = ("false_edges", "threshold", "assumption")

_SECTIONS = {
    MAIN: (
        *("kind", "resamples", "structure", "select", "rule", "penalty", "cluster_column", "resume", "output"),
        "plot",
    ),
    "Bootstrap": {"resamples_file", "weights", "cluster", "one_step", "level", *_PAIRS},
    "Data": parameters_of(reading) | {"states"},
    **LEARNER_SECTIONS,
    "Output": {"title", "as_json", "quiet", "verbose"} | parameters_of(writing),
}
_GUIDE = ("Bootstrap stability", "stability.md")


@click.command("stability", cls=SectionedCommand, sections=_SECTIONS, guide=_GUIDE)
@click.argument("data")
@choice(
    "--kind",
    "bootstrap",
    "drop",
    "pairs",
    "stars",
    help="Method. bootstrap: bootstrap samples. drop: case-dropping of 5 to 75 % of the rows, for the CS coefficient. "
    "pairs: complementary halves, for edges with a bound on false ones. stars: StARS, the weakest stable l1 strength.",
)
@click.option(
    "--resamples",
    type=click.IntRange(min=1),
    default=1000,
    show_default=True,
    help="Number of bootstrap samples, or of subsets for the other kinds.",
)
@click.option(
    "--resamples-file",
    metavar="CSV",
    help="Use these bootstrap samples: a table of the distinct rows, with one column of counts for each sample.",
)
@nested_option
@weights_option
@click.option(
    "--one-step",
    is_flag=True,
    help="Take one Newton step from the fit of DATA instead of a refit: fast, and within a few percent. For a fixed "
    "structure, with --penalty none or l2.",
)
@click.option(
    "--resume",
    metavar="FILE",
    help="Checkpoint: store finished bootstrap samples in FILE, and continue from them when you run the same command "
    "again after an interruption.",
)
@click.option(
    "--level", type=float, default=0.95, show_default=True, help="Level of percentile intervals, between 0 and 1."
)
@click.option(
    "--false-edges",
    type=float,
    default=1.0,
    show_default=True,
    help="For --kind pairs: largest expected number of false edges.",
)
@click.option(
    "--threshold",
    type=float,
    default=0.75,
    show_default=True,
    help="For --kind pairs: share of halves that must include a stable edge, above 0.5.",
)
@choice(
    "--assumption",
    "unimodal",
    "none",
    "r-concave",
    help="For --kind pairs: assumption on how often halves include false edges. none is safe; r-concave finds most "
    "edges.",
)
@learner_options
@click.option("-o", "--output", metavar="CSV", help="Write all edges to a CSV file; - is standard output.")
@click.option(
    "--plot",
    metavar="FILE",
    help=f"Draw the intervals of edges, the correlations of drop or the paths of stars to a {PICTURES} file.",
)
@title_option
@writing
@states_option
@reading
@common
@click.pass_context
def command(context: click.Context, /, data: str, **options: Any) -> None:
    """Bootstrap the whole analysis of a table, to see how stable its edges are.

    \b
    Examples:
      mrfit stability survey.csv --structure learned --select ebic --rule and \\
        -o edges.csv --plot edges.pdf
      mrfit stability survey.csv --structure learned --kind drop --plot drop.pdf
      mrfit stability pupils.csv --structure learned --cluster-column school
    \f
    Percentile intervals hold the central part of the edge weights over bootstrap samples. Where a penalty shrinks
    weights or edges are selected, they are not confidence intervals; use mrfit fit --errors for these. mrfit counts the
    bootstrap samples in which learning fails, and prints the reason.

    \b
    More examples:
      mrfit stability survey.csv --structure learned --kind pairs --false-edges 1
      mrfit stability survey.csv --structure learned --kind stars --resamples 100
      mrfit stability survey.csv --structure learned --cluster local:8
      mrfit stability survey.csv --penalty l2 --strength 1 --resamples 500
    """
    from mrfit.analysis.stability.stability_plot import draw_stability
    from mrfit.core.threads import resolve_jobs
    from mrfit.data.unique_rows import UniqueRows
    from mrfit.learning.partitioned_rows import RowsSummary
    from mrfit.plots.page import check_figure_path, save_figure

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
        found = _analysis(options)(
            learner, table, resamples=resamples, clusters=clusters, seed=options["seed"], jobs=jobs, callback=callback
        ).at_level(options["level"])
    if options["output"] is not None:
        send(options["output"], _csv(found))
    if options["plot"] is not None:
        axes = draw_stability(found, title=title_of(data, options))
        save_figure(axes.figure, options["plot"])  # type: ignore[arg-type]
    if options["as_json"]:
        print_json({**RowsSummary.of(rows).to_dict(), **found.to_dict(), "output": options["output"]})
    elif not options["quiet"]:
        with summary_beside(options["output"]):
            _print(data, found, rows, options)
    note_failures(found.networks.failures, f"of {len(found.networks.weights):,} resamples")


def _analysis(options: dict[str, Any]) -> Callable[..., Stability]:
    """Return the function of --kind with the settings that it alone has."""
    from mrfit.analysis.stability.case_dropping import case_dropping
    from mrfit.analysis.stability.edge_bootstrap import bootstrap_edges
    from mrfit.analysis.stability.stability_selection import ErrorControl, stability_selection
    from mrfit.analysis.stability.stars import stars

    refits = {"one_step": options["one_step"], "resume": options["resume"]}
    analyses: dict[str, Callable[[], Callable[..., Stability]]] = {
        "bootstrap": lambda: partial(bootstrap_edges, **refits),
        "drop": lambda: partial(case_dropping, **refits),
        "pairs": lambda: partial(
            stability_selection, control=ErrorControl(**{name: options[name] for name in _PAIRS}), **refits
        ),
        "stars": lambda: stars,
    }
    return analyses[options["kind"]]()


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
    from mrfit.analysis.stability.resamples_file import read_resamples

    path = options["resamples_file"]
    return options["resamples"] if path is None else read_resamples(path, rows)


def _csv(found: Stability) -> bytes:
    rows = ([*(getattr(edge, name) for name in _COLUMNS), found.unit] for edge in found.edges)
    return csv_bytes([*_COLUMNS, "unit"], rows)


def _print(data: str, found: Stability, rows: UniqueRows, options: dict[str, Any]) -> None:
    networks = found.networks
    failed = f", {networks.n_failed:,} failed" if networks.n_failed else ""
    verdict, *rest = found.lines()
    of = f"{data}: {rows.n_rows:,} rows, {len(rows.domain)} variables; {len(networks.weights):,} resamples{failed}"
    print_lines([verdict, of, *rest])
    for option in ("output", "plot"):
        if options[option] is not None:
            say(f"wrote {options[option]}")
