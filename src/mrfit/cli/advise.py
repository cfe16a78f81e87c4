"""`mrfit advise`."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from mrfit.cli.options import common, parameters_of, read_rows, reading_with, which_columns
from mrfit.cli.output import heading, note_compiling, print_json, remark, say, wrapped

if TYPE_CHECKING:
    from mrfit.analysis.advice.advice import Advice

_reading = reading_with("observed", help="; or observed, by default: they are counted")


@click.command("advise")
@click.argument("data")
@_reading
@common
@click.pass_context
def command(context: click.Context, /, data: str, **options: Any) -> None:
    """What kind of table DATA is, and what a careful analyst would do with it: commands to copy, with reasons.

    Looks at rows for each parameter, rare states, missing values and columns that may be persons. One network of some
    columns is learned from one resample, to forecast how long resampling takes on this machine. What it cannot see:
    whether rows are a sample of anything, whether they depend on each other, and what was asked.

    \b
    Examples:
      mrfit advise survey.csv
      mrfit advise survey.csv --exclude id --weight n
    """
    from mrfit.analysis.advice.advice import Advice, Source
    from mrfit.analysis.missing_record import MissingSummary
    from mrfit.core.threads import resolve_jobs

    if context.get_parameter_source("missing") is ParameterSource.DEFAULT:
        options["missing"] = "observed"
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
    """Those of some options that the user typed, as they were typed."""
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
    heading("what a careful analyst would do")
    for number, step in enumerate(advice.steps, 1):
        say(f"{number}. {step.command}", *wrapped(step.reason, indent="   ", hanging=""))
