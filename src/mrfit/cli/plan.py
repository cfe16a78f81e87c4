"""`mrfit plan`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from mrfit.cli.options import common, data_argument, layout_of, parameters_of, reading, reading_of, source_of
from mrfit.cli.output import print_json, print_table, say, verdict
from mrfit.cli.sections import MAIN, SectionedCommand

if TYPE_CHECKING:
    from mrfit.analysis.advice.forecast import Forecast


_SECTIONS = {
    MAIN: ("memory", "columns", "exclude", "weight", "missing", "format", "as_json"),
    "Data": parameters_of(reading),
    "Output": parameters_of(common),
}
_GUIDE = ("Large tables and clusters", "scale.md")


@click.command("plan", cls=SectionedCommand, sections=_SECTIONS, guide=_GUIDE)
@data_argument
@reading
@common
def command(data: tuple[str, ...], **options: Any) -> None:
    """Forecast the memory and time of reading a table and learning from it.

    \b
    Examples:
      mrfit plan survey.parquet
      mrfit plan parts/ --memory 8GB --json
    \f
    mrfit reads only the first rows of a table, but all of a file of item lists. Times are for one processor, computed
    from constants measured on one machine (docs/scale.md). Rely on their order of magnitude only.
    """
    from mrfit.analysis.advice.forecast import Forecast
    from mrfit.data.memory import MemoryLimit
    from mrfit.data.preview import FirstLook

    limit, how = MemoryLimit(options["memory"]), reading_of({**options, "memory": None})  # a look may go beyond
    forecast = Forecast.of(FirstLook.at(source_of(data), how, **layout_of(options)), limit.n_bytes)
    if options["as_json"]:
        print_json(forecast.to_dict())
    else:
        _print(" ".join(data), forecast)


def _print(data: str, forecast: Forecast) -> None:
    from mrfit.core.rounding import format_size

    look = forecast.look
    about = "" if look.n_seen == look.n_rows else "about "
    too_large = [step.name for step in forecast.steps if not forecast.fits(step)]
    if too_large:
        memory = format_size(forecast.memory)
        verdict(f"{len(too_large)} of {len(forecast.steps)} steps need more memory than {memory}", "doubtful")
    else:
        verdict("every step fits in memory", "sound")
    say(f"{data}: {about}{look.n_rows:,} rows, {look.n_columns:,} columns, {format_size(look.n_bytes)}")
    on = f"{look.n_entries / max(1, look.n_rows):.3g} values a row not the first"
    say(f"{look.n_seen:,} rows looked at: {100 * look.share_distinct:.0f} % distinct, {on}")
    rows = [
        [
            step.name,
            f"{step.passes}",
            format_size(step.bytes),
            _time(step.seconds),
            "" if forecast.fits(step) else "too much memory",
        ]
        for step in forecast.steps
    ]
    print_table([["step", "data passes", "memory", "CPU time", ""], *rows], n_words=1)
    for step in forecast.steps:
        if step.command:
            say(f"{step.name}:", f"    {step.command}")


def _time(seconds: float) -> str:
    for name, length in (("days", 86400.0), ("h", 3600.0), ("min", 60.0)):
        if seconds >= 2 * length:
            return f"{seconds / length:.3g} {name}"
    return f"{seconds:.2g} s"
