"""`mrfit spectrum`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from mrfit.cli.files import check_files, writing
from mrfit.cli.options import choice, common, numbers, parameters_of, read_rows, reading
from mrfit.cli.output import heading, note_compiling, print_json, print_table, remark, say
from mrfit.cli.picture_options import PICTURES, check_title, title_of, title_option
from mrfit.cli.progress import grid_progress
from mrfit.cli.sections import MAIN, SectionedCommand
from mrfit.core.errors import InputError, listed
from mrfit.core.rounding import strength_text

if TYPE_CHECKING:
    from mrfit.analysis.spectrum.interaction_spectrum import OrderCost
    from mrfit.analysis.spectrum.spectrum_record import SpectrumSummary
    from mrfit.data.unique_rows import UniqueRows

_MOST_STATES = 2**20  # joint states: cross-validation goes over them some ten thousand times


_SECTIONS = {
    MAIN: ("plot", "estimator", "most", "columns", "strengths", "folds", "max_order", "as_json"),
    "Data": parameters_of(reading),
    "Output": {"title"} | parameters_of(writing) | parameters_of(common),
}
_GUIDE = ("Parameterizations", "parameterizations.md")


@click.command("spectrum", cls=SectionedCommand, sections=_SECTIONS, guide=_GUIDE)
@click.argument("data")
@choice(
    "--estimator",
    "flat-l1",
    "flat-l2",
    "pseudo-counts",
    help="Penalty of the estimate, equal for interactions of all orders. flat-l1 makes most of them zero, predicts "
    "best and takes longest; flat-l2 and pseudo-counts make none zero.",
)
@click.option(
    "--most",
    type=click.IntRange(min=2),
    metavar="N",
    help="Use the N columns with the most mutual information with the others; at least 2.",
)
@click.option(
    "--strength",
    "strengths",
    metavar="S[,S...]",
    help="Penalty strengths to choose from; by default a path of powers of the square root of 2.",
)
@click.option(
    "--folds",
    type=click.IntRange(min=2),
    default=10,
    show_default=True,
    help="Number of folds of the cross-validation that chooses the penalty strength.",
)
@click.option(
    "--max-order",
    type=click.IntRange(min=0),
    default=3,
    show_default=True,
    help="Largest order in the table of what ignoring larger interactions costs; 0 skips the table.",
)
@click.option("--plot", metavar="FILE", help=f"Draw the spectrum to a {PICTURES} file.")
@title_option
@writing
@reading
@common
def command(data: str, **options: Any) -> None:
    """Measure how large interactions are, by the number of variables they join.

    \b
    Examples:
      mrfit spectrum survey.csv --plot spectrum.png
      mrfit spectrum nltcs:train --estimator pseudo-counts
      mrfit spectrum plants:train --most 12
    \f
    mrfit expands the log-probabilities of all joint states in spectral parameters, one or more for each set of
    variables (for binary variables, products of signs). Cross-validation chooses the penalty strength. A second table
    shows what ignoring larger interactions costs: held-out log-likelihoods of l1 fits with interactions of up to 1, 2,
    ... variables, and with all of them.
    """
    from mrfit.analysis.spectrum.interaction_spectrum import interaction_spectrum, order_costs
    from mrfit.analysis.spectrum.spectrum_record import SpectrumSummary
    from mrfit.core.threads import resolve_jobs

    check_title(options)
    if options["plot"] is not None:
        from mrfit.plots.page import check_figure_path

        check_figure_path(options["plot"])
    check_files({"DATA": data}, {"--plot": options["plot"]}, options)
    rows = _chosen(read_rows(data, options), options)
    strengths = None if options["strengths"] is None else numbers(options["strengths"], "--strength")
    shared = {"folds": options["folds"], "seed": options["seed"], "jobs": resolve_jobs(options["jobs"])}
    quiet = options["quiet"] or options["as_json"]
    note_compiling(quiet=quiet)
    with grid_progress(quiet=quiet) as progress:
        found = interaction_spectrum(rows, options["estimator"], strengths=strengths, progress=progress, **shared)
    costs: tuple[OrderCost, ...] = ()
    if options["max_order"]:
        with grid_progress(quiet=quiet) as progress:
            costs = order_costs(rows, max_order=options["max_order"], progress=progress, **shared)
    if options["plot"] is not None:
        from mrfit.analysis.spectrum.spectrum_plot import draw_spectrum
        from mrfit.plots.page import save_figure

        about = f"{rows.n_rows:,} rows, {len(rows.domain)} variables"
        losses = [cost.drawn for cost in costs]
        figure = draw_spectrum(found.curve, losses, title=title_of(data, options), subtitle=about)
        save_figure(figure, options["plot"])
    summary = SpectrumSummary.of(found, costs, rows)
    if options["as_json"]:
        print_json(summary.to_dict())
    elif not options["quiet"]:
        _print(data, summary)


def _chosen(rows: UniqueRows, options: dict[str, Any]) -> UniqueRows:
    """The rows with the columns asked for; too many are refused with a way out."""
    import numpy as np

    from mrfit.inference.exact.joint_states import plan_joint_states
    from mrfit.inference.plan import as_float
    from mrfit.structures.mutual_information import pairwise_mutual_information

    if options["columns"] and options["most"] is not None:
        raise InputError("Give --columns or --most, not both.")
    columns: list[int] = list(range(len(rows.domain)))
    if options["most"] is not None:
        information = pairwise_mutual_information(rows)
        np.fill_diagonal(information, 0.0)
        columns = sorted(np.argsort(-information.sum(axis=1), kind="stable")[: options["most"]].tolist())
    rows = rows.on_columns(columns)
    n_states = plan_joint_states(rows.domain.shape).n_cells
    if n_states > _MOST_STATES:
        raise InputError(
            f"The spectrum of {len(rows.domain)} variables has {as_float(n_states):.2g} terms; the limit is "
            f"{_MOST_STATES:.2g}, 20 columns of two states. Choose some with --columns "
            f"{','.join(rows.domain.names[:3])},... or let --most 16 choose those that depend most on each other."
        )
    return rows


def _print(data: str, summary: SpectrumSummary) -> None:
    columns = summary.columns
    estimate = f"{summary.estimator}, lambda {strength_text(summary.strength)}"
    say(f"{estimate}: validation ll {summary.held_out_ll:.4f} nats a row", bold=True)
    remark(f"{data}: {summary.n_rows:,} rows, {len(columns)} variables: {listed(columns)}")
    sizes = [
        [f"{each.order}", f"{each.n_scopes:,}", f"{each.mean:.2e}", f"{each.density:.1%}"] for each in summary.orders
    ]
    print_table([["variables", "sets", "mean |w|", "not zero"], *sizes])
    if not summary.ignoring:
        return
    heading("what ignoring larger sets costs", "l1, spectral")
    costs = [
        [
            "all" if cost.order is None else f"{cost.order}",
            strength_text(cost.strength),
            f"{cost.n_nonzero:,}",
            f"{cost.held_out:.4f}",
            f"{cost.loss:.4f} +- {cost.standard_error:.4f}",
        ]
        for cost in summary.ignoring
    ]
    print_table([["up to", "lambda", "not zero", "validation ll", "loss"], *costs])
