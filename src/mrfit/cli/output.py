"""Standard output for results, standard error for everything else."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Mapping
from typing import Any

import click


def say(*lines: str, err: bool = False) -> None:
    """Print lines for people: the only way of text from files and arguments to a terminal.

    What could move the cursor, hide or forge text, or end the line (names may hold anything) is shown as an escape.
    """
    stream = sys.stderr if err else sys.stdout
    click.echo("\n".join(_shown(line, stream.encoding or "utf-8") for line in lines), err=err)


def _shown(line: str, encoding: str) -> str:
    if not line.isprintable():
        line = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in line)
    return line.encode(encoding, "backslashreplace").decode(encoding)


def print_json(document: Mapping[str, Any]) -> None:
    """One JSON document; null stands for numbers that are not finite, which JSON does not have."""
    import json  # here, for `mrfit --help` prints none

    text = json.dumps(_finite(document), indent=2, ensure_ascii=False, allow_nan=False)
    # Letters stay; what is not printable, or not text at all, is escaped as JSON does it.
    printable = (c if c.isprintable() or c == "\n" else json.dumps(c)[1:-1] for c in text)
    click.echo(text if text.isascii() else "".join(printable))


def _finite(entry: Any) -> Any:
    if isinstance(entry, Mapping):
        return {name: _finite(part) for name, part in entry.items()}
    if isinstance(entry, list | tuple):
        return [_finite(part) for part in entry]
    return None if isinstance(entry, float) and not math.isfinite(entry) else entry


def as_options(message: str) -> str:
    """The library speaks of keyword arguments; at the command line they are options."""
    words = "missing|unknown|weight|header|separator|encoding|format|bound|select|memory|engine|rule"
    message = message.replace("header=False", "--no-header").replace("header=True", "--header")
    message = message.replace("select_strength=", "--select-strength ")
    message = message.replace("states={...}", "--states FILE").replace("samples=N", "--samples N")
    message = re.sub(r"\b(columns|exclude|include)=\[\.\.\.\]", r"--\1 NAME,...", message)
    message = re.sub(r"\bna_values=\[([^\]]*)\]", lambda match: f"--na-values {match[1].replace(' ', '')}", message)
    return re.sub(rf"\b({words})='([^']*)'", _as_option, message)


def _as_option(match: re.Match[str]) -> str:
    name, value = match.groups()
    return f"--{name} {value if re.fullmatch('[-.0-9A-Za-z_,]+', value) else repr(value)}"


def note(text: str) -> None:
    """One line for the person at the terminal, on stderr."""
    say(f"mrfit: {text}", err=True)


def note_failures(failures: Mapping[str, int], of: str) -> None:
    """Print how often learning failed, by reason; ``of`` is for example "of 1,000 resamples"."""
    for reason, times in failures.items():
        note(f"warning: learning failed in {times:,} {of}: {reason}")


def note_compiling(*, quiet: bool) -> None:
    """Have it said when kernels must be compiled, which happens once on a machine and would seem to hang."""
    from mrfit._kernels.machine_code.compiled import on_compiling

    if not quiet:
        on_compiling(_say_compiling)


def _say_compiling(reason: str | None) -> None:
    from mrfit._kernels.machine_code.cache import has_usual_cache, temporary_cache

    if not has_usual_cache():
        place = temporary_cache()
        kept = "each run compiles anew, up to half a minute" if place is None else f"it is kept in {place}"
        note(f"no directory for compiled code can be written; {kept}. Set NUMBA_CACHE_DIR to keep it elsewhere.")
    elif reason is not None or sys.stderr.isatty():
        because = "" if reason is None else f"{reason}: "
        note(
            f"{because}compiling for this machine, once, which takes up to half a minute; `mrfit warm-up` does it for "
            "all commands."
        )
