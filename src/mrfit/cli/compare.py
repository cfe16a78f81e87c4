"""`mrfit compare`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from mrfit.cli.files import check_files, csv_bytes, send, summary_beside, writing
from mrfit.cli.fit_text import note_unbounded
from mrfit.cli.model_options import load_scored_model
from mrfit.cli.option_rules import Rule, refuse_idle
from mrfit.cli.options import check_one_stream, choice, common, parameters_of, read_rows, reading
from mrfit.cli.output import note, note_compiling, print_json, print_lines, say
from mrfit.cli.picture_options import (
    PICTURES,
    check_layout,
    check_title,
    given_layout,
    layout_options,
    title_of,
    title_option,
)
from mrfit.cli.sections import MAIN, SectionedCommand

if TYPE_CHECKING:
    from mrfit.analysis.model_comparison import Comparison
    from mrfit.model.markov_network import MarkovNetwork

_SECTIONS = {
    MAIN: ("output", "plot", "data", "metric", "top", "as_json"),
    "Data": parameters_of(reading),
    "Picture": {"title"} | parameters_of(layout_options),
    "Output": parameters_of(common) | {"no_clobber"},
}
_GUIDE = ("Comparing models", "comparing.md")


@click.command("compare", cls=SectionedCommand, sections=_SECTIONS, guide=_GUIDE)
@click.argument("model_a", metavar="A")
@click.argument("model_b", metavar="B")
@click.option("--data", metavar="DATA", help="Table to score under both models.")
@choice(
    "--metric", "pll", "ll", help="Score of --data: the mean pseudo-log-likelihood, or the exact mean log-likelihood."
)
@click.option(
    "--top",
    type=click.IntRange(min=0),
    default=10,
    show_default=True,
    help="Number of edges and of parameters to print.",
)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    help="Write all parameters to a CSV file; or write both models as an interactive page to an .html file. - is "
    "standard output.",
)
@click.option(
    "--plot", metavar="FILE", help=f"Draw A, B and the difference B - A, in one layout, to a {PICTURES} file."
)
@layout_options
@title_option
@writing
@reading
@common
@click.pass_context
def command(context: click.Context, /, model_a: str, model_b: str, **options: Any) -> None:
    """Compare two models of the same variables: edge weights, parameters and scores.

    \b
    Examples:
      mrfit compare small.mrf large.mrf
      mrfit compare small.mrf large.mrf --data test.csv --metric ll
      mrfit compare men.mrf women.mrf --plot both.pdf -o parameters.csv
      mrfit compare men.mrf women.mrf -o both.html
    \f
    Differences are B - A, largest first. Edge weights are log odds ratios, per step for ordered variables with the same
    scores in both models. If a variable has unordered categories, the weight is a norm without a sign. The output
    prints the unit. Parameters are compared in canonical coordinates, or in spectral or ordered ones if both models
    have these.

    The difference of scores has a standard error over rows. If the rows had no part in learning, a difference of more
    than two standard errors is unlikely to be due to chance.
    """
    from mrfit.analysis.model_comparison import compare
    from mrfit.core.threads import resolve_jobs
    from mrfit.plots.page import check_figure_path

    refuse_idle(context, [Rule(("metric", *parameters_of(reading)), options["data"] is not None, "--data DATA")])
    check_one_stream(model_a, model_b, options["data"])
    check_title(options)
    check_layout(options)
    if options["plot"] is not None:
        check_figure_path(options["plot"])
    outputs = {"-o": options["output"], "--plot": options["plot"], "--save-layout": options["save_layout"]}
    check_files({"A": model_a, "B": model_b, "--data": options["data"]}, outputs, options)
    is_page = options["output"] is not None and options["output"].lower().endswith(".html")
    a, b = (load_scored_model(text, {"model_format": None}) for text in (model_a, model_b))
    note_compiling(quiet=options["quiet"] or options["as_json"])
    if not options["quiet"]:
        for model, name in ((a, model_a), (b, model_b)):
            note_unbounded(model, name)
    rows = None if options["data"] is None else read_rows(options["data"], options, domain=a.domain)
    found = compare(a, b, rows, metric=options["metric"], jobs=resolve_jobs(options["jobs"]))
    if options["output"] is not None:
        send(options["output"], _page(a, b, found, (model_a, model_b), options) if is_page else _csv(found))
    _draw(found, _title(model_a, model_b, options), options)
    if options["as_json"]:
        print_json({**found.to_dict(), "output": options["output"]})
    elif not options["quiet"]:
        with summary_beside(options["output"]):
            print_lines(found.text(options["top"]).splitlines())
            for option in ("output", "plot", "save_layout"):
                if options[option] is not None:
                    say(f"wrote {options[option]}")


def _title(model_a: str, model_b: str, options: dict[str, Any]) -> str:
    a, b = (title_of(text, options) for text in (model_a, model_b))
    return a if options["title"] is not None else f"{a} (A) and {b} (B)"


def _csv(found: Comparison) -> bytes:
    rows = ((each.name, each.order, each.a, each.b, each.difference) for each in found.parameters)
    return csv_bytes(["parameter", "order", "a", "b", "difference"], rows)


def _page(
    a: MarkovNetwork, b: MarkovNetwork, found: Comparison, names: tuple[str, str], options: dict[str, Any]
) -> bytes:
    from mrfit.explorer.html_page import report_page
    from mrfit.explorer.two_models import document_of_two

    one, other = (title_of(name, {**options, "title": None}) for name in names)
    return report_page(document_of_two(a, b, titles=(one, other), scores=found.scores, seed=options["seed"]))


def _draw(found: Comparison, title: str, options: dict[str, Any]) -> None:
    from mrfit.plots.layout_file import write_layout
    from mrfit.plots.page import save_figure

    if options["plot"] is None and options["save_layout"] is None:
        return
    if not found.edges:
        note("neither model has an edge: there is nothing to draw.")
        options |= {"plot": None, "save_layout": None}
        return
    places = found.layout(given_layout(options, found.names))
    if options["save_layout"] is not None:
        write_layout(options["save_layout"], found.names, places)
    if options["plot"] is not None:
        save_figure(found.figure(layout=places, title=title), options["plot"])
