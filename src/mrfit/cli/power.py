"""`mrfit power`."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING, Any

import click

from mrfit.cli.cluster_options import cluster_option, enter_cluster
from mrfit.cli.exact_options import structure_file
from mrfit.cli.files import check_files, load_model, writing
from mrfit.cli.fit_text import note_unbounded
from mrfit.cli.learner_options import LEARNER_SECTIONS, learner_of, learner_options
from mrfit.cli.options import common, parameters_of, tell_notes, whole_numbers
from mrfit.cli.output import heading, note_compiling, note_failures, print_json, print_table, remark, say
from mrfit.cli.picture_options import PICTURES, check_title, title_of, title_option
from mrfit.cli.progress import counting_progress
from mrfit.cli.resampling_options import check_weights, relearned, take_by_itself, weights_option
from mrfit.cli.sections import MAIN, SectionedCommand
from mrfit.core.rounding import significant

if TYPE_CHECKING:
    from mrfit.analysis.sample_size.power import MeanOverSamples, SampleSizeStudy
    from mrfit.analysis.sample_size.power_record import PowerSummary

_MOST_EDGES = 10  # printed

_SECTIONS = {
    MAIN: (
        *("rows", "repetitions", "sensitivity", "structure", "select", "rule", "penalty", "strengths", "plot"),
        "as_json",
    ),
    "Data": ("cluster", "weights"),
    **LEARNER_SECTIONS,
    "Output": {"title", "quiet", "verbose"} | parameters_of(writing),
}
_DEFAULTS = {"structure": "learned", "select": "ebic", "rule": "and"}
_GUIDE = ("Sample size and power", "power.md")


@click.command("power", cls=SectionedCommand, sections=_SECTIONS, guide=_GUIDE, defaults=_DEFAULTS)
@click.argument("model_file", metavar="MODEL")
@click.option("--rows", default="200,500,1000", show_default=True, metavar="N[,N...]", help="Numbers of rows to try.")
@click.option(
    "--repetitions",
    type=click.IntRange(min=2),
    default=100,
    show_default=True,
    help="Number of simulated tables for each number of rows.",
)
@click.option(
    "--sensitivity",
    type=float,
    default=0.8,
    show_default=True,
    help="Share of the edges to recover, between 0 and 1; mrfit prints how many rows it takes.",
)
@weights_option
@learner_options
@click.option(
    "--plot", metavar="FILE", help=f"Draw sensitivity and specificity against the number of rows to a {PICTURES} file."
)
@title_option
@writing
@cluster_option
@common
@click.pass_context
def command(context: click.Context, /, model_file: str, **options: Any) -> None:
    """Estimate how many rows a study needs to recover the edges of a model.

    MODEL is the network you expect, such as a sparse fit of a pilot study. All its nonzero edges count.

    \b
    Examples:
      mrfit power pilot.mrf --rows 200,500,1000,2000
      mrfit power pilot.mrf --sensitivity 0.9 --plot power.pdf
      mrfit power pilot.mrf --structure complete --penalty l1 --strength 20
    \f
    mrfit simulates tables from MODEL, learns a network from each, and compares it with MODEL. Without --structure it
    learns as mrfit structure --select ebic --rule and does. With --structure, --select and --rule have their usual
    defaults, degree and or.
    """
    from mrfit.analysis.sample_size.power import sample_size
    from mrfit.analysis.sample_size.power_record import PowerSummary
    from mrfit.core.threads import resolve_jobs
    from mrfit.plots.page import check_figure_path

    jobs = resolve_jobs(options["jobs"])
    enter_cluster(context, options["cluster"])
    if options["structure"] is None:
        take_by_itself(context, options, **_DEFAULTS)
    check_weights(context, options)
    sizes = whole_numbers(options["rows"], "--rows")
    if options["plot"] is not None:
        check_figure_path(options["plot"])
    check_title(options)
    check_files({"MODEL": model_file, "--structure": structure_file(options)}, {"--plot": options["plot"]}, options)
    fitting = learner_of(context, options)
    model = load_model(model_file)
    if not options["quiet"]:
        note_unbounded(model, model_file)
    learner = relearned(fitting, model.domain, options)
    quiet = options["quiet"] or options["as_json"]
    note_compiling(quiet=quiet)
    with counting_progress("tables", len(set(sizes)) * options["repetitions"], quiet=quiet) as callback:
        found = sample_size(
            model, learner, rows=sizes, repetitions=options["repetitions"], seed=options["seed"], jobs=jobs,
            callback=callback,
        )  # fmt: skip
    tell_notes(found.remarks, quiet=quiet)
    summary = PowerSummary.of(found, options["sensitivity"])
    if options["plot"] is not None:
        _draw(summary, options["plot"], title_of(model_file, options))
    if options["as_json"]:
        print_json(summary.to_dict())
    elif not options["quiet"]:
        _print(model_file, summary, options)
    note_failures(summary.failures, "tables")


def _edges(power: SampleSizeStudy) -> str:
    return f"{len(power.edges):,} edge{'s' if len(power.edges) != 1 else ''}"


def _draw(summary: PowerSummary, plot: str, title: str) -> None:
    import numpy as np

    from mrfit.analysis.sample_size.power_plot import draw_power
    from mrfit.plots.page import save_figure

    points, curves = summary.power.points, {}
    for name in ("sensitivity", "specificity", "correlation"):
        means = [getattr(point, name) for point in points]
        if not all(np.isnan(each.mean) for each in means):
            label = "correlation of weights" if name == "correlation" else name
            curves[label] = np.array([each.mean for each in means]), np.array([each.error for each in means])
    subtitle = f"{_edges(summary.power)}; {summary.power.repetitions:,} tables of each number of rows"
    figure = draw_power(
        [point.n_rows for point in points], curves, wanted=summary.wanted, title=title, subtitle=subtitle
    )
    save_figure(figure, plot)


def _print(model_file: str, summary: PowerSummary, options: dict[str, Any]) -> None:
    found = summary.power
    if summary.needed is None:
        say(f"a sensitivity of {summary.wanted:g} takes more than {found.points[-1].n_rows:,} rows", bold=True)
    else:
        least = "at most " if summary.needed <= found.points[0].n_rows else "about "
        say(f"a sensitivity of {summary.wanted:g} takes {least}{summary.needed:,.0f} rows", bold=True)
    remark(f"{model_file}: {_edges(found)}; {found.repetitions:,} tables of each number of rows")
    means = [(point, (point.sensitivity, point.specificity, point.correlation)) for point in found.points]
    rows = [[f"{point.n_rows:,}", *map(_mean_text, of_point)] for point, of_point in means]
    print_table([["rows", "sensitivity", "specificity", "corr. of weights"], *rows])
    heading("edges found least", f"share of tables by number of rows; weight: {found.unit}")
    order = sorted(range(len(found.edges)), key=lambda k: (found.points[-1].found[k], abs(found.edges[k][2])))
    lines = []
    for k in order[:_MOST_EDGES]:
        a, b, weight = found.edges[k]
        size = significant(weight, sign="+" if found.has_sign[k] else "")
        lines.append([*(f"{point.found[k]:.0%}" for point in found.points), size, f"{a} - {b}"])
    heads = [*(f"{point.n_rows:,}" for point in found.points), "weight", ""]
    print_table([heads, *lines], n_names=1, indent="  ")
    if options["plot"] is not None:
        say(f"wrote {options['plot']}")


def _mean_text(each: MeanOverSamples) -> str:
    return "-" if isnan(each.mean) else f"{each.mean:.3f} +- {each.error:.3f}"
