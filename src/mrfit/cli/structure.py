"""`mrfit structure`."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import click

from mrfit.cli.cluster_options import cluster_option, enter_cluster
from mrfit.cli.files import check_files, send, summary_beside, writing
from mrfit.cli.fit_by_em import print_missing
from mrfit.cli.option_rules import Rule, refuse_idle
from mrfit.cli.options import STANDARD, check_one_stream, common, names, parameters_of, read_rows, reading_with
from mrfit.cli.output import heading, note, note_compiling, print_json, remark, say, wrapped
from mrfit.cli.picture_options import (
    PICTURES,
    check_layout,
    check_title,
    given_layout,
    layout_options,
    title_of,
    title_option,
)
from mrfit.cli.progress import counting_progress
from mrfit.cli.sections import MAIN, SectionedCommand
from mrfit.cli.structure_options import covariates_option, structure_learners, structure_options, structure_rules
from mrfit.core.errors import InputError
from mrfit.core.rounding import significant
from mrfit.core.text_table import columns

if TYPE_CHECKING:
    from mrfit.analysis.structure_record import StructureSummary
    from mrfit.data.unique_rows import UniqueRows

_MOST_EDGES = 10  # printed
# Of two variables whose weight has no sign, as their states are numbers (see `edge_signs`).
_DIRECTIONS = {1: ", rising together", -1: ", one falling as the other rises", 0: ""}
_reading = reading_with("em", help="em: learn from incomplete rows, by their observed values.")

_SECTIONS = {
    MAIN: (
        *("output", "plot", "max_degree", "select", "rule", "gamma", "covariates", "exclude", "missing"),
        "as_json",
    ),
    "Data": parameters_of(_reading) | {"valid", "cluster"},
    "Structure": parameters_of(structure_options),
    "Output": {"output_format", "title"}
    | parameters_of(layout_options)
    | parameters_of(writing)
    | parameters_of(common),
}
_GUIDE = ("Structure learning", "structure-learning.md")


@click.command("structure", cls=SectionedCommand, sections=_SECTIONS, guide=_GUIDE)
@click.argument("data")
@structure_options
@covariates_option
@click.option("--valid", metavar="FILE", help="Validation set, for --select valid, --price valid and --bound joint.")
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    help="Write the edges to a .csv, .graphml or .json file; - is standard output.",
)
@click.option(
    "--output-format",
    type=click.Choice(["csv", "graphml", "json"]),
    help="Format of the output; by default taken from its suffix. Needed with -o -.",
)
@click.option("--plot", metavar="FILE", help=f"Draw the network to a {PICTURES} file.")
@title_option
@layout_options
@writing
@_reading
@cluster_option
@common
@click.pass_context
def command(context: click.Context, /, data: str, **options: Any) -> None:
    """Learn which variables are directly associated, controlling for all others.

    \b
    Examples:
      mrfit structure survey.csv --max-degree 5 -o edges.csv --plot network.png
      mrfit structure survey.csv --select ebic --rule and --plot network.png
      mrfit fit survey.csv --structure edges:edges.csv -o survey.mrf
    \f
    By default, each variable selects up to --max-degree neighbours by forward selection. The other values of --bound
    are path (the l1 path stops before it selects more), top (as in Chou et al., AAAI 2018), graph (no variable has more
    neighbours in the final graph) and joint. With joint, each edge belongs to one of its two variables and no variable
    has more than --max-degree edges of its own. The graph grows while the held-out score improves, on --valid or on a
    fifth of the rows.

    With --cluster, the regressions of the variables run in parallel on the cluster. --bound graph and joint grow one
    graph round by round, and run on this machine.

    \b
    More examples:
      mrfit structure survey.csv --select ebic --rule and -o graph.graphml
      mrfit structure women.csv --plot women.pdf --save-layout positions.csv
      mrfit structure men.csv --plot men.pdf --layout positions.csv
    """
    from mrfit.analysis.missing_record import MissingSummary
    from mrfit.analysis.structure_record import StructureSummary
    from mrfit.core.threads import resolve_jobs
    from mrfit.formats.graphs import structure_bytes
    from mrfit.plots.layout_file import write_layout
    from mrfit.plots.network_plot import network_figure, network_layout
    from mrfit.plots.page import check_figure_path, count, save_figure

    check_one_stream(data, options["valid"])
    refuse_idle(context, structure_rules(options))
    pairwise, *others = structure_learners(options).values()
    by_valid = Rule(("valid",), pairwise.uses_valid, "--select valid, --price valid or --bound joint")
    refuse_idle(context, [by_valid])
    jobs = resolve_jobs(options["jobs"])
    enter_cluster(context, options["cluster"])
    if others:
        raise InputError(f"--max-degree {options['max_degree']} names several bounds; a structure has one.")
    form = _form(options["output"], options["output_format"])
    if options["plot"] is not None:
        check_figure_path(options["plot"])
    check_title(options)
    check_layout(options)
    layout_file = None if options["layout"] in ("force", "circle") else options["layout"]
    inputs = {"DATA": data, "--valid": options["valid"], "--layout": layout_file}
    outputs = {"-o": options["output"], "--plot": options["plot"], "--save-layout": options["save_layout"]}
    check_files(inputs, outputs, options)
    rows = read_rows(data, options)
    missing = MissingSummary.of(rows) if options["missing"] == "em" else None
    covariates = tuple(dict.fromkeys(names(options["covariates"], "--covariates")))
    learner = pairwise.with_covariates(covariates, rows.domain) if covariates else pairwise
    layout = given_layout(options, rows.domain.names)
    valid = None if options["valid"] is None else read_rows(options["valid"], options, domain=rows.domain)
    if valid is not None:
        valid.check_complete("validation")
    begun = time.perf_counter()
    quiet = options["quiet"] or options["as_json"]
    note_compiling(quiet=quiet)
    if missing is not None:
        rows = _as_they_may_be(rows, jobs)
    with counting_progress("regressions", len(rows.domain), quiet=quiet) as callback:
        learned = learner.learn(rows, valid=valid, jobs=jobs, callback=callback)
    seconds = time.perf_counter() - begun
    if form is not None:
        send(options["output"], structure_bytes(form, learned.structure, rows.domain, learned.report))
    network = rows.domain.names, learned.structure.edges, learned.report.weight
    if options["plot"] is not None:
        signs = learned.report.signs
        title = title_of(data, options)
        if options["title"] is None:
            n_edges, n_variables = len(learned.structure.edges), len(rows.domain)
            title += f": {count(n_edges, 'conditional association')} among {count(n_variables, 'variable')}"
        figure = network_figure(
            *network, title=title, signs=signs, layout=layout, n_rows=rows.n_rows, unit=learned.report.unit
        )
        save_figure(figure, options["plot"])
    if options["save_layout"] is not None:
        write_layout(options["save_layout"], rows.domain.names, network_layout(*network, layout=layout))
    summary = StructureSummary.of(learned, rows, seconds=seconds)
    if options["as_json"]:
        print_json(summary.to_dict() | ({} if missing is None else {"missing": missing.to_dict()}))
    elif not options["quiet"]:
        with summary_beside(options["output"]):
            if missing is not None:
                print_missing(missing)
            _print_summary(data, summary, options)


def _as_they_may_be(rows: UniqueRows, jobs: int) -> UniqueRows:
    """Incomplete rows as all complete ones they may be, under a fit of all pairs by EM."""
    from mrfit.learning.em import fit_incomplete
    from mrfit.learning.learner import Learner

    found = fit_incomplete(Learner(), rows, jobs=jobs)
    if not found.converged:
        note(f"warning: EM did not converge in {found.rounds:,} rounds.")
    return found.rows


def _form(output: str | None, form: str | None) -> str | None:
    """Return the form in which the structure is written; None if it is not written."""
    from mrfit.formats.graphs import form_of

    if output is None:
        if form is not None:
            raise InputError(f"--output-format {form} is for an output; name one with -o.")
        return None
    if output == STANDARD and form is None:
        raise InputError("-o - has no name that says the form of the structure; add --output-format csv.")
    return form or form_of(output)


def _print_summary(data: str, summary: StructureSummary, options: dict[str, Any]) -> None:
    rows, edges = summary.rows, summary.edges
    n = len(edges)
    strongest = f"; the strongest is {edges[0]['source']} - {edges[0]['target']}" if edges else ""
    say(*wrapped(f"{n:,} edge{'' if n == 1 else 's'} among {rows.n_variables} variables{strongest}"), bold=True)
    dropped = f" ({rows.dropped:,} dropped)" if rows.dropped else ""
    degrees = f"degrees up to {summary.largest_degree}, mean {summary.mean_degree:.1f}"
    say(f"{data}: {rows.n_rows:,} rows{dropped}, {rows.n_variables} variables; {degrees}")
    if options["verbose"]:
        say(f"learned in {summary.seconds:.2f} s")
    for text in summary.remarks:
        remark(text)
    if edges:
        heading("largest edge weights by the regressions", summary.unit)
        _print_edges(summary)
    if len(edges) > _MOST_EDGES:
        say(f"  ... and {len(edges) - _MOST_EDGES:,} more edges")
    for option in ("output", "plot", "save_layout"):
        if options[option] is not None:
            say(f"wrote {options[option]}")


def _print_edges(summary: StructureSummary) -> None:
    """Print each edge with its weight, which stands between bars where it has no sign."""
    shown = list(zip(summary.edges[:_MOST_EDGES], summary.has_sign, strict=False))
    lines = [
        [
            significant(edge["weight"], sign="+") if has_sign else f"|{significant(edge['weight'])}|",
            f"{edge['source']} - {edge['target']}{'' if has_sign else _DIRECTIONS[edge['sign']]}",
        ]
        for edge, has_sign in shown
    ]
    say(*(f"  {line}" for line in columns(lines, n_names=1)))
