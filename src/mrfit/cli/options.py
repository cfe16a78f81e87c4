"""Options that several commands share, and the words in them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from mrfit.errors import InputError

if TYPE_CHECKING:
    from mrfit.data.unique_rows import UniqueRows
    from mrfit.domain import Domain

Command = TypeVar("Command", bound=Callable[..., Any])


def stacked(*decorators: Callable[[Any], Any]) -> Callable[[Command], Command]:
    def decorate(function: Command) -> Command:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return decorate


def choice(name: str, *words: str, help: str) -> Callable[[Any], Any]:
    """An option that is one of ``words``, the first by default."""
    return click.option(name, type=click.Choice(words), default=words[0], show_default=True, help=help)


common = stacked(
    click.option("--json", "as_json", is_flag=True, help="Print one JSON document and nothing else."),
    click.option(
        "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of whatever is random."
    ),
    click.option("--jobs", type=int, default=-1, show_default=True, help="Threads; -1 takes all processors."),
    click.option("--quiet", is_flag=True, help="No progress, notes or summary."),
)

reading = stacked(
    click.option("--weight", metavar="COLUMN", help="Column that holds row weights or counts."),
    click.option(
        "--header/--no-header",
        default=None,
        help="Whether the first line of text files names the columns; found out by default.",
    ),
    choice(
        "--missing",
        "error",
        "drop",
        "state",
        help="What a missing value does: stop, drop its row, or be a state of its own.",
    ),
    choice(
        "--unknown",
        "error",
        "drop",
        help="What a value outside the known or declared states does: stop, or drop its row.",
    ),
)


def numbers(text: str, option: str) -> tuple[float, ...]:
    """``1,10,30`` as numbers."""
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise InputError(
            f"{option} {text!r} is not a number or a list of numbers; write it like 1 or 1,10,30."
        ) from None


def whole_numbers(text: str, option: str) -> tuple[int, ...]:
    """``1,2`` as integers; an empty text is none."""
    values = numbers(text, option) if text else ()
    if not all(value.is_integer() for value in values):
        raise InputError(f"{option} {text!r} must hold whole numbers; write it like 1 or 1,2.")
    return tuple(int(value) for value in values)


def data_path(text: str) -> Path:
    """A file, or a named data set such as ``nltcs:train``."""
    path = Path(text)
    name, colon, split = text.partition(":")
    if path.exists() or path.suffix:
        return path
    from mrfit.data.named import catalogue, find

    if colon:
        return find(name, split)
    for entry in catalogue():
        if entry.name == text:
            raise InputError(f"{text} is a named data set; say which part, as in {text}:{entry.splits[0]}.")
    return path


def header_of(options: Mapping[str, Any]) -> bool | str:
    return "auto" if options["header"] is None else bool(options["header"])


def read_rows(
    text: str, options: Mapping[str, Any], *, domain: Domain | None = None, states: dict[str, list[str]] | None = None
) -> UniqueRows:
    """The distinct rows of a file or named data set, read as the options of `reading` say."""
    from mrfit.data.coding import Reading
    from mrfit.data.unique_rows import UniqueRows

    reading = Reading(domain, states, options["missing"], options["unknown"])
    return UniqueRows.from_file(data_path(text), reading, weight=options["weight"], header=header_of(options))


def declared_states(path: str | None) -> dict[str, list[str]] | None:
    """States of some columns from a JSON file ``{"smoker": ["no", "yes"], ...}``."""
    if path is None:
        return None
    try:
        states = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"Cannot read the states file {path!r}: {error.strerror}.") from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"The states file {path!r} is not JSON ({error}).") from error
    if not isinstance(states, dict) or not all(isinstance(value, list) for value in states.values()):
        raise InputError(f'The states file {path!r} must look like {{"smoker": ["no", "yes"]}}.')
    return states
