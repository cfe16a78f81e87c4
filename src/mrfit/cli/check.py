"""`mrfit check`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from mrfit.cli.files import check_files, writing
from mrfit.cli.model_options import from_option, is_silent, model_argument, note_remarks, read_model
from mrfit.cli.options import check_one_stream, choice, common, parameters_of, read_rows, reading
from mrfit.cli.output import note, note_compiling, print_json, say
from mrfit.cli.picture_options import PICTURES, check_title, title_of, title_option
from mrfit.cli.query import columns, probability
from mrfit.cli.sections import SectionedCommand

if TYPE_CHECKING:
    from mrfit.checking.check import Check, Difference

_ENGINES = ("auto", "enumeration", "tree", "ais")  # as in mrfit.checking.checker, which --help need not load
_SECONDS = 10.0  # as in mrfit.checking.budget

_SECTIONS = {
    "Options that matter most": ("plot", "engine", "seconds", "top", "model_format", "as_json"),
    "Data": parameters_of(reading),
    "Output": ("title", "no_clobber", *sorted(parameters_of(common))),
}


@click.command("check", cls=SectionedCommand, sections=_SECTIONS)
@model_argument
@click.argument("data")
@click.option(
    "--plot",
    metavar="FILE",
    help="Draw model against data, one point for each pair of states, and how many variables are away from their first "
    f"state, as {PICTURES}.",
)
@choice(
    "--engine",
    *_ENGINES,
    help="How the model's side is computed: auto is exact where that is quick (tree, enumeration), else by chains "
    "annealed from anywhere and from the data (ais), with errors.",
)
@click.option(
    "--seconds",
    type=click.FloatRange(min=0.0, min_open=True),
    default=_SECONDS,
    show_default=True,
    help="About how long it may take; more of them make what is not exact more certain. Nothing is measured, so the "
    "same number gives the same answer.",
)
@click.option(
    "--top", type=click.IntRange(min=0, max=10), default=5, show_default=True, help="Variables, and pairs, to print."
)
@from_option
@title_option
@writing
@reading
@common
def command(model_file: str, data: str, **options: Any) -> None:
    """Do the rows that MODEL would draw look like DATA?

    A network fitted by pseudo-likelihood can have nearly all its probability where there are no data, while its score
    looks fine: this shows it. Frequencies of states and of pairs of states in DATA are compared with their
    probabilities under MODEL; so is the number of variables away from their first state. A mode of the model that the
    data do not have is named, with the way on.

    MODEL is a .mrf, .uai, .LG, .mn or .fg file, each also .gz, or - for standard input. Columns and states are matched
    by name; columns that the model does not know are ignored.

    \b
    Examples:
      mrfit check model.mrf train.csv
      mrfit check model.mrf train.csv --plot check.png     model against data
      mrfit check model.mrf test.csv --engine tree         exact, whatever it takes
      mrfit check model.mrf train.csv --json               all of it
      mrfit check other.mn train.data                      of Libra
    """
    from mrfit.workers import resolve_jobs

    check_title(options)
    check_one_stream(model_file, data)
    check_files({"MODEL": model_file, "DATA": data}, {"--plot": options["plot"]}, options)
    if options["plot"] is not None:
        from mrfit.report.page import check_figure_path

        check_figure_path(options["plot"])
    jobs = resolve_jobs(options["jobs"])
    note_compiling(quiet=is_silent(options))
    network = read_model(model_file, options)
    rows = read_rows(data, options, domain=network.domain)
    check = network.check(
        rows, engine=options["engine"], seconds=options["seconds"], seed=options["seed"], jobs=jobs
    )  # fmt: skip
    note_remarks(check.remarks, options)
    if options["plot"] is not None:
        _draw(check, options["plot"], title_of(model_file, options), quiet=options["quiet"])
    if options["as_json"]:
        print_json(check.to_dict())
    else:
        _print(check, data, options["top"])


def _draw(check: Check, plot: str, title: str, *, quiet: bool) -> None:
    from mrfit.report.check import draw_check
    from mrfit.report.page import save_figure

    if check.is_known:
        save_figure(draw_check(check, title=title), plot)
    elif not quiet:
        note(f"note: {plot} was not drawn, for nothing is known of the model's own rows.")


def _print(check: Check, data: str, top: int) -> None:
    how = "exact" if check.exact else "with standard errors"
    say(f"{data}: {check.n_rows:,.10g} rows, {check.n_variables:,} variables; by {check.engine}, {how}")
    if check.ll is not None:
        error = f" +- {check.ll_error:.2g}" if check.ll_error else ""
        say(f"mean log-likelihood {check.ll:.4f}{error} nats a row")
    say(check.in_words())
    if check.is_known:
        away = f"{check.model.mean_sum:.4g} in the model, {check.data.mean_sum:.4g} in the data"
        say(f"variables away from their first state, on average: {away}")
    for what, differences in (("variable", check.variables), ("pair", check.pairs)):
        if differences[:top]:
            say("", *columns([[what, "model", "data", "difference"], *map(_line, differences[:top])], n_words=1))


def _line(one: Difference) -> list[str]:
    error = f" +- {one.error:.1g}" if one.error else ""
    return [one.in_words(), probability(one.model), probability(one.data), f"{one.model - one.data:+.4f}{error}"]
