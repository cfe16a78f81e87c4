"""`mrfit plan`."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

import click

from mrfit.cli.options import common, layout_of, reading, reading_of
from mrfit.cli.output import print_json, say
from mrfit.errors import InputError

if TYPE_CHECKING:
    from mrfit.summaries.forecast import Forecast

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}


@click.command("plan")
@click.argument("data", nargs=-1, required=True)
@click.option("--memory", metavar="BYTES", help="What may be used, such as 8GB; by default what this machine has.")
@reading
@common
def command(data: tuple[str, ...], memory: str | None, **options: Any) -> None:
    """What reading DATA and learning from it will take: memory, passes and processor time, before any of it is done.

    Only the first rows of a table are read, and all of a file of item lists. Times are those of one processor, from
    constants that were measured on one machine (docs/scale.md): trust their order of magnitude.

    \b
    Examples:
      mrfit plan survey.parquet
      mrfit plan parts/ --memory 8GB --json
    """
    from mrfit.data.first_look import FirstLook
    from mrfit.summaries.forecast import Forecast

    limit = _machine() if memory is None else _bytes(memory)
    source = data[0] if len(data) == 1 else data
    forecast = Forecast.of(FirstLook.at(source, reading_of(options), **layout_of(options)), limit)
    if options["as_json"]:
        print_json(forecast.to_dict())
    else:
        _print(" ".join(data), forecast)


def _machine() -> float:
    return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))


def _bytes(text: str) -> float:
    match = re.fullmatch(r"([0-9.]+)\s*([kmgt]?)b?", text.strip().lower())
    try:
        size = float(match[1]) * _UNITS[match[2]] if match else 0.0
    except ValueError:
        size = 0.0
    if size <= 0.0:
        raise InputError(f"--memory {text!r} is no size; write it like 8GB or 500MB.")
    return size


def _print(data: str, forecast: Forecast) -> None:
    look = forecast.look
    about = "" if look.n_seen == look.n_rows else "about "
    say(f"{data}: {about}{look.n_rows:,} rows, {look.n_columns:,} columns, {_size(look.n_bytes)}")
    on = f"{look.n_entries / max(1, look.n_rows):.3g} values a row not the first"
    say(f"{look.n_seen:,} rows looked at: {100 * look.share_distinct:.0f} % distinct, {on}")
    say(f"{'step':28} {'passes':>6} {'memory':>9} {'CPU time':>10}")
    for step in forecast.steps:
        fits = "" if forecast.fits(step) else f"  more than {_size(forecast.memory)}"
        say(f"{step.name:28} {step.passes:>6} {_size(step.bytes):>9} {_time(step.seconds):>10}{fits}")
    for step in forecast.steps:
        if step.command:
            say(f"{step.name}: {step.command}")


def _size(n_bytes: float) -> str:
    for name in ("B", "kB", "MB", "GB"):
        if n_bytes < 1000:
            return f"{n_bytes:.3g} {name}"
        n_bytes /= 1000
    return f"{n_bytes:,.3g} TB" if n_bytes < 1000 else f"{n_bytes:,.0f} TB"


def _time(seconds: float) -> str:
    for name, length in (("days", 86400.0), ("h", 3600.0), ("min", 60.0)):
        if seconds >= 2 * length:
            return f"{seconds / length:.3g} {name}"
    return f"{seconds:.2g} s"
