"""Standard output for results, standard error for everything else."""

from __future__ import annotations

import math
import os
import re
import shlex
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TextIO

import click

from mrfit.core.text_table import columns

WIDTH = 80  # columns of what is printed, but for commands to copy and names that are longer

_LEVELS = {"sound": "green", "doubtful": "yellow", "wrong": "red"}


def say(*lines: str, err: bool = False, **style: Any) -> None:
    """Print lines for people: the only way of text from files and arguments to a terminal.

    What could move the cursor, hide or forge text, or end the line (names may hold anything) is shown as an escape.
    ``style`` is that of `click.style`; streams without colours do not get it.
    """
    stream = sys.stderr if err else sys.stdout
    shown = [_shown(line, stream.encoding or "utf-8") for line in lines]
    if style and has_colours(stream):
        click.echo("\n".join(click.style(line, **style) for line in shown), err=err, color=True)
    else:
        click.echo("\n".join(shown), err=err)


def has_colours(stream: TextIO) -> bool:
    """Whether a stream gets colours: a terminal does, unless NO_COLOR, CLICOLOR=0 or FORCE_COLOR say otherwise."""
    if os.environ.get("NO_COLOR"):
        return False
    if any(os.environ.get(name, "0") not in ("", "0") for name in ("FORCE_COLOR", "CLICOLOR_FORCE")):
        return True
    return stream.isatty() and os.environ.get("CLICOLOR") != "0" and os.environ.get("TERM") != "dumb"


def heading(text: str, unit: str = "") -> None:
    """Print the heading of a list: bold, with the unit of its numbers in dim brackets."""
    rest = f" ({unit})" if unit else ""
    if len(text + rest) > WIDTH:
        say(text, bold=True)
        say(*wrapped(rest.strip(), indent="  ", hanging=""), dim=True)
    elif has_colours(sys.stdout) and unit:
        bold = click.style(_shown(text, sys.stdout.encoding or "utf-8"), bold=True)
        click.echo(bold + click.style(_shown(rest, sys.stdout.encoding or "utf-8"), dim=True), color=True)
    else:
        say(text + rest, bold=True)


def verdict(text: str, level: str) -> None:
    """Print a verdict; ``level`` is sound, doubtful or wrong."""
    say(*wrapped(text), fg=_LEVELS[level])


def wrapped(text: str, *, indent: str = "", hanging: str = "  ") -> list[str]:
    """Return the lines of a text of at most `WIDTH` columns; no word is broken, and no line is longer for a reason
    other than a long word.
    """
    return textwrap.wrap(
        text, WIDTH, initial_indent=indent, subsequent_indent=indent + hanging, break_long_words=False,
        break_on_hyphens=False,
    ) or [""]  # fmt: skip


def remark(text: str) -> None:
    """Print a sentence of any length."""
    say(*wrapped(text))


def print_table(
    rows: Sequence[Sequence[str]], *, n_words: int = 0, n_names: int = 0, indent: str = "", longest: int | None = 40
) -> None:
    """Print rows as `columns`, the first of them as the heading; columns that do not fit continue below."""
    for block in _blocks(rows, n_words, WIDTH - len(indent), longest) if not n_names else [rows]:
        head, *body = columns(block, n_words=n_words, n_names=n_names, longest=longest)
        say(indent + head, bold=True)
        if body:
            say(*(indent + line for line in body))


def _blocks(rows: Sequence[Sequence[str]], n_words: int, width: int, longest: int | None) -> Iterator[list[list[str]]]:
    """The rows cut into groups of columns that fit the width, each after the columns of words."""
    first, last = n_words, len(rows[0])
    while first < last:
        end = last
        while (
            end > first + 1
            and len(_longest([[*row[:n_words], *row[first:end]] for row in rows], n_words, longest)) > width
        ):
            end -= 1
        yield [[*row[:n_words], *row[first:end]] for row in rows]
        first = end


def _longest(rows: list[list[str]], n_words: int, longest: int | None) -> str:
    return max(columns(rows, n_words=n_words, longest=longest), key=len)


def print_lines(lines: Sequence[str]) -> None:
    """Print what a record says of itself: its first line is the verdict, and lines that end in a colon are headings."""
    for k, line in enumerate(lines):
        if k == 0:
            say(*wrapped(line), bold=True)
        elif line.startswith(" ") or len(line) <= WIDTH:
            say(line, **({"bold": True} if line.endswith(":") else {}))
        else:
            remark(line)


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
    """Print a note for the person at the terminal, on stderr; a warning is yellow."""
    say(*wrapped(f"mrfit: {text}"), err=True, **({"fg": "yellow"} if text.startswith("warning:") else {}))


def note_error(text: str) -> None:
    """Print what went wrong on stderr: one line, whatever its length, so that programs can take it as it is."""
    say(f"mrfit: {text}", err=True, fg="red")


def note_command(*words: str) -> None:
    """Print a command to copy on stderr, on a line of its own."""
    say(f"    {shlex.join(words)}", err=True)


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
        kept = "each run compiles again, up to half a minute" if place is None else f"it is stored in {place}"
        note(f"no directory for compiled code can be written; {kept}. Set NUMBA_CACHE_DIR to store it elsewhere.")
    elif reason is not None or sys.stderr.isatty():
        because = "" if reason is None else f"{reason}: "
        note(
            f"{because}compiling for this machine, once, which takes up to half a minute; `mrfit warm-up` does it for "
            "all commands."
        )
