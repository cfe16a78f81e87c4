"""`mrfit query`."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
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
    ordered_of,
    read_asked_model,
)
from mrfit.cli.options import check_one_stream, common, parameters_of
from mrfit.cli.output import note, note_compiling, print_json, print_table, remark, say, wrapped
from mrfit.cli.picture_options import PICTURES, check_title, title_of, title_option
from mrfit.cli.sections import MAIN, SectionedCommand
from mrfit.core.errors import InputError
from mrfit.core.rounding import probability, short_probability, significant, with_error
from mrfit.core.sparkline import sparkline
from mrfit.core.text_table import columns

if TYPE_CHECKING:
    from mrfit.analysis.query_record import PlanSummary, QuerySummary
    from mrfit.model.queries.answer import BestState, Distribution, Explanation, Influence, JointProbabilities, LogZ

_SECTIONS = {
    MAIN: ("evidence", "ask", "map", "explain", "plot", "top", "states", "engine", "precision", "as_json"),
    "Inference": ("samples", "plan", "model_format"),
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
@click.option(
    "--states", is_flag=True, help="Print every state of ordered variables, instead of one line for each variable."
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
    network = read_asked_model(model_file, options)
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
        _print(answer, ordered_of(network), options)


def _tell_plan(plan: PlanSummary, options: dict[str, Any]) -> None:
    if options["as_json"]:
        print_json(plan.to_dict())
        return
    if plan.fits:
        say(f"about {plan.seconds:.2g} s, engine {plan.engine}: {plan.why}", fg="green")
    else:
        say("this would be refused: it takes more memory than the limit", fg="red")
    remark(plan.figures)


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


def _print(answer: QuerySummary, ordered: Mapping[str, Sequence[float]], options: Mapping[str, Any]) -> None:
    after, top = answer.after, options["top"]
    say(*wrapped(_headline(answer, ordered)), bold=True)
    remark(_how(answer))
    if not isnan(after.log_z):
        about = f"log Z {log_z_text(after)}"
        if answer.log_p_given is not None and not isnan(answer.log_p_given):
            about += f", log probability of the evidence {with_error(answer.log_p_given, answer.log_p_given_error)}"
        say(about)
    if not answer.has_errors:
        remark("the errors of these probabilities are unknown, so they are shown with two digits")
    if after.marginals:
        _print_marginals(answer, {} if options["states"] else ordered, top)
    for joint in answer.joints:
        _print_joint(joint, top)
    for explanation in answer.explanations:
        _print_explanation(explanation)
    if answer.best is not None:
        _print_best(answer.best, after)


def _headline(answer: QuerySummary, ordered: Mapping[str, Sequence[float]]) -> str:
    """Repeat the evidence, and name the variable that it changes most."""
    given = f"given {answer.after.given}" if answer.after.given else "no evidence"
    if answer.before is None or not answer.moved:
        return given
    name = max(answer.moved, key=lambda name: answer.moved[name])
    if answer.moved[name] < 1e-9:
        return f"{given}: nothing changes"
    after, before = answer.after.marginals[name], answer.before.marginals[name]
    if name in ordered:
        what = f"the mean of {name}"
        was, now = (_mean_text(*each.mean(ordered[name])).split(" ")[0] for each in (before, after))
    else:
        state = max(after, key=lambda state: after[state] - before[state])
        what = f"{name}={state}"
        was, now = (_probability(each[state], each.error[state]).split(" ")[0] for each in (before, after))
    most = " changes most," if len(answer.moved) > 1 else ""
    return f"{given}: {what}{most} {was} -> {now}"


def _how(answer: QuerySummary) -> str:
    """Whether the answer is exact; of one that is not, how to make it better."""
    answers = [answer.after, *([] if answer.before is None else [answer.before]), *answer.joints]
    if all(each.exact for each in answers):
        return "exact"
    engine = next(each.engine for each in answers if not each.exact)
    sampled = answer.has_errors
    return f"approximate ({engine})" + (": +- is a standard error, more --samples make it smaller" if sampled else "")


def _print_marginals(answer: QuerySummary, ordered: Mapping[str, Sequence[float]], top: int) -> None:
    """The variables that the evidence changes most: ordered ones in a line each, then the states of the others."""
    moved = answer.moved
    names = list(answer.after.marginals)
    if answer.before is not None and len(names) > top:
        names.sort(key=lambda name: -round(moved[name], 9))  # in order where only last bits differ
    shown = names[:top]
    if with_means := [name for name in shown if name in ordered]:
        _print_means(answer, {name: ordered[name] for name in with_means})
    if with_states := [name for name in shown if name not in ordered]:
        _print_states(answer, with_states)
    if len(names) > top:
        rest = max(moved[name] for name in names[top:])
        by = "" if answer.before is None else f", which change by at most {rest:.{3 if answer.is_exact else 2}f}"
        say(f"... and {len(names) - top:,} more variables{by} (--top N shows more)")
    if with_means:
        remark("--states shows the probability of each state")


def _print_means(answer: QuerySummary, ordered: Mapping[str, Sequence[float]]) -> None:
    """One line for each variable: its mean before and after, and its distributions as bars."""
    from mrfit.model.queries.answer import joint_error

    encoding = sys.stdout.encoding or "utf-8"
    lines = []
    for name, scores in ordered.items():
        after = answer.after.marginals[name]
        mean, error = after.mean(scores)
        if answer.before is None:
            lines.append([name, _mean_text(mean, error), sparkline(list(after.values()), encoding=encoding)])
            continue
        before = answer.before.marginals[name]
        was, error_was = before.mean(scores)
        change = mean - was, joint_error(error, error_was)
        most = max(*before.values(), *after.values())
        bars = (sparkline(list(each.values()), most=most, encoding=encoding) for each in (before, after))
        numbers = [_mean_text(was, error_was), _mean_text(mean, error), _mean_text(*change, sign="+")]
        lines.append([name, *numbers, " -> ".join(bars)])
    heads = ["mean"] if answer.before is None else ["mean before", "after", "change"]
    print_table([["variable", *heads, "states"], *lines], n_words=1)


def _mean_text(mean: float, error: float | None, *, sign: str = "") -> str:
    return with_error(mean, error, digits=3 if error else 2, sign=sign)


def _print_states(answer: QuerySummary, shown: Sequence[str]) -> None:
    after = answer.after.marginals
    before = {} if answer.before is None else answer.before.marginals
    lines = [
        [name if k == 0 else "", state, *_numbers(state, after[name], before.get(name))]
        for name in shown
        for k, state in enumerate(after[name])
    ]
    heads = ["before", "after", "change"] if before else ["probability"]
    print_table([["variable", "state", *heads], *lines], n_words=2)


def _numbers(state: str, after: Distribution, before: Distribution | None) -> list[str]:
    """Probabilities before and after, and their difference, with their errors."""
    from mrfit.model.queries.answer import joint_error

    p, error = after[state], after.error[state]
    if before is None:
        return [_probability(p, error)]
    was, error_was = before[state], before.error[state]
    difference, error_of_it = p - was, joint_error(error, error_was)
    change = f"{difference + 0.0:+.3f}" if error_of_it == 0.0 else with_error(difference, error_of_it, sign="+")
    return [_probability(was, error_was), _probability(p, error), change]


def _probability(p: float, error: float | None) -> str:
    return short_probability(p) if error == 0.0 else probability(p, error)


def _print_joint(joint: JointProbabilities, top: int) -> None:
    """The most probable of the joint states first."""
    rows = sorted(joint.rows_with_errors(), key=lambda row: -row[1])
    lines = [[*states.values(), _probability(p, error)] for states, p, error in rows[: max(top, 1)]]
    say("")
    print_table([[*joint.states, "probability"], *lines], n_words=len(joint.states))
    if len(rows) > len(lines):
        say(f"... and {len(rows) - len(lines):,} more (--top N shows more)")


def _print_explanation(told: Explanation) -> None:
    now, before = _probability(told.p, told.p_error), _probability(told.p_before, told.p_before_error)
    say("", *wrapped(f"{told.target}={told.state}: {before} before the evidence, {now} after"))
    lines = [
        [each.given, _probability(each.p_without, each.p_without_error), _log_odds(each)] for each in told.influences
    ]
    print_table([["evidence", "without it", "log-odds it adds"], *lines], n_words=1)


def _log_odds(influence: Influence) -> str:
    if influence.log_odds_error is not None and isinf(influence.log_odds_error):
        return "unknown"
    if influence.log_odds_error == 0.0:
        return significant(influence.log_odds, sign="+")
    return with_error(influence.log_odds, influence.log_odds_error, digits=3, sign="+")


def _print_best(best: BestState, log_z: LogZ) -> None:
    which = "most probable together"
    if not best.exact:
        gap = "" if best.gap is None else f", at most {best.gap:.3g} nats above"
        which = f"probable together, by {best.engine}: there may be better ones{gap}"
    score = "" if isnan(log_z.log_z) else f", log probability {_log_p(best, log_z)}"
    say("", *wrapped(f"{which}{score}:"))
    say(*columns([[f"  {name}", state] for name, state in best.states.items()], n_words=2))


def _log_p(best: BestState, log_z: LogZ) -> str:
    return with_error(best.log_potential - log_z.log_z, log_z.error)
