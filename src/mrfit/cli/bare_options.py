"""Options that may stand without a value."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click


class BareOption(click.Option):
    """An option whose value is ``bare`` where none follows: the next word is an option, DATA, or not there.

    Only a `SectionedCommand` knows it.
    """

    def __init__(self, *args: Any, bare: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.bare = bare


def with_bare_values(command: click.Command, context: click.Context, words: Sequence[str]) -> list[str]:
    """The words of a command, with the values that bare options leave out."""
    bare = {
        name: each.bare for each in command.get_params(context) if isinstance(each, BareOption) for name in each.opts
    }
    filled: list[str] = []
    for place, word in enumerate(words):
        filled.append(word)
        if word == "--":  # what follows is no option
            return [*filled, *words[place + 1 :]]
        if word in bare and _begins_something_else(words[place + 1 : place + 2]):
            filled.append(bare[word])
    return filled if _has_arguments(command, context, filled) else _with_last_freed(filled, bare)


def _begins_something_else(following: Sequence[str]) -> bool:
    """Whether the next word is an option or a file, if there is one."""
    return not following or following[0].startswith("-") or Path(following[0]).exists()


def _has_arguments(command: click.Command, context: click.Context, words: list[str]) -> bool:
    """Whether all words of the command that are no options are there."""
    try:
        found, _, _ = command.make_parser(context).parse_args(list(words))
    except click.UsageError:  # the command itself reports it, with its usage
        return True
    needed = [each for each in command.get_params(context) if isinstance(each, click.Argument) and each.required]
    return all(
        isinstance(value := found.get(str(each.name)), str) or (isinstance(value, tuple) and value) for each in needed
    )


def _with_last_freed(words: list[str], bare: dict[str, str]) -> list[str]:
    """DATA that the last bare option took for its value is DATA again."""
    places = [place for place, word in enumerate(words[:-1]) if word in bare and words[place + 1] != bare[word]]
    if not places:
        return words
    last = places[-1]
    return [*words[: last + 1], bare[words[last]], *words[last + 1 :]]
