"""`mrfit nodes`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from mrfit.cli.cluster_columns import read_owned
from mrfit.cli.cluster_options import column_and_address, enter_cluster, nested_option
from mrfit.cli.files import check_files, csv_bytes, send, summary_beside, writing
from mrfit.cli.fit_text import note_unbounded
from mrfit.cli.model_options import is_silent, load_scored_model, model_argument
from mrfit.cli.option_rules import Rule, refuse_idle
from mrfit.cli.options import check_one_stream, common, names, parameters_of, read_rows, reading_with
from mrfit.cli.output import heading, note, note_compiling, note_failures, print_json, print_table, remark, say, wrapped
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
from mrfit.core.errors import InputError
from mrfit.core.rounding import significant

if TYPE_CHECKING:
    from mrfit.analysis.nodes.node_measures import NodeMeasures
    from mrfit.analysis.nodes.node_record import NodesSummary
    from mrfit.analysis.nodes.node_stability import NodeStability
    from mrfit.core.domain import Domain
    from mrfit.data.dataset import Dataset
    from mrfit.data.unique_rows import UniqueRows
    from mrfit.model.markov_network import MarkovNetwork

_LONGEST = 30  # characters of a name in the table
_MOST = 25  # variables and communities that are printed
_reading = reading_with("observed", help="observed: predict variables from the observed values of a row.")

_SECTIONS = {
    MAIN: (
        *("test", "resamples", "groups", "coding", "paths", "cluster_column", "output", "plot", "plot_network"),
        "as_json",
    ),
    "Data": parameters_of(_reading) | {"cluster"},
    "Output": {"title", "level"} | parameters_of(layout_options) | parameters_of(writing) | parameters_of(common),
}
_GUIDE = ("Centrality, predictability and communities", "nodes.md")


@click.command("nodes", cls=SectionedCommand, sections=_SECTIONS, guide=_GUIDE)
@model_argument
@click.argument("data", required=False)
@click.option("--test", metavar="FILE", help="Test set: predictability is measured in these rows.")
@click.option(
    "--resamples",
    type=click.IntRange(min=0),
    default=50,
    show_default=True,
    help="Number of bootstrap samples of DATA, for intervals and for the stability of communities; 0 for none. Each "
    "repeats all learning as for MODEL.",
)
@click.option(
    "--group",
    "groups",
    multiple=True,
    metavar="NAME=A[,B...]",
    help="Group of variables, for bridge strength and bridge expected influence. Repeatable, once for each group.",
)
@click.option(
    "--coding",
    type=click.Choice(["weight", "01", "signs", "tables"]),
    help="Scale of the edge weights. weight: the edge weight (default). 01: log odds ratio of states 0 and 1. signs: a "
    "quarter of it (states -1 and +1). tables: norm of the centered table, signed if all states are numbers.",
)
@click.option(
    "--paths",
    is_flag=True,
    help="Also compute closeness and betweenness, from shortest paths with lengths 1 / |edge weight|.",
)
@click.option("-o", "--output", metavar="CSV", help="Write all measures to a CSV file; - is standard output.")
@click.option("--plot", metavar="FILE", help=f"Draw the measures as dots with intervals to a {PICTURES} file.")
@click.option(
    "--plot-network",
    metavar="FILE",
    help=f"Draw the network to a {PICTURES} file: rings show predictability, pale edges are in few bootstrap samples.",
)
@click.option(
    "--level", type=float, default=0.95, show_default=True, help="Level of percentile intervals, between 0 and 1."
)
@layout_options
@title_option
@writing
@_reading
@nested_option
@common
@click.pass_context
def command(context: click.Context, /, model_file: str, data: str | None, **options: Any) -> None:
    """Measure centrality, predictability and communities of the variables of a model.

    \b
    Examples:
      mrfit nodes model.mrf
      mrfit nodes model.mrf survey.csv --plot nodes.pdf --plot-network network.pdf
      mrfit nodes model.mrf train.csv --test test.csv --resamples 500
    \f
    Node strength is the sum of the absolute edge weights of a variable. Expected influence is the sum of the signed
    weights, if all have a sign. The output prints the unit of the weights.

    Predictability is measured in the rows of --test, otherwise of DATA: accuracy, normalised accuracy (the share of the
    errors of a guess by frequency that the model avoids) and explained deviance. Communities are those of Louvain, on
    absolute edge weights. Closeness and betweenness assume that something travels along shortest paths; they are less
    stable.

    \b
    More examples:
      mrfit nodes model.mrf survey.csv -o nodes.csv
      mrfit nodes model.mrf pupils.csv --cluster-column school
      mrfit nodes model.mrf --group mood=sad,tired,worried --group body=pain,sleep
    """
    from mrfit.analysis.nodes.node_record import NodesSummary
    from mrfit.core.threads import resolve_jobs
    from mrfit.data.unique_rows import UniqueRows

    jobs = resolve_jobs(options["jobs"])
    groups = _groups(options["groups"])
    _check_options(context, model_file, data, options)
    column, address = column_and_address(data, options)
    drawing = data is not None and options["resamples"] > 0
    refuse_idle(context, [Rule(("cluster_column", "cluster"), column is None or drawing, "DATA to learn from again")])
    enter_cluster(context, address)
    model = load_scored_model(model_file, {"model_format": None})
    if not options["quiet"]:
        note_unbounded(model, model_file)
    table, clusters = (None, None) if data is None else _read(data, column, model.domain, options)
    rows = None if table is None else UniqueRows.of(table)
    test = None if options["test"] is None else read_rows(options["test"], options, domain=model.domain)
    note_compiling(quiet=is_silent(options))
    nodes = model.nodes(
        rows if test is None else test, groups=groups, coding=options["coding"], paths=options["paths"],
        seed=options["seed"], jobs=jobs,
    )  # fmt: skip
    found = None if table is None else _stability(context, model, table, clusters, nodes, options, jobs)
    summary = NodesSummary(nodes, found, options["test"] or data)
    if options["output"] is not None:
        lines = summary.rows
        send(options["output"], csv_bytes(list(lines[0]), [list(line.values()) for line in lines]))
    _draw(summary, title_of(model_file, options), options)
    if options["as_json"]:
        print_json({**summary.to_dict(), "output": options["output"]})
    elif not options["quiet"]:
        with summary_beside(options["output"]):
            _print(model_file, summary, options)
    note_failures(summary.failures, f"of {summary.n_resamples:,} resamples")


def _check_options(context: click.Context, model_file: str, data: str | None, options: dict[str, Any]) -> None:
    from mrfit.plots.page import check_figure_path

    refuse_idle(
        context,
        [
            Rule(("resamples", "level"), data is not None, "DATA to learn from"),
            Rule(("layout", "save_layout"), options["plot_network"] is not None, "--plot-network"),
        ],
    )
    check_title(options, "--plot", "--plot-network")
    pictures = {"--plot": options["plot"], "--plot-network": options["plot_network"]}
    for picture in filter(None, pictures.values()):
        check_figure_path(picture)
    check_layout({**options, "plot": options["plot_network"]})
    check_one_stream(model_file, data, options["test"])
    inputs = {"MODEL": model_file, "DATA": data, "--test": options["test"]}
    check_files(inputs, {"-o": options["output"], **pictures, "--save-layout": options["save_layout"]}, options)


def _groups(texts: tuple[str, ...]) -> dict[str, tuple[str, ...]] | None:
    """``mood=sad,tired`` as the members of a group by its name."""
    found: dict[str, tuple[str, ...]] = {}
    for text in texts:
        name, equals, members = text.partition("=")
        if not equals or not name.strip():
            raise InputError(f"--group {text!r} does not name a group; write it like --group mood=sad,tired.")
        found[name.strip()] = (*found.get(name.strip(), ()), *names([members], "--group"))
    return found or None


def _read(
    data: str, column: str | None, domain: Domain, options: dict[str, Any]
) -> tuple[UniqueRows | Dataset, list[str] | None]:
    """The table; and which cluster each of its rows belongs to."""
    if column is None:
        return read_rows(data, options, domain=domain), None
    return read_owned(data, column, options, option="cluster-column", domain=domain)


def _stability(
    context: click.Context,
    model: MarkovNetwork,
    table: UniqueRows | Dataset,
    clusters: list[str] | None,
    nodes: NodeMeasures,
    options: dict[str, Any],
    jobs: int,
) -> NodeStability | None:
    """Bootstrap the measures, unless --resamples is 0 or, by default, if the model does not say how it was learned."""
    from mrfit.analysis.nodes.node_stability import node_stability

    n, asked = options["resamples"], context.get_parameter_source("resamples") is ParameterSource.COMMANDLINE
    if n == 0 or not (asked or isinstance(model.provenance.get("learner"), dict)):
        if n and not is_silent(options):
            note("note: MODEL does not record how it was learned, so there are no bootstrap intervals.")
        return None
    with counting_progress("resamples", n, quiet=is_silent(options)) as callback:
        found = node_stability(
            model, table, nodes=nodes, resamples=n, clusters=clusters, level=options["level"], seed=options["seed"],
            jobs=jobs, callback=callback,
        )  # fmt: skip
    if not found.is_of_these_rows and not options["quiet"]:
        note("warning: learning from DATA gives other weights than MODEL has; intervals are those of DATA.")
    return found


def _draw(summary: NodesSummary, title: str, options: dict[str, Any]) -> None:
    from mrfit.analysis.nodes.node_plot import draw_centralities, draw_node_network
    from mrfit.analysis.stability.resampled_networks import pairs_of
    from mrfit.plots.layout_file import write_layout
    from mrfit.plots.network_plot import network_layout
    from mrfit.plots.page import save_figure

    nodes, stability = summary.nodes, summary.stability
    if options["plot"] is not None:
        ranges = None if stability is None else stability.ranges
        subtitle = nodes.weights.meaning + (f"; {summary.n_resamples:,} resamples" if stability is not None else "")
        figure = draw_centralities(nodes, _drawn(nodes), ranges=ranges, title=title, subtitle=subtitle)
        save_figure(figure, options["plot"])
    if options["plot_network"] is not None and not summary.n_edges:
        note("no two variables are joined: there is no network to draw.")
        options |= {"plot_network": None, "save_layout": None}
    if options["plot_network"] is not None:
        layout = given_layout(options, nodes.names)
        inclusion = None if stability is None else stability.networks.inclusion
        axes = draw_node_network(nodes, inclusion=inclusion, layout=layout, title=title)
        save_figure(axes.figure, options["plot_network"])  # type: ignore[arg-type]
        if options["save_layout"] is not None:
            weights = nodes.weights.of_pairs
            edges = pairs_of(len(nodes.names))[weights != 0]
            places = network_layout(nodes.names, edges, weights[weights != 0], layout=layout)
            write_layout(options["save_layout"], nodes.names, places)


def _drawn(nodes: NodeMeasures) -> list[str]:
    """Measures that have a panel; those that nothing is known of have none."""
    wanted = ["strength", "expected_influence", "bridge_strength", "bridge_expected_influence", "closeness"]
    wanted += ["betweenness", "normalised_accuracy", "explained_deviance"]
    found = nodes.columns
    return [name for name in wanted if name in found and (found[name] == found[name]).any()]


# -- what is printed -----------------------------------------------------------------------------------------------

_HEADS = {
    "strength": "node strength",
    "expected_influence": "influence",
    "bridge_strength": "bridge",
    "bridge_expected_influence": "bridge infl.",
    "closeness": "closeness",
    "betweenness": "between",
    "accuracy": "accuracy",
    "normalised_accuracy": "normalised",
    "explained_deviance": "explained",
}


def _print(model_file: str, summary: NodesSummary, options: dict[str, Any]) -> None:
    nodes, rows = summary.nodes, summary.rows
    most, found = rows[0], summary.communities
    number = f"{len(found):,} communities" if len(found) != 1 else "1 community"
    most_central = f"{most['variable']} is the most central variable (node strength {_number(most['strength'])})"
    say(*wrapped(f"{most_central}; {number}"), bold=True)
    remark(f"{model_file}: {len(nodes.names):,} variables, {summary.n_edges:,} edges; {nodes.weights.meaning}")
    if summary.n_resamples:
        failed = f", {summary.n_failed:,} failed" if summary.n_failed else ""
        level = f"{100 * options['level']:g} %"
        remark(f"{level} percentile intervals from {summary.n_resamples:,} bootstrap samples{failed}")
    if summary.predicted is not None:
        seen = (
            ""
            if options["test"]
            else "; the model may have been learned from them: new rows (--test) are predicted worse"
        )
        remark(f"predicted: rows of {summary.predicted}{seen}")
    print_table([_head(summary), *(_line(row, summary) for row in rows[:_MOST])], n_words=1, longest=_LONGEST)
    if len(nodes.names) > _MOST:
        say(f"... and {len(nodes.names) - _MOST:,} more variables; -o CSV has all")
    _print_communities(summary)
    for option in ("output", "plot", "plot_network", "save_layout"):
        if options[option] is not None:
            say(f"wrote {options[option]}")


def _head(summary: NodesSummary) -> list[str]:
    head = ["variable"]
    for name, word in _HEADS.items():
        if name in summary.nodes.columns:
            head += [word, "interval"] if _has_range(name, summary) else [word]
    return [*head, "community", *(["stability"] if summary.stability is not None else [])]


def _has_range(name: str, summary: NodesSummary) -> bool:
    return summary.stability is not None and name in ("strength", "expected_influence")


def _line(row: dict[str, Any], summary: NodesSummary) -> list[str]:
    line = [row["variable"]]
    for name in _HEADS:
        if name in row:
            line.append(_number(row[name], sign="+" if "influence" in name else ""))
            if _has_range(name, summary):
                low, high = row[f"{name}_low"], row[f"{name}_high"]
                line.append("" if low != low else f"{_number(low)} to {_number(high)}")
    same = [f"{row['community_stability']:.2f}"] if summary.stability is not None else []
    return [*line, str(row["community"]), *same]


def _number(value: float, *, sign: str = "") -> str:
    return "-" if value != value else significant(value, sign=sign)


def _print_communities(summary: NodesSummary) -> None:
    found = summary.communities
    heading("communities by Louvain", f"modularity {round(summary.nodes.modularity, 2) + 0.0:.2f}")
    for each in found[:_MOST]:
        same = "" if each.stability is None else f" (stability {each.stability:.2f})"
        say(*wrapped(f"{each.number}{same}: {', '.join(each.variables)}", indent="  "))
    if len(found) > _MOST:
        say(f"  ... and {len(found) - _MOST:,} more")
