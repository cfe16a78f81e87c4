"""`mrfit check`."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

import click

from mrfit.cli.cluster_options import cluster_option, enter_cluster
from mrfit.cli.files import check_files, writing
from mrfit.cli.fit_text import print_verdict
from mrfit.cli.model_options import from_option, is_silent, model_argument, note_remarks, read_any_model
from mrfit.cli.options import check_one_stream, choice, common, parameters_of, read_rows, reading
from mrfit.cli.output import note, note_compiling, note_failures, print_json, print_table, remark, say
from mrfit.cli.picture_options import PICTURES, check_title, title_of, title_option
from mrfit.cli.progress import counting_progress
from mrfit.cli.sections import MAIN, SectionedCommand
from mrfit.core.errors import InputError
from mrfit.core.rounding import probability, with_error

if TYPE_CHECKING:
    from mrfit.analysis.goodness.check import Check
    from mrfit.analysis.goodness.goodness import Goodness
    from mrfit.analysis.goodness.margin_comparison import Difference
    from mrfit.data.unique_rows import UniqueRows
    from mrfit.model.factor_network import FactorNetwork
    from mrfit.model.markov_network import MarkovNetwork

_ENGINES = ("auto", "enumeration", "tree", "ais")  # as in mrfit.analysis.goodness.checker, which --help need not load
_SECONDS = 10.0  # as in mrfit.analysis.goodness.budget

_SECTIONS = {
    MAIN: ("plot", "plot_residuals", "bootstrap", "engine", "seconds", "top", "missing", "model_format", "as_json"),
    "Data": parameters_of(reading) | {"cluster"},
    "Output": {"title", "no_clobber"} | parameters_of(common),
}
_GUIDE = ("Goodness of fit and spurious modes", "checking.md")


@click.command("check", cls=SectionedCommand, sections=_SECTIONS, guide=_GUIDE)
@model_argument
@click.argument("data")
@click.option(
    "--plot",
    metavar="FILE",
    help="Draw the model against the data, with a point for each pair of states, and the number of variables that are "
    f"not in their first state, to a {PICTURES} file.",
)
@click.option(
    "--plot-residuals",
    metavar="FILE",
    help=f"Draw the residuals of pairs and triples of variables, in standard errors, to a {PICTURES} file.",
)
@click.option(
    "--bootstrap",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    metavar="N",
    help="Number of tables to draw from MODEL for the p-value of G-squared, which chi-square gets wrong in sparse "
    "tables; 0 for none. If MODEL was learned from DATA, all learning is repeated on each.",
)
@choice(
    "--engine",
    *_ENGINES,
    help="How to compute the probabilities of the model. auto: exact if that is fast (tree or enumeration), "
    "otherwise ais. ais: annealed chains, some of them started at the data, with standard errors.",
)
@click.option(
    "--seconds",
    type=click.FloatRange(min=0.0, min_open=True),
    default=_SECONDS,
    show_default=True,
    help="Approximate time budget, in seconds. A larger budget makes sampled answers more precise. The result does not "
    "depend on the speed of the machine.",
)
@click.option(
    "--top",
    type=click.IntRange(min=0, max=10),
    default=5,
    show_default=True,
    help="Number of variables, pairs and triples to print.",
)
@from_option
@title_option
@writing
@reading
@cluster_option
@common
@click.pass_context
def command(context: click.Context, /, model_file: str, data: str, **options: Any) -> None:
    """Test whether a model reproduces the data, and find spurious modes.

    \b
    Examples:
      mrfit check model.mrf train.csv
      mrfit check model.mrf train.csv --plot check.png
      mrfit check model.mrf train.csv --bootstrap 200
    \f
    A network fitted by pseudo-likelihood can put nearly all its probability where there are no data, although its score
    looks good. mrfit compares the frequencies of states and pairs of states in DATA with their probabilities under
    MODEL, and also the number of variables that are not in their first state. If the model has a spurious mode, mrfit
    reports it with what to do next. For .mrf models with up to 2^16 joint states, it also prints G-squared and the
    triples of variables with the largest residuals.

    MODEL is a .mrf, .uai, .LG, .mn or .fg file, also .gz, or - for standard input. mrfit matches columns and states by
    name and ignores columns that MODEL does not know.

    \b
    More examples:
      mrfit check model.mrf test.csv --engine tree      exact, if possible
      mrfit check other.mn train.data                   a model of Libra
    """
    from mrfit.core.threads import resolve_jobs

    check_title(options, "--plot", "--plot-residuals")
    check_one_stream(model_file, data)
    pictures = {"--plot": options["plot"], "--plot-residuals": options["plot_residuals"]}
    check_files({"MODEL": model_file, "DATA": data}, pictures, options)
    for picture in filter(None, pictures.values()):
        from mrfit.plots.page import check_figure_path

        check_figure_path(picture)
    jobs = resolve_jobs(options["jobs"])
    enter_cluster(context, options["cluster"])
    note_compiling(quiet=is_silent(options))
    network = read_any_model(model_file, options)
    rows = read_rows(data, options, domain=network.domain)
    check = network.check(
        rows, engine=options["engine"], seconds=options["seconds"], seed=options["seed"], jobs=jobs
    )  # fmt: skip
    note_remarks(check.remarks, options)
    goodness = _goodness(network, rows, options, jobs)
    if options["plot"] is not None:
        _draw(check, options["plot"], title_of(model_file, options), quiet=options["quiet"])
    if goodness is not None and options["plot_residuals"] is not None:
        _draw_residuals(goodness, options["plot_residuals"], title_of(model_file, options))
    if options["as_json"]:
        print_json({**check.to_dict(), "goodness": None if goodness is None else goodness.to_dict()})
    else:
        _print(check, goodness, data, options)
    if goodness is not None:
        note_failures(goodness.failures, f"of {options['bootstrap']:,} tables")


def _goodness(
    network: MarkovNetwork | FactorNetwork, rows: UniqueRows, options: dict[str, Any], jobs: int
) -> Goodness | None:
    """None where there are too many joint states, covariates or no parameters, and nobody asked."""
    from mrfit.analysis.goodness.bootstrap_goodness import bootstrap_goodness
    from mrfit.analysis.goodness.goodness import has_few_cells
    from mrfit.model.markov_network import MarkovNetwork

    asked = options["bootstrap"] or options["plot_residuals"]
    if not isinstance(network, MarkovNetwork):
        if asked:
            raise InputError("--bootstrap and --plot-residuals need a model that says its parameters: a .mrf file.")
        return None
    if not asked and (network.covariates or not has_few_cells(network.parameters)):
        return None
    if not options["bootstrap"]:
        return network.goodness(rows)
    with counting_progress("tables", options["bootstrap"], quiet=is_silent(options)) as callback:
        return bootstrap_goodness(
            network, rows, tables=options["bootstrap"], seed=options["seed"], jobs=jobs, callback=callback
        )


def _draw(check: Check, plot: str, title: str, *, quiet: bool) -> None:
    from mrfit.analysis.goodness.check_plot import draw_check
    from mrfit.plots.page import save_figure

    if check.is_known:
        save_figure(draw_check(check, title=title), plot)
    elif not quiet:
        note(f"note: {plot} was not drawn, for nothing is known of the model's own rows.")


def _draw_residuals(goodness: Goodness, plot: str, title: str) -> None:
    from mrfit.analysis.goodness.residual_plot import draw_residuals
    from mrfit.plots.page import save_figure

    save_figure(draw_residuals(goodness, title=title).figure, plot)  # type: ignore[arg-type]


def _print(check: Check, goodness: Goodness | None, data: str, options: dict[str, Any]) -> None:
    print_verdict(check)
    remark(f"{data}: {check.n_rows:,.10g} rows, {check.n_variables:,} variables; {_how(check)}")
    if options["verbose"]:
        remark(f"engine {check.engine}: {check.why}")
    if check.phantom_mode is not None:
        remark(check.phantom_mode.text)
        if check.phantom_mode.is_for_likelihood:
            say(f"    mrfit fit {shlex.quote(data)} --objective likelihood -o MODEL.mrf")
    if len(check.misfits) > 1:
        counts = ", ".join(f"{each.n_beyond:,} of {each.n:,} {each.what}" for each in check.misfits)
        remark(f"beyond chance: {counts}")
    if goodness is not None:
        remark(goodness.describe())
    if check.ll is not None:
        say(f"mean log-likelihood {with_error(check.ll, check.ll_error or 0.0)} nats a row")
    if check.is_known:
        away = f"{check.model.mean_sum:.3g} in the model, {check.data.mean_sum:.3g} in the data"
        remark(f"variables away from their first state, on average: {away}")
    for each in check.compared:
        if each.listed[: options["top"]]:
            heads = [each.what.removesuffix("s"), "model", "data", "difference", "z", "adj. p"]
            say("")
            print_table(
                [heads, *map(_line, each.listed[: options["top"]])], n_words=1, longest=34 if check.exact else 27
            )


def _how(check: Check) -> str:
    return "exact" if check.exact else "approximate: more --seconds make the errors smaller"


def _line(one: Difference) -> list[str]:
    error = f" +- {one.error:.1g}" if one.error else ""
    difference = f"{one.model - one.data:+.4f}{error}"
    return [
        one.describe(), probability(one.model), probability(one.data), difference, f"{one.z:+.1f}",
        f"{one.adjusted:.2g}",
    ]  # fmt: skip
