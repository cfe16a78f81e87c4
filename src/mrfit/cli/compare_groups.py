"""`mrfit compare-groups`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from mrfit.cli.cluster_columns import read_owned
from mrfit.cli.cluster_options import cluster_option, enter_cluster
from mrfit.cli.exact_options import structure_file
from mrfit.cli.files import check_files, csv_bytes, send, summary_beside, writing
from mrfit.cli.learner_options import LEARNER_SECTIONS, check_orders_of, learner_of, learner_options
from mrfit.cli.option_rules import Rule, refuse_idle
from mrfit.cli.options import (
    common,
    declared_states,
    names,
    parameters_of,
    read_rows,
    reading,
    states_option,
)
from mrfit.cli.output import heading, note, note_compiling, print_json, print_table, remark, say, wrapped
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
from mrfit.cli.resampling_options import check_weights, relearned, take_by_itself, weights_option
from mrfit.cli.sections import MAIN, SectionedCommand
from mrfit.core.errors import InputError
from mrfit.core.rounding import significant

if TYPE_CHECKING:
    from mrfit.analysis.groups.compare_groups import GroupComparison
    from mrfit.analysis.groups.groups_record import ComparedGroups, GroupsSummary
    from mrfit.data.dataset import Dataset
    from mrfit.data.unique_rows import UniqueRows

_MOST = 10  # edges and variables that are printed

_SECTIONS = {
    MAIN: (*("by", "paired", "tests", "permutations", "structure", "select", "rule", "penalty", "output", "plot"),),
    "Groups": ("weights",),
    "Data": parameters_of(reading) | {"states", "cluster"},
    **LEARNER_SECTIONS,
    "Output": {"title", "as_json", "quiet", "verbose"} | parameters_of(layout_options) | parameters_of(writing),
}
_GUIDE = ("Comparing groups", "groups.md")


@click.command("compare-groups", cls=SectionedCommand, sections=_SECTIONS, guide=_GUIDE, defaults={"penalty": "none"})
@click.argument("data")
@click.option(
    "--by", required=True, metavar="COLUMN", help="Column that names the group of each row; two or more groups."
)
@click.option(
    "--paired",
    metavar="COLUMN",
    help="Column that names the person of each row, if each person has one row in every group.",
)
@click.option(
    "--tests",
    metavar="TEST[,TEST...]",
    help="Tests. wald: parameters, by their standard errors. likelihood: all interactions at once, by the exact "
    "likelihood ratio. permutations: of rows among groups, repeating all learning, as in the NCT. By default wald, "
    "with likelihood if that is fast; permutations if edges are selected or rows are paired.",
)
@click.option(
    "--permutations",
    type=click.IntRange(min=1),
    default=1000,
    show_default=True,
    help="Number of permutations of the permutation test.",
)
@weights_option
@learner_options
@click.option("-o", "--output", metavar="CSV", help="Write all edges to a CSV file; - is standard output.")
@click.option(
    "--plot",
    metavar="FILE",
    help=f"Draw the network of each group and their difference, in one layout, to a {PICTURES} file.",
)
@layout_options
@title_option
@writing
@states_option
@reading
@cluster_option
@common
@click.pass_context
def command(context: click.Context, /, data: str, **options: Any) -> None:
    """Test whether groups have the same network: as a whole, by edge and by variable.

    \b
    Examples:
      mrfit compare-groups survey.csv --by sex
      mrfit compare-groups survey.csv --by sex --plot groups.pdf -o edges.csv
      mrfit compare-groups therapy.csv --by time --paired patient
    \f
    mrfit learns a network from each group, by default with all pairs and without a penalty. It adjusts the p-values of
    single edges and variables for multiple comparisons (Benjamini and Hochberg).

    If edges are selected, networks of groups of different sizes look different even if the groups do not differ. The
    permutation test accounts for that; a comparison by eye does not. mrfit counts the permutations in which learning
    fails, and prints the reason.

    \b
    More examples:
      mrfit compare-groups survey.csv --by country --structure learned \\
        --select ebic --rule and
      mrfit compare-groups survey.csv --by sex --tests permutations
    """
    from mrfit.analysis.groups.compare_groups import compare_groups
    from mrfit.analysis.groups.groups_record import GroupsSummary
    from mrfit.core.threads import resolve_jobs
    from mrfit.data.grouped_rows import variables_beside
    from mrfit.plots.page import check_figure_path

    jobs = resolve_jobs(options["jobs"])
    enter_cluster(context, options["cluster"])
    take_by_itself(context, options, penalty="none")
    tests = None if options["tests"] is None else names([options["tests"]], "--tests")
    _check_options(context, options, tests)
    if options["plot"] is not None:
        check_figure_path(options["plot"])
    check_title(options)
    check_layout(options)
    outputs = {"-o": options["output"], "--plot": options["plot"], "--save-layout": options["save_layout"]}
    inputs = {"DATA": data, "--structure": structure_file(options), "--states": options["states"]}
    check_files(inputs, outputs, options)
    fitting = learner_of(context, options)
    states = declared_states(options["states"])
    table, ids = _read(data, options, states)
    variables = variables_beside(table.domain, options["by"])
    check_orders_of(fitting, variables, states)
    learner = relearned(fitting, variables, options)
    quiet = options["quiet"] or options["as_json"]
    note_compiling(quiet=quiet)
    with counting_progress("networks", 1, quiet=quiet) as callback:
        found = compare_groups(
            learner, table, by=options["by"], paired=ids, tests=tests, permutations=options["permutations"],
            seed=options["seed"], jobs=jobs, callback=callback,
        )  # fmt: skip
    summary = GroupsSummary.of(found)
    if options["output"] is not None:
        send(options["output"], _csv(summary))
    _draw(summary, title_of(data, options), options)
    if options["as_json"]:
        print_json({**summary.to_dict(), "output": options["output"]})
    elif not options["quiet"]:
        with summary_beside(options["output"]):
            _print(data, summary, options)
    for reason, times in summary.failures.items():
        note(f"warning: learning failed for {times:,} permuted groups: {reason}")


def _check_options(context: click.Context, options: dict[str, Any], tests: tuple[str, ...] | None) -> None:
    check_weights(context, options)
    shuffled = tests is None or "permutations" in tests
    refuse_idle(context, [Rule(("permutations", "seed"), shuffled, "--tests permutations")])
    if options["paired"] is not None and options["weight"] is not None:
        raise InputError("Rows with weights cannot be paired; leave out --paired or --weight.")


def _read(
    data: str, options: dict[str, Any], states: dict[str, list[str]] | None
) -> tuple[UniqueRows | Dataset, list[str] | None]:
    """The table with its column of groups; and who each row belongs to."""
    columns = options["columns"]
    if columns and options["by"] not in names(columns, "--columns"):
        options = {**options, "columns": (*columns, f'"{options["by"]}"')}
    if options["paired"] is None:
        return read_rows(data, options, states=states), None
    return read_owned(data, options["paired"], options, option="paired", states=states)


def _csv(summary: GroupsSummary) -> bytes:
    tests = ("difference", "wald_p", "wald_adjusted", "permutation_p", "permutation_adjusted")
    names = ["source", "target", *(f"weight_{label}" for label in summary.comparison.labels), *tests]
    return csv_bytes(
        names, ([*edge.variables, *edge.values, *(getattr(edge, name) for name in tests)] for edge in summary.edges)
    )


def _draw(summary: GroupsSummary, title: str, options: dict[str, Any]) -> None:
    from mrfit.plots.layout_file import write_layout
    from mrfit.plots.page import save_figure

    found = summary.comparison
    if options["plot"] is None and options["save_layout"] is None:
        return
    if not found.weights.any():
        note("no group has an edge: there is nothing to draw.")
        options |= {"plot": None, "save_layout": None}
        return
    places = summary.layout(given_layout(options, found.names))
    if options["save_layout"] is not None:
        write_layout(options["save_layout"], found.names, places)
    if options["plot"] is not None:
        save_figure(summary.figure(layout=places, title=title), options["plot"])


def _print(data: str, summary: GroupsSummary, options: dict[str, Any]) -> None:
    found = summary.comparison
    groups = ", ".join(f"{label} ({size:,.0f} rows)" for label, size in zip(found.labels, found.sizes, strict=True))
    say(*wrapped(_headline(summary)), bold=True)
    remark(f"{data} by {found.by}: {groups}")
    _print_tests(found, summary)
    for text in found.remarks + (() if found.wald is None else found.wald.remarks):
        remark(f"note: {text}")
    _print_compared("edge weights that differ most", found.unit, summary.edges, found)
    _print_compared("node strengths", "sums of the sizes of edge weights", summary.nodes, found)
    for option in ("output", "plot", "save_layout"):
        if options[option] is not None:
            say(f"wrote {options[option]}")


def _headline(summary: GroupsSummary) -> str:
    """Say how many edges differ, and whether the networks differ as a whole."""
    found, n = summary.comparison, summary.n_different()
    p = None
    if found.permutations is not None:
        p = found.permutations.p_largest
    if found.wald is not None:
        p = found.wald.whole.p
    whole = "" if p is None or p != p else f"; networks as a whole: p {p:.2g}"
    return f"{n:,} of {len(summary.edges):,} edges differ (adjusted p at most 0.05){whole}"


def _print_tests(found: GroupComparison, summary: GroupsSummary) -> None:
    if found.wald is not None:
        whole = found.wald.whole
        say(f"all interactions, Wald: chi-square {whole.statistic:.4g} on {whole.degrees:,}, p {whole.p:.2g}")
    if found.likelihood is not None:
        ratio = found.likelihood
        say(f"all interactions, likelihood ratio: {ratio.statistic:.4g} on {ratio.degrees:,}, p {ratio.p:.2g}")
        if ratio.held:
            remark(
                f"note: {len(ratio.held):,} parameters have no finite optimum ({ratio.held[0]}); this p is too large"
            )
    if found.permutations is not None:
        shuffled = found.permutations
        failed = f", {summary.n_failed:,} networks failed" if summary.n_failed else ""
        remark(
            f"{shuffled.n:,} permutations{failed}: largest difference M {shuffled.observed.largest:.4g}, p "
            f"{shuffled.p_largest:.2g}; of total strength S {shuffled.observed.total:.4g}, p {shuffled.p_total:.2g}"
        )


def _print_compared(title: str, unit: str, entries: tuple[ComparedGroups, ...], found: GroupComparison) -> None:
    """Print weights, or strengths, in each group, with their difference and its p."""
    if not entries:
        say("no group has an edge")
        return
    heading(title, unit)
    rows = [_compared_row(entry) for entry in entries[:_MOST]]
    print_table([["", *found.labels, _difference_of(found.labels), "p", "adjusted p"], *rows], n_words=1, indent="  ")
    if len(entries) > _MOST:
        say(f"  ... and {len(entries) - _MOST:,} more")


def _difference_of(labels: tuple[str, ...]) -> str:
    return f"{labels[1]} - {labels[0]}" if len(labels) == 2 else "largest - smallest"


def _compared_row(entry: ComparedGroups) -> list[str]:
    sign = "+" if entry.has_sign else ""
    p = entry.permutation_p if entry.wald_p != entry.wald_p else entry.wald_p
    tests = ["not known", ""] if p != p else [f"{p:.2g}", f"{entry.adjusted:.2g}"]
    values = [significant(value, sign=sign) for value in entry.values]
    return [" - ".join(entry.variables), *values, significant(entry.difference, sign="+"), *tests]
