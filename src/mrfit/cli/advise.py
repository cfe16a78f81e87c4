"""`mrfit advise`."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from mrfit.cli.options import common, parameters_of, read_rows, reading_with, which_columns
from mrfit.cli.output import heading, note_compiling, print_json, remark, say, wrapped
from mrfit.cli.sections import MAIN, SectionedCommand

if TYPE_CHECKING:
    from mrfit.analysis.advice.advice import Advice

_reading = reading_with("observed", help="observed: analyse the observed values.", default="observed")


_SECTIONS = {
    MAIN: ("columns", "exclude", "weight", "missing", "na_values", "separator", "as_json"),
    "Data": parameters_of(_reading),
    "Output": parameters_of(common),
}
_GUIDE = ("Tutorial: from a survey to a network", "tutorial-survey.md")


@click.command("advise", cls=SectionedCommand, sections=_SECTIONS, guide=_GUIDE)
@click.argument("data")
@_reading
@common
@click.pass_context
def command(context: click.Context, /, data: str, **options: Any) -> None:
    """Suggest an analysis of a table, as commands to copy, with reasons.

    \b
    Examples:
      mrfit advise survey.csv
      mrfit advise survey.csv --exclude id --weight n
    \f
    mrfit looks at the rows per parameter, rare states, missing values and ID-like columns. It learns one network of
    some columns from one bootstrap sample, to forecast how long a bootstrap takes on this machine. It cannot see
    whether the rows are a random sample, whether they depend on each other, or what your question is.
    """
    from mrfit.analysis.advice.advice import Advice, Source
    from mrfit.analysis.missing_record import MissingSummary
    from mrfit.core.threads import resolve_jobs

    rows = read_rows(data, options)
    columns = parameters_of(which_columns)
    layout = parameters_of(_reading) - columns - {"missing"}
    source = Source(shlex.quote(data), columns=_repeated(context, columns), layout=_repeated(context, layout))
    note_compiling(quiet=options["quiet"] or options["as_json"])
    advice = Advice.of(rows, source, jobs=resolve_jobs(options["jobs"]))
    if options["as_json"]:
        print_json({**advice.to_dict(), "missing": MissingSummary.of(rows).to_dict()})
    else:
        _print(data, advice)


def _repeated(context: click.Context, chosen: set[str]) -> str:
    """Return those of some options that the user typed, as they were typed."""
    words: list[str] = []
    for parameter in context.command.params:
        if parameter.name not in chosen:
            continue
        if context.get_parameter_source(str(parameter.name)) is not ParameterSource.COMMANDLINE:
            continue
        value = context.params[str(parameter.name)]
        if isinstance(value, bool):
            words.append(parameter.opts[0] if value else parameter.secondary_opts[0])
        for text in value if isinstance(value, tuple) else () if isinstance(value, bool) else (value,):
            words += [parameter.opts[0], shlex.quote(str(text))]
    return " ".join(words)


def _print(data: str, advice: Advice) -> None:
    first, *others = advice.facts
    for fact in (f"{data}: {first}", *others):
        remark(fact)
    for caution in advice.cautions:
        say(*wrapped(f"warning: {caution}"), fg="yellow")
    heading("suggested analysis")
    for number, step in enumerate(advice.steps, 1):
        say(f"{number}. {step.command}", *wrapped(step.reason, indent="   ", hanging=""))
