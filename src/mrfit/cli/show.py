"""`mrfit show`."""

from __future__ import annotations

from math import exp, isnan
from typing import TYPE_CHECKING, Any

import click

from mrfit.cli.files import check_files, load_model, writing
from mrfit.cli.fit_text import print_criteria, unbounded_in_words
from mrfit.cli.option_rules import Rule, refuse_idle
from mrfit.cli.options import common, parameters_of
from mrfit.cli.output import heading, print_json, print_table, remark, say, wrapped
from mrfit.cli.picture_options import PICTURES, check_title, title_of, title_option
from mrfit.cli.sections import MAIN, SectionedCommand
from mrfit.core.errors import listed
from mrfit.core.rounding import significant, with_error
from mrfit.core.text_table import columns

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mrfit.analysis.model_card import GroupSummary, ModelCard
    from mrfit.model.markov_network import MarkovNetwork
    from mrfit.model.parameter_estimates import ErrorsSummary, ParameterEstimate


_SECTIONS = {
    MAIN: ("top", "errors", "level", "plot", "title", "as_json"),
    "Output": parameters_of(writing) | parameters_of(common),
}


@click.command("show", cls=SectionedCommand, sections=_SECTIONS, guide=("Conventions", "conventions.md"))
@click.argument("model_file", metavar="MODEL")
@click.option(
    "--top",
    type=click.IntRange(min=0),
    default=10,
    show_default=True,
    help="Number of edges, and of parameters of each order, to print.",
)
@click.option(
    "--errors",
    is_flag=True,
    help="Also print standard errors, confidence intervals, and tests whether interactions are zero.",
)
@click.option(
    "--level",
    type=float,
    default=0.95,
    show_default=True,
    help="Confidence level of the intervals of --errors, between 0 and 1.",
)
@click.option(
    "--plot",
    metavar="FILE",
    help=f"Draw the parameters on a line, with the centers of tied ones, to a {PICTURES} file.",
)
@title_option
@writing
@common
@click.pass_context
def command(context: click.Context, /, model_file: str, top: int, **options: Any) -> None:
    """Print the variables, edge weights, parameters and origin of a model.

    MODEL is a .mrf file, or - for standard input.

    \b
    Examples:
      mrfit show model.mrf
      mrfit show model.mrf --errors --top 20
    \f
    Each edge has one weight, the same in all parameterizations: the log odds ratio of two variables given all others,
    per step for ordered ones. If one of them has unordered categories, it is the norm of their table, without a sign.

    The output explains the parameters. Canonical parameters are log odds ratios relative to the reference categories.
    Parameters that are zero are not listed.
    """
    from mrfit.analysis.model_card import ModelCard
    from mrfit.model.parameter_estimates import ErrorsSummary

    check_title(options)
    refuse_idle(context, [Rule(("level",), options["errors"], "--errors")])
    check_files({"MODEL": model_file}, {"--plot": options["plot"]}, options)
    model = load_model(model_file)
    if options["plot"] is not None:
        _draw(model, options["plot"], title_of(model_file, options))
    card = ModelCard.of(model, top=top)
    errors = ErrorsSummary.of(model, level=options["level"]) if options["errors"] else None
    if options["as_json"]:
        print_json({**card.to_dict(), **({} if errors is None else errors.with_intervals())})
    else:
        _print(card, errors, max(top, 1))


def _print(card: ModelCard, errors: ErrorsSummary | None, top: int) -> None:
    say(f"{card.n_variables} variables, {card.n_edges:,} edges, {card.n_parameters:,} parameters", bold=True)
    for name, states in list(card.domain.items())[:top]:
        say(*wrapped(f"{name}: {listed(states)}", indent="  "))
    if card.n_variables > top:
        say(f"  ... and {card.n_variables - top} more variables")
    if card.covariates:
        remark(f"covariates {listed(card.covariates)}: the network is that of the other variables, given these")
    if card.groups is not None:
        _print_groups(card.groups, top, equal=card.is_hard_tied)
    _print_edges(card)
    remark(f"{card.parameterization['name']} coordinates: {card.meaning}")
    for name, scores in card.parameterization.get("scores", {}).items():
        say(f"  scores of {name}: {', '.join(f'{score:g}' for score in scores)}")
    for order, parameters in card.strongest.items():
        if parameters:
            heading("single variables" if order == 1 else f"interactions of {order} variables")
        if errors is not None:
            _print_estimates(errors.strongest(len(parameters), order=order), card.unbounded)
            continue
        lines = [[_value(value, card.unbounded.get(name)), name] for name, value in parameters]
        if lines:
            say(*(f"  {line}" for line in columns(lines, n_names=1)))
    if card.unbounded:
        remark(unbounded_in_words(card.unbounded))
    if errors is not None:
        _print_errors(errors, top)
    heading("provenance")
    _print_provenance(card)


def _print_edges(card: ModelCard) -> None:
    """The largest edge weights, with odds ratios where they have a sign."""
    if not card.edges:
        return
    heading("largest edge weights", card.edge_weight)
    lines = []
    for edge in card.edges:
        weight, odds = significant(edge["weight"]), ""
        if edge["unbounded"]:
            weight = "unbounded"
        elif edge["has_sign"]:
            weight, odds = significant(edge["weight"], sign="+"), f"odds x {exp(edge['weight']):.3g}"
        lines.append([weight, f"{edge['source']} - {edge['target']}", odds])
    say(*(f"  {line}" for line in columns(lines, n_names=2)))


def _print_estimates(estimates: Sequence[ParameterEstimate], unbounded: Mapping[str, str]) -> None:
    lines = []
    for each in estimates:
        value, between = _value(each.value, unbounded.get(each.name)), "no finite optimum"
        if not isnan(each.error):
            value = with_error(each.value, each.error, sign="+")
            between = f"[{significant(each.low, sign='+')}, {significant(each.high, sign='+')}]"
        lines.append([value, between, each.name])
    if lines:
        say(*(f"  {line}" for line in columns(lines, n_names=2)))


def _value(value: float, limit: str | None) -> str:
    """Format a value; an unbounded parameter shows its limit, since the point where the solver stopped is arbitrary."""
    return limit or significant(value, sign="+")


def _print_errors(errors: ErrorsSummary, top: int) -> None:
    """The tests, what the criteria say, and what errors do not know."""
    if errors.tests:
        heading("Wald tests of interactions", "p is adjusted for the number of tests")
    rows = [
        [
            " - ".join(test.variables), "-" if isnan(test.statistic) else f"{test.statistic:.2f}", f"{test.degrees}",
            *(["no finite optimum", ""] if isnan(test.p) else [f"{test.p:.2g}", f"{test.adjusted:.2g}"]),
        ]
        for test in errors.tests[:top]
    ]  # fmt: skip
    if rows:
        print_table([["interaction", "chi-square", "df", "p", "adjusted p"], *rows], n_words=1, indent="  ")
    if len(errors.tests) > top:
        say(f"  ... and {len(errors.tests) - top:,} more")
    print_criteria(errors)
    for text in errors.errors.remarks:
        remark(text)


def _print_groups(groups: Sequence[GroupSummary], top: int, *, equal: bool) -> None:
    say(f"{'equal' if equal else 'softly tied'} in {len(groups):,} groups, the largest first", bold=True)
    shown = sorted(groups, key=lambda group: -group.size)[:top]
    lines = []
    for group in shown:
        within = "" if equal else f", within {significant(group.farthest)}"
        pinned = ", pinned" if group.pinned else ""
        lines.append([significant(group.center, sign="+"), f"{group.size:,} parameters{within}{pinned}"])
    if lines:
        say(*(f"  {line}" for line in columns(lines, n_names=1)))
    if len(groups) > top:
        say(f"  ... and {len(groups) - top:,} more groups")


_WORDS = {"violation": "max. gradient", "strength": "lambda", "free_orders": "orders without a penalty"}


def _print_provenance(card: ModelCard) -> None:
    """Print the provenance, without what the line on learning says."""
    hidden = (
        {"learner", "unbounded"}
        | ({"chosen_on"} if card.learned else set())
        | ({"observed"} if card.observed else set())
    )
    for key, entry in card.provenance.items():
        if isinstance(entry, dict):
            entry = ", ".join(
                f"{_WORDS.get(name, name)} {_short(detail)}"
                for name, detail in entry.items()
                if detail not in ([], None)
            )
        if key not in hidden and entry is not None:
            remark(f"{key}: {entry}")
    if card.observed:
        remark(f"observed: {card.observed}")
    if card.learned:
        valid = " --valid FILE" if card.provenance.get("chosen_on") == "valid" else ""
        remark(f"learned: {card.learned}")
        say(f"to learn it again: mrfit fit --like MODEL DATA{valid}")


def _short(detail: object) -> object:
    if not isinstance(detail, float):
        return detail
    return f"{detail:.10g}" if detail.is_integer() else f"{detail:.3g}"


def _draw(model: MarkovNetwork, plot: str, title: str) -> None:
    from mrfit.plots.page import check_figure_path, save_figure
    from mrfit.plots.parameters_plot import parameters_figure

    check_figure_path(plot)
    save_figure(parameters_figure(model, title=title), plot)
