"""`mrfit query`."""

from __future__ import annotations

from math import isinf, isnan
from typing import TYPE_CHECKING, Any

import click

from mrfit.cli.evidence_options import asked_of, evidence_files, evidence_of, evidence_option
from mrfit.cli.files import check_files, writing
from mrfit.cli.model_options import (
    effort_options,
    engine_option,
    from_option,
    how_of,
    is_silent,
    log_z_text,
    model_argument,
    note_plan,
    note_remarks,
    read_model,
)
from mrfit.cli.options import check_one_stream, common, parameters_of
from mrfit.cli.output import note, note_compiling, print_json, say
from mrfit.cli.picture_options import PICTURES, check_title, title_of, title_option
from mrfit.cli.sections import MAIN, SectionedCommand
from mrfit.core.errors import InputError
from mrfit.core.rounding import probability, with_error

if TYPE_CHECKING:
    from mrfit.analysis.query_record import PlanSummary, QuerySummary
    from mrfit.model.queries.answer import BestState, Distribution, Explanation, Influence, JointProbabilities, LogZ

_SECTIONS = {
    MAIN: ("evidence", "ask", "map", "explain", "plot", "top", "engine", "precision", "plan", "as_json"),
    "Inference": ("samples", "model_format"),
    "Output": {"title", "no_clobber"} | parameters_of(common),
}
_GUIDE = ("Queries", "queries.md")


@click.command("query", cls=SectionedCommand, sections=_SECTIONS, guide=_GUIDE)
@model_argument
@evidence_option
@click.option(
    "--ask",
    multiple=True,
    metavar="NAME[,NAME...]",
    help="Variable to print; several in one option ask for their joint probabilities. Repeatable. By default all "
    "variables without evidence.",
)
@click.option("--map", is_flag=True, help="Also find the most probable joint state of all variables (MAP).")
@click.option(
    "--explain", is_flag=True, help="Also show how much each piece of evidence contributes, for each variable of --ask."
)
@engine_option
@effort_options
@click.option(
    "--plan", is_flag=True, help="Print the engine, memory and time that the answer would need, without computing it."
)
@from_option
@click.option(
    "--top",
    type=click.IntRange(min=0),
    default=20,
    show_default=True,
    help="Number of variables or joint states to print.",
)
@click.option(
    "--plot", metavar="FILE", help=f"Draw the probabilities before and after the evidence to a {PICTURES} file."
)
@title_option
@writing
@common
def command(model_file: str, **options: Any) -> None:
    """Compute probabilities of variables, given evidence on others.

    \b
    Examples:
      mrfit query model.mrf --evidence smoker=yes
      mrfit query model.mrf --evidence smoker=yes,age=old --plot answer.png
      mrfit query model.mrf --evidence cough=yes --ask asthma --explain
    \f
    mrfit prints the probability of each state before and after the evidence, and the change. If there are many
    variables, it prints those that change most; --json has all of them. MODEL is a .mrf, .uai, .LG, .mn or .fg file,
    also .gz, or - for standard input.

    \b
    More examples:
      mrfit query model.mrf --ask cough,asthma                 joint probabilities
      mrfit query model.mrf --evidence 'test~0.1:0.9' --map    soft evidence
      mrfit query grid.uai.gz --evidence grid.uai.evid --plan  what it would need
    """
    from mrfit.analysis.query_record import PlanSummary, QuerySummary

    check_title(options)
    files = evidence_files(options["evidence"])
    check_one_stream(model_file, *files)
    check_files({"MODEL": model_file, "--evidence": files}, {"--plot": options["plot"]}, options)
    _check_plot(options)
    note_compiling(quiet=is_silent(options))
    network = read_model(model_file, options)
    evidence, asked = evidence_of(network.domain, options["evidence"]), asked_of(network.domain, options)
    if options["explain"] and not (evidence and any(len(names) == 1 for names in asked)):
        raise InputError("--explain needs evidence and a single variable: add --evidence NAME=STATE and --ask NAME.")
    targets = [names for names in asked if len(names) > 1]
    plan = network.plan(evidence=evidence, targets=targets, **how_of(options))
    if options["plan"]:
        _tell_plan(PlanSummary.of(plan, network.display_names), options)
        return
    note_plan(plan, network.display_names, options)
    answer = QuerySummary.of(
        network,
        asked,
        evidence=evidence,
        best=options["map"],
        explain=options["explain"],
        **how_of(options),
    )
    note_remarks(answer.remarks, options)
    if set(evidence) - set(network.covariates) and answer.before is None and not is_silent(options):
        note("note: without evidence the model is too large for this engine, so probabilities before are not shown.")
    if options["plot"] is not None:
        _draw(answer, options["plot"], title_of(model_file, options))
    if options["as_json"]:
        print_json(answer.to_dict())
    else:
        _print(answer, options["top"])


def _tell_plan(plan: PlanSummary, options: dict[str, Any]) -> None:
    if options["as_json"]:
        print_json(plan.to_dict())
        return
    say(f"engine {plan.engine}: {plan.why}" if plan.fits else "this would be refused", plan.figures)
    say(f"about {plan.seconds:.2g} s")


def _check_plot(options: dict[str, Any]) -> None:
    if options["plot"] is not None:
        from mrfit.plots.page import check_figure_path

        if options["plan"]:
            raise InputError("--plan does not answer, so there is nothing for --plot to draw; leave one out.")
        check_figure_path(options["plot"])


def _draw(answer: QuerySummary, plot: str, title: str) -> None:
    from mrfit.plots.marginals_plot import draw_marginals
    from mrfit.plots.page import save_figure

    if not answer.after.marginals:
        raise InputError("--plot draws single variables, and --ask names none; add --ask NAME, or leave --ask out.")
    before = None if answer.before is None else answer.before.marginals
    save_figure(draw_marginals(answer.after.marginals, before, given=answer.after.given, title=title), plot)


def _print(answer: QuerySummary, top: int) -> None:
    after = answer.after
    about = "log Z not known" if isnan(after.log_z) else f"log Z {log_z_text(after)}"
    if answer.log_p_given is not None and not isnan(answer.log_p_given):
        about += f", log probability of the evidence {with_error(answer.log_p_given, answer.log_p_given_error)}"
    say(f"given {after.given}" if after.given else "no evidence", about)
    if not answer.has_errors:
        say("the errors of these probabilities are unknown, so they are shown with two digits")
    if after.marginals:
        _print_marginals(answer, top)
    for joint in answer.joints:
        _print_joint(joint, top)
    for explanation in answer.explanations:
        _print_explanation(explanation)
    if answer.best is not None:
        _print_best(answer.best, after)


def _print_marginals(answer: QuerySummary, top: int) -> None:
    after, moved = answer.after.marginals, answer.moved
    names = list(after)
    if answer.before is not None and len(names) > top:
        names.sort(key=lambda name: -round(moved[name], 9))  # in order where only last bits differ
    shown = names[:top]
    before = {} if answer.before is None else answer.before.marginals
    lines = [
        [name if k == 0 else "", state, *_numbers(state, after[name], before.get(name))]
        for name in shown
        for k, state in enumerate(after[name])
    ]
    if shown:
        heads = ["before", "after", "moved"] if before else ["probability"]
        say(*columns([["variable", "state", *heads], *lines], n_words=2))
    if len(names) > top:
        rest = max(moved[name] for name in names[top:])
        by = f", which moved by {rest:.{4 if answer.is_exact else 2}f} at most" if before else ""
        say(f"... and {len(names) - top:,} more variables{by}; --top N shows more, --json all")


def _numbers(state: str, after: Distribution, before: Distribution | None) -> list[str]:
    """Probabilities before and after, and their difference, with their errors."""
    from mrfit.model.queries.answer import joint_error

    p, error = after[state], after.error[state]
    if before is None:
        return [probability(p, error)]
    was, error_was = before[state], before.error[state]
    change = with_error(p - was, joint_error(error, error_was), sign="+")
    return [probability(was, error_was), probability(p, error), change]


def _print_joint(joint: JointProbabilities, top: int) -> None:
    """The most probable of the joint states first."""
    rows = sorted(joint.rows_with_errors(), key=lambda row: -row[1])
    lines = [[*states.values(), probability(p, error)] for states, p, error in rows[: max(top, 1)]]
    say("", *columns([[*joint.states, "probability"], *lines], n_words=len(joint.states)))
    if len(rows) > len(lines):
        say(f"... and {len(rows) - len(lines):,} more; --top N shows more, --json all")


def _print_explanation(told: Explanation) -> None:
    now, before = probability(told.p, told.p_error), probability(told.p_before, told.p_before_error)
    say("", f"{told.target}={told.state}: {now}, {before} before; what moved it:")
    lines = [
        [each.given, probability(each.p_without, each.p_without_error), _log_odds(each)] for each in told.influences
    ]
    say(*columns([["piece", "probability without", "adds to log-odds"], *lines], n_words=1))


def _log_odds(influence: Influence) -> str:
    if influence.log_odds_error is not None and isinf(influence.log_odds_error):
        return "unknown"
    return with_error(influence.log_odds, influence.log_odds_error, digits=3, sign="+")


def _print_best(best: BestState, log_z: LogZ) -> None:
    which = "most probable together"
    if not best.exact:
        gap = "" if best.gap is None else f", at most {best.gap:.3g} nats above"
        which = f"probable together, by {best.engine}: there may be better ones{gap}"
    score = "" if isnan(log_z.log_z) else f", log probability {_log_p(best, log_z)}"
    say("", f"{which}{score}:")
    say(*columns([[f"  {name}", state] for name, state in best.states.items()], n_words=2))


def _log_p(best: BestState, log_z: LogZ) -> str:
    return with_error(best.log_potential - log_z.log_z, log_z.error)


def columns(rows: list[list[str]], *, n_words: int) -> list[str]:
    """Lines with their parts below each other: words to the left, numbers to the right; long words are cut."""
    rows = [[*(_cut(word) for word in row[:n_words]), *row[n_words:]] for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            f"{part:<{w}}" if k < n_words else f"{part:>{w}}"
            for k, (part, w) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def _cut(word: str, longest: int = 40) -> str:
    return word if len(word) <= longest else f"{word[: longest - 1]}…"
