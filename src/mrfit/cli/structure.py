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
from mrfit.cli.output import note, note_compiling, print_json, say
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
from mrfit.cli.sections import SectionedCommand
from mrfit.cli.structure_options import covariates_option, structure_learners, structure_options, structure_rules
from mrfit.core.errors import InputError

if TYPE_CHECKING:
    from mrfit.analysis.structure_record import StructureSummary
    from mrfit.data.unique_rows import UniqueRows

_MOST_EDGES = 10  # printed
# Of two variables whose weight has no sign, as their states are numbers (see `edge_signs`).
_DIRECTIONS = {1: ", rising together", -1: ", one falling as the other rises", 0: ""}
_reading = reading_with("em", help="; or em: learn from incomplete rows, by what they have")

_SECTIONS = {
    "Options that matter most": ("max_degree", "select", "rule", "valid", "output", "plot"),
    "Data": parameters_of(_reading) | {"cluster"},
    "Structure": parameters_of(structure_options) | {"covariates"},
    "Output": {"output_format", "title"}
    | parameters_of(layout_options)
    | parameters_of(writing)
    | parameters_of(common),
}


@click.command("structure", cls=SectionedCommand, sections=_SECTIONS)
@click.argument("data")
@structure_options
@covariates_option
@click.option("--valid", metavar="FILE", help="Held-out rows, for --select valid, --price valid and --bound joint.")
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    help="Where to write it: edges.csv, graph.graphml or structure.json; - is standard output.",
)
@click.option(
    "--output-format",
    type=click.Choice(["csv", "graphml", "json"]),
    help="Form of the output, whatever its name ends in; needed with -o -.",
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
    """Learn which variables of DATA interact, by one sparse regression for each variable.

    \b
    The degree bound --max-degree D can be met in five ways (--bound):
      gain   up to D neighbours for each variable, by what they add after refitting (default)
      path   the l1 path of each variable stops before it selects more than D
      top    the D largest coefficients of a weak l1 regression (as in Chou et al., AAAI 2018)
      graph  no variable of the final graph has more than D neighbours
      joint  every edge is owned by one of its ends, nobody owns more than D; edges are grown on the
             joint pseudo-likelihood, as cautiously as held-out rows advise (--valid, else a fifth)
    With the first three, --rule or|and joins the two regressions of each pair.

    On a --cluster the regressions of variables are worked out side by side, but for --bound graph and joint: these grow
    one graph round by round, each round after the last, and stay on this machine.

    \b
    Examples:
      mrfit structure survey.csv --max-degree 5 -o edges.csv --plot network.png
      mrfit structure women.csv --plot women.pdf --save-layout positions.csv
      mrfit structure men.csv --plot men.pdf --layout positions.csv
      mrfit structure survey.csv --select ebic --rule and -o graph.graphml
      mrfit fit survey.csv --structure edges:edges.csv -o survey.mrf
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
        note(f"warning: EM did not come to rest in {found.rounds:,} rounds.")
    return found.rows


def _form(output: str | None, form: str | None) -> str | None:
    """In which form the structure is written, if it is."""
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
    dropped = f" ({rows.dropped:,} dropped)" if rows.dropped else ""
    say(
        f"{data}: {rows.n_rows:,} rows{dropped}, {rows.n_variables} variables; {len(edges):,} edges, "
        f"degrees up to {summary.largest_degree}, mean {summary.mean_degree:.1f} ({summary.seconds:.2f} s)"
    )
    if edges:
        say(f"largest edge weights by the regressions ({summary.unit}):")
    for edge, has_sign in zip(edges[:_MOST_EDGES], summary.has_sign, strict=False):
        size = f"{edge['weight']:+.3f}" if has_sign else f"|{edge['weight']:.3f}|"
        direction = "" if has_sign else _DIRECTIONS[edge["sign"]]
        say(f"  {size:>8}  {edge['source']} - {edge['target']}{direction}")
    if len(edges) > _MOST_EDGES:
        say(f"  ... and {len(edges) - _MOST_EDGES:,} more edges")
    for remark in summary.remarks:
        say(remark)
    for option in ("output", "plot", "save_layout"):
        if options[option] is not None:
            say(f"wrote {options[option]}")
