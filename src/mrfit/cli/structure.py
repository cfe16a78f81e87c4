"""`mrfit structure`."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import click

from mrfit.cli.options import common, read_rows, reading
from mrfit.cli.output import counting_progress, note_compiling, print_json
from mrfit.cli.picture_options import (
    KINDS,
    check_layout,
    check_title,
    given_layout,
    layout_options,
    title_of,
    title_option,
)
from mrfit.cli.structure_options import structure_options, structure_settings
from mrfit.errors import InputError

if TYPE_CHECKING:
    from mrfit.data.unique_rows import UniqueRows
    from mrfit.structure.nodewise import LearnedStructure


@click.command("structure")
@click.argument("data")
@structure_options
@click.option("--valid", metavar="FILE", help="Held-out rows, for --select valid.")
@click.option("-o", "--output", metavar="FILE", help="Where to write it: edges.csv, graph.graphml or structure.json.")
@click.option("--plot", metavar="FILE", help=f"Draw the network to a {KINDS} file.")
@title_option
@layout_options
@reading
@common
def command(data: str, **options: Any) -> None:
    """Learn which variables of DATA interact, by one sparse regression for each variable.

    \b
    The degree bound --max-degree D can be met in four ways (--bound):
      gain   up to D neighbours for each variable, by what they add after refitting (default)
      path   the l1 path of each variable stops before it selects more than D
      top    the D largest coefficients of a weak l1 regression (as in Chou et al., AAAI 2018)
      graph  no variable of the final graph has more than D neighbours
    With the first three, --rule or|and joins the two regressions of each pair.

    \b
    Examples:
      mrfit structure survey.csv --max-degree 5 -o edges.csv --plot network.png
      mrfit structure women.csv --plot women.pdf --save-layout places.csv
      mrfit structure men.csv --plot men.pdf --layout places.csv
      mrfit structure survey.csv --select ebic --rule and -o graph.graphml
      mrfit fit survey.csv --structure edges:edges.csv -o survey.mrf
    """
    from mrfit._kernels.nodewise import solve_node
    from mrfit.formats.graphs import check_structure_path, save_structure
    from mrfit.report.layout_file import write_layout
    from mrfit.report.network import network_figure, network_layout
    from mrfit.report.page import check_figure_path, save_figure
    from mrfit.structure.nodewise import learn_structure

    settings, *others = structure_settings(options)
    if others:
        raise InputError(f"--max-degree {options['max_degree']} names several bounds; a structure has one.")
    if options["output"] is not None:
        check_structure_path(options["output"])
    if options["plot"] is not None:
        check_figure_path(options["plot"])
    check_title(options)
    check_layout(options)
    rows = read_rows(data, options)
    layout = given_layout(options, rows.domain.names)
    valid = None if options["valid"] is None else read_rows(options["valid"], options, domain=rows.domain)
    begun = time.perf_counter()
    quiet = options["quiet"] or options["as_json"]
    note_compiling(solve_node, "20", quiet=quiet)
    with counting_progress("regressions", len(rows.domain), quiet=quiet) as callback:
        learned = learn_structure(rows, settings, valid=valid, callback=callback)
    seconds = time.perf_counter() - begun
    if options["output"] is not None:
        save_structure(options["output"], learned.structure, rows.domain, learned.report)
    network = rows.domain.names, learned.structure.edges, learned.report.strength
    if options["plot"] is not None:
        figure = network_figure(*network, title=title_of(data, options), layout=layout, n_rows=rows.n_rows)
        save_figure(figure, options["plot"])
    if options["save_layout"] is not None:
        write_layout(options["save_layout"], rows.domain.names, network_layout(*network, layout=layout))
    if options["as_json"]:
        print_json(_document(rows, learned, seconds))
    elif not options["quiet"]:
        _print_summary(data, rows, learned, seconds, options)


def _document(rows: UniqueRows, learned: LearnedStructure, seconds: float) -> dict[str, Any]:
    edges = [
        {key: None if value != value else value for key, value in row.items()}  # NaN is not JSON
        for row in learned.report.rows(rows.domain.names)
    ]
    return {
        "n_rows": rows.n_rows,
        "n_distinct_rows": rows.n_distinct,
        "n_variables": len(rows.domain),
        "n_edges": len(edges),
        "largest_degree": int(learned.structure.degrees.max(initial=0)),
        "violation": learned.violation,
        "seconds": seconds,
        "edges": edges,
    }


def _print_summary(
    data: str, rows: UniqueRows, learned: LearnedStructure, seconds: float, options: dict[str, Any]
) -> None:
    degrees = learned.structure.degrees
    click.echo(
        f"{data}: {rows.n_rows:,} rows, {len(rows.domain)} variables; {len(learned.report):,} edges, "
        f"degrees up to {int(degrees.max(initial=0))}, mean {degrees.mean():.1f} ({seconds:.2f} s)"
    )
    for number, row in enumerate(learned.report.rows(rows.domain.names)):
        if number == 10:
            click.echo(f"  ... and {len(learned.report) - 10:,} more edges")
            break
        click.echo(f"  {row['strength']:+8.3f}  {row['source']} - {row['target']}")
    for option in ("output", "plot", "save_layout"):
        if options[option] is not None:
            click.echo(f"wrote {options[option]}")
